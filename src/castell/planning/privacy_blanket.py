"""The privacy of one report among many, when only the set of all reports is seen.

If m others sent a report of the background, the likelihood of the set under the one answer less
e^epsilon times that under the other is the sum over all m + 1 reports of W = u - e^epsilon v, over
m + 1. So delta = E[W_0; W_0 + W_1 + ... > 0] with W_i of everybody else 0 unless they sent the
background (Balle, Bell, Gascon and Nissim 2019). The distribution of the sum is a power of a
characteristic function.

Everything errs to one side. W is put on a lattice with its mean kept, which only spreads it, and
the expectation is that of a convex function of the sum. The tail is taken under an exponentially
tilted distribution, so that it is as exact as its bulk; what the transform's window leaves out
(Chernoff's bound) and what its arithmetic may err by are added to delta.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Floats
from castell.planning.likelihoods import Likelihoods

# Lattice points to a standard deviation, and up to how many people: a finer lattice takes longer.
# A coarser one spreads more, so the bound for many is never above the finer one's for fewer.
FINE, FINE_UP_TO, COARSE = 32, 1 << 15, 8
MIDDLE = 16  # where nothing has to be proved
# Values lie at most so many places from 0: higher ones make the lattice coarser, and lower ones are
# one, as a single such report decides.
_MOST_PLACES = float(1 << 16)
# A transform that would be longer is not worth its while: nothing is proved by it.
_MOST_REACH = 1 << 20
_SLOPES = (0.1, 0.3, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 14.0, 20.0)  # Chernoff's, to be tried
_OUTSIDE = 1e-15  # what the window may leave out
_VANISHES = 50.0  # e^-50 beside what the arithmetic errs by
_ROUNDING = 1e-15  # a generous unit of what the transform errs by, for each of its factors


class _Steps(NamedTuple):
    """W on the lattice: places that have some chance."""

    place: NDArray[np.int64]
    chance: Floats


def delta_of(pair: Likelihoods, n: int, epsilon: float) -> float:
    """The smallest delta that is proved at an epsilon, for n people in all."""
    alone = _alone(pair, epsilon)
    if n == 1 or alone == 0.0:
        return alone
    proved = [alone, _delta(pair, min(n, FINE_UP_TO), epsilon, FINE)]
    if n > FINE_UP_TO:
        proved.append(_delta(pair, n, epsilon, COARSE))
    return min(delta for delta in proved if delta is not None)


def delta_about(pair: Likelihoods, n: int, epsilon: float) -> float:
    """The same in less time and not rounded up; 0 where it would take too long."""
    alone = _alone(pair, epsilon)
    if n == 1 or alone == 0.0:
        return alone
    found = _delta(pair, n, epsilon, MIDDLE if n <= FINE_UP_TO else COARSE)
    return 0.0 if found is None else min(alone, found)


def _alone(pair: Likelihoods, epsilon: float) -> float:
    """Delta of a single report: others never make it worse."""
    return float(pair.chance @ np.maximum(pair.u - exp(epsilon) * pair.v, 0.0))


def _delta(pair: Likelihoods, n: int, epsilon: float, points: int) -> float | None:
    """With so many points of the lattice to a standard deviation, if it can be done."""
    unit = max(pair.spread / points, float(pair.u.max()) * FINE / (points * _MOST_PLACES))
    own = _on_lattice(pair, epsilon, unit)
    others = _one_other(own, pair.common)
    tilt = _tilt(others)
    power, tilted = _tilted_distribution(others, tilt)
    reach = _reach(tilted, n - 1)
    if reach > _MOST_REACH:
        return None
    after = _tail(tilted, n - 1, reach, tilt)
    # after[i] is the tail above i - reach; a sum above 0 needs the others above -place.
    found = np.clip(reach - own.place, 0, 2 * reach)
    inside = float(own.chance @ (own.place * after[found]))
    weight = own.chance * np.abs(own.place) * np.exp(tilt * own.place)
    beside = float(weight.sum()) * (2 * _OUTSIDE + _ROUNDING * (n + 64))
    return unit * exp((n - 1) * power) * (max(inside, 0.0) + beside)


def _on_lattice(pair: Likelihoods, epsilon: float, unit: float) -> _Steps:
    exact = np.maximum((pair.u - exp(epsilon) * pair.v) / unit, -_MOST_PLACES)
    low = np.floor(exact).astype(np.int64)
    upper = exact - low
    start, wide = int(low.min()), int(low.max() - low.min()) + 2
    chance = np.zeros(wide)
    chance += np.bincount(low - start, pair.chance * (1.0 - upper), wide)
    chance += np.bincount(low - start + 1, pair.chance * upper, wide)
    place = np.nonzero(chance)[0]
    return _Steps(place + start, chance[place])


def _one_other(own: _Steps, common: float) -> _Steps:
    """What somebody else adds: W if they sent the background, else nothing."""
    place = np.append(own.place, 0)
    chance = np.append(common * own.chance, 1.0 - common)
    order = np.argsort(place, kind="stable")
    order = order[chance[order] > 0.0]
    return _Steps(place[order], chance[order])


def _tilt(others: _Steps) -> float:
    """About where the tilted mean is 0, by bisection; 0 if it is not below 0 without."""
    place, chance = others.place.astype(np.float64), others.chance

    def mean(tilt: float) -> float:
        return float(chance * place @ np.exp(tilt * place))

    if mean(0.0) >= 0.0:
        return 0.0
    high = 1.0 / place[-1]
    while mean(high) < 0.0 and high * place[-1] < 300.0:
        high *= 2.0
    low = 0.0
    # Any tilt gives the same sum; near the best one it is the most exact.
    while high - low > 1e-3 * high:
        middle = (low + high) / 2.0
        low, high = (middle, high) if mean(middle) < 0.0 else (low, middle)
    return low


def _tilted_distribution(others: _Steps, tilt: float) -> tuple[float, _Steps]:
    """The logarithm of the moment generating function, and the tilted distribution."""
    weight = others.chance * np.exp(tilt * others.place)
    total, some = float(weight.sum()), weight > 0.0
    return log(total), _Steps(others.place[some], weight[some] / total)


def _reach(steps: _Steps, many: int) -> int:
    """How far from 0 the sum of many can be, but for a chance of `_OUTSIDE` on either side."""
    place, logs = steps.place.astype(np.float64), np.log(steps.chance)
    mean = float(steps.chance @ place)
    wide = sqrt(many * max(float(steps.chance @ (place - mean) ** 2), 1e-300))
    found = 0.0
    for side in (place, -place):
        bounds = [many * max(float(side.max()), 0.0)]
        slopes = [times / wide for times in _SLOPES]
        bounds += [(many * _log_sum(logs + s * side) - log(_OUTSIDE)) / s for s in slopes]
        found = max(found, min(bounds))
    return int(found) + 2


def _log_sum(logs: Floats) -> float:
    most = float(logs.max())
    return most + log(float(np.exp(logs - most).sum()))


def _tail(steps: _Steps, many: int, reach: int, tilt: float) -> Floats:
    """For i from 0 to 2 reach: the untilted chance that the sum is above i - reach.

    But for the factor of the moment generating function.
    """
    size = 1 << (2 * reach + 1).bit_length()
    wrapped = np.bincount(steps.place % size, steps.chance, size)
    waves = np.fft.rfft(wrapped)
    # Most of them vanish in the power, and a power of complex numbers takes its time.
    some = np.abs(waves) > exp(-_VANISHES / many)
    waves[~some] = 0.0
    waves[some] **= many
    chance = np.fft.irfft(waves, size)
    sums = np.arange(-reach, reach + 1)
    each = np.maximum(chance[sums % size], 0.0)
    # Where the factor would overflow nothing is asked for that has any chance.
    each = each * np.exp(np.minimum(-tilt * sums, 600.0))
    above = np.cumsum(each[::-1])[::-1]
    return np.append(above[1:], 0.0)
