"""Those who answered two questions: their share, and what is estimated of them.

Values that are no answer ("prefer not to say") are left out of tests of two attributes, as missing
values are. Through noise nobody knows whose these are, so the unbiased table tells how many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from castell.counting import Counts
from castell.inference.inversion import Observed
from castell.inference.pooled_table import average_of_views
from castell.inference.postprocess import simplex
from castell.inference.products import product_model
from castell.inference.queries import Query
from castell.inference.regression.complete_cases import CompleteCases
from castell.inference.shares import product_shares
from castell.linear.operators import Floats

Pair = tuple[str, str]
Seen = Sequence[tuple[float, Observed]]


@dataclass(frozen=True, eq=False)
class Answering:
    """Those who answered both: their share, both margins among them, and the whole table that is
    expected if the two are independent there."""

    cases: CompleteCases
    share: float
    margins: tuple[Floats, ...]
    apart: Floats

    def on_all_values(self, contrasts: Mapping[str, Floats]) -> dict[str, Floats]:
        """Functions of the values that are answers as functions of all: 0 where there is none."""
        found = {}
        for (name, each), size, codes in zip(
            contrasts.items(), self.cases.shape, self.cases.codes, strict=True
        ):
            found[name] = np.zeros((len(each), size))
            found[name][:, codes] = each
        return found


def answering(counts: Counts, names: Pair, seen: Seen, cases: CompleteCases) -> Answering:
    if not cases.incomplete.any():
        margins = tuple(margins_of(counts, names))
        return Answering(cases, 1.0, margins, np.multiply.outer(*margins))
    table = simplex(average_of_views(seen))
    part = cases.part(table)
    share = float(part.sum())
    if share <= 0.0:
        return Answering(cases, 0.0, (part.sum(axis=1), part.sum(axis=0)), table)
    margins = part.sum(axis=1) / share, part.sum(axis=0) / share
    apart = cases.whole(share * np.multiply.outer(*margins), table[cases.incomplete])
    return Answering(cases, share, margins, apart)


def margins_of(counts: Counts, names: Sequence[str]) -> list[Floats]:
    """The unbiased margins, as near to them as shares can be."""
    return [simplex(each) for each, _ in _margins(counts, names)]


def errors_of_margins(counts: Counts, names: Pair, cases: CompleteCases) -> list[Floats]:
    """The standard errors of both margins among those who answered both; infinite if not told."""
    if not cases.incomplete.any():
        return [errors for _, errors in _margins(counts, names)]
    codes = {name: np.array(each) for name, each in zip(names, cases.codes, strict=True)}
    found = []
    for name in names:
        queries: list[list[Query]] = [
            [{**codes, name: np.array([code])}, dict(codes)] for code in codes[name]
        ]
        shares = [product_shares(counts, each, (names,), "population") for each in queries]
        errors = np.array([each.ratio_error() for each in shares])
        found.append(np.nan_to_num(errors, nan=np.inf))
    return found


def _margins(counts: Counts, names: Sequence[str]) -> list[tuple[Floats, Floats]]:
    """The unbiased margins as they are, and the standard errors of their shares."""
    fitted = product_model(counts, [(name,) for name in names], "population")
    solved = [(name, fitted.joint((name,), None)) for name in names]
    return [(one.probabilities, one.spread((name,)).errors) for name, one in solved]
