"""How much one report of a channel is expected to tell, and weights in proportion to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from castell.channels.lens import Lens
from castell.linear.operators import Floats


def predicted_variance(*lenses: Lens) -> float:
    """The variance of a cell for each report, on average over cells, if answers are uniform.

    Of several lenses, on parts of a report that are randomised apart, it is that of their product.
    """
    square, mean = 1.0, 1.0
    for inverse in (lens.inverse for lens in lenses):
        # Reports are about uniform when answers are; the mean square is then over all entries.
        even = np.full((inverse.columns, 1), 1.0 / inverse.columns)
        square *= float(inverse.power(2).turn(even).mean())
        mean /= inverse.rows
    return square - mean**2


def shares(variances: Sequence[float], reports: Sequence[float]) -> Floats:
    """Weights that sum to one, in proportion to what each block knows.

    >>> shares([1.0, 3.0], [100, 100])
    array([0.75, 0.25])
    """
    known = np.array(reports, dtype=np.float64) / np.array(variances)
    return np.asarray(known / known.sum())
