"""What an estimator returns: reports that were fitted, and how to answer from them.

`results.Model` puts the questions of people to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from castell.counting import Counts
from castell.inference.intervals import SpreadOf
from castell.inference.inversion import Query
from castell.inference.reasons import Reason
from castell.inference.shares import Shares
from castell.inference.support import Support, support
from castell.linear.operators import Floats


@dataclass(frozen=True, eq=False)
class Solution:
    """A table of probabilities in the order asked.

    `spread` tells how far each cell of any marginal of it may be off, by the marginal's names.
    """

    probabilities: Floats
    spread: SpreadOf
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, eq=False)
class Fitted:
    """Fitted to reports: `joint` solves for a table, `shares` for some product queries."""

    counts: Counts
    joint: Callable[[tuple[str, ...], int | None], Solution]
    shares: Callable[[Sequence[Query]], Shares]
    # Whether its tables are the unbiased ones, so that there is no model to be wrong.
    unbiased: bool = False
    # Codes of so many synthetic people, a column for each attribute asked for, where the method
    # has a model to draw them from; without one they are drawn from its table.
    sample: Callable[[tuple[str, ...], int, Generator], Sequence[NDArray[np.intp]]] | None = None

    def support(self, names: Sequence[str]) -> Support:
        """How many reports stand behind a question about some attributes."""
        return support(self.counts, names)
