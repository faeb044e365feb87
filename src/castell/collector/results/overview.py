"""What the page shows before anything is asked: the study, how many reports, and how they came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castell.collector.results.charts import timeline
from castell.collector.results.dated_reports import DatedReports
from castell.collector.results.question import CHARTS
from castell.estimators import describe, methods_for
from castell.inference.postprocess import STEPS
from castell.results.model import DEFAULT_METHOD
from castell.study.study import Study


def step_of(minimum: int) -> int:
    """In which steps the number of reports is told, and results move.

    Whoever watches results change with every single report sees that report. So they change only
    once a good number of new ones are in.

    >>> step_of(100), step_of(5)
    (10, 1)
    """
    return max(1, minimum // 10)


def round_down(count: int, minimum: int) -> int:
    """A number of reports as it may be told.

    >>> round_down(57, 100)
    50
    """
    step = step_of(minimum)
    return count // step * step


def describe_study(study: Study) -> dict[str, Any]:
    """What is public about a study anyway."""
    return {
        "name": study.name,
        "title": study.text.title or study.name,
        "description": study.text.description,
        "digest": study.digest,
        "epsilon": study.epsilon,
        "public": list(study.schema.public),  # which epsilon does not cover
        "attributes": [
            {"name": a.name, "question": a.question, "values": list(a.values)} for a in study.schema
        ],
    }


def _stages(
    stages: Sequence[Study], minimum: int, dated: DatedReports | None
) -> list[dict[str, Any]]:
    """The stages, and how many reports of each are in; in steps, as all numbers of reports."""
    found = {} if dated is None else {one.study.origin: len(one.hours) for one in dated.stages}
    return [
        {
            "stage": number,
            "digest": stage.digest,
            "epsilon": stage.epsilon,
            "promised": str(stage.promise.epsilon),
            "sets": len(stage.design.samples),
            "n": round_down(found.get(stage.origin, 0), minimum),
        }
        for number, stage in enumerate(stages, 1)
        if stage.promise is not None
    ]


def overview(
    study: Study,
    minimum: int,
    count: int,
    dated: DatedReports | None = None,
    *,
    stages: Sequence[Study] = (),
    release_hours: int = 0,
    release: str | None = None,
    over: bool = False,
) -> dict[str, Any]:
    """Without dated reports there are too few: then only their rounded number is told.

    Results come out every `release_hours`, `release` is when they next may; where they come as
    reports do there is neither. Once the study is `over` none do. `stages` are those of a study
    that promises some.
    """
    asked = (study,) if dated is None else dated.studies
    told: dict[str, Any] = {
        "ready": dated is not None,
        "n": round_down(count, minimum) if dated is None else dated.n,
        "minimum": minimum,
        "step": step_of(minimum),
        "release_hours": release_hours,
        "next_release": release,
        "over": over,
        "study": describe_study(study),
        "stages": _stages(stages, minimum, dated),
        "methods": [{"name": name, "about": describe(name)} for name in methods_for(*asked)],
        "method": DEFAULT_METHOD,
        "posts": list(STEPS),
        "charts": list(CHARTS),
    }
    if dated is None:
        return told
    points = dated.timeline()
    try:
        spec, problem = timeline(points), None
    except ImportError as error:
        spec, problem = None, str(error)
    return told | {
        "secure": dated.reports.secure,
        "timeline": [{"hour": hour, "reports": reports} for hour, reports in points],
        "timeline_spec": spec,
        "chart_problem": problem,
    }
