"""How a report of one answer and of another look against a background: what a shuffle hides in.

Everybody's report is, with some chance, one that has nothing to do with the answer: the smallest
weight of each report over all answers is common to all rows of a channel (its *privacy blanket*).
Against this background a report y has two likelihood ratios, u of the one answer and v of the
other. Their distribution under the background is all that a bound for shuffled reports needs.

Pairs of ratios are compared by the convex order of A u - B v for all A, B >= 0, which products and
draws of blocks keep. Where a column of a channel has two different weights, two answers that differ
are above two that agree: moving chance from (high, high) and (low, low) to (high, low) and
(low, high) leaves means alone and spreads A u - B v. By the same argument `dominating` is above
every pair of answers of a channel. docs/methods.md has the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product as all_of
from math import exp, prod

import numpy as np
from numpy.typing import NDArray

from castell.channels import BloomResponse, Channel, KaryResponse
from castell.channels.budget import rounded_up
from castell.channels.worst_pair import WorstPair
from castell.linear.operators import Floats
from castell.study.design import Design

# Pairs of answers that are looked at one by one; more are replaced by one that is worse than each.
MOST_PAIRS = 400
# Of a matrix with more answers no worst pair is looked for.
_MOST_ANSWERS = 64
# Steps of the logarithmic lattice on which ratios of several blocks are multiplied.
STEPS = 256


@dataclass(frozen=True, eq=False)
class Likelihoods:
    """Under a background of which every report comes with chance `common` at least.

    `u` and `v` are the ratios of the two answers, `chance` how likely the background has them.
    """

    common: float
    u: Floats
    v: Floats
    chance: Floats

    @property
    def spread(self) -> float:
        """The standard deviation of u - v: how far apart the two answers are."""
        return float(np.sqrt(self.chance @ (self.u - self.v) ** 2))


def _of_pair(pair: WorstPair) -> Likelihoods:
    low, high = pair.common, pair.common * pair.ratio
    rest = max(0.0, 1.0 - pair.both - 2.0 * pair.one)
    u, v = np.array([high, high, low, low]), np.array([high, low, high, low])
    chance = np.array([pair.both, pair.one, pair.one, rest])
    return Likelihoods(pair.common, u[chance > 0], v[chance > 0], chance[chance > 0])


def dominating(common: float, ratio: float) -> Likelihoods:
    """What is above every pair of answers of any channel with this blanket and largest ratio."""
    high = min(1.0, (1.0 - common) / (common * (ratio - 1.0)))  # how often a ratio is high
    one = min(high, 1.0 - high)
    return _of_pair(WorstPair(common, ratio, high - one, one))


def of_channel(channel: Channel, *, agree: bool) -> list[Likelihoods]:
    """The pairs of answers of a channel, of which some one is worst.

    `agree` adds pairs of equal answers, where they may be worse in one block of several.
    """
    if channel.coarse is not None:
        return of_channel(channel.coarse.inner, agree=agree)
    if channel.worst_pair is not None:
        return [_of_pair(channel.worst_pair)]
    if isinstance(channel, BloomResponse):
        return [_of_filter(channel)]
    if channel.blanket is not None and channel.inputs > _MOST_ANSWERS:
        return [dominating(channel.blanket, exp(rounded_up(channel.exact_epsilon)))]
    return _of_weights(np.array(channel.weights(), dtype=np.float64), agree=agree)


def _of_filter(channel: BloomResponse) -> Likelihoods:
    """Bits that are the same in all filters say nothing; each other one is a block of its own."""
    common, ratio = 2.0 * channel.other / channel.total, channel.same / channel.other
    bits = channel.matrix.sum(axis=1)
    telling = int(((bits > 0) & (bits < channel.inputs)).sum())
    differs = _of_pair(WorstPair(common, ratio, 0.0, 0.5))
    agrees = _of_pair(WorstPair(common, ratio, 0.5, 0.0))
    apart = channel.distance
    return product([differs] * apart + [agrees] * (telling - apart))


def _of_weights(weights: Floats, *, agree: bool) -> list[Likelihoods]:
    least = weights.min(axis=0)
    common, rows = float(least.sum() / weights[0].sum()), len(weights)
    ratio = float((weights.max(axis=0) / least).max())
    pairs = [(i, j) for i in range(rows) for j in range(rows) if i != j or agree]
    if len(pairs) > MOST_PAIRS:
        return [dominating(common, ratio)]
    found, chance = {}, least / least.sum()
    for i, j in pairs:
        u, v = common * weights[i] / least, common * weights[j] / least
        order = np.lexsort((chance, v, u))
        key = np.concatenate([u[order], v[order], chance[order]]).tobytes()
        found[key] = Likelihoods(common, u, v, chance)
    return list(found.values())


def of_design(design: Design) -> list[Likelihoods]:
    """The pairs of whole sets of answers, of which some one is worst."""
    several = len(design.hidden) > 1
    each = [of_channel(block.channel, agree=several) for block in design.hidden]
    if prod(map(len, each)) > MOST_PAIRS:
        each = [pairs if len(pairs) == 1 else [_above(pairs)] for pairs in each]
    return [_of_report(design, pairs) for pairs in all_of(*each)]


def _of_report(design: Design, each: Sequence[Likelihoods]) -> Likelihoods:
    """Of a whole report from those of the blocks: a draw of a sample, all of which is reported."""
    together = [product([each[place] for place in sample]) for sample in design.hidden_samples]
    return mixture(together, design.weights)


def _above(pairs: Sequence[Likelihoods]) -> Likelihoods:
    common = pairs[0].common
    return dominating(common, max(float(pair.u.max()) for pair in pairs) / common)


def if_all_answer_alike(design: Design) -> list[Likelihoods]:
    """Two answers against a data set in which all others gave one answer: no bound is below it.

    The others' answer is neither of the two where k-ary response has three or more values, else
    one of them.
    """
    each = [_against_one_answer(block.channel) for block in design.hidden]
    found = _of_report(design, each)
    return [found, replace(found, u=found.v, v=found.u)]


def _against_one_answer(channel: Channel) -> Likelihoods:
    if channel.coarse is not None:
        return _against_one_answer(channel.coarse.inner)
    if isinstance(channel, KaryResponse) and channel.size > 2:
        most, rest = channel.same / channel.other, channel.other / channel.total
        u, v = np.array([most, 1.0, 1.0 / most, 1.0]), np.array([1.0, most, 1.0 / most, 1.0])
        chance = rest * np.array([1.0, 1.0, most, channel.size - 3.0])
        return Likelihoods(1.0, u, v, chance)
    small = channel.has_matrix and channel.inputs <= _MOST_ANSWERS
    if small and channel.worst_pair is None:
        weights = np.array(channel.weights(), dtype=np.float64)
        return _farthest(weights / weights[0].sum())
    (against, *_) = of_channel(channel, agree=False)
    # Told by the second answer instead of the blanket.
    return Likelihoods(
        1.0, against.u / against.v, np.ones_like(against.v), against.chance * against.v
    )


def _farthest(rows: Floats) -> Likelihoods:
    """The two answers that are farthest apart (chi-square) against one that all others gave."""
    gaps = (rows[:, None, :] - rows[None, :, :]) ** 2
    apart = np.einsum("ijy,zy->ijz", gaps, 1.0 / rows)
    one, two, other = np.unravel_index(int(apart.argmax()), apart.shape)
    return Likelihoods(1.0, rows[one] / rows[other], rows[two] / rows[other], rows[other])


def mixture(each: Sequence[Likelihoods], weights: Sequence[int]) -> Likelihoods:
    """One sample of several, drawn before the answers are known; the report says which."""
    if len(each) == 1:
        return each[0]
    drawn = np.array(weights, dtype=np.float64) / sum(weights)
    common = float(sum(w * one.common for w, one in zip(drawn, each, strict=True)))
    pairs = list(zip(drawn, each, strict=True))
    return Likelihoods(
        common,
        np.concatenate([common / one.common * one.u for _, one in pairs]),
        np.concatenate([common / one.common * one.v for _, one in pairs]),
        np.concatenate([w * one.common / common * one.chance for w, one in pairs]),
    )


def product(each: Sequence[Likelihoods]) -> Likelihoods:
    """Blocks that are reported together: ratios multiply.

    Ratios are put on a logarithmic lattice first, on which a product is a sum of places. One that
    lies between two places is spread over both with its mean kept, which errs towards privacy.
    """
    if len(each) == 1:
        return each[0]
    step = _lattice_step(each)
    table, unit = np.ones((1, 1)), 1.0
    for one in each:
        least = min(one.u.min(), one.v.min())
        unit *= float(least)
        places = zip(_places(one.u / least, step), _places(one.v / least, step), strict=True)
        (low_u, low_v), (upper_u, upper_v) = places
        high, wide = table.shape
        wider = np.zeros((high + int(low_u.max()) + 1, wide + int(low_v.max()) + 1))
        for i, j in all_of((0, 1), (0, 1)):
            share = (upper_u if i else 1.0 - upper_u) * (upper_v if j else 1.0 - upper_v)
            for a, b, weight in zip(low_u + i, low_v + j, one.chance * share, strict=True):
                if weight > 0.0:
                    wider[a : a + high, b : b + wide] += weight * table
        table = wider
    found = np.nonzero(table)
    ratios = [unit * np.exp(step * places) for places in found]
    return Likelihoods(prod(one.common for one in each), ratios[0], ratios[1], table[found])


def _lattice_step(each: Sequence[Likelihoods]) -> float:
    """One step for blocks with two weights of one ratio, where nothing has to be spread."""
    logs = [np.log(np.concatenate([one.u, one.v])) for one in each]
    logs = [ratios - ratios.min() for ratios in logs]
    most = max(float(ratios.max()) for ratios in logs)
    on_ends = all(np.minimum(ratios, most - ratios).max() < 1e-12 * most for ratios in logs)
    return most if on_ends else sum(float(ratios.max()) for ratios in logs) / STEPS


def _places(ratio: Floats, step: float) -> tuple[NDArray[np.intp], Floats]:
    """The place at or below each ratio from 1 up, and the share of the place above it."""
    exact = np.log(ratio) / step
    low = np.maximum(np.floor(exact + 1e-9), 0.0)
    upper = np.clip(np.expm1((exact - low) * step) / np.expm1(step), 0.0, 1.0)
    return low.astype(np.intp), upper
