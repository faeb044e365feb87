"""Leaves of blocks that ask coarsely, as functions of the answers: main effects and associations.

A leaf is a box with the indicator f(x) = prod_a 1[x_a in box_a]. Under the product of margins m,
with M_a = m_a(box_a) and P = prod_a M_a, Hoeffding's decomposition gives

    main effect of a:        (P / M_a) (1[x_a in box_a] - M_a),
    product of two leaves:   G = prod_a G_a,   G_a = m_a(box_a and box'_a),
    of their associations:   G - P P' - sum_a P P' (G_a / (M_a M'_a) - 1).

An attribute that a block does not ask is inside all of its leaves.

Margins where some blocks ask coarsely are the best linear unbiased ones from all reports. Let d be
the error of the model's margins, all attributes in a row. Blocks that can be inverted give unbiased
margins of their own. The leaves of the others have

    (their unbiased shares) - (the model's) = A d + (the model's error in associations) + noise,

A being the main effects of the leaves. Of the second nothing is supposed, as it never is where
blocks can be inverted. So only those sums of leaves count that are sums of functions of single
attributes: K holds a basis of them, and they have

    K' (unbiased shares) - K' (the model's) = K' A d + K' noise.

Which sums these are does not depend on how people answer. With V the covariance of the noise

    J = sum_a C_a^- + A' K (K' V K)^- K' A,    Cov(d) = J^-1,

in the space in which the values of an attribute sum to zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from castell.inference.intervals import Normal
from castell.inference.latent.em import CountedTable
from castell.inference.latent.mixture import Mixture
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.sufficient_statistics import LeafTable
from castell.inference.margins import Codes, Margins
from castell.linear.operators import Floats


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of some tables, one after the other, under the margins of a mixture."""

    tables: tuple[LeafTable, ...]
    margins: tuple[Floats, ...]

    @cached_property
    def members(self) -> list[Floats]:
        """For each attribute which values each leaf holds."""
        found = []
        for a, margin in enumerate(self.margins):
            rows = []
            for table in self.tables:
                insides = dict(zip(table.attributes, table.members, strict=True))
                rows.append(insides.get(a, np.ones((len(table.members[0]), len(margin)))))
            found.append(np.concatenate(rows))
        return found

    @cached_property
    def inside(self) -> Floats:
        """The share of the values of each attribute that each leaf holds: a row an attribute."""
        pairs = zip(self.members, self.margins, strict=True)
        return np.array(
            [np.maximum(members @ margin, SETTINGS.least_share) for members, margin in pairs]
        )

    @cached_property
    def main_effects(self) -> Floats:
        """How the share of each leaf changes with that of each value, all attributes in a row."""
        whole = self.inside.prod(axis=0)
        effects = [
            m * (whole / inside)[:, None]
            for m, inside in zip(self.members, self.inside, strict=True)
        ]
        return np.concatenate(effects, axis=1)

    @cached_property
    def association_products(self) -> Floats:
        """The inner products of the leaves' associations."""
        whole = self.inside.prod(axis=0)
        every = np.outer(whole, whole)
        both, main = np.ones_like(every), np.zeros_like(every)
        for members, margin, inside in zip(self.members, self.margins, self.inside, strict=True):
            met = (members * margin) @ members.T
            apart = np.outer(inside, inside)
            both *= met
            main += every * (met / apart - 1.0)
        return both - every - main

    @cached_property
    def additive(self) -> Floats:
        """Sums of leaves without associations, a column each, its weights of all leaves.

        They are the same under any margins; under even ones no leaf is rare.
        """
        even = Leaves(self.tables, tuple(np.full(len(m), 1.0 / len(m)) for m in self.margins))
        norms = np.sqrt(even.inside.prod(axis=0))
        values, vectors = np.linalg.eigh(even.association_products / np.outer(norms, norms))
        return np.asarray(vectors[:, values < 1e-9] / norms[:, None])

    @cached_property
    def associations(self) -> Floats | None:
        """Sums of leaves without main effects, uncorrelated and with variance 1, a row each; None
        if there are none."""
        left, sizes, _ = np.linalg.svd(self.main_effects, full_matrices=True)
        rank = int((sizes > 1e-9 * sizes.max()).sum())
        free = left[:, rank:]
        if not free.shape[1]:
            return None
        norms = free.T @ self.association_products @ free
        values, vectors = np.linalg.eigh(norms)
        sure = values > 1e-9 * max(float(values.max()), SETTINGS.least_share)
        if not sure.any():
            return None
        return np.asarray((vectors[:, sure] / np.sqrt(values[sure])).T @ free.T)


def leaf_tables(statistics: Sequence[CountedTable]) -> tuple[LeafTable, ...]:
    """Those of blocks that ask coarsely, if there are reports of them."""
    return tuple(t for t in statistics if isinstance(t, LeafTable) and t.counts.sum() > 0)


def leaves_of_blocks(tables: Sequence[CountedTable], mixture: Mixture) -> tuple[Leaves, ...]:
    """Those of each block that asks coarsely, under the margins of a mixture."""
    margins = tuple(mixture.weights @ part for part in mixture.parts)
    return tuple(Leaves((table,), margins) for table in tables if isinstance(table, LeafTable))


@dataclass(frozen=True, eq=False)
class LeafMargins(Margins):
    """Margins of single attributes, from reports of every kind."""

    mixture: Mixture
    leaves: Leaves

    @cached_property
    def _solved(self) -> tuple[Floats, Floats]:
        """The margins, and their covariance; all attributes in a row."""
        mixture, names = self.mixture, self.counts.study.names
        model = mixture.weights @ mixture.profiles
        information = np.zeros((len(model), len(model)))
        score = np.zeros(len(model))
        for name, (low, high) in zip(names, pairwise(mixture.starts), strict=True):
            own = slice(low, high)
            precision = np.linalg.pinv(self._direct_covariance(name), hermitian=True)
            information[own, own] += precision
            score[own] += precision @ (super().table(name) - model[own])
        seen, noise = self._leaf_errors()
        sums = self.leaves.additive
        effects = sums.T @ self.leaves.main_effects
        # The shares of a block's leaves sum to one, so their covariance has no inverse.
        spread = np.linalg.pinv(sums.T @ noise @ sums, rcond=1e-10, hermitian=True)
        information += effects.T @ spread @ effects
        score += effects.T @ spread @ (sums.T @ seen)
        basis = _contrasts(mixture.sizes)
        covariance = basis @ np.linalg.solve(basis.T @ information @ basis, basis.T)
        return model + covariance @ score, covariance

    def _leaf_errors(self) -> tuple[Floats, Floats]:
        """The leaves' unbiased shares less the model's, and the covariance of the former."""
        found, blocks = [], []
        for table in self.leaves.tables:
            n, gains = table.counts.sum(), table.inverse.dense()
            expected = table.report_probabilities(self.mixture)
            shares = gains @ expected
            found.append(gains @ (table.counts / n) - shares)
            blocks.append(((gains * expected) @ gains.T - np.outer(shares, shares)) / n)
        noise = np.zeros((sum(map(len, found)),) * 2)
        start = 0
        for block in blocks:
            noise[start : start + len(block), start : start + len(block)] = block
            start += len(block)
        return np.concatenate(found), noise

    def _direct_covariance(self, name: str) -> Floats:
        size = self.counts.study.schema[name].size
        values = [np.array([value]) for value in range(size)]
        return np.array(
            [[super(LeafMargins, self).covariance(name, a, b) for b in values] for a in values]
        )

    def _own(self, name: str) -> slice:
        place = self.counts.study.names.index(name)
        return slice(self.mixture.starts[place], self.mixture.starts[place + 1])

    def table(self, name: str) -> Floats:
        return self._solved[0][self._own(name)]

    def variances(self, name: str) -> Floats:
        own = self._own(name)
        return np.maximum(np.diag(self._solved[1][own, own]), 0.0)

    def covariance(self, name: str, one: Codes, two: Codes) -> float:
        own = self._own(name)
        return float(self._solved[1][own, own][np.ix_(one, two)].sum())

    def spread(self, name: str) -> Normal:
        return self._normal(self.table(name), self.variances(name))

    def group_spread(self, name: str, group: Codes) -> Normal:
        share = self.table(name)[group].sum()
        return self._normal(share, np.asarray(max(self.covariance(name, group, group), 0.0)))

    def _normal(self, shares: Floats, variance: Floats) -> Normal:
        # The part of the variance that goes along with the truth is at least that of sampling.
        n = self.counts.n
        return Normal(variance, (1.0 - 2.0 * shares) / n, -1.0 / n)


def _contrasts(sizes: Sequence[int]) -> Floats:
    """An orthonormal basis of what values of each attribute can change by: they sum to zero."""
    starts = np.cumsum([0, *sizes])
    basis = np.zeros((int(starts[-1]), int(starts[-1]) - len(sizes)))
    column = 0
    for low, size in zip(starts, sizes, strict=False):
        every, _ = np.linalg.qr(np.column_stack([np.ones(size), np.eye(size)[:, : size - 1]]))
        basis[low : low + size, column : column + size - 1] = every[:, 1:]
        column += size - 1
    return basis
