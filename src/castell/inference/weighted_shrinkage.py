"""Weighted tables shrunk towards independence, as far as they differ by noise alone.

The weighted unbiased table and the product of its margins are averaged by a James-Stein share, and
the average is a distribution. Intervals are those of the unbiased table, by the sampling design,
made to contain the average: nothing is assumed for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from castell.counting import Counts
from castell.errors import MethodError
from castell.inference.method import Fitted, Solution
from castell.inference.pooled_table import james_stein_weight
from castell.inference.postprocess import simplex
from castell.inference.queries import Query, names_of
from castell.inference.reasons import Code, Reason, reason
from castell.inference.sampling_design import SampleDesign
from castell.inference.shares import Shares, Unbiased
from castell.inference.shorter_interval import AsUnbiased
from castell.inference.support import support
from castell.inference.weighted_products import weighted_model
from castell.linear.operators import Floats
from castell.linear.table import Table


def shrunk_weighted_model(counts: Counts, design: SampleDesign) -> Fitted:
    """A model that answers with weighted tables, each shrunk by its own noise."""
    names = counts.study.names
    direct = weighted_model(counts, [names], design)
    apart = weighted_model(counts, [(name,) for name in names], design)

    def solve(asked: tuple[str, ...], max_cells: int | None) -> tuple[Solution, Floats, Reason]:
        if not support(counts, asked).designed:
            raise MethodError(
                f"no respondent reports {', '.join(asked)} together, and weighted answers are not "
                "modelled",
                "ask for fewer attributes, or leave the weights out",
            )
        whole = direct.joint(asked, max_cells)
        model = simplex(apart.joint(asked, max_cells).probabilities)
        variance = float(whole.spread(asked).variance.sum())
        share = james_stein_weight(whole.probabilities, model, variance) if len(asked) > 1 else 1.0
        table = (1.0 - share) * model + share * simplex(whole.probabilities)
        return whole, np.asarray(table), reason(Code.WEIGHTED_SHRUNK, unbiased=share)

    def joint(asked: tuple[str, ...], max_cells: int | None) -> Solution:
        whole, table, why = solve(asked, max_cells)
        unbiased = Table(asked, whole.probabilities)

        def spread(kept: tuple[str, ...]) -> AsUnbiased:
            return AsUnbiased(unbiased.project(kept).values, whole.spread(kept))

        told = (why, *whole.reasons) if len(asked) > 1 else whole.reasons
        return Solution(table, spread, told)

    def shares(queries: Sequence[Query]) -> Shares:
        asked = names_of(queries)
        _, table, why = solve(asked, None)
        found = direct.shares(queries)
        values = np.array([Table(asked, table).share(query) for query in queries])
        other = Unbiased(found.values, found.covariances[0], found.one_over_n, found.spread)
        return replace(
            found,
            values=values,
            spread=AsUnbiased(found.values, found.spread),
            unbiased=other,
            reasons=(why, *found.reasons) if len(asked) > 1 else found.reasons,
        )

    return Fitted(counts, joint, shares, sampling=design)
