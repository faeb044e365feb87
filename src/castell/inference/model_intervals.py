"""Intervals of a model's answers: its own error, that of the unbiased answer, or what the margins
leave open, whichever is shortest.

Where two attributes of a question were never reported together, nothing can tell how they are
associated, and the intervals are all that the parts that were reported leave open
(`margin_bounds.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from castell.counting import samples_with
from castell.inference.intervals import Bounds, Spread, known_zeros
from castell.inference.margin_bounds import Reshaped, bounds
from castell.inference.method import Fitted
from castell.inference.model_error import DirectEstimate, ModelError, UnbiasedPairs
from castell.inference.products import product_model
from castell.inference.queries import Query, names_of
from castell.inference.reasons import Code, Reason, impossible_reasons, reason
from castell.inference.shares import Shares, Unbiased
from castell.inference.shorter_interval import AsUnbiased, ShorterInterval, WithinMargins
from castell.inference.support import Checked, Support, support
from castell.linear.operators import Floats
from castell.linear.table import Table
from castell.study.design import Design
from castell.study.schema import MAX_CELLS


class MoreOfPairs(Protocol):
    """What more is known of two attributes than the reports that tell both."""

    def beside(self, direct: UnbiasedPairs) -> UnbiasedPairs: ...


@dataclass(frozen=True, eq=False)
class ModelIntervals:
    """How far a model's tables and shares may be off."""

    error: ModelError
    more_of_pairs: MoreOfPairs | None = None

    @cached_property
    def direct(self) -> Fitted:
        """The unbiased answers."""
        counts = self.error.margins.counts
        return product_model(counts, [counts.study.names], "population")

    def support(self, names: Sequence[str]) -> Support:
        return support(self.error.margins.counts, names)

    def impossible_cells(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """The cells of a table that nobody can be in, by declaration."""
        return self.error.margins.counts.study.schema.impossible_cells(names)

    def reasons(self, names: Sequence[str]) -> tuple[Reason, ...]:
        """What is declared impossible, what could not be checked, what the intervals allow for."""
        if len(names) == 1:
            return ()
        schema = self.error.margins.counts.study.schema
        found, behind = impossible_reasons(schema, names), self.support(names)
        if not behind.together:
            code = Code.NOT_REPORTED_YET if behind.designed else Code.NOT_REPORTED_TOGETHER
            found.append(reason(code, *names))
        if behind.checked is Checked.NOTHING:
            return (*found, reason(Code.ASSOCIATION_UNKNOWN, *behind.unknown))
        if behind.checked is Checked.PAIRS:
            found.append(reason(Code.ONLY_PAIRS_CHECKED, *names))
        association = self.error.association
        largest = max(association.of(*pair).absolute for pair in combinations(names, 2))
        return (*found, reason(Code.MODEL_ERROR, association=float(np.sqrt(largest))))

    # -- tables --------------------------------------------------------------------------------

    def table(self, names: tuple[str, ...], table: Floats, kept: tuple[str, ...]) -> Spread:
        """The spread of a model's table over `names`, summed to the attributes `kept`."""
        return known_zeros(self._table(names, table, kept), self.impossible_cells(kept))

    def _table(self, names: tuple[str, ...], table: Floats, kept: tuple[str, ...]) -> Spread:
        asked, behind = Table(names, table).project(kept), self.support(kept)
        cells = asked.values
        if behind.checked is Checked.NOTHING:
            return self._bounds(asked, behind.cliques())
        if len(kept) == 1:
            # Nothing but the margin's own error, so its interval is the unbiased one.
            return AsUnbiased(self.error.margins.table(kept[0]), self.error.table(kept, cells))
        within = self._bounds(asked, [(name,) for name in kept], beside=1)
        if not behind.together or self._too_large(kept):
            return WithinMargins(self.error.table(kept, cells, self._unbiased_pairs), within)
        found = self.direct.joint(kept, None)
        spread = found.spread(kept)
        whole = DirectEstimate(found.probabilities, spread.variance)
        model = self.error.table(kept, cells, self._unbiased_pairs, whole)
        return WithinMargins(ShorterInterval(model, whole.values, spread), within)

    def _bounds(self, asked: Table, parts: Iterable[Sequence[str]], beside: int = 0) -> Bounds:
        """What parts of a table leave open: projections of it, each with its own interval."""
        events = []
        for names in parts:
            # In the order asked: then all it takes is an axis of one for each other attribute.
            part = asked.project(tuple(name for name in asked.names if name in names))
            along = part.along(asked.names)
            spread = self.table(asked.names, asked.values, part.names)
            events.append((along, Reshaped(spread, part.values.shape, along.shape)))
        return bounds(events, beside)

    @cached_property
    def _unbiased_pairs(self) -> UnbiasedPairs:
        own = UnbiasedPairs(self._pair_table, self._pair_shares)
        found = own if self.more_of_pairs is None else self.more_of_pairs.beside(own)
        # A question asks for a few pairs, and another for the same.
        remembered = lru_cache(maxsize=256)(lambda pair: found.table(pair, None))
        return UnbiasedPairs(
            lambda pair, known: remembered(pair) if known is None else found.table(pair, known),
            found.shares,
        )

    def _pair_table(
        self, pair: tuple[str, str], known: DirectEstimate | None
    ) -> DirectEstimate | None:
        if known is not None:
            return known
        if not self.support(pair).together:
            return None
        found = self.direct.joint(pair, None)
        return DirectEstimate(found.probabilities, found.spread(pair).variance)

    def _pair_shares(
        self, queries: Sequence[Query], known: DirectEstimate | None
    ) -> DirectEstimate | None:
        if known is not None:
            return known
        if not self.support(names_of(queries)).together:
            return None
        found = self.direct.shares(queries)
        return DirectEstimate(found.values, found.covariances[0])

    def _too_large(self, names: Sequence[str]) -> bool:
        """Whether an unbiased table would not fit: of answers, or of the reports it comes from."""
        study = self.error.margins.counts.study
        if prod(study.schema[name].size for name in names) > MAX_CELLS:
            return True
        designs = [s.study.design for s in samples_with(self.error.margins.counts, names)]
        return any(prod(_outputs(design, names)) > MAX_CELLS for design in designs)

    # -- shares ----------------------------------------------------------------------------------

    def shares(self, queries: Sequence[Query], share: Callable[[Query], float]) -> Shares:
        """A model's answers to product queries, `share` being its answer to one."""
        zeros = self.error.margins.counts.study.schema.impossible
        found = self._shares(queries, share)
        return found.with_zeros([zeros.is_impossible(query) for query in queries])

    def _shares(self, queries: Sequence[Query], share: Callable[[Query], float]) -> Shares:
        names = names_of(queries)
        behind = self.support(names)
        values = np.array([share(query) for query in queries])
        if behind.checked is Checked.NOTHING:
            return self._shares_left_open(queries, values, share)
        if len(names) == 1:
            spread, covariances = self.error.shares(queries, share)
            tables = [self.error.margins.table(next(iter(query))) for query in queries]
            codes = [next(iter(query.values())) for query in queries]
            own = np.array([float(t[c].sum()) for t, c in zip(tables, codes, strict=True)])
            return Shares(values, AsUnbiased(own, spread), covariances)
        within = self._margin_bounds(queries, share)
        if not behind.together:
            spread, covariances = self.error.shares(queries, share, self._unbiased_pairs)
            one_over_n = self.error.one_over_n(names)
            known = WithinMargins(spread, within)
            return Shares(values, known, covariances, one_over_n=one_over_n, outward=True)
        direct = self.direct.shares(queries)
        whole = DirectEstimate(direct.values, direct.covariances[0])
        spread, covariances = self.error.shares(queries, share, self._unbiased_pairs, whole)
        unbiased = Unbiased(whole.values, whole.variance, direct.one_over_n, direct.spread)
        both = WithinMargins(ShorterInterval(spread, direct.values, direct.spread), within)
        one_over_n = self.error.one_over_n(names)
        return Shares(
            values, both, covariances, unbiased=unbiased, one_over_n=one_over_n, outward=True
        )

    def _margin_bounds(self, queries: Sequence[Query], share: Callable[[Query], float]) -> Bounds:
        """What single attributes leave open; one that a query does not ask for may be anything."""
        events = []
        for name in names_of(queries):
            every = np.arange(self.error.margins.counts.study.schema[name].size)
            found = self._shares([{name: query.get(name, every)} for query in queries], share)
            events.append((found.values, found.spread))
        return bounds(events, beside=1)

    def _shares_left_open(
        self, queries: Sequence[Query], values: Floats, share: Callable[[Query], float]
    ) -> Shares:
        """Shares that reports do not tell: no covariance either."""
        each = []
        for query in queries:
            events = []
            for part in self.support(tuple(query)).cliques():
                own = {name: query[name] for name in part}
                found = self.shares([own], share)
                events.append((found.values, found.spread))
            each.append(bounds(events))
        return Shares(values, Together(tuple(each)), ())


@dataclass(frozen=True, eq=False)
class Together:
    """The spreads of single shares, side by side."""

    each: tuple[Spread, ...]

    @property
    def variance(self) -> Floats:
        return np.concatenate([one.variance for one in self.each])

    @property
    def errors(self) -> Floats:
        return np.concatenate([one.errors for one in self.each])

    def plain(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        ends = [one.plain(values[[k]], level) for k, one in enumerate(self.each)]
        return np.concatenate([e[0] for e in ends]), np.concatenate([e[1] for e in ends])

    def interval(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        ends = [one.interval(values[[k]], level) for k, one in enumerate(self.each)]
        return np.concatenate([e[0] for e in ends]), np.concatenate([e[1] for e in ends])


def _outputs(design: Design, names: Sequence[str]) -> list[int]:
    """How many reports there are of each block that holds one of some attributes."""
    blocks = sorted({i for name in names for i in design.holders(name)})
    return [design.blocks[i].channel.outputs for i in blocks]
