"""What leaves of blocks that ask coarsely say of two attributes, beside the reports that tell both.

Let f be the interaction of a question about two attributes, of norm N^(1/2), and g its projection
onto the associations of a block's leaves, with |g|^2 = rho^2 N (`leaf_residuals.py`). The reports
of the block differ from the model by r in the mean of g, with variance v. Then r / rho^2 tells how
far the model is off in f, with an error of variance

    {v + beta^2 rho^2 (1 - rho^2) N} / rho^4,

as the rest of g, of norm rho^2 (1 - rho^2) N squared, is the model's. Blocks and the reports that
tell both attributes are put together with weights of one over their variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from castell.inference.latent.coarse_blocks import Leaves
from castell.inference.latent.em import CountedTable
from castell.inference.latent.leaf_residuals import LeafBlock, leaf_blocks
from castell.inference.latent.mixture import Mixture
from castell.inference.model_error import DirectEstimate, UnbiasedPairs
from castell.inference.queries import Query, names_of
from castell.linear.operators import Floats


@dataclass(frozen=True, eq=False)
class LeafPairs:
    """The leaves of all reports, and how far the model of them may be off in associations."""

    names: tuple[str, ...]
    mixture: Mixture
    blocks: tuple[LeafBlock, ...]
    association: float  # beta^2

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        mixture: Mixture,
        tables: Sequence[CountedTable],
        leaves: Sequence[Leaves],
        association: float,
    ) -> LeafPairs:
        blocks = tuple(leaf_blocks([tables], [mixture], leaves))
        return cls(tuple(names), mixture, blocks, association)

    def beside(self, direct: UnbiasedPairs) -> UnbiasedPairs:
        """The same pairs, with what leaves say of them put to it."""

        def table(pair: tuple[str, str], known: DirectEstimate | None) -> DirectEstimate | None:
            found = direct.table(pair, known)
            if found is None:
                return None
            one, two = (np.eye(size) for size in found.values.shape)
            rows = np.repeat(one, len(two), axis=0)
            columns = np.tile(two, (len(one), 1))
            both = self._pool(pair, rows, columns, found.values.ravel(), found.variance.ravel())
            values, variance = (each.reshape(found.values.shape) for each in both)
            return DirectEstimate(values, variance)

        def shares(queries: Sequence[Query], known: DirectEstimate | None) -> DirectEstimate | None:
            found, names = direct.shares(queries, known), names_of(queries)
            if found is None or len(names) != 2:
                return found
            one, two = (self._inside(queries, name) for name in names)
            variance = np.maximum(np.diag(found.variance), 1e-300)
            values, less = self._pool((names[0], names[1]), one, two, found.values, variance)
            scale = np.sqrt(less / variance)
            return DirectEstimate(values, found.variance * np.outer(scale, scale))

        return UnbiasedPairs(table, shares)

    def _inside(self, queries: Sequence[Query], name: str) -> Floats:
        """Which values of an attribute count, in a row for each question."""
        found = np.zeros((len(queries), self.mixture.sizes[self.names.index(name)]))
        for row, query in zip(found, queries, strict=True):
            row[query[name]] = 1.0
        return found

    def _pool(
        self, pair: tuple[str, str], one: Floats, two: Floats, values: Floats, variance: Floats
    ) -> tuple[Floats, Floats]:
        """Shares of products of groups, in rows, and their variances."""
        a, b = (self.names.index(name) for name in pair)
        first, second = (self.mixture.weights @ self.mixture.parts[k] for k in (a, b))
        shares = one @ first, two @ second
        norms = np.prod([np.maximum(s * (1.0 - s), 1e-12) for s in shares], axis=0)
        centred = one - shares[0][:, None], two - shares[1][:, None]
        model = np.einsum("ka,ab,kb->k", one, self.mixture.table((a, b)), two)
        precision = 1.0 / np.maximum(variance, 1e-300)
        total = precision * values
        for block in self.blocks:
            if not {a, b} <= set(block.attributes):
                continue
            functions, squares = block.project(a, b, *centred)
            told = block.compare(0, functions)
            if told is None:
                continue
            part = np.clip(squares / norms, 0.0, 1.0)
            noise = told[1] + self.association * part * (1.0 - part) * norms
            precision = precision + part**2 / noise
            total = total + part / noise * (part * model + told[0])
        return total / precision, 1.0 / precision
