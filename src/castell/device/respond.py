"""From codes of answers to codes of reports: the one place where answers are randomised.

A frame of a million respondents and a single person on a device take the same three steps: which
blocks are reported, the answer of each block as one number, and that number through the block's
channel. Only the source of the words differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.channels import Channel
from castell.device.random_words import Source, numbers_below
from castell.reports.codes import code_type
from castell.study.design import Block, Column, Design

Codes = Mapping[str, NDArray[np.intp]]

# Small enough that words, numbers and reports of one step stay in the cache.
_STEP = 1 << 15


def block_codes(block: Block, codes: Codes) -> NDArray[np.intp]:
    """The attributes of a block as one number each respondent: mixed radix, last one fastest."""
    joined = codes[block.names[0]]
    for name, size in zip(block.names[1:], block.sizes[1:], strict=True):
        joined = joined * size + codes[name]
    return joined


def respond(channel: Channel, codes: NDArray[Any], words: Source) -> NDArray[Any]:
    """The reports of a column of codes. What is drawn does not depend on the codes."""
    reports = np.empty(len(codes), dtype=code_type(channel.outputs))
    # A report of several bits takes a number for each of them, whatever the answer.
    for start in range(0, len(codes), _STEP):
        part = codes[start : start + _STEP]
        numbers = numbers_below(channel.total, len(part) * channel.draws, words)
        reports[start : start + _STEP] = channel.respond(part, numbers)
    return reports


def draw_samples(design: Design, rows: int, words: Source) -> NDArray[np.intp]:
    """Which of the samples of blocks each respondent reports, before and whatever they answer."""
    if design.total_weight == 1:
        return np.zeros(rows, dtype=np.intp)  # there is one: no word is taken for it
    numbers = numbers_below(design.total_weight, rows, words)
    ends = np.cumsum(design.weights, dtype=np.uint64)
    # A sample is drawn by as many numbers as it weighs.
    return np.searchsorted(ends, numbers, side="right").astype(np.intp)


def report_columns(
    design: Design,
    codes: Codes,
    drawn: NDArray[np.intp],
    words_of: Callable[[int], Source],
) -> list[NDArray[Any]]:
    """The columns of the reports, given who reports which sample and the words of each block."""

    def respond_all(index: int) -> NDArray[Any]:
        block = design.blocks[index]
        return respond(block.channel, block_codes(block, codes), words_of(index))

    def respond_drawn(column: Column) -> NDArray[Any]:
        reports = np.empty(len(drawn), dtype=code_type(column.width))
        for place, (index, start) in enumerate(zip(column.blocks, column.starts, strict=True)):
            mine, block = np.flatnonzero(drawn == place), design.blocks[index]
            if not len(mine):
                continue  # nobody drew it, so nobody needs to have answered it
            answers = {name: codes[name][mine] for name in block.names}
            found = respond(block.channel, block_codes(block, answers), words_of(index))
            reports[mine] = start + found.astype(int)
        return reports

    # A column with one block is everybody's.
    return [
        respond_all(column.blocks[0]) if len(column.blocks) == 1 else respond_drawn(column)
        for column in design.layout
    ]
