"""Table lopub: what of LoPub's printed errors can be had, and under which reading.

The paper prints AVDs of .13 to .46 for LoPub (Lasso, 64 bits, 5 hash functions) and leaves open
what epsilon is for, which estimate was used and when EM stopped. Here each reading is run: Lasso
asked for every table directly, and the whole of LoPub with three estimates and two stopping rules,
at epsilon 1 and 4 for each attribute. The error is the largest cell, which is the paper's formula
for AVD, and the total variation distance, which is LoPub's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import castell
from castell.counting import MemoryCounts
from castell.evaluation.metrics import METRICS
from castell.inference.bloom_filters import Filters
from castell.linear.operators import Floats
from castell.reports.reports import Reports
from experiments import datasets, pool, probes
from experiments.datasets.population import Population
from experiments.harness import Scheme, Sets, draw_sets, study_of, summarise
from experiments.lines import ANY_LINE, lines
from experiments.settings import Settings, describe
from experiments.table_comp import PRINT as PRINTED
from experiments.table_comp import WIDTHS
from experiments.text import Result, Table, number, pick

# Reports of Bloom filters are no table of answers: the rounding model does not apply.
NOISY = False
EPSILONS = (1.0, 4.0)
ERRORS = {"avd": "largest cell", "tvd": "total variation"}
DIRECT = "Lasso, each table directly"
READINGS: dict[str, dict[str, Any]] = {
    "lasso": {"joint": "lasso"},
    "em": {"joint": "em"},
    "lasso+em": {},
    "lasso+em, delta .001": {"close": 1e-3},
}
PRINT = dict(zip(WIDTHS, PRINTED["lopub"], strict=True))

Answer = Callable[[tuple[str, ...]], Floats]


def _directly(reports: Reports) -> Answer:
    filters = Filters.of(MemoryCounts(reports))

    def answer(names: tuple[str, ...]) -> Floats:
        sizes = [filters.matrices[name].shape[1] for name in names]
        return filters.lasso(names, 0.0).table(sizes)

    return answer


def _fit_lopub(reports: Reports, options: Mapping[str, Any]) -> Answer:
    model = castell.fit(reports, "lopub", **options)
    return lambda names: model.estimate(names).probabilities


@dataclass(frozen=True, eq=False)
class Task:
    """One reading of one set of reports."""

    people: Population
    each: float
    seed: int
    reading: str
    sets: Mapping[int, Sets]
    options: Mapping[str, Any] = field(default_factory=dict)


def errors_of(task: Task) -> dict[tuple[str, int], list[float]]:
    """The errors on all sets, by what an error is and by width."""
    study = study_of(task.people, task.each, Scheme("lopub", "lopub", "bloom"))
    reports = study.randomize(task.people.frame(), seed=task.seed)
    direct = task.reading == DIRECT
    answer = _directly(reports) if direct else _fit_lopub(reports, task.options)
    found = {}
    for w, chosen in task.sets.items():
        pairs = [(task.people.table(names), answer(names)) for names in chosen]
        for error in ERRORS:
            found[error, w] = [METRICS[error](*pair) for pair in pairs]
    return found


def probe_readings(readings: Mapping[str, Mapping[str, Any]]) -> list[float]:
    """What each reading makes of the same few people."""
    sets = {len(names): [names] for names in probes.SETS}
    found: list[float] = []
    for reading, options in readings.items():
        task = Task(probes.people(), probes.EACH, probes.SEED, reading, sets, options)
        found += probes.summed([x for errors in errors_of(task).values() for x in errors])
    return found


def probe() -> list[float]:
    return probe_readings({DIRECT: {}, **READINGS})


def run(settings: Settings) -> dict[str, Any]:
    people = datasets.load("adult")
    repeats, most = settings.times(3, 1), settings.most(20, 6)
    widths = [w for w in WIDTHS if w <= len(people.schema)]
    sets = {w: draw_sets(people, w, most, cells=1 << 20) for w in widths}
    budgets = settings.each(len(people.schema), EPSILONS)
    # EM from nowhere takes longest.
    readings = [DIRECT, *(x for x in READINGS if x != "em" or not settings.quick)]
    asked = [(each, reading) for each in budgets for reading in readings]
    tasks = [
        Task(people, each, settings.seed + repeat, reading, sets, READINGS.get(reading, {}))
        for each, reading in asked
        for repeat in range(repeats)
    ]
    found = pool.work(errors_of, tasks, "LoPub, reading by reading")
    records = []
    for k, (each, reading) in enumerate(asked):
        own = found[k * repeats : (k + 1) * repeats]
        for error, w in own[0]:
            what = {"data": f"epsilon {each:g} each, {ERRORS[error]}", "each": each}
            numbers = summarise(np.array([errors[error, w] for errors in own]))
            records.append({**what, "error_is": error, "scheme": reading, "x": w, **numbers})
    total = [each * len(people.schema) for each in budgets]
    facts: dict[str, Any] = {"data": people.note, "n": people.n, "each": budgets, "total": total}
    facts["sets"] = f"up to {most} attribute sets a width"
    facts["left out"] = ["the reading em is left out"] if settings.quick else []
    return {"about": describe(settings, **facts, repeats=repeats), "records": records}


def table(results: Sequence[Result]) -> Table:
    result = results[0]
    widths = sorted({r["x"] for r in result["records"]})
    rows = [["print", "", "", *(f"{PRINT[w]:.4f}" for w in widths)]]
    keys = dict.fromkeys((r["each"], r["error_is"], r["scheme"]) for r in result["records"])
    for each, error, scheme in keys:
        found = {r["x"]: r for r in pick(result, each=each, error_is=error, scheme=scheme)}
        cells = [number(found[w]["mean"], found[w]["error"]) for w in widths]
        rows.append([scheme, f"{each:g}", ERRORS[error], *cells])
    titles = ["reading", "epsilon each", "error", *(f"w = {w}" for w in widths)]
    return Table(titles, rows, words=3)


def draw(result: Result) -> Any:
    heading = "Adult: LoPub reading by reading"
    printed = {ANY_LINE: {w: PRINT[w] for w in sorted({r["x"] for r in result["records"]})}}
    return lines(result, heading, x="attributes w", y="error", whole=True, printed=printed)


def findings(results: Mapping[str, Result]) -> list[str]:
    result = next(iter(results.values()))
    keys = dict.fromkeys((r["each"], r["error_is"], r["scheme"]) for r in result["records"])
    far: dict[tuple[float, str, str], float] = {}
    shown: dict[tuple[float, str, str], str] = {}
    for key in keys:
        each, error, scheme = key
        found = pick(result, each=each, error_is=error, scheme=scheme)
        far[key] = max(abs(np.log(r["mean"] / PRINT[r["x"]])) for r in found)
        shown[key] = " ".join(f"{r['mean']:.2f}" for r in found)
    said = []
    for error, name in ERRORS.items():
        best = min((key for key in keys if key[1] == error), key=lambda key: far[key])
        said.append(
            f"Read as {name}, {best[2]} at epsilon {best[0]:g} for each attribute comes nearest "
            f"to the print, with {shown[best]} (print "
            f"{' '.join(f'{PRINT[r]:.2f}' for r in sorted({x['x'] for x in result['records']}))}; "
            f"no width is off by more than a factor of {np.exp(far[best]):.1f})."
        )
    return said
