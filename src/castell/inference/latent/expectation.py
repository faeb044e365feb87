"""The E-step: what reports of any kind must tell for it, added up.

Given a mixture, each report has responsibilities: how likely its respondent is in each class and
gave each answer. Added up over all reports they are all that an M-step needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from castell.inference.latent.mixture import Mixture
from castell.linear.operators import Floats


@dataclass(eq=False)
class Expectation:
    """Expected numbers of people in each class, and of these with each value, given the reports.

    With a leading axis where there are several mixtures. Statistics add to it one after the other.
    """

    classes: Floats
    values: Floats
    log_likelihood: Floats

    @classmethod
    def nothing(cls, mixture: Mixture) -> Expectation:
        """Before any report was read."""
        lead = mixture.weights.shape[:-1]
        return cls(np.zeros_like(mixture.weights), np.zeros_like(mixture.profiles), np.zeros(lead))


class Statistics(Protocol):
    """Reports, as far as an E-step needs them: the same for several mixtures, or some for each."""

    def add_expectation(self, mixture: Mixture, total: Expectation) -> None:
        """Add the responsibilities, summed over reports, and the mixture's log-likelihood."""
        ...

    def of_members(self, members: NDArray[np.intp]) -> Statistics:
        """Those of some of several mixtures."""
        ...


class HeldOutReports(Protocol):
    """Reports, as far as a choice between mixtures needs them."""

    def log_likelihood_between(
        self, attribute: int, low: Mixture, high: Mixture, shares: Floats
    ) -> Floats:
        """The log-likelihood, up to a constant, where the probabilities of reports are interpolated
        between those of two mixtures that differ in one attribute."""
        ...


def e_step(mixture: Mixture, statistics: Sequence[Statistics]) -> Expectation:
    """Responsibilities added up over all reports, and the (composite) log-likelihood."""
    total = Expectation.nothing(mixture)
    for each in statistics:
        each.add_expectation(mixture, total)
    return total


class CountedTable(Statistics, HeldOutReports, Protocol):
    """Reports that were counted."""

    @property
    def counts(self) -> Floats: ...

    def with_counts(self, counts: Floats) -> CountedTable:
        """The same kind of reports, with other counts."""
        ...

    def of_members(self, members: NDArray[np.intp]) -> CountedTable: ...

    def report_probabilities(self, mixture: Mixture) -> Floats:
        """How likely each report is, as `counts` has them."""
        ...

    def log_likelihood(self, probabilities: Floats) -> Floats:
        """Of what was counted, under given probabilities of each report."""
        ...


def stack_tables(tables: Sequence[Sequence[CountedTable]]) -> list[CountedTable]:
    """The same tables of several sets of reports as one of each, for as many mixtures."""
    return [
        each[0].with_counts(np.stack([t.counts for t in each]))
        for each in zip(*tables, strict=True)
    ]


def logs(chances: Floats) -> Floats:
    return np.log(np.maximum(chances, 1e-300))


def composite_log_likelihood(mixture: Mixture, tables: Sequence[CountedTable]) -> float:
    """The sum over tables, composite where the same reports stand in several of them, and over
    several mixtures."""
    found = (table.log_likelihood(table.report_probabilities(mixture)) for table in tables)
    return float(sum(each.sum() for each in found))


def add_halves(
    mixture: Mixture,
    attributes: Sequence[int],
    left: Floats,
    right: Floats,
    factor: Floats,
    total: Expectation,
) -> None:
    """Add the expected numbers of combinations, each chance times a factor, by attribute."""
    one: Floats = left * (right @ factor.swapaxes(-1, -2))
    two: Floats = right * (left @ factor)
    total.classes += one.sum(axis=-1)
    cut = mixture.cut(attributes)
    add_by_attribute(mixture, attributes[:cut], one, total.values)
    add_by_attribute(mixture, attributes[cut:], two, total.values)


def add_by_attribute(
    mixture: Mixture, attributes: Sequence[int], joint: Floats, values: Floats
) -> None:
    """Add how many have each value, from how many have each combination, of some attributes."""
    sizes = [mixture.sizes[a] for a in attributes]
    lead, starts = joint.ndim - 1, mixture.starts
    cells = joint.reshape(*joint.shape[:-1], *sizes)
    for i, a in enumerate(attributes):
        others = tuple(lead + k for k in range(len(sizes)) if k != i)
        values[..., starts[a] : starts[a + 1]] += cells.sum(axis=others) if others else cells
