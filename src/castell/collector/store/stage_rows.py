"""The stages of a study in one store: every row has the same length, whatever the stage.

A report of a study without stages is its packed codes. With stages a byte before them says of which
one it is, from 1 up, and zeros fill the rest: later designs draw one block, so their report is one
number, which eight bytes hold, and the public answers. The length never changes, and the spool's
rows can stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from castell.collector.store.packing import Packing
from castell.errors import ReportError, StudyError
from castell.study.study import Study

_ONE_NUMBER = 8


class StageRows:
    """How reports of some stages lie in a store.

    >>> from castell import Attribute, Schema
    >>> study = Study(Schema([Attribute("a", ["x", "y"])]), 1.0, staged=True)
    >>> rows = StageRows([study])
    >>> rows.pack((1,)).hex()
    '010100000000000000'
    """

    def __init__(self, stages: Sequence[Study]) -> None:
        self._packings = [Packing(stage.design.widths) for stage in stages]
        self._marked = stages[0].promise is not None
        room = self._packings[0].size
        if self._marked:
            public = [block.channel.outputs for block in stages[0].design.public]
            room = max(room, _ONE_NUMBER + Packing(public).size)
        self.size = room + self._marked
        if any(packing.size > room for packing in self._packings):
            raise StudyError(
                "a report of this stage is longer than those of the first",
                "let respondents draw one block, as castell plan-next does",
            )

    def pack(self, codes: Sequence[int], stage: int = 0) -> bytes:
        """A report of one of the stages, by its place."""
        packed = self._packings[stage].pack(codes)
        return bytes([stage + 1]) + packed.ljust(self.size - 1, b"\x00") if self._marked else packed

    def columns(self, rows: Sequence[bytes], stage: int = 0) -> list[NDArray[Any]]:
        """One array per column of some reports of a stage."""
        packing = self._packings[stage]
        if not self._marked:
            return packing.columns(rows)
        if set(map(len, rows)) - {self.size}:
            raise ReportError("a report in the store is cut short", "it is damaged")
        return packing.columns([row[1 : 1 + packing.size] for row in rows])

    def places(self, rows: Sequence[bytes]) -> Iterator[tuple[int, list[int]]]:
        """Which rows are of which stage: the stage's place and theirs."""
        if not self._marked:
            yield 0, list(range(len(rows)))
            return
        found: dict[int, list[int]] = {}
        for place, row in enumerate(rows):
            found.setdefault(row[0] - 1, []).append(place)
        for stage, places in sorted(found.items()):
            if not 0 <= stage < len(self._packings):
                raise ReportError("a report is of a stage that the store has not", "it is damaged")
            yield stage, places
