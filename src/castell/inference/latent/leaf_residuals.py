"""How far a model is off, by leaves of blocks that ask coarsely and that it has not seen.

Sums of the leaves of a block that have no main effect, of unit norm, are associations like those
of pairs (`association_error`), and the reports of the block tell their means without bias. Some are
taken by chance, as groups of values are for pairs.

Others go along with what the model has found. Let h be a singular function of the model's table of
two of the block's attributes, of unit norm, and g its projection onto the leaves' associations.
With rho^2 = |g|^2, the share of h that leaves of these boxes can tell, a mean of g / rho^2 is one
of h as far as the rest of g goes with nothing. Where rho^2 is small it would be mostly rest, and is
left out. Several blocks that hold a pair are one estimate, each weighted by rho^4 over the variance
of its mean of g, as least squares has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from castell.inference.association_error import GROUPS, Residuals, leading_functions
from castell.inference.latent.coarse_blocks import Leaves
from castell.inference.latent.em import CountedTable
from castell.inference.latent.mixture import Mixture
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.sufficient_statistics import LeafTable
from castell.linear.operators import Floats

# The least part of an association of two attributes that leaves must tell to speak of it.
LEAST_TOLD = 0.5

Found = tuple[tuple[int, ...], Residuals]


@dataclass(frozen=True, eq=False)
class LeafBlock:
    """The reports of one block, in several parts, what a model of each expects of them, and an
    orthonormal basis of the associations of its leaves: a row for each, its weights of leaves."""

    tables: tuple[LeafTable, ...]
    expected: tuple[Floats, ...]
    leaves: Leaves
    basis: Floats

    @cached_property
    def inverse(self) -> Floats:
        """What each report adds to the share of each leaf."""
        return self.tables[0].inverse.dense()

    @property
    def attributes(self) -> tuple[int, ...]:
        return tuple(self.tables[0].attributes)

    def compare(self, part: int, functions: Floats) -> tuple[Floats, Floats, Floats] | None:
        """How far reports are from a model in the means of some sums of leaves, the variance of
        what the reports say, and what the model says; None if there are no reports."""
        counts, expected = self.tables[part].counts, self.expected[part]
        n = float(counts.sum())
        if not n:
            return None
        gains = functions @ self.inverse
        says = gains @ expected
        spread = np.maximum(gains**2 @ expected - says**2, SETTINGS.least_share)
        return gains @ (counts / n) - says, spread / n, says

    def project(self, one: int, two: int, rows: Floats, columns: Floats) -> tuple[Floats, Floats]:
        """Products of functions of two attributes, as sums of leaves, and their squared norms."""
        margins, members = self.leaves.margins, self.leaves.members
        others = [self.leaves.inside[a] for a in self.attributes if a not in (one, two)]
        met = (members[one] @ (margins[one] * rows).T) * (members[two] @ (margins[two] * columns).T)
        along = self.basis @ (met * np.prod(others, axis=0)[..., None] if others else met)
        return along.T @ self.basis, (along**2).sum(axis=0)


def leaf_residuals(
    held_out: Sequence[Sequence[CountedTable]], models: Sequence[Mixture], leaves: Sequence[Leaves]
) -> Iterator[Found]:
    """For each block of leaves its attributes and some of its associations, by chance; then for
    each pair of attributes that blocks hold, its associations as the models have them."""
    blocks = list(leaf_blocks(held_out, models, leaves))
    generator = np.random.default_rng(0)  # repeatable: nobody's privacy depends on it
    for block in blocks:
        mixed = generator.standard_normal((GROUPS, len(block.basis)))
        mixed /= np.sqrt((mixed**2).sum(axis=1, keepdims=True))
        functions = mixed @ block.basis
        each = [block.compare(k, functions) for k in range(len(models))]
        told = [found for found in each if found is not None]
        if told:
            ways = min(1.0, np.linalg.matrix_rank(functions) / len(functions))
            yield block.attributes, _together(told, ways)
    for pair in sorted({p for block in blocks for p in combinations(sorted(block.attributes), 2)}):
        found = _of_pair(
            pair, [block for block in blocks if set(pair) <= set(block.attributes)], models
        )
        if found is not None:
            yield pair, found


def leaf_blocks(
    parts: Sequence[Sequence[CountedTable]], models: Sequence[Mixture], leaves: Sequence[Leaves]
) -> Iterator[LeafBlock]:
    """Of reports in parts, such as held-out folds, each with a model of its own; `leaves` are
    those of the blocks that ask coarsely, one after the other."""
    coarse = [[table for table in part if isinstance(table, LeafTable)] for part in parts]
    for own, *tables in zip(leaves, *coarse, strict=True):
        if own.associations is not None:
            pairs = zip(tables, models, strict=True)
            expected = tuple(table.report_probabilities(model) for table, model in pairs)
            yield LeafBlock(tuple(tables), expected, own, own.associations)


def _of_pair(
    pair: tuple[int, int], blocks: Sequence[LeafBlock], models: Sequence[Mixture]
) -> Residuals | None:
    told = []
    for fold, model in enumerate(models):
        rows, columns = leading_functions(model.table(pair))
        known, differences, says = (np.zeros(len(rows)) for _ in range(3))
        for block in blocks:
            functions, part = block.project(*pair, rows, columns)
            found = block.compare(fold, functions)
            if found is None:
                continue
            weight = np.where(part >= LEAST_TOLD, part / found[1], 0.0)
            known += weight * part
            differences += weight * found[0]
            says += weight * found[2]
        some = known > 0.0
        if some.any():
            each = differences[some] / known[some], 1.0 / known[some], says[some] / known[some]
            told.append(each)
    return _together(told) if told else None


def _together(told: Sequence[tuple[Floats, Floats, Floats]], ways: float = 1.0) -> Residuals:
    """Of several folds, which share the model's error."""
    differences, variances, says = (np.concatenate(every) for every in zip(*told, strict=True))
    weights = np.full(len(differences), ways / len(told))
    return Residuals(differences, variances, weights, says)
