"""What is still open about a population, and what the reports of a block would tell of it.

The model fitted so far is p_0. The truth is taken to be p(x) = p_0(x) (1 + sum_j t_j f_j(x)), where
the f_j are the centred indicators of all single values and cells of pairs, and t_j, the relative
deviation of such a cell, has a normal prior with mean 0 and standard deviation `DEVIATION`. What
is wanted are some shares with indicators w_i; their errors are linear in t,

    p(w_i) - p_0(w_i) = sum_j Cov_0(w_i, f_j) t_j,

and nearly all of their summed variance lies in a few directions of t: the leading right singular
vectors of the matrix of covariances. A block whose codes c have the shares pi_c under p_0, through
a channel with matrix Q, has the Fisher information n U'U with

    U = diag(Q pi)^(-1/2) Q Cov_0(1_c, f).

With the prior it gives the posterior covariance of t, and so the expected squared error of what is
wanted, before anybody was asked. Covariances are those of synthetic people sampled from p_0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from castell.device.respond import block_codes
from castell.linear.kronecker_product import KroneckerProduct, identity
from castell.linear.operators import Floats, Operator
from castell.study.design import Block

Codes = NDArray[np.intp]

# Before the next reports: cells of a fitted model are off by about so much of themselves.
DEVIATION = 0.6
# Directions kept, and cells of pairs that they are made from: the heaviest.
DIRECTIONS = 200
MOST_PAIR_CELLS = 2000


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Synthetic people, how they score on each direction, and what is known of these.

    `losses` is the squared error of what is wanted for each unit of variance in a direction,
    `precision` the prior precision and the information that there is.
    """

    people: tuple[Codes, ...]
    scores: Floats
    losses: Floats
    precision: Floats

    @property
    def expected_loss(self) -> float:
        """The expected squared error of what is wanted, summed."""
        return float(self.losses @ np.diag(np.linalg.inv(self.precision)))

    def after(self, information: Floats) -> Uncertainty:
        """With some more information."""
        return Uncertainty(self.people, self.scores, self.losses, self.precision + information)


# The codes of people in a report, how many there are, and the channel on them.
Seen = tuple[Codes, int, Operator]


def seen_codes(block: Block, answers: Mapping[str, Codes], public: Sequence[Block] = ()) -> Seen:
    """Of a block, and what is public beside it."""
    codes = block_codes(block, answers)
    coarse = block.channel.coarse
    if coarse is not None:
        codes, many, forward = coarse.leaf_of[codes], len(coarse.leaves), coarse.inner.forward
    else:
        many, forward = block.channel.inputs, block.channel.forward
    return beside_public((codes, many, forward), answers, public)


def beside_public(seen: Seen, answers: Mapping[str, Codes], public: Sequence[Block]) -> Seen:
    """The same together with public attributes, which are in every report as they are."""
    for each in public:
        (name,), (size,) = each.names, each.sizes
        codes, many, forward = seen
        seen = codes * size + answers[name], many * size, KroneckerProduct(forward, identity(size))
    return seen


def root_information(scores: Floats, codes: Codes, many: int, forward: Operator) -> Floats:
    """U of one report: of people with these codes, of `many` there are, through a channel."""
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes, minlength=many)
    sums = np.zeros((many, scores.shape[1]))
    present = np.flatnonzero(counts)
    starts = np.concatenate([[0], np.cumsum(counts[present])[:-1]])
    sums[present] = np.add.reduceat(scores[order], starts, axis=0)
    shares = counts / len(codes)
    seen = forward.turn(shares[:, None])[0]
    shown = forward.turn(sums / len(codes)).T
    return np.asarray(shown / np.sqrt(np.maximum(seen, 1e-300))[:, None])


def uncertainty(
    people: Sequence[Codes], sizes: Sequence[int], wanted: Iterable[NDArray[np.bool_]] | None
) -> Uncertainty:
    """What is open before any report. `wanted` are indicators; None for all cells of pairs."""
    features = _features(people, sizes)
    centred = features - features.mean(axis=0)
    if wanted is None:
        targets = centred[:, sum(sizes) :]
    else:
        targets = np.array(list(wanted), dtype=np.float64).T
        targets = targets - targets.mean(axis=0)
    covariance = targets.T @ centred / len(centred)
    values, vectors = np.linalg.eigh(covariance.T @ covariance)
    kept = slice(max(len(values) - DIRECTIONS, 0), None)
    values, vectors = np.maximum(values[kept], 0.0), vectors[:, kept]
    scores = DEVIATION * (centred @ vectors)
    return Uncertainty(tuple(people), scores, DEVIATION**2 * values, np.eye(len(values)))


def _features(people: Sequence[Codes], sizes: Sequence[int]) -> Floats:
    """Indicators of all single values, and of the heaviest cells of pairs."""
    n = len(people[0])
    columns: list[Floats] = []
    for codes, size in zip(people, sizes, strict=True):
        columns += list(np.equal.outer(np.arange(size), codes).astype(np.float64))
    cells: list[tuple[int, int, int, int]] = []
    for one, two in combinations(range(len(people)), 2):
        keys = people[one] * sizes[two] + people[two]
        counts = np.bincount(keys, minlength=sizes[one] * sizes[two])
        cells += [(int(counts[key]), one, two, int(key)) for key in np.flatnonzero(counts)]
    cells = sorted(cells, reverse=True)[:MOST_PAIR_CELLS]
    for _, one, two, key in cells:
        columns.append((people[one] * sizes[two] + people[two] == key).astype(np.float64))
    return np.array(columns).T.reshape(n, -1)
