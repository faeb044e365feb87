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
from castell.study.design import Block, Design

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


def draw_blocks(design: Design, rows: int, words: Source) -> NDArray[np.intp] | None:
    """Which block each respondent reports, before and whatever they answer; None if all of them."""
    if not design.is_drawn:
        return None
    numbers = numbers_below(sum(design.weights), rows, words)
    ends = np.cumsum(design.weights, dtype=np.uint64)
    # A block is drawn by as many numbers as it weighs.
    return np.searchsorted(ends, numbers, side="right").astype(np.intp)


def report_columns(
    design: Design,
    codes: Codes,
    drawn: NDArray[np.intp] | None,
    words_of: Callable[[int], Source],
) -> list[NDArray[Any]]:
    """The columns of the reports, given who reports which block and the words of each block."""
    if drawn is None:
        return [
            respond(block.channel, block_codes(block, codes), words_of(index))
            for index, block in enumerate(design.blocks)
        ]
    reports = np.empty(len(drawn), dtype=code_type(design.widths[0]))
    for index, (block, start) in enumerate(zip(design.hidden, design.starts, strict=True)):
        mine = np.flatnonzero(drawn == index)
        if not len(mine):
            continue  # nobody drew it, so nobody needs to have answered it
        answers = {name: codes[name][mine] for name in block.names}
        found = respond(block.channel, block_codes(block, answers), words_of(index))
        reports[mine] = start + found.astype(int)
    return [
        reports,
        *(
            respond(block.channel, block_codes(block, codes), words_of(index))
            for index, block in enumerate(design.blocks)
            if block.is_public
        ),
    ]
