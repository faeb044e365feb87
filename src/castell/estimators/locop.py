"""LoCop: synthetic rows from a Gaussian copula on private margins and pair dependence.

T. Wang et al., "Locally private high-dimensional crowdsourced data release based on copula
functions", IEEE Transactions on Services Computing 2019.

**Budget.** None of its own: it reads margins and pair tables, of whatever design, and spends what
the study states, the sum over its blocks. Post-processing costs nothing.

**What is followed.** One-way margins and two-way tables are estimated from the private reports, a
correlation for every pair is read off its table, the matrix is made positive definite, and rows
are sampled from the Gaussian copula with these margins. As in the original, tables of any width are
counted in the rows; with rectangle probabilities tables wider than three would need as much work.

**Where the source is silent, or another way was taken.**
- The original takes the margins and pair tables from Bloom filters by Lasso regression. Here they
  come from the study's own channels, inverted: unbiased, and with less noise at the same epsilon.
- Correlations of categories: Kendall's tau of tables with many ties understates them. Here it is
  the correlation whose copula, with these margins, is nearest to the pair table in squared error.
- A copula needs an order of the values; it is the order of the schema, which for attributes such as
  occupation means nothing. What such an order cannot express, the copula cannot either.
- The repair: negative eigenvalues become 1e-6 and the diagonal is scaled back to one.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np

from castell.counting import Counts
from castell.inference.copula import correlation, nearest_correlation, sample
from castell.inference.inversion import observe
from castell.inference.method import Fitted, Reads
from castell.inference.postprocess import simplex
from castell.inference.synthetic_rows import Rows, model, row_count

READS = Reads(sets=True)


def fit(counts: Counts, *, rows: int | None = None) -> Fitted:
    """`rows`, how many synthetic rows; as many as reports if None, but 10,000 at least."""
    return model(counts, partial(_learn, row_count(counts, rows)))


def _learn(rows: int, counts: Counts, replicate: int) -> Rows:
    names = counts.study.names
    margins = [simplex(observe(counts, [name]).invert()) for name in names]
    matrix = np.eye(len(names))
    for i, j in combinations(range(len(names)), 2):
        table = observe(counts, [names[i], names[j]]).invert()
        matrix[i, j] = matrix[j, i] = correlation(table, margins[i], margins[j])
    generator = np.random.default_rng([replicate, 2019])
    return dict(
        zip(names, sample(margins, nearest_correlation(matrix), rows, generator), strict=True)
    )
