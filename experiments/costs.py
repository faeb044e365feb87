"""Processor time: what each line of a result takes, and what preparing all of it does.

A task's time is measured in the process that does it, and kept with what it found (`memory`), so
that a run that was stopped and went on counts all its work. Seconds of a processor do not depend on
how many processes share the work, and hardly on what else the machine does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import process_time
from typing import Generic, TypeVar

from experiments.text import Result, Table

T = TypeVar("T")
R = TypeVar("R")

# Work that is no single line's.
SHARED = ""
# So many lines of an experiment are named on the page.
DEAREST = 3


@dataclass(frozen=True)
class Timed(Generic[R]):
    """What a task gave, and the processor's seconds it took."""

    made: R
    seconds: float


def timed(do: Callable[[T], R], task: T) -> Timed[R]:
    start = process_time()
    made = do(task)
    return Timed(made, process_time() - start)


@dataclass
class Spent:
    """Seconds by line; of `SHARED`, also what was done outside of any task."""

    lines: dict[str, float] = field(default_factory=dict)
    in_tasks_here: float = 0.0

    def of(self, label: str) -> float:
        return round(self.lines.get(label, 0.0), 1)

    def total(self) -> float:
        return round(sum(self.lines.values()), 1)


_spent: Spent | None = None


@contextmanager
def counting() -> Iterator[Spent]:
    """What is spent until the end of this; read it afterwards."""
    global _spent
    before, _spent = _spent, Spent()
    mine, start = _spent, process_time()
    try:
        yield mine
    finally:
        _spent = before
        charge(mine, SHARED, process_time() - start - mine.in_tasks_here)


def charge(spent: Spent, label: str, seconds: float) -> None:
    spent.lines[label] = spent.lines.get(label, 0.0) + seconds


def add(label: str, seconds: float) -> None:
    """So much more for a line, if anybody counts."""
    if _spent is not None:
        charge(_spent, label, seconds)


def done_here(seconds: float) -> None:
    """A task was done in this process: its time is not to be counted twice."""
    if _spent is not None:
        _spent.in_tasks_here += seconds


# -- on the page ---------------------------------------------------------------------------------


def section(results: Mapping[str, Mapping[str, Result]]) -> str:
    """What each experiment takes, and all of them on two cores; of kept results by name, noise."""
    rows, total, unknown = [], 0.0, 0
    for name, by_noise in results.items():
        lines: dict[str, float] = {}
        shared, lacking = 0.0, 0
        for result in by_noise.values():
            shared += result["made"].get("shared seconds", 0.0)
            for label, made in result["made"]["lines"].items():
                lacking += "seconds" not in made
                lines[label] = lines.get(label, 0.0) + made.get("seconds", 0.0)
        seconds = shared + sum(lines.values())
        total, unknown = total + seconds, unknown + lacking
        dear = sorted(lines, key=lines.__getitem__, reverse=True)[:DEAREST] * (len(lines) > 1)
        told = ", ".join(f"{label} {lines[label]:,.0f}" for label in dear if lines[label] >= 1.0)
        gap = f"; lines not measured: {lacking}" * bool(lacking)
        rows.append([name, f"{told}{gap}".removeprefix("; "), f"{seconds:,.0f}"])
    rows.append(["all", "", f"{total:,.0f}"])
    said = (
        f"A full run takes {total / 60:.0f} minutes of one processor, so {total / 120:.0f} minutes "
        "on two cores, and less than a minute more for pictures and this page. Seconds were "
        "measured task by task while the numbers were computed."
    )
    if unknown:
        said += f" Lines computed before that was measured count as nothing: {unknown} do."
    table = Table(["experiment", "the dearest lines", "processor seconds"], rows, words=2)
    return f"## What it takes\n\n{said}\n\n{table.markdown()}"
