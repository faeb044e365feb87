"""How far estimates may be off: variances, and the intervals made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from castell.errors import OptionError
from castell.operators import Floats


def quantile(level: float) -> float:
    """How many standard errors an interval of some level reaches to each side.

    >>> round(quantile(0.95), 6)
    1.959964
    """
    # The largest float below 1 is between 0 and 1, and its half plus a half is not below 1.
    known = isinstance(level, (int, float, np.floating))
    if not known or not 0.0 < level < 0.5 + float(level) / 2 < 1.0:
        raise OptionError(f"the level is {level!r}", "give one between 0 and 1, such as 0.95")
    return NormalDist().inv_cdf(0.5 + float(level) / 2)


@dataclass(frozen=True, eq=False)
class Spread:
    """The variance of estimates, and how it goes along with them.

    An estimate and the estimate of its variance err together: in a cell that happened to get few
    reports both are low. If the truth is d above the estimate, the variance is better guessed as
    `variance` + `slope` d + `bend` d^2. Knowing that, an interval holds every truth that would not
    be surprised by the estimate, which is Wilson's idea for proportions. It stays honest in cells
    with next to no reports, where estimate +- z errors would cover far too seldom. With slope and
    bend 0 it is that plain interval.

    >>> one_of_a_hundred = Spread(np.array(0.01 * 0.99 / 100), np.array(0.98 / 100), -1 / 100)
    >>> ends = one_of_a_hundred.interval(np.array(0.01), 0.95)
    >>> [round(float(end), 4) for end in ends]  # Wilson's
    [0.0018, 0.0545]
    """

    variance: Floats
    slope: Floats | float = 0.0
    bend: float = 0.0

    @property
    def errors(self) -> Floats:
        return np.sqrt(self.variance)

    def interval(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        """Where d^2 = z^2 (variance + slope d + bend d^2), d being truth less estimate."""
        square = quantile(level) ** 2
        scale = 1.0 - square * self.bend
        middle = square * np.asarray(self.slope) / 2
        reach = np.sqrt(middle**2 + scale * square * self.variance)
        return values + (middle - reach) / scale, values + (middle + reach) / scale


SpreadOf = Callable[[tuple[str, ...]], Spread]
