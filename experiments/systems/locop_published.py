"""LoCop on Bloom filters, as published: margins and pairs by Lasso, rows from a Gaussian copula.

T. Wang et al., "Locally private high-dimensional crowdsourced data release based on copula
functions", IEEE Transactions on Services Computing 2019. castell's own `locop` reads the study's
channels, which are less noisy; this reads what the original does.

**Budget.** That of the design "bloom": a randomised Bloom filter for each attribute, which share
epsilon in all.

**What is followed.** Lasso regression of the bits' counts on the filters of all values, and of all
pairs of values, with the settings of the authors' public code for LoPub (penalty 1/2, an intercept,
either sign); a correlation for every pair; the matrix made positive definite; rows sampled from the
copula. **Another way was taken** where `locop` says so: the correlation is that of the copula
nearest to the pair table, and values are taken in the order of the schema.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from castell import Study
from castell.counting import MemoryCounts
from castell.inference.bloom_filters import Filters
from castell.inference.copula import correlation, nearest_correlation, sample
from castell.inference.signed_lasso import candidates
from castell.linear.operators import Floats
from experiments.datasets.population import Population
from experiments.systems import Answer

LABEL = "locop, as published"
# It takes seconds: experiments repeat it no more often than this.
REPEATS = 3
# With a seed it answers the same on every machine, so a probe tells whether it still does.
PROBED = True
ROWS = 10_000  # at least


def answers(people: Population, epsilon: float, seed: int) -> Answer:
    """Collect Bloom filters from everybody, and count in rows of the copula."""
    study = Study(people.schema, epsilon=epsilon, design="bloom", name=people.name)
    reports = study.randomize(people.frame(), seed=seed)
    filters = Filters.of(MemoryCounts(reports))
    names = people.schema.names
    margins = [_shares(filters, (name,)) for name in names]
    matrix = np.eye(len(names))
    for i, j in combinations(range(len(names)), 2):
        table = _shares(filters, (names[i], names[j]))
        matrix[i, j] = matrix[j, i] = correlation(table, margins[i], margins[j])
    generator = np.random.default_rng([seed, 2019])
    rows = sample(margins, nearest_correlation(matrix), max(people.n, ROWS), generator)
    found = dict(zip(names, rows, strict=True))
    return Population(people.name, people.schema, found, people.note).table


def _shares(filters: Filters, names: tuple[str, ...]) -> Floats:
    sizes = [filters.matrices[name].shape[1] for name in names]
    return candidates(filters, names).table(sizes)
