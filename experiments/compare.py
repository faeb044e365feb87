"""Every method and design on your own answers: `python -m experiments compare my.csv --epsilon 4`.

Each row of the file is a respondent, each column an attribute. Everybody is randomised, as in a
real collection, and every estimate is set beside what they answered. The file is read on this
machine and only here; nothing is sent or kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from castell.device.answer_file import AnswerFile
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
NO_ANSWER = "no answer"
# The same methods where each respondent answers a part, with the whole budget.
DRAWN = tuple(
    Scheme(f"{method}, {design} drawn", method, design, repeats=3)
    for method in ("auto", "latent")
    for design in ("pairs", "cover")
)


def read(path: Path) -> Population:
    """People from a file of answers, with names in its first row; an empty cell is an answer too.

    It is read as `castell` reads answers: CSV with any separator, packed or not, Parquet, Excel.
    """
    file = AnswerFile(path)
    batches = list(file)
    rows = sum(batch.num_rows for batch in batches)
    if rows == 0:
        raise DataError(f"{path} holds no answers", "give a row for each respondent")
    columns = {
        name: [value or NO_ANSWER for batch in batches for value in batch.column(name).to_pylist()]
        for name in batches[0].column_names
    }
    remarks = list(file.remarks)
    empty = sum(not value for b in batches for c in b.columns for value in c.to_pylist())
    if empty:
        remarks.append(f"{empty:,} empty cells are the answer {NO_ANSWER!r}")
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
        vary = "no column that varies" if not asked else "one column that varies"
        raise DataError(f"{path} has {vary}", "give two or more")
    return from_labels(path.stem, asked, ", ".join([f"{path.name}, {rows:,} rows", *remarks]))


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
