"""The device's side: answers become reports.

Every answer takes one 64-bit word from the operating system, whatever it is. A word at or above
the largest multiple of the channel's total is thrown away and drawn again, so that the rest are
exactly uniform; whether that happens has nothing to do with the answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from castell.channels import Channel, Words
from castell.device.encode import AnswerFile, backend_of, encode
from castell.errors import OptionError
from castell.numbers import is_whole
from castell.reports.reports import Reports, ReportWriter, code_type
from castell.study.design import Block, Design

if TYPE_CHECKING:
    from castell.study.study import Study

Source = Callable[[int], Words]

# Small enough that words, numbers and reports of one step stay in the cache.
_STEP = 1 << 15


def secure_words(count: int) -> Words:
    """Words from the operating system's generator."""
    return np.frombuffer(os.urandom(8 * count), dtype="<u8")


def seeded_words(seed: int) -> Source:
    """Words that anybody who knows the seed can repeat: for tests and simulations only."""
    if not is_whole(seed, 0):
        raise OptionError(f"the seed is {seed!r}", "give a whole number from 0 up, or none")
    generator = np.random.Generator(np.random.Philox(int(seed)))
    return lambda count: np.frombuffer(generator.bytes(8 * count), dtype="<u8")


def numbers_below(total: int, count: int, words: Source) -> Words:
    """Numbers drawn exactly uniformly from 0 to total - 1."""
    drawn = words(count)
    spare = 2**64 % total
    if spare:
        last = np.uint64(2**64 - spare - 1)
        while (over := drawn > last).any():
            drawn = drawn.copy()
            drawn[over] = words(int(over.sum()))
    result: Words = drawn % np.uint64(total)
    return result


def respond(channel: Channel, codes: NDArray[Any], words: Source) -> NDArray[Any]:
    """The reports of a column of codes."""
    reports = np.empty(len(codes), dtype=code_type(channel.outputs))
    # A report of several bits takes a number for each of them, whatever the answer.
    draws: int = getattr(channel, "draws", 1)
    for start in range(0, len(codes), _STEP):
        part = codes[start : start + _STEP]
        numbers = numbers_below(channel.total, len(part) * draws, words)
        reports[start : start + _STEP] = channel.respond(part, numbers)
    return reports


def block_codes(block: Block, codes: dict[str, NDArray[np.intp]]) -> NDArray[np.intp]:
    """The attributes of a block as one number each respondent: mixed radix, last one fastest."""
    joined = codes[block.names[0]]
    for name, size in zip(block.names[1:], block.sizes[1:], strict=True):
        joined = joined * size + codes[name]
    return joined


def _columns(study: Study, answers: Any, words: Source, first_row: int = 1) -> list[NDArray[Any]]:
    codes = encode(study.schema, answers, first_row)
    if study.design.draw:
        return [_drawn(study.design, codes, words)]
    return [respond(b.channel, block_codes(b, codes), words) for b in study.design.blocks]


def _drawn(design: Design, codes: dict[str, NDArray[np.intp]], words: Source) -> NDArray[Any]:
    """One block for each respondent, drawn before and whatever they answer."""
    rows = len(next(iter(codes.values())))
    chosen = numbers_below(len(design.blocks), rows, words)
    reports = np.empty(rows, dtype=code_type(design.widths[0]))
    for i, (block, start) in enumerate(zip(design.blocks, design.starts, strict=True)):
        mine = np.flatnonzero(chosen == i)
        held = {name: codes[name][mine] for name in block.names}
        reports[mine] = start + respond(block.channel, block_codes(block, held), words).astype(int)
    return reports


def _source(seed: int | None) -> Source:
    return secure_words if seed is None else seeded_words(seed)


def randomize_frame(study: Study, answers: Any, seed: int | None = None) -> Reports:
    """Reports of a frame of answers."""
    columns: Sequence[NDArray[Any]] = _columns(study, answers, _source(seed))
    return Reports(study, columns, secure=seed is None, backend=backend_of(answers))


def randomize_file(
    study: Study,
    source: str | Path,
    target: str | Path,
    *,
    seed: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> int:
    """Reports of a CSV or Parquet file, written as Parquet; memory stays bounded.

    Nothing stands at `target` until every answer was good. `progress` hears which share of the
    file is done. Returns the number of reports.
    """
    if Path(source).resolve() == Path(target).resolve():
        raise OptionError("answers and reports are one file", "give the reports another name")
    words, answers, rows = _source(seed), AnswerFile(source, study.names), 0
    with ReportWriter(study, target, secure=seed is None) as writer:
        for batch in answers:
            writer.write(_columns(study, batch, words, first_row=rows + 1))
            rows += batch.num_rows
            if progress:
                progress(answers.done)
    return rows
