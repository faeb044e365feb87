"""Reports of one schema under several studies: stages, waves, a corrected design.

Each study keeps its own digest, channels and blocks. A sample of any of them is a sample of all:
the same people were asked, in another way. So whatever pools samples estimates from all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from numpy.typing import NDArray

from castell.counting.counts import ByBatches, Counts, add_reports
from castell.counting.kernels import Factor, Integers, Moments, Sum
from castell.errors import ReportError
from castell.study.design import Axis
from castell.study.study import Study


@dataclass(frozen=True, eq=False)
class _Parts:
    """Reports in several parts, as far as it does not matter of which studies they are."""

    parts: tuple[Counts, ...]

    @property
    def secure(self) -> bool:
        return all(part.secure for part in self.parts)

    @property
    def backend(self) -> str | None:
        return self.parts[-1].backend

    @property
    def n(self) -> int:
        return sum(part.n for part in self.parts)


@dataclass(frozen=True, eq=False)
class Stages(_Parts):
    """The counts of several studies. `study` is the last of them.

    They have no table in common, since their reports are of different kinds: ask their samples.
    """

    @property
    def studies(self) -> tuple[Study, ...]:
        return tuple(dict.fromkeys(part.study for part in self.parts))

    @property
    def study(self) -> Study:
        return self.parts[-1].study

    def table(self, axes: Sequence[Axis]) -> Integers:  # noqa: ARG002
        _no_table()

    def pairs(self, axes: Sequence[Axis]) -> Integers:  # noqa: ARG002
        _no_table()

    def moments(self, queries: Sequence[Sequence[Factor]]) -> Moments:  # noqa: ARG002
        _no_table()

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:  # noqa: ARG002
        _no_table()


@dataclass(frozen=True, eq=False)
class Concatenated(_Parts, ByBatches):
    """Reports of one study that are kept in several places, as one."""

    @property
    def study(self) -> Study:
        return self.parts[0].study

    def add_up(self, *totals: Sum) -> None:
        for part in self.parts:
            add_reports(part, *totals)

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        for part in self.parts:
            yield from part.batches(blocks)


def _no_table() -> NoReturn:
    raise ReportError(
        "reports of several studies have no table in common",
        "a method reads them by their samples: castell.extend.samples_of(counts)",
    )


def join_stages(parts: Sequence[Counts]) -> Counts:
    """Reports of several studies with the same attributes and values, as one.

    Those of one study are put together, wherever they are kept.
    """
    if not parts:
        raise ReportError("there are no reports", "give those of at least one study")
    if len(parts) == 1:
        return parts[0]
    first = parts[0].study
    for part in parts[1:]:
        if _answers(part.study) != _answers(first):
            raise ReportError(
                f"{part.study.name!r} and {first.name!r} ask for different answers",
                "only studies with the same attributes and values, in the same order, can be "
                "estimated together",
            )
    by_study: dict[Study, list[Counts]] = {}
    for each in (each for part in parts for each in stages_of(part)):
        by_study.setdefault(each.study, []).append(each)
    found = tuple(
        same[0] if len(same) == 1 else Concatenated(tuple(same)) for same in by_study.values()
    )
    return found[0] if len(found) == 1 else Stages(found)


def _answers(study: Study) -> list[tuple[str, tuple[str, ...]]]:
    return [(attribute.name, attribute.values) for attribute in study.schema]


def stages_of(counts: Counts) -> tuple[Counts, ...]:
    """The reports of each study, in the order they were given."""
    return counts.parts if isinstance(counts, Stages) else (counts,)
