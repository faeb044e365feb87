"""What is known of every respondent without a report: that their combination can occur.

A rule of the schema is as good as one more report of everybody, through a channel without noise:
"my answers are possible". Its likelihood keeps a mixture away from combinations that cannot occur,
while the reports say where else people are. It counts for no more respondents than the reports of
the rule's attributes are worth without noise, or for a part of that, or for nobody: with more, EM
may rather empty a value that rules are about than learn from noisy reports who has it. Which, the
likelihood of held-out reports decides, of reports alone. So the mixture does not quite get there;
`restricted` takes what is left away.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts, samples_with
from castell.inference.latent.em import CountedTable, Expectation, add_halves, logs
from castell.inference.latent.mixture import Mixture
from castell.inference.pooled_table import expected_variance
from castell.linear.operators import Floats


@dataclass(frozen=True, eq=False)
class PossibleTable:
    """So many people, all of them in the cells of some attributes where `possible` is 1."""

    attributes: tuple[int, ...]
    possible: Floats
    counts: Floats

    def with_counts(self, counts: Floats) -> PossibleTable:
        return replace(self, counts=counts)

    def of_members(self, members: NDArray[np.intp]) -> PossibleTable:
        return self if self.counts.ndim == 1 else self.with_counts(self.counts[members])

    def report_probabilities(self, mixture: Mixture) -> Floats:
        chances: Floats = self._joint(*mixture.halves(self.attributes)).sum(axis=(-2, -1))
        return chances[..., None]

    def _joint(self, left: Floats, right: Floats) -> Floats:
        """The chance of each combination that can occur; 0 for the others."""
        joint: Floats = left.swapaxes(-1, -2) @ right
        return joint * self.possible.reshape(joint.shape[-2:])

    def log_likelihood(self, probabilities: Floats) -> Floats:
        return np.asarray((self.counts * logs(probabilities)).sum(axis=-1))

    def log_likelihood_between(
        self, attribute: int, low: Mixture, high: Mixture, shares: Floats
    ) -> Floats:
        if attribute not in self.attributes:
            return np.zeros(len(shares))
        ends = [self.report_probabilities(mixture) for mixture in (low, high)]
        between = ends[0] + shares[:, None] * (ends[1] - ends[0])
        return np.asarray(logs(between) @ self.counts)

    def add_expectation(self, mixture: Mixture, total: Expectation) -> None:
        left, right = mixture.halves(self.attributes)
        joint = self._joint(left, right)
        chance = joint.sum(axis=(-2, -1))[..., None]
        people = self.counts / np.maximum(chance, 1e-300)
        factor = self.possible.reshape(joint.shape[-2:]) * people[..., None]
        add_halves(mixture, self.attributes, left, right, factor, total)
        total.log_likelihood += self.log_likelihood(chance)


def possible_tables(counts: Counts, weight: float = 1.0) -> list[CountedTable]:
    """What the schema says of everybody who reported, a table for each set of attributes.

    Each counts for a part of what the reports of its attributes are worth.
    """
    study = counts.study
    if not weight:
        return []
    return [
        PossibleTable(
            tuple(study.names.index(name) for name in factor.names),
            factor.values.ravel(),
            np.array([weight * min(worth_without_noise(counts, name) for name in factor.names)]),
        )
        for factor in study.schema.impossible.factors
    ]


def worth_without_noise(counts: Counts, name: str) -> float:
    """How many respondents without noise tell as much of an attribute as the reports do.

    The variance of a share of 1 / k among them, over that of the reports' unbiased estimate if
    answers are uniform.
    """
    if not any(sample.n for sample in samples_with(counts, [name])):
        return 0.0
    share = 1.0 / counts.study.schema[name].size
    return min(share * (1.0 - share) / expected_variance(counts, [name]), float(counts.n))
