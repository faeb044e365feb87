"""What a model is asked of numbers and of those who answered: means, quantiles, shares, bounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from castell.errors import MethodError, QueryError
from castell.inference.group_mean import GroupMean
from castell.inference.queries import Query
from castell.inference.shorter_interval import AsUnbiased
from castell.inference.smoothing import smooth
from castell.linear.operators import Floats
from castell.results.answered_shares import Answered
from castell.results.having import Having
from castell.results.mean import Mean
from castell.results.provenance import Labels
from castell.results.quantile import Quantile
from castell.results.questions import Questions, Values, labels_of, query_of, reasons_of
from castell.results.score_scale import ScoreScale, numbers_of
from castell.results.smooth_shares import SmoothShares
from castell.study.declining import answered_codes, number_codes
from castell.study.scales import Points
from castell.study.schema import Attribute


class NumberQuestions(Questions):
    """The part of a model that answers them."""

    def mean(
        self, name: str, *, given: Values | None = None, range: Sequence[object] | None = None
    ) -> Mean:
        """The mean of an attribute that stands for numbers, of those who answered.

        `given` asks for those with some values of others only. `range` says between which numbers
        all answers lie, where the first or the last bin is open.
        """
        attribute, group, among = self._group(name, given)
        scale = ScoreScale.of(attribute, range)
        scale.check_closed()
        found = self.fitted.shares(
            [{name: np.array([code], dtype=np.intp), **among} for code in scale.codes]
        )
        behind = self.support((name, *among))
        everybody = not among and len(scale.codes) == attribute.size
        return Mean.of(
            scale,
            GroupMean(found, everybody),
            group,
            source=self.source,
            checked=behind.checked,
            reasons=reasons_of(self.fitted.counts, found.reasons, behind),
        )

    def quantile(self, name: str, q: float = 0.5, *, given: Values | None = None) -> Quantile:
        """The value of an ordered attribute below which a share q of those who answered lies."""
        _check_share(q)
        attribute, group, among = self._group(name, given)
        codes = tuple(number_codes(attribute))
        _check_ordered(attribute, codes)
        whole = np.array(codes, dtype=np.intp)
        everybody = not among and len(codes) == attribute.size
        base: Query = {**({} if len(codes) == attribute.size else {name: whole}), **among}
        below: list[Query] = [{name: whole[: k + 1], **among} for k in _range(len(codes) - 1)]
        if everybody:
            shares = self.fitted.shares(below)
            found, reasons = shares.values, shares.reasons

            def ends(level: float) -> tuple[Floats, Floats]:
                return shares.spread.interval(shares.values, level)
        else:
            parts = [self.fitted.shares([query, base]) for query in below]
            found = np.array(
                [p.values[0] / p.values[1] if p.values[1] > 0.0 else np.nan for p in parts]
            )
            reasons = parts[0].reasons

            def ends(level: float) -> tuple[Floats, Floats]:
                both = np.array([part.ratio_interval(level) for part in parts])
                return both[:, 0], both[:, 1]

        behind = self.support((name, *among))
        return Quantile(
            attribute=attribute,
            codes=codes,
            q=float(q),
            given=group,
            cumulated=found,
            ends=ends,
            source=self.source,
            checked=behind.checked,
            reasons=reasons_of(self.fitted.counts, reasons, behind),
        )

    def smooth(self, name: str) -> SmoothShares:
        """The distribution of an ordered attribute, smoothed by a cross-validated penalty.

        The estimate is often several times closer than the table's where neighbouring values have
        like shares. It is biased, so intervals are the table's, made to contain it.
        """
        (attribute,) = self.study.schema.select(name)
        codes = tuple(number_codes(attribute))
        _check_ordered(attribute, codes)
        if self.fitted.sampling is not None:
            raise MethodError("a weighted table is not smoothed", "leave the weights out")
        table = self.fitted.joint((name,), None)
        behind = self.support((name,))
        return SmoothShares(
            attribute=attribute,
            made=smooth(self.fitted.counts, attribute, codes, table.probabilities),
            spread=AsUnbiased(table.probabilities, table.spread((name,))),
            source=self.source,
            checked=behind.checked,
            reasons=reasons_of(self.fitted.counts, table.reasons, behind),
            backend=self.fitted.counts.backend,
        )

    def answered(self, name: str, *, given: Values | None = None) -> Answered:
        """The shares of an attribute's values among those who answered, and what the others may
        change: bounds for everybody. `given` asks for those with some values of others only."""
        attribute, group, among = self._group(name, given)
        codes = answered_codes(attribute)
        if len(codes) == attribute.size:
            raise QueryError(
                f"everybody answers {name!r}",
                "it has no value for those who do not; ask for its table",
            )

        def of(*chosen: int) -> Query:
            return {name: np.array(sorted(chosen), dtype=np.intp), **among}

        found = [self.fitted.shares([of(code), of(*codes)]) for code in codes]
        # Had all those who did not answer this value: it, and all that are no answer.
        rest = [code for code in _range(attribute.size) if code not in codes]
        beside = [among] if among else []
        most = [self.fitted.shares([of(code, *rest), *beside]) for code in codes]
        behind = self.support((name, *among))
        return Answered(
            asked=name,
            values=tuple(attribute.values[code] for code in codes),
            where=None,
            given={name: tuple(attribute.values[code] for code in codes), **group},
            shares=tuple(found),
            source=self.source,
            checked=behind.checked,
            reasons=reasons_of(self.fitted.counts, found[0].reasons, behind),
            backend=self.fitted.counts.backend,
            least=tuple(self.fitted.shares([of(code), *beside]) for code in codes),
            most=tuple(most),
            among=group,
        )

    def having(self, name: str, *, given: Values | None = None) -> Having:
        """The share of those who have any of what a key-value question asks about, among those who
        answered. `given` asks for those with some values of others only."""
        attribute, group, among = self._group(name, given)
        if not attribute.may_have_none:
            raise QueryError(
                f"{name!r} has no value for those who have none",
                'write none = "..." in the study, or ask for the share of some values',
            )
        some, base = number_codes(attribute), answered_codes(attribute)
        asked: Query = {name: np.array(some, dtype=np.intp), **among}
        whole = {} if len(base) == attribute.size else {name: np.array(base, dtype=np.intp)}
        found = self._share_and_group(asked, {**whole, **among})
        behind = self.support((name, *among))
        return Having(
            asked=name,
            values=("any",),
            where={name: tuple(attribute.values[code] for code in some)},
            given=group,
            shares=(found,),
            source=self.source,
            checked=behind.checked,
            reasons=reasons_of(self.fitted.counts, found.reasons, behind),
            backend=self.fitted.counts.backend,
        )

    def _group(self, name: str, given: Values | None) -> tuple[Attribute, Labels, Query]:
        (attribute,) = self.study.schema.select(name)
        group = labels_of(self.study.schema, given) if given else {}
        if name in group:
            raise QueryError(f"{name!r} is asked for and given", "leave it out of one of them")
        narrow = {a: v for a, v in group.items() if len(v) < self.study.schema[a].size}
        return attribute, group, query_of(self.study.schema, narrow) if narrow else {}


_range = range  # `range` is an argument above


def _check_share(q: object) -> None:
    if not isinstance(q, (int, float)) or not 0.0 < q < 1.0:
        raise QueryError(f"the quantile is {q!r}", "give a share between 0 and 1, such as 0.5")


def _check_ordered(attribute: Attribute, codes: Sequence[int]) -> None:
    if isinstance(attribute.scale, Points):
        raise QueryError(
            f"numbers of {attribute.name!r} are rounded at random, for exact means",
            "quantiles need bins without rounding",
        )
    numbers = numbers_of(attribute, codes)
    in_order = numbers is not None and bool((np.diff(numbers) > 0.0).all())
    if not attribute.ordered and not in_order:
        raise QueryError(
            f"the values of {attribute.name!r} have no order", "write ordered = true in the study"
        )
