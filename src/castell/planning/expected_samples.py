"""Samples of drawn designs before anybody draws: what those that hold some attributes will tell.

There may be hundreds of them. Some stand for all, and how much all of them know is worked out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from castell.channels.protocol import predicted_variance
from castell.counting import Counts, samples_of
from castell.errors import QueryError
from castell.inference.intervals import Normal
from castell.inference.inversion import Observed, observe, parts_of
from castell.inference.latent.cross_fit_error import evenly
from castell.inference.products import product_variance

# Tables whose expected reports are kept, and samples that stand for all that hold a table.
_KEPT = 256
SOME_SAMPLES = 8
# Of larger samples, what an estimate's own variance takes off does not matter.
_FEW = 50


@dataclass(frozen=True, eq=False)
class Seen:
    """The samples that hold some attributes: the chance to be in one of them, what a report is
    expected to know, and of some that stand for all what one report leaves open and its view."""

    chance: float
    known: float
    some: tuple[tuple[float, Observed], ...]


@dataclass(frozen=True, eq=False)
class ExpectedSamples:
    """The samples of a design, from so many expected reports that rounding does not matter."""

    many: Counts
    _seen: dict[tuple[str, ...], Seen] = field(default_factory=dict)
    _open: dict[tuple[Any, ...], float] = field(default_factory=dict)

    @cached_property
    def _samples(self) -> list[Counts]:
        return list(samples_of(self.many))

    @property
    def are_several(self) -> bool:
        """Whether respondents report different things."""
        return len(self._samples) > 1

    def expected_views(self, names: tuple[str, ...]) -> Seen:
        """The expected reports of each sample that holds some attributes, or of some that stand
        for all. Kept, as inverses of large blocks take their time."""
        if names not in self._seen:
            if len(self._seen) >= _KEPT:
                self._seen.clear()
            holding = [s for s in self._samples if set(names) <= set(s.study.names)]
            shares = [sample.n / self.many.n for sample in holding]
            opens = [self._left_open(sample, names) for sample in holding]
            known = sum(share / left for share, left in zip(shares, opens, strict=True))
            order = sorted(range(len(holding)), key=opens.__getitem__)
            some = [(opens[i], observe(holding[i], names)) for i in evenly(order, SOME_SAMPLES)]
            self._seen[names] = Seen(sum(shares), known, tuple(some))
        return self._seen[names]

    def _left_open(self, sample: Counts, names: tuple[str, ...]) -> float:
        """What a report of a sample leaves open of some attributes; with channels to which all
        answers are alike, the same for all samples whose attributes have as many values."""
        study, blocks = sample.study, sample.study.design.blocks
        sizes = sorted((a.size, a.name in names) for a in study.schema)
        channel = blocks[0].channel
        key = (tuple(sizes), channel.kind, channel.outputs, channel.exact_epsilon)
        alike = len(blocks) == 1 and channel.treats_alike
        if not alike or key not in self._open:
            self._open[key] = predicted_variance(*(p.lens for p in parts_of(study, names)))
        return self._open[key]

    def views(self, names: tuple[str, ...], n: int) -> tuple[tuple[float, Observed], ...]:
        """What some of n reports are expected to be, sample by sample, and weights whose squares
        are those of an average over all samples that hold the attributes."""
        found = self.expected_views(names)
        if n * found.chance < 1.0:
            raise QueryError(
                f"nobody is expected to report {', '.join(names)} together", "ask more people"
            )
        if not self.are_several:
            return tuple((1.0, _with(view, n)) for _, view in found.some)
        expected = [n * view.n / self.many.n for _, view in found.some]
        known = [e / left for e, (left, _) in zip(expected, found.some, strict=True)]
        # Samples are weighted by what they know. Those here have a mean error for what one knows,
        # which is that of all samples; how much all of them know is known.
        scale = sqrt(sum(known) * n * found.known)
        # How many draw a set varies. A sample counts by how many it has, and so is, on average,
        # one of a person more than expected; all together are as many as expected.
        many = [round(e + 1.0) for e in expected]
        return tuple(
            (k / scale * sqrt(n_sample / e), _with(view, n_sample))
            for k, n_sample, e, (_, view) in zip(known, many, expected, found.some, strict=True)
        )


def _with(view: Observed, n: int) -> Observed:
    """The same expected of so many reports."""
    return view.replace(view.table * (n / view.n))


def shown_by_small_samples(views: Sequence[tuple[float, Observed]], spread: Normal) -> Normal:
    """The spread that samples will show: a variance is a mean square less the square of an
    estimate, and that square is on average too large by the estimate's own variance.

    Variances are read from smoothed reports, in which the estimate has the weight n / (n + sqrt n).
    """
    less: Any = 0.0
    for weight, view in views:
        if view.n <= _FEW:
            kept = view.n / (view.n + sqrt(view.n))
            less += (
                (weight * kept) ** 2 * product_variance(view, [view.names], "population") / view.n
            )
    return replace(spread, variance=np.maximum(spread.variance - less, 0.0))
