"""Times that can be compared: everybody runs in turn, in one process, several times over.

A machine that others use is now fast, now slow. Ratios of times taken within the same second
survive that; seconds do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter, process_time

from benchmarks._text import grid

Laps = dict[str, dict[str, float]]


def race(runners: Mapping[str, Callable[[], object]], rounds: int) -> Laps:
    """Best and median seconds of each, and both as ratios to the first, the yardstick.

    `ratio` compares the best times, `ratio_median` is the median over rounds of the ratio within
    a round. `processor` is the same of processor time, all threads added up: on a busy machine it
    is what can be compared. A round before the first is not timed.
    """
    names = list(runners)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    spent: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds + 1):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            start, begun = perf_counter(), process_time()
            runners[name]()
            if number:
                seconds[name].append(perf_counter() - start)
                # A clock that ticks by the millisecond may not see a short one.
                spent[name].append(max(process_time() - begun, 1e-6))
    yardstick, cheapest = seconds[names[0]], spent[names[0]]
    return {
        name: {
            "best": min(laps),
            "median": median(laps),
            "ratio": min(laps) / min(yardstick),
            "ratio_median": median(a / b for a, b in zip(laps, yardstick, strict=True)),
            "processor": median(a / b for a, b in zip(spent[name], cheapest, strict=True)),
        }
        for name, laps in seconds.items()
    }


def show_laps(laps: Laps) -> str:
    """The race as a table for people."""
    first = next(iter(laps))
    titles = ["", "best s", "median s", f"x {first}", "median", "processor"]
    return grid(
        titles,
        [
            [
                name,
                f"{lap['best']:.4f}",
                f"{lap['median']:.4f}",
                f"{lap['ratio']:.2f}",
                f"{lap['ratio_median']:.2f}",
                f"{lap['processor']:.2f}",
            ]
            for name, lap in laps.items()
        ],
    )
