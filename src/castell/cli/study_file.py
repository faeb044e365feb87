"""A first study file from a file of answers, for a person to finish."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from castell.device.answer_file import AnswerFile
from castell.device.columns import texts
from castell.errors import StudyError
from castell.study.schema import Attribute, Schema, suggest
from castell.study.texts import LINKS, SAID, StudyText

# A question that cannot be passed over gets lies instead of answers.
DECLINE = "prefer not to say"

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
) -> tuple[str, list[str]]:
    """The text of a study file, and remarks on what was left out or wants care.

    Each question offers `decline` as its last value, unless that is empty.
    """
    path = Path(answers)
    found, missing, rows = _distinct(path, columns)
    remarks, attributes = [], []
    for name, values in found.items():
        if missing[name]:
            remarks.append(
                f"{name!r} has {missing[name]:,} missing answers: they will be refused; "
                "drop those rows or fill in a value such as 'no answer' and list it"
            )
        if 2 <= len(values) <= most_values:
            ordered: list[str] = sorted(values, key=_order)
            offered = {value.casefold() for value in ordered}
            last = [decline] if decline and decline.casefold() not in offered else []
            attributes.append(Attribute(name, [*ordered, *last]))
            continue
        why = f"{name!r} has {len(values):,} different values in {rows:,} rows"
        if columns:
            raise StudyError(why, f"group them into 2 to {most_values} first, or leave it out")
        remarks.append(f"{why}: left out")
    if not attributes:
        raise StudyError(
            f"{path} has no column with 2 to {most_values} values", "give a file of categories"
        )
    schema = Schema(attributes)
    offers = f"Each question also offers {decline!r}: take it out where it is not wanted.\n# "
    head = HEADER.format(file=file, source=path.name, decline=offers if decline else "")
    return head + "\n" + to_toml(schema, name=path.stem, epsilon=epsilon), remarks


def _distinct(
    path: Path, columns: Sequence[str] | None
) -> tuple[dict[str, set[str]], dict[str, int], int]:
    import pyarrow.compute as pc

    found: dict[str, set[str]] = {}
    missing: dict[str, int] = {}
    rows = 0
    for batch in AnswerFile(path):
        rows += batch.num_rows
        for name in columns or batch.column_names:
            if name not in batch.column_names:
                raise StudyError(
                    f"{path} has no column {name!r}", suggest(name, batch.column_names)
                )
            labels = texts(batch.column(name))
            values = set(pc.unique(labels).to_pylist())
            found.setdefault(name, set()).update(v for v in values if v)
            empty = pc.sum(pc.equal(pc.fill_null(labels, ""), "")).as_py() or 0
            missing[name] = missing.get(name, 0) + empty
    return found, missing, rows


def _order(text: str) -> tuple[int, float, str]:
    """Numbers by size, then texts by alphabet."""
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


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
    for attribute in schema:
        lines += [
            "",
            "[[attribute]]",
            f"name = {_toml_string(attribute.name)}",
            f"question = {_toml_string(attribute.question)}",
            f"values = [{_toml_list(attribute.values)}]",
        ]
        for translation in attribute.translations:
            lines += ["", f"[attribute.translations.{translation.language}]"]
            if translation.question:
                lines.append(f"question = {_toml_string(translation.question)}")
            if translation.values:
                lines.append(f"values = [{_toml_list(translation.values)}]")
    return "\n".join(lines) + "\n"


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
