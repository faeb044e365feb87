"""RR-Independent: the product of the estimated one-way margins.

Little noise at any width, but every association between attributes is lost: its intervals tell
the noise, not that error. Paper: Algorithm 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from castell.counting import Counts
from castell.inference.intervals import Spread
from castell.inference.margin_bounds import Reshaped, bounds
from castell.inference.method import EVERYBODY, SETS, WHOLE, Fitted, Reads, Solution
from castell.inference.model_intervals import Together
from castell.inference.postprocess import simplex
from castell.inference.products import product_model
from castell.inference.queries import Query, names_of
from castell.inference.reasons import Code, Reason, reason
from castell.inference.sampling_design import SampleDesign
from castell.inference.shares import Shares
from castell.inference.support import Checked
from castell.inference.weighted_products import weighted_model
from castell.linear.table import Table

READS = Reads(
    drawn=True,
    across=True,
    sets=True,
    whole=True,
    margins=True,
    options={"target": (EVERYBODY, SETS, WHOLE)},
)
ASSUMED = reason(Code.INDEPENDENCE_ASSUMED)


def independence(names: Sequence[str]) -> tuple[Reason, ...]:
    """That two or more attributes are independent."""
    return (ASSUMED,) if len(names) > 1 else ()


def fit(counts: Counts, *, target: str = "population") -> Fitted:
    fitted = product_model(counts, [(name,) for name in counts.study.names], target, independence)
    return replace(
        fitted,
        joint=partial(_joint, fitted),
        shares=partial(_shares, fitted),
        sample=partial(_sample, fitted),
    )


def _joint(fitted: Fitted, names: tuple[str, ...], max_cells: int | None) -> Solution:
    """Where nobody reported two attributes together, errors are what their margins leave open."""
    found = fitted.joint(names, max_cells)
    behind = fitted.support(names)
    if behind.checked is not Checked.NOTHING:
        return found

    def spread(kept: tuple[str, ...]) -> Spread:
        if fitted.support(kept).checked is not Checked.NOTHING:
            return found.spread(kept)
        events = []
        for name in kept:
            margin = fitted.joint((name,), None)
            along = Table((name,), margin.probabilities).along(kept)
            own = margin.spread((name,))
            events.append((along, Reshaped(own, margin.probabilities.shape, along.shape)))
        return bounds(events)

    return Solution(
        found.probabilities, spread, (reason(Code.ASSOCIATION_UNKNOWN, *behind.unknown),)
    )


def _shares(fitted: Fitted, queries: Sequence[Query]) -> Shares:
    found, behind = fitted.shares(queries), fitted.support(names_of(queries))
    if behind.checked is not Checked.NOTHING:
        return found
    each = []
    for query in queries:
        parts = [fitted.shares([{name: codes}]) for name, codes in query.items()]
        each.append(bounds([(part.values, part.spread) for part in parts]))
    why = reason(Code.ASSOCIATION_UNKNOWN, *behind.unknown)
    return Shares(found.values, Together(tuple(each)), (), (why,))


def weighted(counts: Counts, design: SampleDesign) -> Fitted:
    """The same with weights, and errors by the design of the sample."""
    fitted = weighted_model(counts, [(name,) for name in counts.study.names], design, independence)
    return replace(fitted, sample=partial(_sample, fitted))


def _sample(
    fitted: Fitted, names: Sequence[str], people: int, generator: Generator
) -> list[NDArray[np.intp]]:
    """Each attribute by itself, from its margin made a distribution."""
    margins = [simplex(fitted.joint((name,), None).probabilities) for name in names]
    return [generator.choice(len(margin), size=people, p=margin) for margin in margins]
