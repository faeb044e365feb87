"""The channel of a block by predicted variance.

What counts is how far one report moves the share of a cell that nobody is in: with chance `own` a
report is in the set of its own answer and with chance `others` in that of some other answer, so
each cell is estimated with variance others (1 - others) / (own - others)^2 for each report. k-ary
response is best where the answers are few against e^epsilon, and sets of reports elsewhere: for 240
answers they need an eighth of the reports at epsilon 2, and a twentieth at epsilon 1.
"""

from __future__ import annotations

from math import exp

from castell.channels.budget import asked_epsilon
from castell.channels.cyclic import CyclicResponse
from castell.channels.difference_sets import geometries, points, singer
from castell.channels.hadamard import HadamardResponse, hadamard_noise
from castell.channels.kary import KaryResponse
from castell.channels.protocol import MAX_TOTAL

# A gain of less than this is not worth a larger report.
WORTH = 1.02
# Sets are published with the study and added to on every device.
LONGEST_SET = 1 << 15
# From so many answers on, sets may be computed instead.
LARGE = 1 << 16


def noise(outputs: int, inside: int, shared: int, ratio: float) -> float:
    """The variance of an empty cell for each report, with sets of `inside` of `outputs` reports.

    >>> round(noise(240, 1, 0, exp(4.0)), 4), round(noise(2863, 54, 1, exp(4.0)), 4)
    (0.1019, 0.0753)
    """
    total = inside * ratio + outputs - inside
    own = inside * ratio / total
    others = (shared * ratio + inside - shared) / total
    return others * (1.0 - others) / (own - others) ** 2


def best_channel(
    size: int, epsilon: object, what: str = "epsilon"
) -> KaryResponse | CyclicResponse | HadamardResponse:
    """The channel with the least predicted variance for some answers and some epsilon.

    >>> best_channel(4, 2.0).outputs, best_channel(240, 2.0).outputs
    (4, 400)
    >>> best_channel(1_000_000, 4.0).kind
    'hadamard'
    """
    asked = asked_epsilon(epsilon, what)
    if size > MAX_TOTAL:
        # Refused there, for no weights are exact; nor are the numbers below.
        return KaryResponse.with_epsilon(size, asked, what)
    ratio = exp(float(asked))
    best, chosen = noise(size, 1, 0, ratio), None
    for prime, dimension in geometries(size):
        outputs = points(prime, dimension)
        inside, shared = points(prime, dimension - 1), points(prime, dimension - 2)
        predicted = noise(outputs, inside, shared, ratio)
        if inside <= LONGEST_SET and predicted * WORTH < best:
            best, chosen = predicted, (prime, dimension)
    if size >= LARGE and hadamard_noise(size, float(asked)) * WORTH < best:
        return HadamardResponse.with_epsilon(size, asked, what)
    if chosen is None:
        return KaryResponse.with_epsilon(size, asked, what)
    return CyclicResponse.with_epsilon(size, points(*chosen), singer(*chosen), asked, what)
