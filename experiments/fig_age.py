"""Figure age: a continuous attribute in bins, Age x Sex of Adult, epsilon 1 for each.

Ages in bins of twenty years: the answers, the reports, and two estimates; one run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from castell.evaluation import metrics
from experiments.datasets import adult
from experiments.fig_3d import SHOWN, four
from experiments.fig_3d import table as table_of_tables
from experiments.settings import Settings, describe_people
from experiments.style import finish, title
from experiments.text import Result, Table, number

METHODS = SHOWN


def run(settings: Settings) -> dict[str, Any]:
    people = adult.age_and_sex()
    each = settings.one_each(2, 1.0)
    tables = four(people, each, settings)
    about = describe_people(settings, people, each, 1)
    return {
        "about": about,
        "ages": list(people.schema["age"].values),
        "sexes": list(people.schema["sex"].values),
        "tables": {name: table.tolist() for name, table in tables.items()},
    }


def table(results: Sequence[Result]) -> Table:
    return table_of_tables(results)


def draw(result: Result) -> Any:
    import altair as alt

    names = {"truth": "the answers", "reports": "the reports"}
    charts = []
    top = max(max(map(max, cells)) for cells in result["tables"].values())
    for k, (name, cells) in enumerate(result["tables"].items()):
        values = [
            {"age": age, "sex": sex, "share": cells[i][j]}
            for i, age in enumerate(result["ages"])
            for j, sex in enumerate(result["sexes"])
        ]
        chart = (
            alt.Chart(alt.Data(values=values))
            .mark_bar()
            .encode(
                x=alt.X("age:N", sort=result["ages"], axis=alt.Axis(labelAngle=0)),
                xOffset="sex:N",
                y=alt.Y(
                    "share:Q",
                    title="share of respondents" if k % 2 == 0 else None,
                    scale=alt.Scale(domain=[min(0.0, _lowest(result)), top * 1.05]),
                    axis=alt.Axis(format="%", tickCount=5),
                ),
                color=alt.Color(
                    "sex:N",
                    scale=alt.Scale(domain=result["sexes"], range=["#22466f", "#9dbbdc"]),
                    legend=alt.Legend(title=None),
                ),
            )
            .properties(
                width=270,
                height=170,
                title=alt.TitleParams(names.get(name, f"estimate: {name}"), fontSize=12),
            )
        )
        charts.append(chart)
    heading = title(alt, result, "Adult: age and sex")
    return finish(alt.concat(*charts, columns=2), heading)


def _lowest(result: Result) -> float:
    return float(min(min(map(min, cells)) for cells in result["tables"].values()))


def findings(results: Mapping[str, Result]) -> list[str]:
    said = []
    for noise, result in results.items():
        truth = np.array(result["tables"]["truth"])
        avd = {m: metrics.avd(truth, np.array(result["tables"][m])) for m in SHOWN}
        how = "In the rounding model" if noise == "rounding" else "With real noise"
        said.append(
            f"{how} the worst bar is off by {number(avd['castell'])} with castell and by "
            f"{number(avd['independent'])} with independent; that castell is close to the "
            "answers " + ("holds." if avd["castell"] < 0.05 else "does not hold.")
        )
    return said
