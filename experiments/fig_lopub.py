"""Figure lopub: AVD by the number of attributes, every scheme there is, at one total budget.

The paper's figure compares its schemes with LoPub at one number for epsilon. Here every scheme
spends the same total, 4 unless asked otherwise, and any estimator file that is added shows up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments import datasets
from experiments.harness import REFERENCES, draw_sets, summarise
from experiments.lines import lines
from experiments.questions import Question, evaluate, left_out
from experiments.settings import Settings, describe_people
from experiments.table_comp import PRINT as PRINTED
from experiments.table_comp import WIDTHS
from experiments.text import Result, Table, by_x, mean_of, pick

PRINT = {scheme: dict(zip(WIDTHS, values, strict=False)) for scheme, values in PRINTED.items()}
TOTAL = 4.0


def run(settings: Settings) -> dict[str, Any]:
    people = datasets.load("adult")
    attributes = len(people.schema)
    each = settings.one_each(attributes, TOTAL / attributes)
    # The sets of Table comp, which has the same question among others.
    repeats, most = settings.times(5, 2), settings.most(None, 12)
    widths = [w for w in WIDTHS if w <= attributes]
    questions = [Question(people, each, draw_sets(people, w, most, cells=1 << 21)) for w in widths]
    records = [
        {"data": "adult", "scheme": scheme, "x": w, **summarise(values)}
        for w, errors in zip(widths, evaluate(questions, settings, repeats), strict=True)
        for scheme, values in errors.items()
    ]
    facts = {
        "sets": f"up to {most} attribute sets a width" if most else "all attribute sets",
        "left out": left_out(questions, settings, repeats),
    }
    about = describe_people(settings, people, each, repeats, **facts)
    return {"about": about, "records": records}


def table(results: Sequence[Result]) -> Table:
    return by_x(results, "w", PRINT)


def draw(result: Result) -> Any:
    heading = "Adult: AVD by the number of attributes, one total budget"
    return lines(result, heading, x="attributes w", whole=True, printed=PRINT)


def findings(results: Mapping[str, Result]) -> list[str]:
    if "real" not in results:
        return []
    said = []
    real = results["real"]
    wins = []
    for w in dict.fromkeys(r["x"] for r in real["records"]):
        ours, theirs = (mean_of(real, x=w, scheme=s) for s in ("truncated", "independent"))
        if ours is not None and theirs is not None and ours < theirs:
            wins.append(w)
        found = [r for r in pick(real, x=w) if r["mean"] is not None]
        shown = [r for r in found if r["scheme"] not in REFERENCES]
        best = min(shown, key=lambda r: float(r["mean"]))
        useless = next(r["mean"] for r in found if r["scheme"] == "uniform table")
        worse = [r["scheme"] for r in shown if r["mean"] > useless]
        said.append(
            f"w = {w}: {best['scheme']} is best with {best['mean']:.3f}"
            + (f" (worse than the uniform table: {', '.join(worse)})." if worse else ".")
        )
    return [
        "At one total budget and real noise truncated, the paper's best, beats independent at "
        f"{', '.join(f'w = {w}' for w in wins) or 'no width'}. "
        + " ".join(said)
        + " RR-Joint is shown as if only the set in question were asked, with that set's share; "
        "one respondent could not answer every set that way."
    ]
