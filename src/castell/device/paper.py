"""Reports that people gave on paper: what was said or ticked, read as it is, not randomised again.

A column for each attribute holds reports: the words of a classic design ("same", "yes", a number
of red cards), or one of the attribute's values. Castell drew nothing of the chance behind them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from castell.device.answer_columns import backend_of, texts
from castell.device.answer_file import AnswerFile
from castell.device.bad_answers import BadAnswers
from castell.device.encode import encode
from castell.device.respond import block_codes
from castell.errors import AnswerError, OptionError
from castell.reports.codes import code_type
from castell.reports.parquet import ReportWriter
from castell.reports.reports import Reports
from castell.study.attribute import NO_ANSWER
from castell.study.design import Block
from castell.study.number_texts import number_in_file
from castell.study.report_words import report_words
from castell.study.schema import Attribute, Schema

if TYPE_CHECKING:
    from castell.study.study import Study

# What counts say is written out, a report for each person.
MOST_PEOPLE = 100_000_000
# Words of a design as people also write them.
_VARIANTS: tuple[Callable[[str], str], ...] = (str, str.capitalize, str.upper)


def import_reports(study: Study, said: Any) -> Reports:
    """Reports from a frame of what people said on paper, under the study's designs.

    >>> from castell import Attribute, Study, mechanism
    >>> schema = [Attribute("copied", ["no", "yes"])]
    >>> study = Study(schema, channels={"copied": mechanism("crosswise", prevalence=0.25)})
    >>> len(import_reports(study, {"copied": ["same", "different", "same"]}))
    3
    """
    reader = _Reader(study)
    bad = BadAnswers()
    columns = reader.columns(said, 1, bad)
    bad.check()
    return Reports(study, columns, secure=True, backend=backend_of(said))


def import_file(
    study: Study,
    source: str | Path,
    target: str | Path,
    *,
    counts: str | None = None,
    progress: Callable[[float], None] | None = None,
    remarks: Callable[[str], None] | None = None,
) -> int:
    """Reports from a file of what people said on paper, written as Parquet.

    `counts` names a column that says how many people each line is of, as printed tables have it.
    Nothing stands at `target` until every line was good. Returns the number of reports.
    """
    if Path(source).resolve() == Path(target).resolve():
        raise OptionError("what was said and the reports are one file", "give another name")
    if counts is not None and counts in study.names:
        raise OptionError(f"{counts!r} is a question of the study", "name the column of counts")
    names = study.names if counts is None else (*study.names, counts)
    reader, said, rows, bad = _Reader(study), AnswerFile(source, names), 0, BadAnswers()
    people = 0
    with ReportWriter(study, target, secure=True) as writer:
        for batch in said:
            columns = reader.columns(batch, rows + 1, bad)
            many = None if counts is None else _people(batch.column(counts), counts, rows + 1)
            people += batch.num_rows if many is None else int(many.sum())
            if people > MOST_PEOPLE:
                raise AnswerError(
                    f"{counts!r} counts more than {MOST_PEOPLE:,} people", "correct the file"
                )
            if not bad:
                writer.write([np.repeat(column, 1 if many is None else many) for column in columns])
            rows += batch.num_rows
            if progress:
                progress(said.done)
        bad.check()
        if not people:
            raise AnswerError(f"{source} has no rows", "give a line for each person")
    if remarks:
        for remark in said.remarks:
            remarks(remark)
    return people


def _people(column: Any, name: str, first_row: int) -> NDArray[np.intp]:
    """How many people each line is of."""
    found = [number_in_file(text or "") for text in texts(column).to_pylist()]
    for row, number in enumerate(found, first_row):
        if not (0.0 <= number <= MOST_PEOPLE and number.is_integer()):
            raise AnswerError(
                f"row {row}: {name!r} is no number of people", "write a whole number from 0 up"
            )
    return np.array(found, dtype=np.intp)


class _Reader:
    """How the columns of a study's paper are read: words, and the code of the report of each."""

    def __init__(self, study: Study) -> None:
        study.design.refuse_draw(
            "what people said on paper is read for designs in which everybody says everything"
        )
        self.blocks = study.design.blocks
        self.codes: dict[str, NDArray[np.intp]] = {}
        asked = []
        for block in self.blocks:
            words = _words(study, block)
            for name, listed in zip(block.names, words, strict=True):
                by_text = {text: code for code, text in reversed(listed)}
                skip = study.schema[name].may_skip
                # The word for a skipped question comes last, as `missing` has it.
                texts = [text for _, text in listed if not skip or text != NO_ANSWER]
                texts = list(dict.fromkeys(texts))
                asked.append(Attribute(name, texts, missing="skip" if skip else "refuse"))
                found = [by_text[text] for text in asked[-1].values]
                self.codes[name] = np.array(found, dtype=np.intp)
        self.schema = Schema(asked)

    def columns(self, said: Any, first_row: int, bad: BadAnswers) -> list[NDArray[Any]]:
        found = encode(self.schema, said, first_row, bad=bad)
        # What is bad has the code -1; it is counted, and nothing of it is written.
        reports = {name: self.codes[name][each] for name, each in found.items()}
        return [
            block_codes(block, reports).astype(code_type(block.channel.outputs))
            for block in self.blocks
        ]


def _words(study: Study, block: Block) -> list[list[tuple[int, str]]]:
    """For each attribute of a block the texts that are reports, with their codes."""
    for_paper = block.channel.if_answered.words_on_paper is not None
    spellings = _VARIANTS if for_paper else (str,)
    return [
        [
            (code, spell(word))
            for spell in spellings
            for code, words in enumerate(said)
            for word in words
        ]
        for said in report_words(study.schema, block)
    ]
