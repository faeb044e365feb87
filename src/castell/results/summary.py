"""An estimate in words: what a statistician would paste into a report."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from castell.inference.chisquare import p_text
from castell.inference.goodness_of_fit import Verdict
from castell.results.joint_protocol import LabelledTable

INSECURE = "INSECURE: the reports were made with a seed; for tests only, they protect nobody"


def percent(level: float) -> str:
    """A level as people write it.

    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * level:.6g}%"


def summarize(joint: LabelledTable, level: float, most: int) -> str:
    """Head, table and remarks. The largest cells come first where there are too many to show."""
    cells = joint.probabilities.size
    head = [
        f"Joint distribution of {' x '.join(joint.names)}",
        f"method    {joint.method}, post-processing {joint.post}",
        f"reports   n = {joint.n:,}",
        f"privacy   epsilon {joint.epsilon:.4g} in all, {joint.spent:.4g} on these attributes"
        + "".join(f", {a.name} public" for a in joint.attributes if a.public),
        f"cells     {cells:,}" + (f", the {most} largest shown" if cells > most else ""),
    ]
    return "\n".join([*head, "", *_table(joint, level, most), "", *remarks(joint, level)])


def largest(joint: LabelledTable, most: int) -> NDArray[np.intp]:
    """The cells to show: all, or the largest where there are too many; in the table's order."""
    if joint.probabilities.size <= most:
        return np.arange(joint.probabilities.size)
    return np.sort(np.argsort(-joint.probabilities.ravel(), kind="stable")[:most])


def _table(joint: LabelledTable, level: float, most: int) -> list[str]:
    rows = largest(joint, most)
    columns = joint.columns(level, rows)
    labels = list(columns)[: len(joint.names)]
    titles = [*labels, "estimate", "std. err.", f"{percent(level)} interval"]
    lines = [titles]
    for i in range(len(rows)):
        numbers = [columns[name][i] for name in ("probability", "standard_error", "lower", "upper")]
        lines.append(
            [
                *(str(columns[name][i]) for name in labels),
                f"{numbers[0]:.4f}",
                f"{numbers[1]:.4f}",
                f"[{numbers[2]:8.4f}, {numbers[3]:8.4f}]",
            ]
        )
    text = align(lines, len(labels))
    rule = "-" * max(len(line) for line in text)
    return [rule, text[0], rule, *text[1:], rule]


def remarks(joint: LabelledTable, level: float = 0.95) -> list[str]:
    """What a careful reader wants to know besides the numbers."""
    table = joint.unprocessed
    low, high = joint.conf_int(level)
    below = int(((low <= 0.0) & (high >= 0.0) & ~joint.impossible).sum())
    negative = float(-table[table < 0].sum())
    lines = list(joint.notes)
    if joint.verdict is Verdict.DOUBTFUL:
        lines.insert(0, doubt(joint))
    if not joint.secure:
        lines.insert(0, INSECURE)
    if below:
        share = f"{below:,} of {table.size:,} cells"
        lines.append(f"{share} cannot be told from zero at the {percent(level)} level")
    if negative > 0.0005 and joint.post == "raw":
        lines.append(
            f"negative cells sum to -{negative:.4f}: noise; post='simplex' gives a distribution"
        )
    return lines


def doubt(joint: LabelledTable) -> str:
    """What is wrong with a table that does not fit its own reports."""
    found = joint.misfit
    if found is None:
        return ""
    return (
        "DOUBTFUL: the unbiased table of the same reports differs from this one by more than "
        f"noise in {' x '.join(found.names)} (chi-square {found.statistic:.1f}, {found.freedom} "
        f"degrees of freedom, p {p_text(found.p)}); use another method"
    )


def with_warning(secure: bool, notes: tuple[str, ...]) -> tuple[str, ...]:
    """The notes of a result, after the warning that its reports protect nobody."""
    return notes if secure else (INSECURE, *notes)


def number(value: float) -> str:
    """A share to four digits, or that it is not known.

    >>> number(0.25), number(float("nan"))
    ('0.2500', 'not known')
    """
    return f"{value:.4f}" if isfinite(value) else "not known"


def end(value: float) -> str:
    """An end of an interval, which may be infinite.

    >>> end(0.25), end(float("inf"))
    ('0.2500', 'infinite')
    """
    return "infinite" if value == inf else number(value)


def span(low: float, high: float) -> str:
    """An interval.

    >>> span(0.25, 1.0)
    '[0.2500, 1.0000]'
    """
    return f"[{end(low)}, {end(high)}]"


def align(rows: Sequence[Sequence[str]], words: int = 1) -> list[str]:
    """Lines of a table: the first `words` columns to the left, numbers to the right.

    >>> align([["", "x"], ["one", "1"]])
    ['     x', 'one  1']
    """
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            word.ljust(width) if k < words else word.rjust(width)
            for k, (word, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
