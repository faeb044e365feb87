"""EM with over-relaxation: steps that lengthen while they raise the likelihood."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from castell.inference.latent.mixture import LEAST, Mixture, normalise
from castell.inference.latent.sufficient_statistics import Statistics

# The factor by which the relaxation grows with every step that raises the likelihood, and its most.
GROWTH = 1.15
LARGEST = 8.0


def em_step(mixture: Mixture, statistics: Sequence[Statistics]) -> tuple[Mixture, float]:
    """The E-step and the M-step: the next mixture, and the log-likelihood of this one."""
    found = [each.e_step(mixture) for each in statistics]
    classes = np.sum([f.classes for f in found], axis=0)
    values = np.sum([f.values for f in found], axis=0) + LEAST
    updated = normalise(classes + LEAST, values, mixture.sizes)
    return updated, sum(f.log_likelihood for f in found)


class OverRelaxedEM:
    """Over-relaxed EM (Salakhutdinov and Roweis 2003): theta' = theta (EM(theta) / theta)^eta.

    Plain EM crawls where noise is large. In logarithms shares stay positive; eta grows until a step
    lowers the likelihood. That step is taken back and the next is a plain one, which never does.
    """

    def __init__(self, start: Mixture, statistics: Sequence[Statistics]) -> None:
        self.statistics = statistics
        self.mixture = start
        self.log_likelihood = -np.inf
        self._plain: Mixture | None = None
        self._eta = 1.0

    def run(self, steps: int) -> Mixture:
        """Some steps, and where they lead."""
        for _ in range(steps):
            self.step()
        return self.mixture

    def step(self) -> float:
        """One step; returns what the one before it gained in log-likelihood."""
        plain, log = em_step(self.mixture, self.statistics)
        if log < self.log_likelihood and self._plain is not None:
            self.mixture, self._eta, self._plain = self._plain, 1.0, None
            plain, log = em_step(self.mixture, self.statistics)
        gained = log - self.log_likelihood
        self.log_likelihood, self._plain = log, plain
        self.mixture = _extrapolate(self.mixture, plain, self._eta)
        self._eta = min(self._eta * GROWTH, LARGEST)
        return gained


def _extrapolate(old: Mixture, new: Mixture, eta: float) -> Mixture:
    if eta == 1.0:
        return new
    weights = new.weights * (new.weights / old.weights) ** (eta - 1.0)
    ratio = np.clip(new.profiles / np.maximum(old.profiles, LEAST), 1e-3, 1e3)
    profiles = np.maximum(new.profiles, LEAST) * ratio ** (eta - 1.0)
    return normalise(np.maximum(weights, LEAST), np.maximum(profiles, LEAST), old.sizes)
