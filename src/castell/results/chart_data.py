"""What a chart is plotted from: the numbers of a table's cells, and the names of its axes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Floats
from castell.results.joint_protocol import LabelledTable
from castell.results.provenance import Source
from castell.results.summary import INSECURE
from castell.results.text_lines import join_values

NUMBERS = ("probability", "standard_error", "lower", "upper")


@dataclass(frozen=True, eq=False)
class ChartData:
    """Labels and values of each axis, four numbers of each cell, and the lines below the title."""

    labels: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    numbers: Floats  # share, standard error, lower and upper end; then an axis for each attribute
    below: tuple[str, ...]
    level: float = 0.95
    whom: str = "respondents"  # what the shares are shares of

    @classmethod
    def of(cls, joint: LabelledTable, level: float) -> ChartData:
        columns = joint.columns(level)
        shape = joint.probabilities.shape
        return cls(
            joint.names,
            tuple(attribute.values for attribute in joint.attributes),
            np.stack([np.asarray(columns[name], float).reshape(shape) for name in NUMBERS]),
            lines_below(joint),
            level,
        )

    @property
    def probabilities(self) -> Floats:
        return np.asarray(self.numbers[0])

    @property
    def digits(self) -> int:
        """Of shares in percent: where all are small, one would not tell them apart."""
        return 1 if np.nan_to_num(self.probabilities).max() > 0.02 else 2

    @property
    def unit(self) -> str:
        """What an axis of shares is called."""
        return f"share of {self.whom}, with {100 * self.level:g}% intervals"

    def records(self, rows: NDArray[np.intp] | None = None) -> list[dict[str, Any]]:
        """A record for each cell, or for some: its values v0, v1, ..., its numbers and its name.

        What is not known is null.
        """
        cells = list(product(*self.values))
        numbers = self.numbers.reshape(len(NUMBERS), -1).T
        chosen = np.arange(len(cells)) if rows is None else rows
        return [_record(cells[i], numbers[i].tolist()) for i in chosen.tolist()]

    def tooltip(self, alt: Any) -> list[Any]:
        names = [alt.Tooltip(f"v{k}:N", title=label) for k, label in enumerate(self.labels)]
        numbers = (("probability", "share"), ("lower", "from"), ("upper", "to"))
        return [
            *names,
            *(alt.Tooltip(f"{key}:Q", title=name, format=".2%") for key, name in numbers),
        ]


def share_text(record: dict[str, Any], digits: int = 1) -> str:
    """The share of a cell.

    >>> share_text({"probability": 0.1234}), share_text({"probability": None})
    ('12.3%', 'not known')
    """
    share = record["probability"]
    if share is None:
        return "not known"
    return f"{round(share, digits + 2) + 0.0:.{digits}%}"  # a hair below zero is zero


def interval_text(record: dict[str, Any], digits: int = 1) -> str:
    """A cell's interval, in percent: its share need not be in the middle of it.

    >>> interval_text({"lower": 0.1, "upper": 0.2}), interval_text({"lower": None, "upper": None})
    ('10.0–20.0', '')
    >>> interval_text({"lower": -0.004, "upper": 0.051})
    '-0.4 to 5.1'
    """
    low, high = record["lower"], record["upper"]
    if low is None or high is None:
        return ""
    ends = [f"{round(100 * end, digits) + 0.0:.{digits}f}" for end in (low, high)]
    return ("\N{EN DASH}" if ends[0][0] != "-" else " to ").join(ends)


def lines_below(joint: LabelledTable) -> tuple[str, ...]:
    """What stands below a chart's title: how it was made, of how many reports."""
    made = f"{joint.method}, {joint.post}; n = {joint.n:,}; epsilon = {joint.epsilon:.3g} in all"
    return (made,) if joint.secure else (made, INSECURE)


def lines_of(source: Source) -> tuple[str, ...]:
    """The same for shares that are no joint table."""
    made = f"{source.method}; n = {source.n:,}; epsilon = {source.epsilon:.3g} in all"
    return (made,) if source.secure else (made, INSECURE)


def _record(values: tuple[str, ...], numbers: list[float]) -> dict[str, Any]:
    known = {name: x if x == x else None for name, x in zip(NUMBERS, numbers, strict=True)}
    return (
        {f"v{k}": value for k, value in enumerate(values)} | known | {"cell": join_values(values)}
    )
