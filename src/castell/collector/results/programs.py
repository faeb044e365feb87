"""The analysis as a program: a script and a notebook that get the page's numbers from reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from castell import __version__
from castell.collector.results.question import Question
from castell.collector.results.shares import ShareTable
from castell.collector.results.summaries import Summary, not_answers
from castell.results.joint import JointEstimate


def steps(
    joint: JointEstimate,
    question: Question,
    stem: str,
    shares: ShareTable | None,
    found: Sequence[Summary],
) -> list[tuple[str, str]]:
    """What is done, in order: a sentence and the code for it."""
    names, level = list(joint.names), question.level
    return [
        (
            "The study, with the exact weights that devices randomise with, and its reports.",
            f"""from pathlib import Path

import castell
from castell.results import trust
from castell.results.csv_file import csv_bytes
{_load_lines(joint)}
if reports.n != {joint.n}:
    print(f"note: the results page had {joint.n:,} reports, this file has {{reports.n:,}}")""",
        ),
        (
            f"The table of {_names(joint)}, by the method {joint.method!r}.",
            f"""NAMES, LEVEL = {names!r}, {level!r}
model = castell.fit(reports, {joint.method!r})
joint = model.estimate(NAMES, post={joint.post!r})
print(joint.summary(LEVEL))""",
        ),
        (
            "What to think of it. (Drift needs the hours, which an export leaves out.)",
            """for signal in trust.signals(reports, joint, LEVEL):
    print(f"{signal.title}: {signal.text}")""",
        ),
        *([] if shares is None else [_shares(question)]),
        *_summaries(found),
        (
            "The numbers as a file.",
            f"""columns = {"joint.columns(LEVEL)" if shares is None else "shares"}
Path({f"{stem}.csv"!r}).write_bytes(csv_bytes(columns))
print("wrote", Path({f"{stem}.csv"!r}).resolve())""",
        ),
    ]


def _load_lines(joint: JointEstimate) -> str:
    """The reports as the page reads them: those of a study, or of each of its stages."""
    if not joint.earlier:
        return f"""from castell.counting import MemoryCounts

STUDY = castell.Study.from_json({joint.study.to_json()!r})
reports = MemoryCounts(castell.Reports.load(PATH, STUDY).sorted())  # as the page does"""
    texts = ",\n    ".join(repr(study.to_json()) for study in (*joint.earlier, joint.study))
    return f"""from castell.counting import MemoryCounts, join_stages

# One file for each stage, as castell export writes them: reports.stage1.parquet and so on.
STAGES = [
    {texts},
]
parts = []
for study in map(castell.Study.from_json, STAGES):
    file = Path(PATH).with_name(f"{{Path(PATH).stem}}.stage{{study.stage}}{{Path(PATH).suffix}}")
    parts.append(MemoryCounts(castell.Reports.load(file, study).sorted()))  # as the page does
reports = join_stages(parts)"""


def _shares(question: Question) -> tuple[str, str]:
    """The shares asked for: each cell is a question of its own."""
    return (
        "Groups of values, among those given, and within each value of one attribute.",
        f"""from castell.collector.results.question import Question
from castell.collector.results.shares import share_table

QUESTION = Question(
    {question.attributes!r},
    level=LEVEL,
    given={question.given!r},
    merged={question.merged!r},
    within={question.within!r},
)
shares = share_table(model, QUESTION).columns()
for row in zip(*shares.values()):
    print(*row)""",
    )


def _summaries(found: Sequence[Summary]) -> list[tuple[str, str]]:
    """The numbers beside the table of one attribute, by the library's own questions."""
    lines = [f"print({question}.summary(LEVEL))" for each in found for question in _questions(each)]
    if not lines:
        return []
    return [("Mean, quartiles, and shares of those who answered.", "\n".join(lines))]


def _questions(summary: Summary) -> Iterator[str]:
    name = summary.attribute.name
    given = f", given={dict(summary.given)!r}" if summary.given else ""
    if summary.mean is not None:
        yield f"model.mean({name!r}{given})"
    for each in summary.quantiles:
        yield f"model.quantile({name!r}, {each.q!r}{given})"
    if summary.having is not None:
        yield f"model.having({name!r}{given})"
    if summary.answered is not None:
        yield f"model.answered({name!r}{given})"
        verb = "conditional" if given else "probability"
        yield f"model.{verb}({not_answers(summary.attribute)!r}{given})"


def script(
    joint: JointEstimate,
    question: Question,
    stem: str,
    shares: ShareTable | None = None,
    found: Sequence[Summary] = (),
) -> str:
    """A program that takes the reports' file as its argument."""
    head = f'''"""{_title(joint)}

Take the reports from the results page, or write them with

    castell export STORE reports.parquet

and run

    python {stem}.py reports.parquet

Made by castell {__version__}.
"""

import sys

PATH = sys.argv[1] if len(sys.argv) > 1 else "reports.parquet"
'''
    parts = [
        f"# {sentence}\n{code}\n" for sentence, code in steps(joint, question, stem, shares, found)
    ]
    return "\n".join([head, *parts])


def notebook(
    joint: JointEstimate,
    question: Question,
    stem: str,
    shares: ShareTable | None = None,
    found: Sequence[Summary] = (),
) -> dict[str, Any]:
    """The same as a notebook, with the picture."""
    intro = (
        f"# {_title(joint)}\n\nPut the reports beside this notebook as `reports.parquet`: take "
        "them from the results page, or write them with `castell export`.\n\n"
        f"Made by castell {__version__}; `pip install 'castell[plot]'`."
    )
    cells = [_cell("markdown", intro, 0), _cell("code", 'PATH = "reports.parquet"', 1)]
    for sentence, code in steps(joint, question, stem, shares, found):
        cells += [_cell("markdown", sentence, len(cells)), _cell("code", code, len(cells) + 1)]
    if len(joint.names) <= 3:
        cells.append(_cell("code", "joint.plot(level=LEVEL)", len(cells)))
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "cells": cells,
    }


def _title(joint: JointEstimate) -> str:
    return f"{_names(joint)}: an analysis of the study '{_plain(joint.study.name)}', repeated."


def _names(joint: JointEstimate) -> str:
    return _plain(" x ".join(joint.names))


def _plain(text: str) -> str:
    """Any text as one line that stays inside a comment or a docstring: names may hold anything."""
    return " ".join(text.replace("\\", " ").replace('"', "'").split())


def _cell(kind: str, text: str, number: int) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "id": f"cell-{number}",
        "cell_type": kind,
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})
