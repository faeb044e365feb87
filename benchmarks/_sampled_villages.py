"""A sample that is not simple: villages of people alike, in strata, one of them sampled more.

The rows of a population are sorted by an attribute with some noise and cut into villages of twenty;
villages are cut into four strata of unequal sizes. From each stratum as many villages are drawn,
with replacement, so that people of small strata are in the sample more often than others and count
for less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Floats
from experiments.datasets.population import Population

_VILLAGE = 20
_STRATA = (0.1, 0.2, 0.3, 0.4)
# Neighbours are alike: the order is by an attribute's values, plus this much noise in ranks.
_MIXED = 0.5


@dataclass(frozen=True, eq=False)
class Villages:
    """For each village its people's rows; villages are numbered stratum by stratum."""

    people: Population
    rows: NDArray[np.intp]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, people: Population) -> Villages:
        generator = np.random.default_rng(4)
        first = max(people.schema, key=lambda attribute: attribute.size).name
        ranks = np.argsort(np.argsort(people.codes[first], kind="stable")) / people.n
        order = np.argsort(ranks + _MIXED * generator.random(people.n))
        many = people.n // _VILLAGE
        rows = order[: many * _VILLAGE].reshape(many, _VILLAGE)
        ends = np.rint(np.cumsum(_STRATA) * many).astype(int)
        chosen = people.take(rows.ravel())
        return cls(chosen, np.arange(rows.size).reshape(rows.shape), (0, *ends.tolist()))

    def sample(
        self, n: int, generator: np.random.Generator
    ) -> tuple[NDArray[np.intp], Floats, NDArray[np.intp], NDArray[np.intp]]:
        """About n rows, their weights, strata and villages."""
        strata = len(_STRATA)
        each = n // (_VILLAGE * strata)
        spans = list(zip(self.ends, self.ends[1:], strict=False))
        drawn = [generator.integers(low, high, each) for low, high in spans]
        rows = self.rows[np.concatenate(drawn)].ravel()
        sizes = np.array([high - low for low, high in spans], dtype=np.float64)
        people = each * _VILLAGE
        weights = np.repeat(sizes * _VILLAGE / people, people)
        return rows, weights, np.repeat(np.arange(strata), people), _numbered(each * strata)


def _numbered(villages: int) -> NDArray[np.intp]:
    return np.repeat(np.arange(villages), _VILLAGE)
