"""Numbers for Prometheus, and nothing of a respondent.

Whoever watches a counter must not see a single report come: what moves with every report is
shown as it was at the last full step, as on the results page.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

# Upper ends of the histograms' buckets, in seconds.
COMMIT_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
ANSWER_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)

# All reasons for which a request is refused, so that each is shown before it first happens.
REASONS = (
    "another_study",
    "answer_not_read",
    "body_too_long",
    "body_too_slow",
    "busy",
    "closed",
    "conflict",
    "connections",
    "content_type",
    "head_too_long",
    "head_too_slow",
    "invitation",
    "malformed",
    "not_a_report",
    "not_json",
    "not_open_yet",
    "paused",
    "rate",
    "role",
    "store",
    "token",
)
Labels = Mapping[str, str]


class Histogram:
    """How long something took, by buckets, shown in steps of so many times.

    >>> made = Histogram((1.0, 2.0), step=2)
    >>> made.observe(1.5); made.shown
    ((0, 0, 0), 0.0)
    >>> made.observe(0.5); made.shown
    ((1, 1, 0), 2.0)
    """

    def __init__(self, ends: tuple[float, ...], step: int = 1) -> None:
        self.ends, self._step = ends, step
        self._counts, self._sum, self._n = [0] * (len(ends) + 1), 0.0, 0
        self.shown: tuple[tuple[int, ...], float] = (tuple(self._counts), 0.0)

    def observe(self, seconds: float) -> None:
        self._counts[bisect_left(self.ends, seconds)] += 1
        self._sum += seconds
        self._n += 1
        if self._n % self._step == 0:
            self.shown = (tuple(self._counts), self._sum)


@dataclass(frozen=True)
class Tally:
    """What every part of a collector counts as it goes.

    `outcomes` are reports, `refused` requests by reason, `dropped` what was left out by kind,
    `answers` what became of analysts' questions, `plans` of plans of a next stage, `gauges` what is
    open now. `step` is how many
    reports show together. Several studies in one process have a tally each; what is refused before
    it is known whose it is, they have in common in `before`.
    """

    step: int = 1
    outcomes: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    before: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    plans: Counter[str] = field(default_factory=Counter)
    gauges: Counter[str] = field(default_factory=Counter)
    commit_seconds: Histogram = field(init=False)
    answer_seconds: Histogram = field(init=False)
    started: float = field(default_factory=time.time)

    def __post_init__(self) -> None:
        object.__setattr__(self, "commit_seconds", Histogram(COMMIT_SECONDS, self.step))
        object.__setattr__(self, "answer_seconds", Histogram(ANSWER_SECONDS))


@dataclass(frozen=True)
class Now:
    """What is so at this moment; nothing where it is not known."""

    queue: int = 0
    questions: int = 0
    good: bool = True
    reports: int | None = None
    stages: int = 1
    store_bytes: int | None = None
    last_backup: float | None = None


def prometheus(tally: Tally, now: Now) -> str:
    """The text that Prometheus reads.

    >>> tally = Tally(10, Counter(stored=27))
    >>> print(prometheus(tally, Now(queue=19)).splitlines()[2])
    castell_reports_total{outcome="stored"} 20
    """

    def whole(count: int) -> int:
        return count // tally.step * tally.step

    outcomes = [({"outcome": name}, whole(tally.outcomes[name])) for name in ("stored", "repeated")]
    refused = [({"reason": name}, tally.refused[name] + tally.before[name]) for name in REASONS]
    answers = [({"outcome": name}, tally.answers[name]) for name in ("made", "refused", "failed")]
    plans = [({"outcome": name}, tally.plans[name]) for name in ("published", "kept", "failed")]
    restarts, lines = tally.answers["restarts"], tally.dropped["log_lines"]
    reports = None if now.reports is None else whole(now.reports)
    # By the megabyte: a page more would tell of some tens of reports.
    size = None if now.store_bytes is None else now.store_bytes >> 20 << 20
    parts = [
        _metric("reports_total", "counter", "Reports since the start.", outcomes),
        _metric("refused_total", "counter", "Refused requests, by reason.", refused),
        _histogram("commit_seconds", "How long a transaction took.", tally.commit_seconds),
        _one("queue_reports", "Reports that wait for the disk.", whole(now.queue)),
        _one("store_good", "Whether reports can be kept.", int(now.good)),
        _one("store_reports", "Reports in the store.", reports),
        _one("store_bytes", "Size of the store's file.", size),
        _one("last_backup_timestamp_seconds", "When it was last backed up.", now.last_backup),
        _one("connections", "Open connections.", tally.gauges["connections"] // 10 * 10),
        _one("stages", "Stages of the study so far.", now.stages),
        _metric("stage_plans_total", "counter", "Plans of a next stage, by outcome.", plans),
        _one("stage_planning", "Whether a stage is planned now.", tally.gauges["planning"]),
        _metric("answers_total", "counter", "Analysts' questions, by outcome.", answers),
        _histogram("answer_seconds", "How long an answer was worked on.", tally.answer_seconds),
        _one("questions_waiting", "Questions asked and not yet answered.", now.questions),
        _one("restarts_total", "Starts of a model process that died.", restarts, "counter"),
        _one("log_lines_dropped_total", "Log lines beyond the limit.", lines, "counter"),
        _one("start_time_seconds", "When the collector started.", int(tally.started)),
    ]
    return "".join(parts)


def _metric(
    name: str, kind: str, help: str, values: Iterable[tuple[Labels, float]], ending: str = ""
) -> str:
    head = f"# HELP castell_{name} {help}\n# TYPE castell_{name} {kind}\n"
    return head + _samples(name + ending, values)


def _one(name: str, help: str, value: float | None, kind: str = "gauge") -> str:
    return "" if value is None else _metric(name, kind, help, [({}, value)])


def _histogram(name: str, help: str, histogram: Histogram) -> str:
    counts, total = histogram.shown
    ends = [*map(str, histogram.ends), "+Inf"]
    so_far = [sum(counts[: i + 1]) for i in range(len(counts))]
    buckets = [({"le": end}, count) for end, count in zip(ends, so_far, strict=True)]
    return (
        _metric(name, "histogram", help, buckets, "_bucket")
        + _samples(f"{name}_sum", [({}, round(total, 6))])
        + _samples(f"{name}_count", [({}, so_far[-1])])
    )


def _samples(name: str, values: Iterable[tuple[Labels, float]]) -> str:
    lines = []
    for labels, value in values:
        written = ",".join(f'{key}="{label}"' for key, label in labels.items())
        lines.append(f"castell_{name}{f'{{{written}}}' if written else ''} {value}\n")
    return "".join(lines)
