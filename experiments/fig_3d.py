"""Figure 3d: a two-way table of synthetic data, its reports, and two estimates of it.

n = 1,000, d = 10, V = 0.5, epsilon 1 for each. The paper draws towers, here are heat maps; one run,
with the seed's noise, as a picture of a typical one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import castell
from castell.evaluation import metrics
from castell.inference.inversion import observe
from castell.linear.operators import Floats
from experiments import expected
from experiments.datasets import synthetic
from experiments.datasets.population import Population
from experiments.harness import Scheme, study_of
from experiments.settings import Settings, describe_people
from experiments.style import ORANGE, finish, title
from experiments.text import Result, Table, number

N, VALUES, V = 1000, 10, 0.5
OTHER = "independent"
SHOWN = (OTHER, "castell")
METHODS = SHOWN


def run(settings: Settings) -> dict[str, Any]:
    people = synthetic.population(N, VALUES, V)
    each = settings.one_each(2, 1.0)
    tables = four(people, each, settings)
    about = describe_people(settings, people, each, 1)
    plain = {name: table.tolist() for name, table in tables.items()}
    return {"about": about, "tables": plain}


def four(people: Population, each: float, settings: Settings) -> dict[str, Floats]:
    """The truth, the reports, and what two methods make of them."""
    study = study_of(people, each, Scheme("", "castell"))
    names = study.names
    if settings.noise == "rounding":
        reports = expected.observe_rounded(study, people, names).frequencies()
        guesses = {m: expected.estimate(study, people, names, m) for m in SHOWN}
    else:
        sent = study.randomize(people.frame(), seed=settings.seed)
        observed = observe(castell.fit(sent, "castell").counts, names)
        reports = observed.frequencies()
        guesses = {m: castell.fit(sent, m).estimate(names).probabilities for m in SHOWN}
    return {"truth": people.table(names), "reports": np.asarray(reports), **guesses}


def table(results: Sequence[Result]) -> Table:
    rows = []
    for result in results:
        truth = np.array(result["tables"]["truth"])
        for name in ("reports", *SHOWN):
            guess = np.array(result["tables"][name])
            numbers = [number(f(truth, guess)) for f in (metrics.mae, metrics.mse, metrics.avd)]
            lowest = number(float(guess.min()))
            rows.append([result["about"]["noise"], name, *numbers, lowest])
    return Table(["noise", "table", "MAE", "MSE", "AVD", "lowest cell"], rows, words=2)


def draw(result: Result) -> Any:
    names = {"truth": "the answers", "reports": "the reports"}
    panels = {names.get(k, f"estimate: {k}"): t for k, t in result["tables"].items()}
    return _heat_maps(result, "A synthetic table, its reports, and two estimates", panels, "AB")


def _heat_maps(
    result: Result, heading: str, panels: Mapping[str, Sequence[Sequence[float]]], axes: str
) -> Any:
    """Several tables as heat maps with one scale of colour, that of the first; orange is < 0."""
    import altair as alt

    values: list[dict[str, Any]] = [
        {"panel": name, "row": i + 2, "column": j + 2, "share": share}
        for name, table in panels.items()
        for i, cells in enumerate(table)
        for j, share in enumerate(cells)
    ]
    top = max(max(cells) for cells in next(iter(panels.values())))
    color = alt.Color(
        "share:Q",
        scale=alt.Scale(
            domain=[-top, 0, top],
            range=[ORANGE, "#f4f6f8", "#12457e"],
            interpolate="rgb",
            clamp=True,
        ),
        legend=alt.Legend(title="share", format=".0%"),
    )
    quiet = alt.Axis(labelAngle=0, ticks=False)
    charts = [
        alt.Chart(alt.Data(values=[v for v in values if v["panel"] == name]))
        .mark_rect(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("column:O", title=axes[1], axis=quiet),
            y=alt.Y("row:O", title=axes[0] if k == 0 else None, axis=quiet),
            color=color,
        )
        .properties(width=170, height=170, title=alt.TitleParams(name, fontSize=12))
        for k, name in enumerate(panels)
    ]
    return finish(
        alt.concat(*charts, columns=4),
        title(alt, result, heading, f"colours end at ± {top:.1%}, the largest true share"),
    )


def findings(results: Mapping[str, Result]) -> list[str]:
    said = []
    for noise, result in results.items():
        truth = np.array(result["tables"]["truth"])
        how = "In the rounding model" if noise == "rounding" else "With real noise"
        errors, better = [], []
        for name, far in (("MAE", metrics.mae), ("MSE", metrics.mse), ("AVD", metrics.avd)):
            one, two = (far(truth, np.array(result["tables"][m])) for m in ("castell", OTHER))
            errors.append(f"{name} {number(one)} against {number(two)}")
            better += [name] if one < two else []
        verdict = f"by {' and '.join(better)}" if better else "by none of them"
        if len(better) == 3:
            verdict = "by all of them"
        said.append(
            f"{how} castell, against independent, has {', '.join(errors)}: that it is more "
            f"accurate, as the paper says, holds {verdict}."
        )
    return said
