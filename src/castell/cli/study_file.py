"""A first study file from a file of answers, for a person to finish."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

from castell.device.answer_file import AnswerFile
from castell.device.missing_codes import missing_codes
from castell.device.proposal import DECLINE, Found, propose
from castell.errors import StudyError
from castell.study.choices import CHOSEN, NOT_CHOSEN, choose_all, option_name, questions_before
from castell.study.declining import looks_missing
from castell.study.scales import Bins, Period, Points, day_of
from castell.study.schema import Attribute, Schema, suggest
from castell.study.texts import LINKS, SAID, StudyText

# More questions than any survey has; a design for so many is planned for minutes.
MOST_QUESTIONS = 500

HEADER = """\
# A castell study. Check it with: castell check {file}
#
# The values below were found in {source}. A value that only one person gave would show
# that this person answered: keep only values that may be public, in the order people expect.
# {decline}Any change makes this another study, so finish it before the first report.
"""


def first_study(
    answers: str | Path,
    *,
    epsilon: float = 4.0,
    columns: Sequence[str] | None = None,
    most_values: int = 100,
    file: str = "study.toml",
    decline: str = DECLINE,
    missing: Sequence[str] = (),
) -> tuple[str, list[str]]:
    """The text of a study file, and what was done with the file and with each column.

    Each question offers `decline` as its last value, unless that is empty. A cell with one of the
    texts in `missing` is no answer.
    """
    path, file_of_answers = Path(answers), AnswerFile(answers, missing=missing)
    remarks: list[str] = []
    attributes: list[Attribute] = []
    unsaid: set[str] = set()
    every = _columns(file_of_answers, columns)
    for found in every:
        unsaid |= {text for text in found.counts if looks_missing(text) and text != decline}
        proposal = propose(found, most_values, decline)
        attributes += proposal.attributes
        if columns and not proposal.attributes:
            raise StudyError(
                proposal.remark.split(": left out")[0].split(", one for each row")[0],
                f"group them into 2 to {most_values} first, or leave it out",
            )
        remarks.append(proposal.remark)
    if not attributes:
        raise StudyError(
            f"{path} has no column with 2 to {most_values} values", "give a file of categories"
        )
    if len(attributes) > MOST_QUESTIONS:
        raise StudyError(
            f"{path} has {len(attributes):,} columns that can be asked",
            f"name up to {MOST_QUESTIONS} by --column: everybody shares one epsilon among them",
        )
    schema = Schema(attributes)
    offers = f"Each question also offers {decline!r}: take it out where it is not wanted.\n# "
    head = HEADER.format(file=file, source=path.name, decline=offers if decline else "")
    text = head + "\n" + to_toml(schema, name=path.name.split(".")[0], epsilon=epsilon)
    if unsaid:
        remarks.append(_missing_remark(sorted(unsaid)))
    remarks += _code_remarks(every)
    return text, [*file_of_answers.remarks, *remarks]


def _missing_remark(texts: Sequence[str]) -> str:
    several = len(texts) > 1
    options = " ".join(f"--missing {shlex.quote(text)}" for text in texts)
    return (
        f"{' and '.join(repr(text) for text in texts)} look{'' if several else 's'} like missing "
        f"answers: if they are, write the study again with {options} --force, and randomise with "
        f"{options}"
    )


def _code_remarks(every: Sequence[Found]) -> list[str]:
    """For each column the numbers that look like codes for a missing answer."""
    codes = {found.name: missing_codes(found.counts) for found in every}
    remarks = []
    for name, texts in codes.items():
        for text in texts:
            # `--missing` holds for the whole file.
            meant = [f.name for f in every if text in f.counts and text not in codes[f.name]]
            remedy = (
                f"empty these cells first, since {meant[0]!r} has {text} as an answer"
                if meant
                else f"write the study again with --missing {text} --force, and randomise with "
                f"--missing {text}"
            )
            remarks.append(
                f"{text} in {name!r} looks like a code for no answer: if it is, {remedy}"
            )
    return remarks


def _columns(answers: AnswerFile, columns: Sequence[str] | None) -> list[Found]:
    """What each column holds."""
    found: dict[str, Found] = {}
    for batch in answers:
        present = dict(zip(batch.column_names, batch.columns, strict=True))
        for name in columns or present:
            if name not in present:
                raise StudyError(
                    f"{answers.path} has no column {name!r}", suggest(name, list(present))
                )
            if name.strip():
                found.setdefault(name, Found(name)).add(present[name])
    return list(found.values())


def to_toml(
    schema: Schema,
    *,
    name: str,
    epsilon: float,
    design: str = "independent",
    text: StudyText | None = None,
) -> str:
    """A study file as people write it."""
    text = text or StudyText()
    shown = {key: getattr(text, key) for key in (*SAID, *LINKS, "language")}
    lines = [
        f"name = {_toml_string(name)}",
        *(f"{key} = {_toml_string(value)}" for key, value in shown.items() if value),
        *(['review = "before"'] if text.review == "before" else []),
        f"epsilon = {float(epsilon)!r}    # what one respondent spends in all",
        f"design = {_toml_string(design)}",
        *_toml_rules(schema),
    ]
    for language, translated in text.translations:
        lines += ["", f"[translations.{language}]"]
        lines += [f"{key} = {_toml_string(value)}" for key, value in translated.document().items()]
    told: set[str] = set()
    for attribute in schema:
        if attribute.name in told:
            continue
        question, several = _chosen_together(schema, attribute)
        if several:
            lines += _toml_choices(question, several)
            told |= {one.name for one in several}
            continue
        lines += [
            "",
            "[[attribute]]",
            f"name = {_toml_string(attribute.name)}",
            f"question = {_toml_string(attribute.question)}",
            *_toml_values(attribute),
        ]
        for translation in attribute.translations:
            lines += ["", f"[attribute.translations.{translation.language}]"]
            if translation.question:
                lines.append(f"question = {_toml_string(translation.question)}")
            if translation.values:
                lines.append(f"values = [{_toml_list(translation.values)}]")
    return "\n".join(lines) + "\n"


def _chosen_together(schema: Schema, first: Attribute) -> tuple[str, tuple[Attribute, ...]]:
    """The question of an option, and the options that stand together from this one on; none if that
    is not how one question has them."""
    if first.answers != (NOT_CHOSEN, CHOSEN) or first.may_have_none:
        return "", ()
    beside = first.values[len(first.answers) :]
    rest = [*schema][schema.names.index(first.name) :]
    for question in questions_before(first.name):
        begin = option_name(question, "")
        several = tuple(takewhile(partial(_begins, begin), rest))
        options = [one.name.removeprefix(begin) for one in several]
        if several == choose_all(question, options, also=beside, missing=first.missing):
            return question, several
    return "", ()


def _begins(begin: str, one: Attribute) -> bool:
    return one.name.startswith(begin)


def _toml_choices(question: str, several: Sequence[Attribute]) -> list[str]:
    """One question of which several answers may apply."""
    first, begin = several[0], option_name(question, "")
    beside = first.values[len(first.answers) :]
    return [
        "",
        "[[attribute]]",
        f"name = {_toml_string(question)}",
        'question = ""',
        f"choose = [{_toml_list(one.name.removeprefix(begin) for one in several)}]",
        *([f"also = [{_toml_list(beside)}]"] if beside else []),
        *([f'missing = "{first.missing}"'] if first.missing != "refuse" else []),
    ]


def _toml_values(attribute: Attribute) -> list[str]:
    """The values, or what they are made of."""
    scale, answers = attribute.scale, attribute.answers
    beside = attribute.values[len(answers) :]
    lines = []
    if isinstance(scale, Bins):
        edges = [edge for edge in scale.edges if edge is not None]
        is_open = scale.edges[0] is None
        lines.append(f"bins = [{', '.join(edges if is_open else edges[:-1])}]")
        if is_open:
            lines[-1] += "    # add range = [least, largest] where means are wanted"
        else:
            lines.append(f"range = [{edges[0]}, {edges[-1]}]")
        if not scale.whole:
            lines.append('type = "number"')
    elif isinstance(scale, Points):
        lines += [f"bins = [{', '.join(scale.points)}]", 'rounding = "unbiased"']
    elif isinstance(scale, Period):
        ends = _toml_list(day_of(label) for label in (answers[0], answers[-1]))
        lines += [f'period = "{scale.period}"', f"range = [{ends}]"]
    if scale is None or answers != scale.labels:
        lines.append(f"values = [{_toml_list(answers)}]")
    if scale is None and attribute.ordered:
        lines.append("ordered = true")
    if getattr(scale, "unit", ""):
        lines.append(f"unit = {_toml_string(getattr(scale, 'unit', ''))}")
    if attribute.may_have_none:
        lines.append(f"none = {_toml_string(beside[0])}")
        beside = beside[1:]
    if beside:
        lines.append(f"also = [{_toml_list(beside)}]")
    if attribute.missing != "refuse":
        lines.append(f'missing = "{attribute.missing}"')
    return lines


def _toml_rules(schema: Schema) -> list[str]:
    """Combinations that cannot occur, a line each."""
    if not schema.impossible:
        return []
    lines = []
    for rule in schema.impossible:
        named = [
            (name, [schema[name].values[code] for code in codes]) for name, codes in rule.codes
        ]
        inside = ", ".join(f"{_toml_string(name)} = [{_toml_list(v)}]" for name, v in named)
        lines.append(f"  {{{inside}}},")
    return ["impossible = [", *lines, "]"]


def _toml_list(values: Iterable[str]) -> str:
    return ", ".join(_toml_string(value) for value in values)


def _toml_string(text: Any) -> str:
    # A TOML basic string is a JSON string, but for one control character that JSON lets through.
    return json.dumps(str(text), ensure_ascii=False).replace("\x7f", "\\u007f")
