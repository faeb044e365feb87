"""What bins that the first respondents tell are worth, next to bins of equal width and to many.

A number from 0 to 200 of people who do not exist, one attribute, so many reports in all. `shares`
and `width` ask a fifth of them with forty bins, plan six from these reports (`castell.plan_bins`,
by that criterion) and estimate from all others; `together` asks the others for the bin alone and
estimates from both (`BinPlan.next_study`, by width, method auto). `equal` asks everybody with six
bins of equal width, `many` with forty.

Errors of the median and of the 90 % quantile are root mean squares over collections, in parts of
the standard deviation of the numbers. `mean` is the half-width of the 95 % interval of the mean, in
the same parts; it holds what bins leave open. `held` is how often that interval held the mean.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

import castell
from benchmarks._text import grid
from castell import Attribute, Model, Study
from castell.linear.operators import Floats
from experiments.pool import work

MOST, MANY, FEW, FIRST = 200, 40, 6, 0.2
TASKS = ("median", "90 %", "mean", "held")

# A population, epsilon, seed and how many reports.
Job = tuple[str, float, int, int]


def _pay(n: int, chance: np.random.Generator) -> Floats:
    return np.asarray(chance.lognormal(3.2, 0.6, n))


def _ages(n: int, chance: np.random.Generator) -> Floats:
    return np.asarray(np.where(chance.random(n) < 0.6, 25, 140) + chance.normal(0, 9, n))


def _even(n: int, chance: np.random.Generator) -> Floats:
    return np.asarray(chance.uniform(0, MOST, n))


PEOPLE: dict[str, Callable[[int, np.random.Generator], Floats]] = {
    "lognormal": _pay,
    "two bells": _ages,
    "uniform": _even,
}


def run(quick: bool) -> dict[str, Any]:
    n, repeats = (600, 1) if quick else (5000, int(os.environ.get("CASTELL_REPEATS", "40")))
    epsilons = (2.0,) if quick else (1.0, 2.0, 4.0)
    names = list(PEOPLE)[: 1 if quick else None]
    jobs = [(d, e, s, n) for d in names for e in epsilons for s in range(repeats)]
    found: dict[tuple[str, float, str, str], list[float]] = defaultdict(list)
    for (data, epsilon, *_), errors in zip(jobs, work(_collect, jobs, "collections"), strict=True):
        for (way, task), error in errors.items():
            found[data, epsilon, way, task].append(error)
    rows = [
        {"data": d, "epsilon": e, "way": w, "task": t, "error": _together(t, x)}
        for (d, e, w, t), x in found.items()
    ]
    return {"rows": rows, "n": n, "repeats": repeats}


def _together(task: str, each: list[float]) -> float:
    return float(np.mean(each) if task == "held" else np.sqrt(np.mean(np.square(each))))


def _collect(job: Job) -> dict[tuple[str, str], float]:
    data, epsilon, seed, n = job
    chance = np.random.default_rng([seed, round(8 * epsilon), *data.encode()])
    numbers = np.clip(PEOPLE[data](n, chance), 0, MOST - 1)
    everybody = np.clip(PEOPLE[data](1_000_000, np.random.default_rng(7)), 0, MOST - 1)
    many, few = _asked(MANY), _asked(FEW)
    first = round(FIRST * n)
    pilot = Study([many], epsilon).randomize({"x": numbers[:first]}, seed=seed)
    found: dict[tuple[str, str], float] = {}

    def keep(way: str, model: Model) -> None:
        for task in TASKS:
            found[way, task] = _error(model, task, everybody)

    for by in ("shares", "width"):
        plan = castell.plan_bins(pilot, "x", FEW, by=by)
        keep(by, _model(Study([plan.attribute], epsilon), numbers[first:], seed))
    then = plan.next_study().randomize({"x": numbers[first:]}, seed=seed)
    keep("together", castell.fit([pilot, then]))
    keep("equal", _model(Study([few], epsilon), numbers, seed))
    keep("many", _model(Study([many], epsilon), numbers, seed))
    return found


def _asked(bins: int) -> Attribute:
    inner = np.linspace(0, MOST, bins + 1)[1:-1].round().astype(int).tolist()
    return Attribute("x", bins=inner, range=[0, MOST], type="number")


def _model(study: Study, numbers: Floats, seed: int) -> Model:
    return castell.fit(study.randomize({"x": numbers}, seed=seed), "castell")


def _error(model: Model, task: str, everybody: Floats) -> float:
    spread = float(everybody.std())
    if task in ("mean", "held"):
        low, high = model.mean("x").conf_int(0.95)
        held = float(low <= everybody.mean() <= high)
        return held if task == "held" else (high - low) / 2 / spread
    share = 0.5 if task == "median" else 0.9
    told = model.quantile("x", share).value
    return (float(told) - float(np.quantile(everybody, share))) / spread


def show(result: dict[str, Any]) -> str:
    rows = result["rows"]
    ways = list(dict.fromkeys(row["way"] for row in rows))
    by = {(r["data"], r["epsilon"], r["task"], r["way"]): r["error"] for r in rows}
    lines = [
        [data, task, f"{epsilon:g}", *(f"{by[data, epsilon, task, way]:.3f}" for way in ways)]
        for data, epsilon, task in dict.fromkeys((r["data"], r["epsilon"], r["task"]) for r in rows)
    ]
    told = f"{result['repeats']} collections of {result['n']:,} people each"
    return f"{told}\n\n{grid(['data', 'what', 'epsilon', *ways], lines, words=2)}"
