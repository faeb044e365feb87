"""Trust signals: what a careful analyst looks at before believing a table.

Each is a small function of the table or of the reports, and says what it found, whether it asks for
a look, and by which method. None of them proves anything: forged reports that look like honest ones
cannot be told from them by anyone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, erfc, exp, fsum, inf, lgamma, log, sqrt
from statistics import median
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from castell.estimate import JointEstimate
from castell.inversion import Observed
from castell.operators import Floats, Operator, Uniform
from castell.summary import percent

# A signal that is raised by chance in one table of a thousand.
ALARM = 1e-3
# Below so many expected reports the chi-square distribution is not to be relied on.
LEAST_EXPECTED = 5.0

State = Literal["fine", "look", "unknown"]


@dataclass(frozen=True)
class Signal:
    """What one check says: in a word, in a sentence, by which method, and in numbers."""

    key: str
    title: str
    state: State
    value: str
    text: str
    method: str
    numbers: Mapping[str, float] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "title": self.title,
            "state": self.state,
            "value": self.value,
            "text": self.text,
            "method": self.method,
            "numbers": dict(self.numbers),
        }


def unknown(key: str, title: str, why: str) -> Signal:
    """A check that could not be made, and why."""
    return Signal(key, title, "unknown", "not known", why, "none")


# -- the table itself ----------------------------------------------------------------------------


def standard_errors(joint: JointEstimate, level: float = 0.95) -> Signal:
    """How far off the cells may be: a look is due where the widest interval swamps the table."""
    low, high = joint.conf_int(level)
    widest = float(((high - low) / 2).max())
    largest, middle = float(joint.standard_errors.max()), median(joint.standard_errors.ravel())
    top = float(joint.probabilities.max())
    swamped = widest > top / 2
    text = (
        f"The least certain cell reaches {points(widest)} to each side at the {percent(level)} "
        f"level; the largest cell holds {top:.1%}."
    )
    if swamped:
        text += " Ask for fewer attributes, or wait for more reports."
    return Signal(
        "errors",
        "Standard errors",
        "look" if swamped else "fine",
        f"up to {points(largest)}",
        text,
        "square root of the estimated variance of each cell",
        {"largest": largest, "median": float(middle), "widest_half": widest},
    )


def below_noise(joint: JointEstimate, level: float = 0.95) -> Signal:
    """Cells that cannot be told from zero."""
    low, high = joint.conf_int(level)
    hidden = int(((low <= 0.0) & (high >= 0.0)).sum())
    cells = joint.probabilities.size
    many = 2 * hidden > cells
    text = f"{hidden:,} of {cells:,} cells cannot be told from zero at the {percent(level)} level."
    if many:
        text += " What is small here is mostly noise."
    return Signal(
        "noise",
        "Cells below noise",
        "look" if many else "fine",
        f"{hidden:,} of {cells:,}",
        text,
        f"the {percent(level)} interval of the cell holds zero",
        {"below": hidden, "cells": cells},
    )


def negative_mass(raw: JointEstimate, alarm: float = ALARM) -> Signal:
    """Cells of the raw inversion that are further below zero than noise explains.

    No distribution of honest answers has a negative cell, so a cell whose whole interval is below
    zero speaks against the reports: a forged flood, a client that randomises wrongly.
    The level is shared out over the cells (Bonferroni), so all of them together raise a false alarm
    in at most `alarm` of tables.
    """
    cells = raw.unprocessed.size
    _, high = raw.conf_int(1.0 - 2.0 * alarm / cells)
    negative = float(-np.minimum(raw.unprocessed, 0.0).sum())
    beyond = float(-np.minimum(high, 0.0).sum())
    impossible = int((high < 0.0).sum())
    if impossible:
        text = (
            f"{impossible:,} of {cells:,} cells lie below zero by more than noise explains. Honest "
            "reports do not do that: look for forged reports or a client that randomises wrongly."
        )
    elif negative:
        text = f"Negative cells sum to {negative:.2%}, and noise alone explains every one of them."
    else:
        text = "No cell of the unbiased estimate is below zero."
    return Signal(
        "negative",
        "Negative mass beyond its error",
        "look" if impossible else "fine",
        f"{beyond:.2%}" if impossible else "none",
        text,
        f"one-sided interval of each cell of the raw inversion, level {alarm:g} over all cells",
        {"negative": negative, "beyond": beyond, "cells": impossible},
    )


def points(share: float) -> str:
    """A difference of shares, in percentage points.

    >>> points(0.0123)
    '1.2 points'
    """
    digits = 1 if share >= 0.001 else 3
    return f"{100 * share:.{digits}f} points"


# -- what one report can do ----------------------------------------------------------------------


def extremes(inverse: Operator) -> tuple[Floats, Floats]:
    """The least and the most that any one report adds to each answer's estimate."""
    if isinstance(inverse, Uniform):
        ends = sorted((inverse.diagonal, inverse.rest))
        return np.full(inverse.size, ends[0]), np.full(inverse.size, ends[1])
    matrix = inverse.dense()
    return matrix.min(axis=1), matrix.max(axis=1)


def contributions(observed: Observed) -> tuple[Floats, Floats]:
    """The least and the most that any one report adds to each cell, times n; as the order asked."""
    low, high = np.ones(1), np.ones(1)
    for part in observed.parts:
        least, most = extremes(part.lens.inverse)
        corners = np.stack([np.multiply.outer(a, b) for a in (low, high) for b in (least, most)])
        low, high = corners.min(axis=0), corners.max(axis=0)
    return observed.in_order_asked(low), observed.in_order_asked(high)


def shifts(observed: Observed) -> Floats:
    """How far one more report, the worst for it, moves each cell of the raw inversion."""
    least, most = contributions(observed)
    table = observed.invert()
    moved: Floats = np.maximum(most - table, table - least) / (observed.n + 1)
    return moved


def influence(observed: Observed, raw: JointEstimate) -> Signal:
    """What forged reports can do to a table, as one number: how many hide behind its noise."""
    moves = shifts(observed)
    weight = float(moves.max()) * (observed.n + 1)
    # The cheapest cell to move by its own standard error.
    with np.errstate(divide="ignore"):
        needed = ceil(float((raw.standard_errors / moves).min()))
    strong = needed <= 1
    text = (
        f"One forged report moves a cell by at most {points(float(moves.max()))}, like "
        f"{weight:.1f} honest ones. {max(needed, 1):,} of them "
        f"({max(needed, 1) / observed.n:.2%} of the reports) move one by its standard error, "
        "and nothing here would show it."
    )
    return Signal(
        "influence",
        "Influence of one forged report",
        "look" if strong else "fine",
        f"like {weight:.1f} honest",
        text,
        "largest entry of the inverse channels, over the number of reports",
        {"weight": weight, "shift": float(moves.max()), "forged_for_one_error": max(needed, 1)},
    )


# -- whether the collection changed on its way ---------------------------------------------------


@dataclass(frozen=True)
class Test:
    """A chi-square test of homogeneity."""

    __test__ = False  # no test of pytest's

    statistic: float
    freedom: int
    p: float


def chi_square_tail(statistic: float, freedom: int) -> float:
    """How often a chi-square variable exceeds a value: its closed form for whole degrees.

    >>> round(chi_square_tail(3.841458820694124, 1), 12), round(chi_square_tail(2.0, 2), 6)
    (0.05, 0.367879)
    """
    half = statistic / 2
    if half <= 0:
        return 1.0
    odd = freedom % 2
    powers = (k + odd / 2 for k in range(freedom // 2))
    terms = [exp(power * log(half) - half - lgamma(power + 1)) for power in powers]
    return min(1.0, fsum([erfc(sqrt(half)) if odd else 0.0, *terms]))


def homogeneity(table: NDArray[Any]) -> Test:
    """Whether the rows of a table of counts come from one distribution (Pearson's chi-square).

    Columns that expect too few in some row are pooled with their neighbours.
    """
    counts = np.asarray(table, dtype=np.float64)
    counts = _pooled(counts[counts.sum(axis=1) > 0])
    rows, columns = counts.shape
    freedom = (rows - 1) * (columns - 1)
    if freedom < 1:
        return Test(0.0, 0, 1.0)
    expected = counts.sum(axis=1)[:, None] * counts.sum(axis=0) / counts.sum()
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return Test(statistic, freedom, chi_square_tail(statistic, freedom))


def _pooled(counts: Floats) -> Floats:
    """Neighbouring columns put together until each expects enough in every row.

    Neighbours in a table of several attributes differ in the last ones only, so pools still tell
    the first ones apart.
    """
    enough = LEAST_EXPECTED * counts.sum() / max(counts.sum(axis=1).min(initial=inf), 1.0)
    starts, held = [0], 0.0
    for column, total in enumerate(counts.sum(axis=0)):
        if held >= enough:
            starts.append(column)
            held = 0.0
        held += total
    if held < enough and len(starts) > 1:
        starts.pop()
    pooled: Floats = np.add.reduceat(counts, starts, axis=1)
    return pooled


def drift(tables: NDArray[Any], labels: Sequence[str], unit: str) -> Signal:
    """Whether reports of one period look like those of the others.

    `tables` has a row for each period: how often each report came in it.
    """
    if len(tables) < 2:
        return unknown(
            "drift",
            "Drift between days",
            f"All reports came within one {unit}: nothing to compare.",
        )
    whole = homogeneity(tables)
    if not whole.freedom:
        why = f"There are too few reports in each {unit} to compare them."
        return unknown("drift", f"Drift between {unit}s", why)
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


def p_text(p: float) -> str:
    """A p-value as people write it.

    >>> p_text(0.1234), p_text(0.00042), p_text(1e-9)
    ('= 0.12', '= 0.0004', '< 0.0001')
    """
    if p < 1e-4:
        return "< 0.0001"
    return f"= {p:.2f}" if p >= 0.01 else f"= {p:.4f}"
