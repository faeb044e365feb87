"""Fitting a mixture to what reports say: expectation and maximisation, in lengthening strides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from castell.inference.latent.mixture import LEAST, Mixture, normalised
from castell.inference.latent.sufficient_statistics import Evidence

# How much longer the steps get while they lead upwards.
FASTER = 1.15
LONGEST = 8.0


def _step(mixture: Mixture, evidence: Sequence[Evidence]) -> tuple[Mixture, float]:
    """The next mixture, and how likely the reports are under this one."""
    found = [e.expect(mixture) for e in evidence]
    classes = np.sum([f.classes for f in found], axis=0)
    values = np.sum([f.values for f in found], axis=0) + LEAST
    next_one = normalised(classes + LEAST, values, mixture.sizes)
    return next_one, sum(f.log for f in found)


class Climb:
    """Expectation and maximisation with strides that lengthen while they lead upwards.

    Plain EM crawls where noise is large. Its steps are stretched, in logarithms so that shares stay
    positive, until one leads downwards; that one is taken back and the next is a plain one, which
    never does.
    """

    def __init__(self, start: Mixture, evidence: Sequence[Evidence]) -> None:
        self.evidence = evidence
        self.mixture = start
        self.log = -np.inf
        self._safe: Mixture | None = None
        self._stride = 1.0

    def up(self, steps: int) -> Mixture:
        """Some steps, and where they lead."""
        for _ in range(steps):
            self.step()
        return self.mixture

    def step(self) -> float:
        """One step; returns how much likelier the reports became by the one before."""
        plain, log = _step(self.mixture, self.evidence)
        if log < self.log and self._safe is not None:
            self.mixture, self._stride, self._safe = self._safe, 1.0, None
            plain, log = _step(self.mixture, self.evidence)
        gained = log - self.log
        self.log, self._safe = log, plain
        self.mixture = _stretched(self.mixture, plain, self._stride)
        self._stride = min(self._stride * FASTER, LONGEST)
        return gained


def _stretched(old: Mixture, new: Mixture, stride: float) -> Mixture:
    if stride == 1.0:
        return new
    weights = new.weights * (new.weights / old.weights) ** (stride - 1.0)
    ratio = np.clip(new.profiles / np.maximum(old.profiles, LEAST), 1e-3, 1e3)
    profiles = np.maximum(new.profiles, LEAST) * ratio ** (stride - 1.0)
    return normalised(np.maximum(weights, LEAST), np.maximum(profiles, LEAST), old.sizes)
