"""Shares from the reports of different people, side by side: two waves, two studies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from castell.inference.intervals import Normal, Spread
from castell.inference.shares import Shares, Unbiased
from castell.linear.operators import Floats


@dataclass(frozen=True, eq=False)
class SideBySide:
    """The spreads of some shares and of some others, in this order."""

    one: Spread
    two: Spread
    first: int  # how many belong to the one

    @property
    def variance(self) -> Floats:
        return np.concatenate([self.one.variance, self.two.variance])

    @property
    def errors(self) -> Floats:
        return np.concatenate([self.one.errors, self.two.errors])

    def plain(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        k = self.first
        return _concatenate(self.one.plain(values[:k], level), self.two.plain(values[k:], level))

    def interval(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        k = self.first
        return _concatenate(
            self.one.interval(values[:k], level), self.two.interval(values[k:], level)
        )


def _concatenate(one: tuple[Floats, Floats], two: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return np.concatenate([one[0], two[0]]), np.concatenate([one[1], two[1]])


def everybody() -> Shares:
    """The share of all respondents: 1, for sure."""
    return Shares(np.ones(1), Normal(np.zeros(1)), (np.zeros((1, 1)),))


def independent(one: Shares, two: Shares) -> Shares:
    """Shares from the reports of different people, side by side: they do not err together."""
    k, m = len(one.values), len(two.values)

    def apart(first: Floats, second: Floats) -> Floats:
        whole = np.zeros((k + m, k + m))
        whole[:k, :k], whole[k:, k:] = first, second
        return whole

    unbiased = None
    if one.unbiased is not None or two.unbiased is not None:
        mine, other = _as_unbiased(one), _as_unbiased(two)
        if mine is not None and other is not None:
            unbiased = Unbiased(
                np.concatenate([mine.values, other.values]),
                apart(mine.covariance, other.covariance),
                0.0,
                _beside(mine.spread, other.spread, k),
            )
    return Shares(
        np.concatenate([one.values, two.values]),
        SideBySide(one.spread, two.spread, k),
        tuple(apart(c, d) for c in one.covariances for d in two.covariances),
        (*one.reasons, *(r for r in two.reasons if r not in one.reasons)),
        unbiased,
        impossible=tuple(
            flag
            for each, many in ((one, k), (two, m))
            for flag in (each.impossible or (False,) * many)
        ),
        # Welch's would be more: at least as many as of the one that has fewer.
        freedom=min(one.freedom, two.freedom),
    )


def _beside(one: Spread | None, two: Spread | None, first: int) -> Spread | None:
    return None if one is None or two is None else SideBySide(one, two, first)


def _as_unbiased(shares: Shares) -> Unbiased | None:
    """Shares with one covariance and no other estimate are taken as the unbiased ones."""
    if shares.unbiased is not None or len(shares.covariances) != 1:
        return shares.unbiased
    return Unbiased(shares.values, shares.covariances[0], shares.one_over_n, shares.spread)
