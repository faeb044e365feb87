"""The associations of a population as factors, and how much of each a model of n reports keeps.

With m_a the margin of attribute a and P_ab the table of two, A_ab = P_ab / sqrt(m_a m_b) -
sqrt(m_a m_b) holds how they are associated, every function of an attribute in units of its standard
deviation. A latent class model gives all A_ab at once the form sum_i lambda_i z_ia z_ib', a factor
for each class but one. Factors are found one after the other, each by least squares of what is left
of the A_ab.

A factor is told by all pairs at once. It takes as many numbers as its vector has free ones, d_i,
and its squared associations sum up to s_i over the pairs. With noise of variance v in each number
the best share to keep is

    c_i = s_i / (s_i + d_i v)                                       (James and Stein 1961),

and the log-likelihood of as many new reports then rises above that of independence by

    sum of (s_i (1 - (1 - c_i)^2) / v - d_i c_i^2) / 2.

A search that leaves independence for a certain gain only finds nothing below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np

from castell.inference.constants import LEAST_SHARE
from castell.inference.latent.settings import SETTINGS
from castell.linear.operators import Floats
from castell.planning.population import Population

# As many as a search through latent classes can find.
MOST = SETTINGS.classes[-1] - 1
# Those that tell less, in parts of all squared associations, are not worth finding.
_NEGLIGIBLE = 1e-4
# Rounds of least squares, and the change that ends them: numerical.
MOST_ROUNDS, CLOSE = 50, 1e-4


@dataclass(frozen=True, eq=False)
class Factors:
    """lambda z z' for each factor, the largest first; z has a part for every attribute."""

    sizes: Floats
    parts: Mapping[str, Floats]  # values x factors
    people: float  # who the population is known from

    @cached_property
    def masses(self) -> Mapping[str, Floats]:
        """How much of each vector is an attribute's."""
        return {name: np.asarray(np.sum(part**2, axis=0)) for name, part in self.parts.items()}

    @cached_property
    def dimensions(self) -> Floats:
        """How many numbers it takes to tell a factor, beside those before it."""
        free = sum(len(part) - 1 for part in self.parts.values())
        return np.asarray(np.maximum(free - np.arange(len(self.sizes)), 1.0))

    @cached_property
    def squares(self) -> Floats:
        """The squared associations that a factor stands for, of all pairs. People who are a sample
        show some where there are none."""
        own = np.sum([mass**2 for mass in self.masses.values()], axis=0)
        shown = self.sizes**2 * (1.0 - own) / 2.0
        return np.asarray(np.maximum(shown - self.dimensions / self.people, 0.0))

    def kept_shares(self, noise: Mapping[tuple[str, str], float]) -> Floats:
        """The share of each factor that a model keeps, `noise` being the variance of a standardised
        association's unbiased estimate, of some pairs."""
        if not noise or not self.squares.any():
            return np.zeros_like(self.sizes)
        weights = np.array([self.masses[a] * self.masses[b] + LEAST_SHARE for a, b in noise])
        mean = np.array(list(noise.values())) @ weights / weights.sum(axis=0)
        kept = self.squares / (self.squares + self.dimensions * mean)
        told = self.squares * (1.0 - (1.0 - kept) ** 2) / mean - self.dimensions * kept**2
        finds = float(np.sum(told)) / 2.0 > SETTINGS.least_gain
        return kept if finds else np.zeros_like(kept)


@lru_cache(maxsize=4)
def factors_of(population: Population) -> Factors:
    """Those of a population, kept for all designs that it is asked in."""
    names = population.schema.names
    roots = {n: np.sqrt(np.maximum(population.table([n]), LEAST_SHARE)) for n in names}
    ends = np.cumsum([0, *(len(root) for root in roots.values())])
    place = {name: slice(ends[k], ends[k + 1]) for k, name in enumerate(names)}
    left: Floats = np.zeros((ends[-1], ends[-1]))
    for one, two in combinations(names, 2):
        apart = np.outer(roots[one], roots[two])
        shown = population.table([one, two]) / apart - apart
        left[place[one], place[two]], left[place[two], place[one]] = shown, shown.T
    found = list(_factors(left, list(place.values())))
    vectors = np.reshape(found, (len(found), ends[-1])).T
    sizes = np.sum(vectors**2, axis=0)
    parts = {name: vectors[own] / np.sqrt(sizes) for name, own in place.items()}
    return Factors(sizes, parts, population.people)


def _factors(left: Floats, blocks: list[slice]) -> Iterator[Floats]:
    """sqrt(lambda) z, one after the other, as long as they tell something."""
    every = told = float(np.sum(left**2))
    for _ in range(MOST):
        sizes, vectors = np.linalg.eigh(left)
        if told <= _NEGLIGIBLE * every or sizes[-1] <= LEAST_SHARE:
            return
        factor = _least_squares(left, blocks, np.sqrt(sizes[-1]) * vectors[:, -1])
        after = left - np.outer(factor, factor)
        for block in blocks:
            after[block, block] = 0.0  # an attribute with itself is no association
        told, left = float(np.sum(left**2) - np.sum(after**2)), after
        yield factor


def _least_squares(left: Floats, blocks: list[slice], factor: Floats) -> Floats:
    """The vector whose products are nearest to what is left of each two attributes."""
    factor = factor.copy()
    for _ in range(MOST_ROUNDS):
        before = factor.copy()
        whole = float(factor @ factor)
        for block in blocks:
            others = whole - float(factor[block] @ factor[block])
            factor[block] = left[block] @ factor / max(others, LEAST_SHARE)
            whole = others + float(factor[block] @ factor[block])
        if np.sum((factor - before) ** 2) <= CLOSE**2 * whole:
            break
    return factor
