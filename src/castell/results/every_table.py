"""Every table of some width: a mapping from each set of attributes to its estimate.

The reports are counted for many tables at once; an estimate is worked out when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np

from castell.counting import Counts, Tally, is_narrow, samples_of
from castell.counting.counts import count_ahead
from castell.display.notebook import html_table
from castell.errors import QueryError
from castell.inference.inversion import parts_of
from castell.numbers import is_whole
from castell.reports.frames import frame_of
from castell.results.joint import NUMBERS, JointEstimate
from castell.results.notebook_table import MOST_ROWS
from castell.study.study import Study

Names = tuple[str, ...]
# Cells that are counted in one pass: their tables take eight bytes each.
MOST_CELLS_IN_A_PASS = 1 << 26
# More tables than this are not wanted by anybody.
MOST_TABLES = 1_000_000


class JointEstimates(Mapping[Names, JointEstimate]):
    """The estimates of all sets of so many attributes, in the order of the schema."""

    def __init__(
        self,
        counts: Counts,
        width: int,
        ask: Callable[[Names], JointEstimate],
        answers: Callable[[Names], bool],
    ) -> None:
        names = counts.study.names
        if not is_whole(width, 1) or width > len(names):
            raise QueryError(f"width is {width!r}", f"give a whole number from 1 to {len(names)}")
        if comb(len(names), width) > MOST_TABLES:
            raise QueryError(
                f"there are {comb(len(names), width):,} sets of {width} attributes",
                "give a smaller width, or ask for the tables you need",
            )
        self.width = width
        self._counts, self._ask = counts, ask
        # Sets that no report holds together are left out where the method needs one.
        self._names = [some for some in combinations(names, width) if answers(some)]
        self._chunks = list(_chunks(counts.study, self._names))
        self._place = {frozenset(some): k for k, part in enumerate(self._chunks) for some in part}
        self._counted: int | None = None
        self._kept: dict[Names, JointEstimate] = {}

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[Names]:
        return iter(self._names)

    def __contains__(self, names: object) -> bool:
        return isinstance(names, tuple) and frozenset(names) in self._place

    def __getitem__(self, names: Names) -> JointEstimate:
        """The estimate of some attributes, in any order."""
        asked = tuple(names)
        if asked not in self or len(asked) != self.width:
            raise KeyError(names)
        if asked not in self._kept:
            place = self._place[frozenset(asked)]
            if place != self._counted:
                count_tables(self._counts, self._chunks[place])
                self._counted = place
            self._kept[asked] = self._ask(asked)
        return self._kept[asked]

    def __repr__(self) -> str:
        return f"<JointEstimates of {len(self):,} sets of {self.width} attributes>"

    def _repr_html_(self) -> str:
        """The sets; a table of each is `estimates[names]`."""
        shown = self._names[:MOST_ROWS]
        more = len(self) - len(shown)
        return html_table(
            f"Joint tables of {len(self):,} sets of {self.width} attributes",
            [f"attribute {i}" for i in range(1, self.width + 1)],
            shown,
            labels=self.width,
            notes=[f"{more:,} more; to_frame() has the cells of all"] if more else [],
        )

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """All tables for programs, as plain JSON values; docs/results.md has the layout."""
        return {
            "kind": "joint_estimates",
            "width": self.width,
            "estimates": [joint.to_dict(level) for joint in self.values()],
        }

    def columns(self, level: float = 0.95) -> dict[str, Any]:
        """A row for each cell of each table: its attributes and values, and the estimate."""
        found: dict[str, list[Any]] = {}
        for joint in self.values():
            given = joint.columns(level)
            labels = list(given)[: self.width]
            for i, (name, label) in enumerate(zip(joint.names, labels, strict=True), 1):
                many = np.full(joint.probabilities.size, name, dtype=object)
                found.setdefault(f"attribute_{i}", []).append(many)
                found.setdefault(f"value_{i}", []).append(given[label])
            for number in NUMBERS:
                found.setdefault(number, []).append(given[number])
        return {name: np.concatenate(parts) for name, parts in found.items()}

    def to_frame(self, backend: str | None = None, *, level: float = 0.95) -> Any:
        """All tables as one frame of the kind the answers came in."""
        return frame_of(self.columns(level), backend or self._counts.backend)


def _chunks(study: Study, sets: list[Names]) -> Iterator[list[Names]]:
    """Sets whose tables fit in memory together."""
    part: list[Names] = []
    cells = 0
    for names in sets:
        more = prod(study.schema[name].size for name in names)
        if part and cells + more > MOST_CELLS_IN_A_PASS:
            yield part
            part, cells = [], 0
        part.append(names)
        cells += more
    if part:
        yield part


def count_tables(counts: Counts, sets: list[Names]) -> None:
    """Count the tables of some sets of attributes, each sample of respondents in one pass."""
    for sample in samples_of(counts):
        if isinstance(sample, Tally) and is_narrow(sample.study):
            continue  # counted already
        reported = set(sample.study.names)
        wanted = [names for names in sets if reported.issuperset(names)]
        axes = (
            tuple(axis for part in parts_of(sample.study, names) for axis in part.axes)
            for names in wanted
        )
        few = [
            each
            for each in dict.fromkeys(axes)
            if prod(a.size for a in each) <= MOST_CELLS_IN_A_PASS
        ]
        # Margins too: whoever estimates a table looks at those of its attributes.
        alone = dict.fromkeys((axis,) for each in few for axis in each)
        count_ahead(sample, [*few, *(one for one in alone if one not in few)])
