"""Results in a notebook: a small table with the intervals as numbers and as lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from castell.display.notebook import heading, html_table, interval_mark
from castell.linear.operators import Floats
from castell.results.joint_protocol import LabelledTable
from castell.results.summary import largest, number, percent, remarks

LEVEL = 0.95
# A notebook shows no more cells than a person looks through.
MOST_ROWS = 24


def joint_html(joint: LabelledTable) -> str:
    """The cells of a table, or the largest of them, each with its interval."""
    rows = largest(joint, MOST_ROWS)
    columns = joint.columns(LEVEL, rows)
    labels = list(columns)[: len(joint.names)]
    numbers = np.column_stack([columns[name] for name in list(columns)[len(labels) :]])
    cells = joint.probabilities.size
    part = f"the {MOST_ROWS} largest of {cells:,} cells are shown; to_frame() has all"
    return shares_html(
        " x ".join(joint.names),
        [*joint.source.facts(), f"post-processing {joint.post}"],
        labels,
        [[str(columns[name][i]) for name in labels] for i in range(len(rows))],
        numbers,
        [*([part] if cells > MOST_ROWS else []), *remarks(joint, LEVEL)],
    )


def shares_html(
    title: str,
    facts: Iterable[str],
    labels: Sequence[str],
    names: Iterable[Sequence[str]],
    numbers: Floats,
    notes: Iterable[str],
) -> str:
    """A row for each share: its names under their labels, and its numbers.

    A row of `numbers` is the estimate, its standard error, and the ends of its interval.
    """
    # Lines are there to be compared: a single one says nothing. They repeat the interval beside
    # them, so their column has no title to be read out.
    marks = [""] if len(numbers) > 1 else []
    return html_table(
        heading(title, *facts),
        [*labels, "estimate", "std. err.", f"{percent(LEVEL)} interval", *marks],
        _rows(names, numbers),
        labels=len(labels),
        texts=len(labels) or 3,
        notes=map(_sentence, notes),
    )


def _rows(names: Iterable[Sequence[str]], numbers: Floats) -> Iterator[list[str]]:
    shown = numbers[:, [0, 2, 3]]
    shown = shown[np.isfinite(shown)]
    # All on one scale that holds zero, so that the lines can be compared.
    ends = (float(shown.min(initial=0.0)), float(shown.max(initial=0.0)))
    for named, (share, error, low, high) in zip(names, numbers.tolist(), strict=True):
        marks = [interval_mark(low, share, high, ends)] if len(numbers) > 1 else []
        yield [*named, number(share), number(error), f"{number(low)} to {number(high)}", *marks]


def _sentence(note: str) -> str:
    """A note as a sentence of its own."""
    return f"{note[:1].upper()}{note[1:]}" + ("" if note.endswith(".") else ".")
