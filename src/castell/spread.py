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
    if not isinstance(level, (int, float)) or not 0.0 < level < 1.0:
        raise OptionError(f"the level is {level!r}", "give one between 0 and 1, such as 0.95")
    return NormalDist().inv_cdf(0.5 + level / 2)


@dataclass(frozen=True, eq=False)
class Null:
    """The variance an estimate would have if the true share were t: base + rise t + bend t^2.

    A share lies between 0 and 1; beyond, the variance stays what it is there.
    """

    base: Floats
    rise: Floats
    bend: float


@dataclass(frozen=True, eq=False)
class Spread:
    """The variance of estimates and, where it is known, what it would be for any truth.

    Knowing that, an interval holds every truth that would not be surprised by the estimate, which
    is Wilson's idea for proportions. It stays honest in cells with next to no reports, where
    estimate +- z errors would cover far too seldom because the error itself is estimated from
    nothing. Where it is not known the interval is that plain one.

    >>> seen = np.array(0.01)  # one of a hundred
    >>> wilson = Spread(seen * 0.99 / 100, Null(np.array(0.0), np.array(1 / 100), -1 / 100))
    >>> [round(float(end), 4) for end in wilson.interval(seen, 0.95)]
    [0.0018, 0.0545]
    """

    variance: Floats
    null: Null | None = None

    @property
    def errors(self) -> Floats:
        return np.sqrt(self.variance)

    def interval(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        """The truths t with (values - t)^2 <= z^2 variance(t)."""
        z = quantile(level)
        if self.null is None:
            return values - z * self.errors, values + z * self.errors
        # Between 0 and 1 the ends are the roots of a t^2 - b t + c.
        a = 1.0 - z**2 * self.null.bend
        b = 2.0 * values + z**2 * self.null.rise
        c = values**2 - z**2 * self.null.base
        reach = np.sqrt(np.maximum(b**2 - 4.0 * a * c, 0.0))
        at_0 = z * np.sqrt(self.null.base)
        at_1 = z * np.sqrt(np.maximum(self.null.base + self.null.rise + self.null.bend, 0.0))
        low, high = (b - reach) / (2.0 * a), (b + reach) / (2.0 * a)
        low = np.where(values < at_0, values - at_0, low)
        low = np.where(values - at_1 > 1.0, values - at_1, low)
        high = np.where(values + at_1 > 1.0, values + at_1, high)
        high = np.where(values < -at_0, values + at_0, high)
        return low, high


SpreadOf = Callable[[tuple[str, ...]], Spread]
