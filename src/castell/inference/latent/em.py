"""Expectation maximisation, over-relaxed: steps that lengthen while they raise the likelihood.

E-step: given a mixture, each report has responsibilities, how likely its respondent is in each
class and gave each answer. Added up over all reports they are all that an M-step needs. Reports of
any kind take part: `Statistics` and `CountedTable` are what they must tell.

Whoever listens is told what a fit is doing, a progress bar or the log. Folds and starts are fitted
together, in one batch, so it is told which choice is being made, how many fits that takes at once,
and how far their steps are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from castell.inference.latent.mixture import Mixture, normalise, sums_within
from castell.inference.latent.settings import SETTINGS
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


class Likelihood(Statistics, Protocol):
    """Reports of which some are likelier than others."""

    def report_probabilities(self, mixture: Mixture) -> Floats:
        """How likely each kind of report is."""
        ...

    def log_likelihood(self, probabilities: Floats) -> Floats:
        """Of what was counted, under given probabilities of each report."""
        ...


class CountedTable(Likelihood, HeldOutReports, Protocol):
    """Reports that were counted, in the order of their probabilities."""

    @property
    def counts(self) -> Floats: ...

    def with_counts(self, counts: Floats) -> CountedTable:
        """The same kind of reports, with other counts."""
        ...

    def of_members(self, members: NDArray[np.intp]) -> CountedTable: ...


def stack_tables(tables: Sequence[Sequence[CountedTable]]) -> list[CountedTable]:
    """The same tables of several sets of reports as one of each, for as many mixtures."""
    return [
        each[0].with_counts(np.stack([t.counts for t in each]))
        for each in zip(*tables, strict=True)
    ]


def logs(chances: Floats) -> Floats:
    return np.log(np.maximum(chances, 1e-300))


def composite_log_likelihood(mixture: Mixture, tables: Sequence[Likelihood]) -> float:
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
    sizes = tuple(mixture.sizes[a] for a in attributes)
    # One product with all values of all attributes: a sum over several axes takes far longer.
    sums: Floats = joint @ _has_value(sizes) if len(sizes) > 1 else joint
    done = 0
    for a, size in zip(attributes, sizes, strict=True):
        start = mixture.starts[a]
        values[..., start : start + size] += sums[..., done : done + size]
        done += size


@lru_cache(maxsize=256)
def _has_value(sizes: tuple[int, ...]) -> Floats:
    """Which combinations of some attributes have each value: 1 or 0, the values side by side."""
    codes = np.indices(sizes).reshape(len(sizes), -1)
    return np.concatenate(
        [np.eye(size)[code] for size, code in zip(sizes, codes, strict=True)], axis=1
    )


def m_step(expected: Expectation, before: Mixture) -> Mixture:
    """The mixture of the expected numbers: maximum likelihood, were they known."""
    return normalise(
        expected.classes + SETTINGS.least_share,
        expected.values + SETTINGS.least_share,
        before.sizes,
    )


def margins_step(expected: Expectation, before: Mixture) -> Mixture:
    """The same where only margins move, as all classes' shares of a value by one factor.

    A step of iterative scaling (Darroch and Ratcliff 1972) towards the expected numbers of each
    value: it never lowers the likelihood.
    """
    sums = sums_within(expected.values, before.sizes)
    present = (sums * before.profiles).sum(axis=-2, keepdims=True)
    factor = (expected.values.sum(axis=-2, keepdims=True) + SETTINGS.least_share) / (
        present + SETTINGS.least_share
    )
    profiles = np.maximum(before.profiles * factor, SETTINGS.least_share)
    return normalise(before.weights, profiles, before.sizes)


class OverRelaxedEM:
    """Over-relaxed EM (Salakhutdinov and Roweis 2003): theta' = theta (EM(theta) / theta)^eta.

    Plain EM crawls where noise is large. In logarithms shares stay positive; eta grows until a step
    lowers the likelihood. That step is taken back and the next is a plain one, which never does.
    Several mixtures (a leading axis) take their steps at once, each with an eta of its own.
    """

    def __init__(
        self,
        start: Mixture,
        statistics: Sequence[Statistics],
        maximise: Callable[[Expectation, Mixture], Mixture] = m_step,
    ) -> None:
        self.statistics = statistics
        self._maximise = maximise
        self._alone = start.weights.ndim == 1
        self._now = Mixture.stack([start]) if self._alone else start
        self._plain = self._now
        self._logs = np.full(len(self._now.weights), -np.inf)
        self._eta = np.ones(len(self._now.weights))

    @property
    def mixture(self) -> Mixture:
        """Where it is, as many as it started with."""
        return self._now.unstack()[0] if self._alone else self._now

    @property
    def log_likelihood(self) -> float:
        """Of the mixtures that the last step started from, together."""
        return float(self._logs.sum())

    def run(self, steps: int, what: str | None = None) -> Mixture:
        """Some steps, and where they lead; `what` is told while they are taken."""
        tell = None if what is None else begin(what)
        for step in range(1, steps + 1):
            self.step()
            if tell and (step % 10 == 0 or step == steps):
                tell(step / steps)
        return self.mixture

    def converge(self, most: int) -> Mixture:
        """Steps until one gains next to nothing, and where they lead."""
        for step in range(most):
            if self.step() < SETTINGS.converged and step > SETTINGS.first_steps:
                break
        return self.mixture

    def step(self) -> float:
        """One step; returns the most that the one before it gained in log-likelihood."""
        expected = e_step(self._now, self.statistics)
        lower = np.flatnonzero(expected.log_likelihood < self._logs)
        if len(lower):
            self._take_back(lower, expected)
        plain = self._maximise(expected, self._now)
        gained = float((expected.log_likelihood - self._logs).max())
        self._logs = expected.log_likelihood
        self._now, self._plain = _extrapolate(self._now, plain, self._eta), plain
        self._eta = np.minimum(self._eta * SETTINGS.relaxation_growth, SETTINGS.largest_relaxation)
        return gained

    def _take_back(self, members: NDArray[np.intp], expected: Expectation) -> None:
        """Go back to the plain step where a longer one lowered the likelihood."""
        weights, profiles = self._now.weights.copy(), self._now.profiles.copy()
        weights[members], profiles[members] = (
            self._plain.weights[members],
            self._plain.profiles[members],
        )
        self._now, self._eta[members] = Mixture(weights, profiles, self._now.sizes), 1.0
        again = Mixture(weights[members], profiles[members], self._now.sizes)
        found = e_step(again, [each.of_members(members) for each in self.statistics])
        expected.classes[members], expected.values[members] = found.classes, found.values
        expected.log_likelihood[members] = found.log_likelihood


def _extrapolate(old: Mixture, new: Mixture, eta: Floats) -> Mixture:
    further = (eta - 1.0)[:, None]
    weights = _power(new.weights / old.weights, further)
    weights *= new.weights
    ratio = np.maximum(old.profiles, SETTINGS.least_share)
    np.divide(new.profiles, ratio, out=ratio)
    np.maximum(ratio, 1.0 / SETTINGS.largest_ratio, out=ratio)
    np.minimum(ratio, SETTINGS.largest_ratio, out=ratio)
    profiles = _power(ratio, further[..., None])
    profiles *= np.maximum(new.profiles, SETTINGS.least_share)
    return normalise(
        np.maximum(weights, SETTINGS.least_share, out=weights),
        np.maximum(profiles, SETTINGS.least_share, out=profiles),
        old.sizes,
    )


def _power(positive: Floats, exponent: Floats) -> Floats:
    """In place. Several times faster than numpy's own power of arrays."""
    np.log(positive, out=positive)
    positive *= exponent
    return np.exp(positive, out=positive)


@dataclass
class EarlyStopping:
    """When the steps of one start end, by their cross-validated log-likelihood.

    The best of all looks is kept, so a fit that is stopped late costs time alone. It is stopped
    where it has not gained for long, and where it gains less and less and cannot reach its rival in
    the steps it has left, if it goes on gaining as it did in the second half of those it took.
    """

    most: int  # steps it may take
    rival: float = -np.inf  # the best of other starts, where one has left independence
    _peaks: list[tuple[int, float]] = field(default_factory=list)  # so far, by step
    _last: int = 0  # the step of the peak

    def is_over(self, step: int, log_likelihood: float) -> bool:
        """Whether to stop after this look; looks come in the order of their steps."""
        before = self._peaks[-1][1] if self._peaks else -np.inf
        if log_likelihood > before:
            self._last = step
        self._peaks.append((step, max(before, log_likelihood)))
        waited = step - self._last > max(SETTINGS.patience, self._last // 2)
        return waited or self._is_beaten(step)

    def _is_beaten(self, step: int) -> bool:
        # A start near independence may take some steps to leave it.
        if step < 2 * SETTINGS.patience or len(self._peaks) < 3:
            return False
        looks = (self._peaks[k] for k in (0, len(self._peaks) // 2, -1))
        (start, first), (half, then), (_, now) = looks
        before, since = (then - first) / (half - start), (now - then) / (step - half)
        return since <= before and now + since * (self.most - step) < self.rival


# -- what a fit is doing ---------------------------------------------------------------------------

_LOG = logging.getLogger(__name__)
Listener = Callable[[str, float], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """While this is open, `listener` hears what is done and which share of that is done."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def begin(what: str) -> Callable[[float], None]:
    """Say in the log that something begins; what comes back takes the share that is done."""
    _LOG.info("%s", what)
    listener = _LISTENER.get()
    if listener is None:
        return _nothing
    listener(what, 0.0)
    return lambda done: listener(what, done)


def _nothing(done: float) -> None:
    del done
