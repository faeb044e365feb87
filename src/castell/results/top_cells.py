"""The largest cells of a table of any width, with intervals that hold for all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from castell.display.arrays import array_of
from castell.display.json_values import plain
from castell.display.one_line import one_line
from castell.errors import OptionError, QueryError
from castell.inference.intervals import quantile
from castell.inference.queries import Query
from castell.inference.top_cells import Codes, search
from castell.linear.operators import Floats
from castell.numbers import is_whole
from castell.reports.frames import frame_of
from castell.results.joint import NUMBERS, JointEstimate
from castell.results.notebook_table import MOST_ROWS, shares_html
from castell.results.provenance import FromReports
from castell.results.questions import Answering, reasons_of
from castell.results.summary import align, percent, with_warning
from castell.study.schema import Attribute

# Tables up to this size are built: then nothing is left out.
FEW_CELLS = 1 << 21
# Prefixes that are lengthened at each step.
BEAM = 256
# Intervals for more cells at once than this would need quantiles that no number holds.
_MOST_AT_ONCE = 10**12

Ends = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TopCells(FromReports):
    """The largest cells of a table: `codes` has a row for each, the largest first.

    They are chosen because their estimates are large, so an interval for one cell would too often
    be too high. `conf_int` holds for all `cells` of the table at once (Bonferroni), hence for those
    that were chosen. `beyond` tells about the others: no prefix that was left out of the search is
    estimated to be larger; 0 if none was left out.
    """

    attributes: tuple[Attribute, ...]
    codes: Codes
    values: Floats
    standard_errors: Floats
    ends: Callable[[float], Ends]
    beyond: float

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def cells(self) -> int:
        """How many cells the table has."""
        return prod(attribute.size for attribute in self.attributes)

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        what = f"{len(self)} of {self.cells:,} cells of {' x '.join(self.names)}"
        return one_line("TopCells", what, self.source.facts())

    @property
    def labels(self) -> list[tuple[str, ...]]:
        """The values of each cell."""
        return [
            tuple(a.values[code] for a, code in zip(self.attributes, row, strict=True))
            for row in self.codes
        ]

    def conf_int(self, level: float = 0.95, *, simultaneous: bool = True) -> Ends:
        """Lower and upper ends for each cell, inside [0, 1].

        With `simultaneous=False`, the interval of a cell that was named before anything was seen.
        """
        quantile(level)
        at_once = min(self.cells, _MOST_AT_ONCE) if simultaneous else 1
        return self.ends(1.0 - (1.0 - level) / at_once)

    def columns(self, level: float = 0.95) -> dict[str, Any]:
        low, high = self.conf_int(level)
        given = {
            name if name not in NUMBERS else f"{name} (attribute)": np.array(column, dtype=object)
            for name, column in zip(self.names, zip(*self.labels, strict=True), strict=True)
        }
        numbers = (self.values, self.standard_errors, low, high)
        return {**given, **dict(zip(NUMBERS, numbers, strict=True))}

    def to_frame(self, backend: str | None = None, *, level: float = 0.95) -> Any:
        """The cells as a frame of the kind the answers came in, the largest first."""
        return frame_of(self.columns(level), backend or self.backend)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The cells for programs, as plain JSON values; docs/results.md has the layout."""
        low, high = self.conf_int(level)
        return {
            "kind": "top_cells",
            **self.source.to_dict(),
            "attributes": list(self.names),
            "cells": self.cells,
            "values": [list(row) for row in self.labels],
            "probabilities": plain(self.values),
            "standard_errors": plain(self.standard_errors),
            "simultaneous": True,
            "lower": plain(low),
            "upper": plain(high),
            "beyond": plain(self.beyond),
            **self._how_sure(level),
        }

    def summary(self, level: float = 0.95) -> str:
        """The cells in words and numbers."""
        low, high = self.conf_int(level)
        titles = [*self.names, "estimate", "std. err.", f"{percent(level)} interval"]
        rows = [
            [*labels, f"{value:.5f}", f"{error:.5f}", f"[{least:.5f}, {most:.5f}]"]
            for labels, value, error, least, most in zip(
                self.labels, self.values, self.standard_errors, low, high, strict=True
            )
        ]
        facts = ", ".join(self.source.facts())
        table = align([titles, *rows], len(self.names))
        return "\n".join([self.title, facts, "", *table, "", *self._remarks(low)])

    @property
    def title(self) -> str:
        return f"The {len(self)} largest of {self.cells:,} cells of {' x '.join(self.names)}"

    def _remarks(self, low: Floats) -> tuple[str, ...]:
        told = [f"intervals hold for all {self.cells:,} cells at once"]
        sure = int((low > 0.0).sum())
        told.append(f"{sure} of {len(self)} are larger than zero for sure at that level")
        if self.beyond > 0.0:
            told.append(
                f"combinations that were not looked at begin with ones estimated at no more than "
                f"{self.beyond:.5f}"
            )
        return with_warning(self.secure, (*self.notes, *told))

    def __array__(
        self, dtype: DTypeLike | None = None, *, copy: bool | None = None
    ) -> NDArray[Any]:
        return array_of(self.values, dtype, copy)

    def _repr_html_(self) -> str:
        low, high = self.conf_int()
        shown = slice(MOST_ROWS)
        numbers = np.column_stack([self.values, self.standard_errors, low, high])[shown]
        part = f"the first {MOST_ROWS} are shown; to_frame() has all"
        more = [part] if len(self) > MOST_ROWS else []
        return shares_html(
            self.title,
            self.source.facts(),
            list(self.names),
            self.labels[shown],
            numbers,
            [*more, *self._remarks(low)],
        )


def top_cells(
    model: Answering,
    estimate: Callable[[tuple[str, ...]], JointEstimate],
    names: Iterable[str] | str,
    k: int,
    beam: int,
) -> TopCells:
    """The k largest cells of a table: of the whole table, or by a search over prefixes."""
    for what, number in (("k", k), ("beam", beam)):
        if not is_whole(number, 1):
            raise OptionError(f"{what} is {number!r}", "give a whole number from 1 up")
    attributes = model.study.schema.select(names)
    order = tuple(attribute.name for attribute in attributes)
    cells = prod(attribute.size for attribute in attributes)
    if cells <= FEW_CELLS:
        return _of_table(model, estimate(order), attributes, min(k, cells))
    if model.fitted.prefixes is None:
        raise QueryError(
            f"the table of {' x '.join(order)} has {cells:,} cells, more than this method builds",
            "ask for fewer attributes, or use castell, independent, latent or auto",
        )
    prefixes = model.fitted.prefixes(order)
    found = search(prefixes, {a.name: a.size for a in attributes}, k, beam)
    places = [prefixes.names.index(name) for name in order]
    codes = found.codes[:, places]
    queries: list[Query] = [
        {name: np.array([code]) for name, code in zip(order, row, strict=True)} for row in codes
    ]
    # One at a time: how cells err together is not asked.
    each = [model.fitted.shares([query]) for query in queries]
    values = np.array([float(share.values[0]) for share in each])
    errors = np.array([float(share.spread.errors[0]) for share in each])
    largest = np.argsort(-values, kind="stable")

    def ends(level: float) -> Ends:
        both = np.array([_ends(each[i].spread.interval(each[i].values, level)) for i in largest])
        return both[:, 0], both[:, 1]

    behind = model.support(order)
    return TopCells(
        attributes=attributes,
        codes=codes[largest],
        values=values[largest],
        standard_errors=errors[largest],
        ends=ends,
        beyond=found.beyond,
        source=model.source,
        checked=behind.checked,
        reasons=reasons_of(model.counts, each[0].reasons, behind),
        backend=model.counts.backend,
    )


def _ends(interval: Ends) -> tuple[float, float]:
    low, high = interval
    return float(low[0]), float(high[0])


def _of_table(
    model: Answering, joint: JointEstimate, attributes: tuple[Attribute, ...], k: int
) -> TopCells:
    flat = np.argsort(-joint.probabilities, axis=None, kind="stable")[:k]

    def ends(level: float) -> Ends:
        low, high = joint.conf_int(level)
        return low.ravel()[flat], high.ravel()[flat]

    return TopCells(
        attributes=attributes,
        codes=np.column_stack(np.unravel_index(flat, joint.probabilities.shape)),
        values=joint.probabilities.ravel()[flat],
        standard_errors=joint.standard_errors.ravel()[flat],
        ends=ends,
        beyond=0.0,
        source=model.source,
        checked=joint.checked,
        reasons=joint.reasons,
        backend=model.counts.backend,
    )
