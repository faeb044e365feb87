"""Table wae: DP-FED-WAE on the four data sets, by what one respondent spends in all.

The paper quotes .05 to .09 for it, from a figure of the original. Here the original's protocol is
run, everybody taking part once: without privacy (plain means of the clients' updates), at a budget
that hides next to nothing, and at private ones. Its floor is the same network after ten such passes
over everybody without privacy. Tables of one and of two attributes; independent reports of the same
total stand beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from experiments.harness import UNIFORM, WHOLE, Scheme, draw_sets, schemes_named, summarise
from experiments.lines import lines
from experiments.questions import Question, evaluate
from experiments.settings import Settings, describe
from experiments.sweep import populations
from experiments.text import Result, Table, by_x, mean_of

# A system that collects for itself has no place in the rounding model.
NOISY = False
TOTALS = (8.0, 32.0, 600.0)
LEARNS = 600.0  # so much hides next to nothing
SETS = 12
WIDTHS = (1, 2)
PASSES = 10
PLAIN = Scheme("dpfedwae, no privacy", "dpfedwae", options=(("private", False),), system=True)
LEISURE = Scheme(
    "dpfedwae, its floor",
    "dpfedwae",
    options=(("private", False), ("passes", PASSES)),
    repeats=1,
    system=True,
)
SCHEMES = (PLAIN, LEISURE)
FREE = tuple(scheme.label for scheme in SCHEMES)
CHOSEN = ("dpfedwae", "independent", *FREE)
PRINT = (0.05, 0.09)


def run(settings: Settings) -> dict[str, Any]:
    repeats, most = settings.times(5, 1), settings.most(SETS, 4)
    found, missing = populations()
    totals = settings.epsilon or TOTALS
    few = {p.name: totals if len(p.schema) <= WHOLE else totals[-1:] for p in found}
    asked = [(p, w, t) for p in found for w in WIDTHS for t in few[p.name]]
    sets = {(p.name, w): draw_sets(p, w, None if w == 1 else most) for p in found for w in WIDTHS}
    questions = [Question(p, t / len(p.schema), sets[p.name, w]) for p, w, t in asked]
    chosen = tuple(
        replace(s, repeats=repeats if s.system else None)
        for s in schemes_named("dpfedwae", "independent")
    )
    errors = evaluate(questions, settings, repeats, chosen=chosen, least=repeats)
    # What uses no budget is asked once, and is the same at every one.
    alike = {(p.name, w): q for (p, w, _), q in zip(asked, questions, strict=True)}
    plain = evaluate(list(alike.values()), settings, repeats, chosen=SCHEMES, least=repeats)
    same = dict(zip(alike, plain, strict=True))
    records = []
    for (people, w, total), values in zip(asked, errors, strict=True):
        what = {"data": f"{people.name}, w = {w}", "people": people.name, "w": w, "x": total}
        both = {**values, **{s: v for s, v in same[people.name, w].items() if s in FREE}}
        records += [{**what, "scheme": s, **summarise(v)} for s, v in both.items()]
    facts = {
        "data": "; ".join(p.note for p in found),
        "n": [p.n for p in found],
        "sets": f"epsilon {', '.join(f'{t:g}' for t in totals)} in all; all single attributes and "
        f"up to {most} pairs; data sets of more than {WHOLE} attributes at the largest only",
        "repeats": repeats,
        "left out": [f"{LEISURE.label}: once"],
    }
    return {"about": describe(settings, **facts), "records": records, "missing": missing}


def table(results: Sequence[Result]) -> Table:
    return by_x(results, "epsilon in all", {})


def draw(result: Result) -> Any:
    heading = "DP-FED-WAE: AVD by the total budget"
    return lines(result, heading, x="epsilon in all", log_x=True)


def ratios(result: Result, total: float, w: int = 1, scheme: str = "dpfedwae") -> dict[str, float]:
    """By data set, the error in parts of the uniform table's."""
    found = {}
    for people in dict.fromkeys(r["people"] for r in result["records"]):
        where = {"people": people, "w": w, "x": total}
        ours, knows_nothing = (mean_of(result, scheme=s, **where) for s in (scheme, UNIFORM))
        if ours is not None and knows_nothing:
            found[people] = ours / knows_nothing
    return found


def findings(results: Mapping[str, Result]) -> list[str]:
    result = next(iter(results.values()))
    said = []
    for total in dict.fromkeys(r["x"] for r in result["records"]):
        one, two = (ratios(result, total, w) for w in WIDTHS)
        listed = ", ".join(f"{d} {one[d]:.2f} and {two[d]:.2f}" for d in one if d in two)
        said.append(f"at {total:g} in all {listed}")
    reached = [
        f"{d} {one:.2f} and {two:.2f} (floor {low_one:.2f} and {low_two:.2f})"
        for d, one, two, low_one, low_two in _beside_the_floor(result)
    ]
    floor = (
        f" Without privacy, everybody once: {', '.join(reached)}; the floor is the same network's "
        f"after {PASSES} passes."
        if reached
        else ""
    )
    pair = mean_of(result, people="adult", w=2, x=TOTALS[0], scheme="dpfedwae")
    beside = (
        f" On pairs of Adult it errs by {pair:.3f} at {TOTALS[0]:g} in all, where the paper quotes "
        f"{PRINT[0]} to {PRINT[1]}, without saying at which budget."
        if pair is not None
        else ""
    )
    return [
        "In parts of the uniform table's error, for one attribute and for two: "
        f"{'; '.join(said)}.{floor}{beside}"
    ]


def _beside_the_floor(result: Result) -> list[tuple[str, float, float, float, float]]:
    """By data set, for one attribute and two: without privacy, and at the floor."""
    found = [ratios(result, LEARNS, w, scheme) for scheme in FREE for w in WIDTHS]
    one, two, low_one, low_two = found
    return [(d, one[d], two[d], low_one[d], low_two[d]) for d in one if d in low_two]
