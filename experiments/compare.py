"""Every method and design on your own answers: `python -m experiments compare my.csv --epsilon 4`.

Each row of the file is a respondent, each column an attribute. Everybody is randomised, as in a
real collection, and every estimate is set beside what they answered. The file is read on this
machine and only here; nothing is sent or kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from castell.errors import OptionError
from experiments.datasets.population import DataError, Population, from_labels
from experiments.harness import REFERENCES, UNIFORM, Scheme, draw_sets, schemes, summarise
from experiments.lines import lines
from experiments.questions import Question, evaluate, left_out
from experiments.settings import Settings, describe_people
from experiments.text import Result, Table, by_x, mean_of, pick

TOTAL = 4.0
WIDTHS = (1, 2, 3, 4)
MOST_VALUES, MOST_SETS = 64, 10
# The same methods where each respondent answers a part, with the whole budget.
DRAWN = tuple(
    Scheme(f"{method}, {design} drawn", method, design, repeats=3)
    for method in ("auto", "latent")
    for design in ("pairs", "cover")
)


def read(path: Path) -> Population:
    """People from a file with a line of names at its top."""
    from pyarrow import ArrowInvalid, csv

    if not path.is_file():
        raise DataError(
            f"there is no file {path}", "name a CSV file with a line of names at its top"
        )
    try:
        table = csv.read_csv(path)
    except ArrowInvalid as error:
        why = str(error).split("\n")[0]
        raise DataError(
            f"{path} is no CSV file: {why}", "give one with as many cells on each line"
        ) from None
    if table.num_rows == 0:
        raise DataError(f"{path} holds no answers", "give a row for each respondent")
    columns = {
        name: ["" if value is None else str(value) for value in table.column(name).to_pylist()]
        for name in table.column_names
    }
    for name, labels in columns.items():
        many = len(set(labels))
        if many > MOST_VALUES:
            raise DataError(
                f"column {name!r} has {many:,} different values",
                f"leave it out or put values together: {MOST_VALUES} at most",
            )
    # An attribute that everybody answers alike hides nothing and tells nothing.
    asked = {name: labels for name, labels in columns.items() if len(set(labels)) > 1}
    if len(asked) < 2:
        raise DataError(f"{path} has {len(asked)} columns that vary", "give two or more")
    return from_labels(path.stem, asked, f"{path.name}, {table.num_rows:,} rows")


def run(people: Population, settings: Settings) -> dict[str, Any]:
    """The AVD of every scheme on tables of one to four attributes, at one total budget."""
    attributes = len(people.schema)
    each = settings.one_each(attributes, TOTAL / attributes)
    if settings.noise != "real":
        raise OptionError("the paper's model is for the paper's data", "use --noise real")
    repeats = settings.times(3, 1)
    chosen = (*schemes(), *DRAWN)
    questions = [
        Question(people, each, draw_sets(people, w, settings.most(MOST_SETS, 3), cells=1 << 16))
        for w in WIDTHS
        if w <= attributes
    ]
    questions = [question for question in questions if question.sets]
    found = evaluate(questions, settings, repeats, chosen=chosen)
    records = [
        {"data": people.name, "scheme": scheme, "x": len(q.sets[0]), **summarise(values)}
        for q, errors in zip(questions, found, strict=True)
        for scheme, values in errors.items()
    ]
    left = left_out(questions, settings, repeats, chosen=chosen)
    sets = f"up to {MOST_SETS} attribute sets a width"
    about = describe_people(settings, people, each, repeats, sets=sets) | {"left out": left}
    return {"about": about, "records": records}


def table(results: Sequence[Result]) -> Table:
    return by_x(results, "w", {})


def draw(result: Result) -> Any:
    return lines(result, "AVD by the number of attributes", x="attributes w", whole=True)


def findings(result: Result) -> list[str]:
    said = []
    for w in dict.fromkeys(r["x"] for r in result["records"]):
        found = [r for r in pick(result, x=w) if r["mean"] is not None]
        shown = sorted((r for r in found if r["scheme"] not in REFERENCES), key=lambda r: r["mean"])
        first, second = shown[:2]
        useless = mean_of(result, x=w, scheme=UNIFORM) or 0.0
        worse = sum(r["mean"] > useless for r in shown)
        said.append(
            f"w = {w}: {first['scheme']} errs least, by {first['mean']:.4f} in the worst cell, "
            f"then {second['scheme']} ({second['mean']:.4f}); knowing nothing errs by {useless:.4f}"
            + (f", and {worse} of {len(shown)} schemes by more." if worse else ".")
        )
    return said
