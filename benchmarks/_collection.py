"""One collection of reports: people drawn from a population whose truth is known, randomised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from castell import Reports, Study
from experiments.datasets.truth import Truth


@dataclass(frozen=True)
class Collection:
    """Whom to ask, how, at which total epsilon, how many, and the seed of it."""

    data: str
    design: str
    epsilon: float
    n: int
    seed: int

    def reports(self, truth: Truth, generator: np.random.Generator) -> Reports:
        """The reports of new respondents."""
        study = Study(truth.schema, self.epsilon, self.design)
        people = truth.respondents(self.n, generator)
        return study.randomize(people.frame(), seed=int(generator.integers(2**62)))
