"""Whole frames and files of answers become reports, each answer with words of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from castell.device.answer_columns import answer_batches, as_arrow, backend_of
from castell.device.answer_file import AnswerFile
from castell.device.bad_answers import BadAnswers
from castell.device.encode import Codes, encode
from castell.device.ordered_threads import check_threads, in_order
from castell.device.random_words import Source, secure_words, seeded_words
from castell.device.respond import draw_samples, report_columns
from castell.errors import OptionError
from castell.linear.cores import usable_cores
from castell.reports.codes import join_parts
from castell.reports.parquet import ReportWriter
from castell.reports.reports import Reports

if TYPE_CHECKING:
    from castell.study.study import Study


def _columns(study: Study, answers: Any, words: Source, first_row: int = 1) -> list[NDArray[Any]]:
    return _randomize_codes(study, encode(study.schema, answers, first_row, words), words)


def _randomize_codes(study: Study, codes: dict[str, Codes], words: Source) -> list[NDArray[Any]]:
    rows = len(next(iter(codes.values())))
    drawn = draw_samples(study.design, rows, words)
    return report_columns(study.design, codes, drawn, lambda _: words)


def _source(seed: int | None) -> Source:
    return secure_words if seed is None else seeded_words(seed)


def randomize_frame(study: Study, answers: Any, seed: int | None = None) -> Reports:
    """Reports of a frame of answers; of a lazy one or a stream, some rows at a time."""
    words, backend = _source(seed), backend_of(answers)
    parts = answer_batches(answers, study.names)
    if parts is None:
        columns = _columns(study, answers, words)
    else:
        columns = join_parts(study, _batches(study, parts, words))
    return Reports(study, columns, secure=seed is None, backend=backend)


def _batches(study: Study, parts: Iterable[Any], words: Source) -> Iterator[list[NDArray[Any]]]:
    rows = 0
    for part in parts:
        yield _columns(study, part, words, first_row=rows + 1)
        rows += part.num_rows


def randomize_stream(
    study: Study, answers: Any, target: str | Path, *, seed: int | None = None
) -> int:
    """Reports of a lazy frame, a DuckDB relation or an Arrow stream, written as Parquet.

    Neither the answers nor the reports are kept in memory. Nothing stands at `target` until every
    answer was good. Returns the number of reports.
    """
    parts = answer_batches(answers, study.names)
    given = [as_arrow(answers, study.names)] if parts is None else parts
    rows = 0
    with ReportWriter(study, target, secure=seed is None) as writer:
        for columns in _batches(study, given, _source(seed)):
            writer.write(columns)
            rows += len(columns[0])
    return rows


@dataclass(frozen=True)
class _Part:
    """Some rows of a file: how many, their reports if all are good, and how far the file is."""

    rows: int
    columns: list[NDArray[Any]]
    bad: BadAnswers
    done: float


def _parts(answers: AnswerFile) -> Iterator[tuple[Any, int, float]]:
    rows = 0
    for batch in answers:
        yield batch, rows + 1, answers.done
        rows += batch.num_rows


def _randomize_part(study: Study, words: Source, part: tuple[Any, int, float]) -> _Part:
    (batch, first_row, done), bad = part, BadAnswers()
    codes = encode(study.schema, batch, first_row, words, bad)
    columns = [] if bad else _randomize_codes(study, codes, words)
    return _Part(batch.num_rows, columns, bad, done)


def _threads(threads: int | None, seed: int | None) -> int:
    if threads is None:
        return usable_cores() if seed is None else 1
    if check_threads(threads) > 1 and seed is not None:
        raise OptionError(
            f"threads is {threads} with a seed", "leave one out: a seed's words come in one order"
        )
    return threads


def randomize_file(
    study: Study,
    source: str | Path,
    target: str | Path,
    *,
    seed: int | None = None,
    missing: Collection[str] = (),
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    remarks: Callable[[str], None] | None = None,
) -> int:
    """Reports of a CSV or Parquet file, written as Parquet; memory stays bounded.

    Nothing stands at `target` until every answer was good; what is not is counted through the
    whole file. A cell with one of the texts in `missing` is no answer. So many `threads` work on
    it: one for each core if nothing is said, one with a `seed`, whose words come in one order.
    `progress` hears which share of the file is done, `remarks` how it was read where that was not
    plain. Returns the number of reports.
    """
    if Path(source).resolve() == Path(target).resolve():
        raise OptionError("answers and reports are one file", "give the reports another name")
    words, answers = _source(seed), AnswerFile(source, study.names, missing=missing)
    threads = _threads(threads, seed)
    bad, rows = BadAnswers(), 0
    with ReportWriter(study, target, secure=seed is None) as writer:
        for part in in_order(partial(_randomize_part, study, words), _parts(answers), threads):
            bad.include(part.bad)
            if not bad:
                writer.write(part.columns)
            rows += part.rows
            if progress:
                progress(part.done)
        bad.check()
    if remarks:
        for remark in answers.remarks:
            remarks(remark)
    return rows
