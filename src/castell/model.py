"""Models: what an estimator returns. Frozen; answers any set of attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from castell.counting import Counts
from castell.errors import QueryError
from castell.estimate import JointEstimate
from castell.inversion import Query
from castell.operators import Floats
from castell.postprocess import step
from castell.spread import Spread, SpreadOf
from castell.study import Study


@dataclass(frozen=True, eq=False)
class Solution:
    """A table of probabilities in the order asked.

    `spread` tells how far each cell of any marginal of it may be off, by the marginal's names.
    """

    probabilities: Floats
    spread: SpreadOf
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cell:
    """An estimated share and how far it may be off."""

    value: float
    spread: Spread
    notes: tuple[str, ...] = ()

    @property
    def variance(self) -> float:
        return float(self.spread.variance)


@dataclass(frozen=True)
class Probability:
    """The estimated share of respondents with some values, and its standard error."""

    value: float
    standard_error: float
    secure: bool
    spread: Spread = field(repr=False)
    notes: tuple[str, ...] = ()

    def __float__(self) -> float:
        return self.value

    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        low, high = self.spread.interval(np.asarray(self.value), level)
        return float(low), float(high)


@dataclass(frozen=True, eq=False)
class Model:
    """Fitted to the reports of a study.

    `joint` solves for a table and `product` for one product query; an estimator provides both.
    """

    counts: Counts
    joint: Callable[[tuple[str, ...], int | None], Solution]
    product: Callable[[Query], Cell]
    method: str = ""  # filled in by the registry: the name of the estimator's file

    @property
    def study(self) -> Study:
        return self.counts.study

    def __repr__(self) -> str:
        return f"<Model {self.method!r} of {self.study.name!r}, n = {self.counts.n:,}>"

    def estimate(
        self, names: Iterable[str] | str, *, post: str = "raw", max_cells: int | None = None
    ) -> JointEstimate:
        """The joint table of some attributes, one axis for each in the order asked."""
        finish = step(post)
        attributes = self.study.schema.select(names)
        order = tuple(a.name for a in attributes)
        solution = self.joint(order, max_cells)
        return JointEstimate(
            attributes=attributes,
            probabilities=finish(solution.probabilities),
            unprocessed=solution.probabilities,
            spread=solution.spread,
            method=self.method,
            post=post,
            study=self.study,
            n=self.counts.n,
            secure=self.counts.secure,
            notes=solution.notes,
            backend=self.counts.backend,
        )

    def probability(self, query: Mapping[str, Any] | None = None, /, **values: Any) -> Probability:
        """The share of respondents with some values, over any number of attributes, no table.

        A value, or a collection of values that all count: `probability(sex="Male", age=["20",
        "30"])`. Names that are no identifiers go in a mapping.
        """
        asked = {**(query or {}), **values}
        if query and set(query) & set(values):
            raise QueryError("an attribute was asked for twice", "name each once")
        attributes = self.study.schema.select(asked)
        codes: dict[str, Any] = {}
        for attribute in attributes:
            wanted = asked[attribute.name]
            listed = wanted if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
            if not listed:
                raise QueryError(f"no value of {attribute.name!r} counts", "name at least one")
            found = sorted({attribute.code(value) for value in listed})
            codes[attribute.name] = np.array(found, dtype=np.intp)
        cell = self.product(codes)
        errors = float(cell.spread.errors)
        return Probability(cell.value, errors, self.counts.secure, cell.spread, cell.notes)
