"""Counts for Prometheus, and nothing but counts."""

from __future__ import annotations

from collections.abc import Mapping


def prometheus(counts: Mapping[str, int], commits: int, step: int) -> str:
    """What became of reports since the start.

    What was kept is rounded down to a `step`, as on the results page: whoever watches a counter
    must not see a single report come.

    >>> print(prometheus({"stored": 27}, 13, 10).splitlines()[2])
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
    ]
    return "\n".join(lines) + "\n"
