"""Leaves of blocks that ask coarsely, as functions of the answers: main effects and associations.

A leaf is a box with the indicator f(x) = prod_a 1[x_a in box_a]. Under the product of margins m,
with M_a = m_a(box_a) and P = prod_a M_a, Hoeffding's decomposition gives

    main effect of a:        (P / M_a) (1[x_a in box_a] - M_a),
    product of two leaves:   G = prod_a G_a,   G_a = m_a(box_a and box'_a),
    of their associations:   G - P P' - sum_a P P' (G_a / (M_a M'_a) - 1).

An attribute that a block does not ask is inside all of its leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from castell.inference.association_error import GROUPS, Residuals
from castell.inference.latent.expectation import CountedTable
from castell.inference.latent.mixture import Mixture
from castell.inference.latent.sufficient_statistics import LeafTable
from castell.linear.operators import Floats

_LEAST = 1e-12


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
                held = dict(zip(table.attributes, table.members, strict=True))
                rows.append(held.get(a, np.ones((len(table.members[0]), len(margin)))))
            found.append(np.concatenate(rows))
        return found

    @cached_property
    def inside(self) -> Floats:
        """The share of the values of each attribute that each leaf holds: a row an attribute."""
        pairs = zip(self.members, self.margins, strict=True)
        return np.array([np.maximum(members @ margin, _LEAST) for members, margin in pairs])

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


def leaf_residuals(
    held_out: Sequence[Sequence[CountedTable]],
    models: Sequence[Mixture],
    whole: Mixture,
) -> Iterator[tuple[tuple[int, ...], Residuals]]:
    """For each table of leaves its attributes, and what reports not seen say of associations.

    Sums of leaves that have no main effect, of unit norm and otherwise by chance, are associations
    like those of pairs (`association_error`), and reports of the block estimate them without bias.
    """
    margins = tuple(whole.weights @ part for part in whole.parts)
    generator = np.random.default_rng(0)  # repeatable: nobody's privacy depends on it
    for i, table in enumerate(held_out[0] if held_out else ()):
        if not isinstance(table, LeafTable):
            continue
        leaves = Leaves((table,), margins)
        functions = _associations(leaves, generator)
        if functions is None:
            continue
        gains = functions @ table.inverse.dense()
        differences, variances, associations = [], [], []
        for tables, model in zip(held_out, models, strict=True):
            counts = tables[i].counts
            n = counts.sum()
            if not n:
                continue
            expected = tables[i].report_probabilities(model)
            differences.append(gains @ (counts / n - expected))
            associations.append(gains @ expected)
            spread = gains**2 @ expected - (gains @ expected) ** 2
            variances.append(np.maximum(spread, _LEAST) / n)
        if differences:
            ways = min(1.0, np.linalg.matrix_rank(functions) / len(functions))
            found = np.concatenate(differences)
            weights = np.full(found.shape, ways / len(differences))
            shown = np.concatenate(associations)
            yield table.attributes, Residuals(found, np.concatenate(variances), weights, shown)


def _associations(leaves: Leaves, generator: np.random.Generator) -> Floats | None:
    """Sums of leaves without main effects, with variance 1, a row each; None if there are none."""
    effects = leaves.main_effects
    left, sizes, _ = np.linalg.svd(effects, full_matrices=True)
    rank = int((sizes > 1e-9 * sizes.max()).sum())
    free = left[:, rank:]
    if not free.shape[1]:
        return None
    norms = free.T @ leaves.association_products @ free
    values, vectors = np.linalg.eigh(norms)
    sure = values > 1e-9 * max(float(values.max()), _LEAST)
    if not sure.any():
        return None
    basis = (vectors[:, sure] / np.sqrt(values[sure])).T @ free.T
    mixed = generator.standard_normal((GROUPS, len(basis)))
    mixed /= np.sqrt((mixed**2).sum(axis=1, keepdims=True))
    return np.asarray(mixed @ basis)
