"""SignDS: what a client tells of an update, as a sign, a set of parameters and one bit.

X. Jiang, X. Zhou and J. Grossklags, "SignDS-FL: Local Differentially Private Federated Learning
with Sign-based Dimension Selection", ACM TIST 2022.

**The set.** The sign is a fair coin, tossed before the update is looked at, and costs nothing. With
it the parameters are ranked, and the first `top` are the client's top ones. A set J of `sent` is
drawn by the exponential mechanism: Pr[J] is proportional to e^eps if at least `needed` of J are top
ones, and to 1 if not. How many J holds is drawn first, from counts of such sets, then J uniformly
among them. The normaliser depends on how many parameters are on top, not on which, so any J is at
most e^eps times likelier for one record than for another: eps-LDP exactly. `sent` and `needed`
follow from epsilon: most top parameters beyond chance for the noise they come with.

**The bit** is randomised response on whether the mean of the top parameters is below what the
server asks: twice its estimate as long as that grows (it doubles until most are below), then the
estimate itself, which is halved when most are below. Both need a majority clear of the noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, lgamma, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Floats

# So many are tried for `sent`, evenly on a logarithmic scale up to all that are on top.
_TRIED = 24
_CLEAR = 2.0  # standard errors


@dataclass(frozen=True, eq=False)
class Plan:
    """`chances[i]`: how likely a set is to hold i of the top parameters."""

    top: int
    sent: int
    needed: int
    chances: Floats

    @property
    def held(self) -> float:
        """How many top parameters a set has on average."""
        return float(self.chances @ np.arange(self.sent + 1))


@lru_cache(maxsize=256)
def plan(size: int, top: int, epsilon: float) -> Plan:
    """How many of `size` parameters to send at some epsilon."""
    tried = [
        Plan(top, sent, needed, chances(size, top, sent, needed, epsilon))
        for sent in sorted({round(top ** (k / _TRIED)) for k in range(_TRIED + 1)})
        for needed in sorted({max(1, round(share * sent)) for share in (0.3, 0.6, 1.0)})
    ]
    return max(tried, key=lambda p: (p.held - p.sent * top / size) / sqrt(p.sent))


def chances(size: int, top: int, sent: int, needed: int, epsilon: float) -> Floats:
    """How likely a set of `sent` parameters is to hold 0, 1, 2, ... of a client's top ones."""
    held = np.arange(sent + 1)
    weights = np.array(
        [_log_comb(top, i) + _log_comb(size - top, sent - i) for i in held]  # type: ignore[arg-type]
    )
    weights += np.where(held >= needed, epsilon, 0.0)
    likely = np.exp(weights - weights.max())
    return np.asarray(likely / likely.sum())


def _log_comb(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) if 0 <= k <= n else -np.inf


def signed_votes(
    wanted: Any, how: Plan, generator: np.random.Generator
) -> tuple[Floats, NDArray[np.floating[Any]]]:
    """For each parameter the signs of the clients that named it, and each client's magnitude."""
    clients, size = wanted.shape
    signs = generator.choice([-1.0, 1.0], clients)
    ranked = wanted * signs[:, None]
    order = np.argpartition(-ranked, how.top - 1, axis=1)
    sizes = np.take_along_axis(ranked, order[:, : how.top], axis=1).mean(axis=1)
    held = generator.choice(how.sent + 1, clients, p=how.chances)
    votes = np.zeros(size)
    for client, (row, count) in enumerate(zip(order, held, strict=True)):
        inside = generator.choice(row[: how.top], count, replace=False)
        outside = generator.choice(row[how.top :], how.sent - count, replace=False)
        votes[inside] += signs[client]
        votes[outside] += signs[client]
    return votes, sizes


def magnitude_bits(
    below: NDArray[np.bool_], epsilon: float, generator: np.random.Generator
) -> NDArray[np.bool_]:
    """What the clients send: their bit, or the other one with probability 1 / (e^eps + 1)."""
    flipped = generator.random(len(below)) < exp(-epsilon) / (1.0 + exp(-epsilon))
    return np.asarray(below ^ flipped)


@dataclass(frozen=True)
class Magnitude:
    """The server's estimate of how large the top parameters of an update are."""

    estimate: float = exp(-5.0)
    grows: bool = True

    @property
    def asked(self) -> float:
        """What clients compare theirs with."""
        return 2.0 * self.estimate if self.grows else self.estimate

    def after(self, told: NDArray[np.bool_], epsilon: float) -> Magnitude:
        """The estimate for the next round, from the bits that were sent."""
        kept = 1.0 / (1.0 + exp(-epsilon))
        share = (told.mean() - (1.0 - kept)) / (2.0 * kept - 1.0)
        clear = _CLEAR * sqrt(0.25 / len(told)) / (2.0 * kept - 1.0)
        if self.grows:
            if share > 0.5:
                return replace(self, grows=False)
            return replace(self, estimate=2.0 * self.estimate) if share < 0.5 - clear else self
        return replace(self, estimate=self.estimate / 2.0) if share > 0.5 + clear else self
