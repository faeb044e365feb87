"""Whether the collection changed on its way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.inference.chisquare import p_text, tail
from castell.inference.constants import ALARM, LEAST_EXPECTED
from castell.linear.operators import Floats
from castell.results.trust.signal import Signal, unknown_signal


@dataclass(frozen=True)
class Test:
    """A chi-square test of homogeneity."""

    __test__ = False  # no test of pytest's

    statistic: float
    freedom: int
    p: float


def homogeneity(table: NDArray[Any]) -> Test:
    """Whether the rows of a table of counts come from one distribution (Pearson's chi-square).

    Columns that expect too few in some row are pooled with their neighbours.
    """
    counts = np.asarray(table, dtype=np.float64)
    counts = _pool_columns(counts[counts.sum(axis=1) > 0])
    rows, columns = counts.shape
    freedom = (rows - 1) * (columns - 1)
    if freedom < 1:
        return Test(0.0, 0, 1.0)
    expected = counts.sum(axis=1)[:, None] * counts.sum(axis=0) / counts.sum()
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return Test(statistic, freedom, tail(statistic, freedom))


def _pool_columns(counts: Floats) -> Floats:
    """Neighbouring columns put together until each expects enough in every row.

    Neighbours in a table of several attributes differ in the last ones only, so pools still tell
    the first ones apart.
    """
    enough = LEAST_EXPECTED * counts.sum() / max(counts.sum(axis=1).min(initial=inf), 1.0)
    starts, collected = [0], 0.0
    for column, total in enumerate(counts.sum(axis=0)):
        if collected >= enough:
            starts.append(column)
            collected = 0.0
        collected += total
    if collected < enough and len(starts) > 1:
        starts.pop()
    pooled: Floats = np.add.reduceat(counts, starts, axis=1)
    return pooled


def drift(tables: NDArray[Any], labels: Sequence[str], unit: str) -> Signal:
    """Whether reports of one period look like those of the others.

    `tables` has a row for each period: how often each report came in it.
    """
    if len(tables) < 2:
        return unknown_signal(
            "drift",
            "Drift between days",
            f"All reports came within one {unit}: nothing to compare.",
        )
    whole = homogeneity(tables)
    if not whole.freedom:
        why = f"There are too few reports in each {unit} to compare them."
        return unknown_signal("drift", f"Drift between {unit}s", why)
    apart = [_against_the_rest(tables, k) for k in range(len(tables))]
    farthest = min(range(len(apart)), key=lambda k: (apart[k].p, -apart[k].statistic))
    drifted = whole.p < ALARM
    if drifted:
        text = (
            f"The reports of different {unit}s do not look alike; {labels[farthest]} stands out "
            "most. People may have changed, or who answers, or somebody sends forged reports."
        )
    else:
        text = f"The reports of {len(tables)} {unit}s look alike."
    return Signal(
        "drift",
        f"Drift between {unit}s",
        "look" if drifted else "fine",
        f"p {p_text(whole.p)}",
        text,
        f"Pearson's chi-square of the reports, {len(tables)} periods, {whole.freedom} degrees of "
        f"freedom, statistic {whole.statistic:.1f}, p {p_text(whole.p)}",
        {"p": whole.p, "statistic": whole.statistic, "freedom": whole.freedom},
    )


def _against_the_rest(tables: NDArray[Any], k: int) -> Test:
    rest = np.delete(tables, k, axis=0).sum(axis=0)
    return homogeneity(np.stack([tables[k], rest]))
