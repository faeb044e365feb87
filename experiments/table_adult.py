"""Table adult: the error of three two-way tables of Adult, epsilon 1 for each attribute.

The print calls it MAE; its numbers are mean *squared* errors, and those of RR-Ind-Joint are what
comes out when nobody randomises anything and the expected table is rounded. MSE here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from castell.evaluation.metrics import cramers_v
from experiments import datasets
from experiments.harness import FLOOR, summarise
from experiments.questions import Question, evaluate, left_out
from experiments.settings import Settings, describe
from experiments.style import colours, finish, title
from experiments.text import Result, Table, mean_of, number, pick

PAIRS = {
    "sex x income": ("sex", "income"),
    "sex x race": ("sex", "race"),
    "education x occupation": ("education", "occupation"),
}
PRINT = {
    "sex x income": {"V": 0.216, "independent": 1.88e-3, "castell": 7.07e-10},
    "sex x race": {"V": 0.118, "independent": 1.10e-4, "castell": 2.26e-9},
    "education x occupation": {"V": 0.187, "independent": 2.15e-5, "castell": 6.28e-7},
}
# What the rounding model gives, to the digits the print has.
GOLDEN = {"sex x income": 6.63e-10, "sex x race": 2.31e-9, "education x occupation": 6.27e-7}


def run(settings: Settings) -> dict[str, Any]:
    people = datasets.load("adult")
    each = settings.one_each(2, 1.0)
    repeats, least = settings.times(40, 20), settings.times(6, 3)
    questions = [Question(people.select(names), each, [names]) for names in PAIRS.values()]
    found = evaluate(questions, settings, repeats, metric="mse", least=least)
    records = []
    for pair, errors in zip(PAIRS, found, strict=True):
        for scheme, values in errors.items():
            numbers = summarise(values)
            # Repeats that a scheme took no part in are NaN; a scheme that failed has no mean.
            known = repeats > 1 and numbers["mean"] is not None
            numbers["sigma"] = float(np.nanstd(values)) if known else None
            records.append({"pair": pair, "scheme": scheme, **numbers})
    facts = {"data": people.note, "n": people.n, "each": each, "total": 2 * each}
    left = left_out(questions, settings, repeats, least=least)
    about = describe(settings, **facts, repeats=repeats) | {"left out": left}
    v = {pair: cramers_v(people.table(names)) for pair, names in PAIRS.items()}
    return {"about": about, "records": records, "v": v}


def table(results: Sequence[Result]) -> Table:
    rows = [
        ["print", scheme, *(f"{PRINT[pair][scheme]:.3g}" for pair in PAIRS)]
        for scheme in ("independent", "castell")
    ]
    rows.append(["print", "Cramer's V", *(f"{PRINT[pair]['V']:.3f}" for pair in PAIRS)])
    for result in results:
        noise = result["about"]["noise"]
        for scheme in dict.fromkeys(r["scheme"] for r in result["records"]):
            cells = [pick(result, pair=pair, scheme=scheme)[0] for pair in PAIRS]
            rows.append([noise, scheme, *(number(c["mean"], c["error"]) for c in cells)])
    if results:
        rows.append(["data", "Cramer's V", *(f"{results[0]['v'][pair]:.3f}" for pair in PAIRS)])
    return Table(["noise", "scheme", *PAIRS], rows, words=2)


def draw(result: Result) -> Any:
    import altair as alt

    data = [r for r in result["records"] if r["mean"]]
    labels = list(dict.fromkeys(r["scheme"] for r in data))
    palette = colours(labels)
    # Print stands beside what is shown, and makes no row of its own.
    for pair in PAIRS:
        printed = [s for s in ("castell", "independent") if s in labels]
        data += [{"pair": pair, "scheme": s, "print": PRINT[pair][s]} for s in printed]
    scale = alt.Scale(type="log", domain=[1e-10, 1e-1])
    base = alt.Chart(alt.Data(values=data)).encode(y=alt.Y("scheme:N", sort=labels, title=None))
    color = alt.Color("scheme:N", scale=_scale(alt, labels, palette), legend=None)
    across = alt.X("mean:Q", title="MSE", scale=scale, axis=alt.Axis(format="~e", values=_TICKS))
    dots = base.mark_circle(size=80, opacity=1).encode(x=across, color=color)
    marks = base.mark_point(shape="diamond", size=90, strokeWidth=1.6).encode(
        x=alt.X("print:Q", scale=scale), color=color
    )
    panel = (dots + marks).properties(width=230, height=alt.Step(22))
    charts = [
        panel.transform_filter(f"datum.pair == '{pair}'").properties(
            title=alt.TitleParams(pair, fontSize=12)
        )
        for pair in PAIRS
    ]
    shown = f": {result['shown']}" if "shown" in result else ""
    said = f"Two-way tables of Adult: mean squared error{shown}"
    heading = title(alt, result, said, "diamonds: the paper's print")
    return finish(alt.concat(*charts, columns=3), heading)


_TICKS = [1e-9, 1e-7, 1e-5, 1e-3, 1e-1]


def _scale(alt: Any, labels: list[str], palette: Mapping[str, str]) -> Any:
    return alt.Scale(domain=labels, range=[palette[s] for s in labels])


def findings(results: Mapping[str, Result]) -> list[str]:
    said = []
    if "rounding" in results:
        ratios = [
            (mean_of(results["rounding"], pair=p, scheme="castell") or 0.0) / PRINT[p]["castell"]
            for p in PAIRS
        ]
        said.append(
            "The printed errors of RR-Ind-Joint are those of rounding: the rounding model gives "
            f"{min(ratios):.2f} to {max(ratios):.2f} times the print, as a mean *squared* error."
        )
    if "real" in results:
        real = results["real"]
        factors = [
            (mean_of(real, pair=p, scheme="castell") or 0.0) / PRINT[p]["castell"] for p in PAIRS
        ]
        won = [
            p
            for p in PAIRS
            if (mean_of(real, pair=p, scheme="castell") or 1.0)
            < (mean_of(real, pair=p, scheme="independent") or 0.0)
        ]
        said.append(
            f"With every respondent randomised the error is {min(factors):,.0f} to "
            f"{max(factors):,.0f} times the print. castell beats the product of margins on "
            f"{', '.join(won) or 'none of the pairs'}; the claim that it does so on all three "
            + ("holds." if len(won) == len(PAIRS) else "does not hold.")
        )
        floor = [mean_of(real, pair=p, scheme=FLOOR) or 0.0 for p in PAIRS]
        below = sum(PRINT[p]["castell"] < f for p, f in zip(PAIRS, floor, strict=True))
        said.append(
            f"{below} of the 3 printed errors are smaller than what the same number of people "
            "would give who were asked without any noise but drawn from a larger population."
        )
    return said


def check(results: Mapping[str, Result]) -> list[tuple[str, bool]]:
    """The golden numbers of the rounding model, and the size of the real ones."""
    found = []
    for pair, wanted in GOLDEN.items():
        got = mean_of(results["rounding"], pair=pair, scheme="castell") or 0.0
        found.append((f"{pair}, rounding: {got:.3g} is {wanted:.3g}", abs(got / wanted - 1) < 0.01))
    for pair, low, high in (
        ("sex x income", 3e-5, 1e-4),
        ("sex x race", 7e-5, 1.4e-4),
        ("education x occupation", 1e-3, 1.25e-3),
    ):
        got = mean_of(results["real"], pair=pair, scheme="castell") or 0.0
        found.append((f"{pair}, real: {got:.3g} is {low:.1g} to {high:.2g}", low < got < high))
    return found
