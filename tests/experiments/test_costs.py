"""What a run takes: counted task by task, wherever and whenever a task was done."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from experiments import costs, memory, pool
from experiments.costs import Timed


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor that spends one second between two looks at it."""
    ticks = count()
    monkeypatch.setattr(costs, "process_time", lambda: float(next(ticks)))


@pytest.mark.usefixtures("clock")
def test_tasks_done_here_are_not_counted_twice() -> None:
    with costs.counting() as spent:
        assert pool.work(abs, [-1, -2, -3], "numbers") == [1, 2, 3]
    # Looks at the clock: one at the start, two for each task, one at the end.
    assert spent.of(costs.SHARED) == 7.0
    assert spent.total() == 7.0


@pytest.mark.usefixtures("clock")
def test_what_others_did_comes_on_top_of_what_was_done_here() -> None:
    with costs.counting() as spent:
        costs.add("em", 5.0)
        costs.add("em", 0.25)
        with costs.counting() as inner:
            costs.add("em", 100.0)
    assert spent.of("em") == 5.2
    assert spent.of("auto") == 0.0
    assert inner.of("em") == 100.0
    # Four looks, of which the inner counting made two.
    assert spent.of(costs.SHARED) == 3.0
    costs.add("em", 1.0)  # nobody counts
    assert spent.of("em") == 5.2


def test_what_was_remembered_took_as_long_as_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CASTELL_CACHE", str(tmp_path))
    asked: list[str] = []

    def work(tasks: Any) -> Any:
        for task in tasks:
            asked.append(task)
            yield task, Timed({"em": [0.5]}, 12.5)

    for _ in range(2):
        with memory.remembering():
            found = list(memory.recall(["one"], work, str))
        assert found == [("one", Timed({"em": [0.5]}, 12.5))]
    assert asked == ["one"]


def test_the_page_says_what_was_measured_and_what_was_not() -> None:
    def result(lines: dict[str, float | None], shared: float) -> dict[str, Any]:
        made = {label: {} if s is None else {"seconds": s} for label, s in lines.items()}
        return {"made": {"lines": made, "shared seconds": shared}}

    found = {
        "fig_adw": {
            "real": result({"em": 400.0, "auto": 80.0, "castell": 0.2}, 4.0),
            "rounding": result({"em": 100.0, "auto": 0.0, "castell": 0.1}, 1.0),
        },
        "fig_n": {"real": result({"em": 14.7, "lopub": None}, 0.0)},
    }
    said = costs.section(found)
    assert "takes 10 minutes of one processor, so 5 minutes on two cores" in said
    assert "count as nothing: 1 do." in said
    assert "| fig_adw | em 500, auto 80 | 585 |" in said
    assert "| fig_n | em 15; lines not measured: 1 | 15 |" in said
    assert "| all |  | 600 |" in said
    whole = costs.section({"fig_adw": found["fig_adw"]})
    assert "count as nothing" not in whole
