"""Counts for Prometheus, and nothing but counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Tally:
    """What every part of a collector counts as it goes.

    `refused` are requests by reason, `dropped` what was left out by kind, `fits`
    what became of questions.
    """

    refused: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    fits: Counter[str] = field(default_factory=Counter)


def prometheus(counts: Mapping[str, int], commits: int, step: int, tally: Tally) -> str:
    """What became of reports since the start.

    What was kept is rounded down to a `step`, as on the results page: whoever watches a counter
    must not see a single report come.

    >>> print(prometheus({"stored": 27}, 13, 10, Tally()).splitlines()[2])
    castell_reports_total{outcome="stored"} 20
    """
    rounded = {name: counts.get(name, 0) // step * step for name in ("stored", "repeated")}
    exact = {name: counts.get(name, 0) for name in ("refused", "failed")}
    lines = [
        "# HELP castell_reports_total Reports since the start, by what became of them.",
        "# TYPE castell_reports_total counter",
        *(
            f'castell_reports_total{{outcome="{name}"}} {count}'
            for name, count in (rounded | exact).items()
        ),
        "# HELP castell_commits_total Transactions since the start.",
        "# TYPE castell_commits_total counter",
        f"castell_commits_total {commits // step * step}",
        "# HELP castell_refused_total Requests that were refused, by reason.",
        "# TYPE castell_refused_total counter",
        *(
            f'castell_refused_total{{reason="{reason}"}} {count}'
            for reason, count in sorted(tally.refused.items())
        ),
        "# HELP castell_log_lines_dropped_total Log lines beyond the limit.",
        "# TYPE castell_log_lines_dropped_total counter",
        f"castell_log_lines_dropped_total {tally.dropped['log_lines']}",
    ]
    return "\n".join(lines) + "\n"
