"""What an audit looks at: the code of each block or, where blocks are drawn, what was drawn.

Each part has a chance for every report of it under every answer, from the published weights. What a
study declares to be sent as it is, public attributes and that a question was skipped, is no part:
epsilon is about people who differ in nothing of that. It is checked to be what was answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from castell.auditing.devices import Codes
from castell.channels import Channel
from castell.channels.budget import rounded_up
from castell.errors import OptionError
from castell.linear.operators import Floats, apply
from castell.study.design import Block, Column, Design, check_hides_answers
from castell.study.study import Study

Row = Mapping[str, int]  # the code of an answer to each attribute

# Every two of so many answers are compared, and matrices of so many cells are read whole.
MOST_ANSWERS = 8
MOST_READ_CELLS = 1 << 20


@dataclass(frozen=True)
class Member:
    """A block in a part: where its codes begin, and how often it is what is reported."""

    block: Block
    start: int
    share: Fraction


@dataclass(frozen=True)
class Part:
    name: str
    column: int
    epsilon: float
    members: tuple[Member, ...]

    @property
    def outputs(self) -> int:
        return sum(member.block.channel.outputs for member in self.members)

    def chances(self, row: Row) -> Floats:
        """How often each report is made of a row of answers."""
        found = [
            float(member.share) * _chances(member.block.channel, block_code(member.block, row))
            for member in self.members
        ]
        return np.concatenate(found)

    def counts(self, codes: Codes) -> Floats:
        """How often each was, in reports as columns."""
        return np.bincount(codes[:, self.column], minlength=self.outputs).astype(np.float64)


def parts_of(study: Study) -> tuple[Part, ...]:
    design = study.design
    check_hides_answers(design)
    for block in design.blocks:
        if not block.channel.has_matrix:
            raise OptionError(
                f"the reports of {' x '.join(block.names)} have too many values to be counted",
                f"channels of kind {block.channel.kind!r} are not audited; use another",
            )
    found = []
    for place, column in enumerate(design.layout):
        members = tuple(
            Member(design.blocks[i], start, Fraction(design.block_weights[i], design.total_weight))
            for i, start in zip(column.blocks, column.starts, strict=True)
        )
        if not members[0].block.is_public:
            worst = max(member.block.channel.exact_epsilon for member in members)
            found.append(Part(_name(design, column), place, rounded_up(worst), members))
    return tuple(found)


def _name(design: Design, column: Column) -> str:
    if len(column.blocks) == 1:
        return " x ".join(design.blocks[column.blocks[0]].names)
    return "what was drawn" if design.public else "the whole report"


def rows_to_ask(study: Study) -> list[Row]:
    """Rows of answers, every two of which are compared: the pair that the weights tell apart best,
    and others beside it."""
    blocks = study.design.hidden
    public = dict.fromkeys(study.schema.public, 0)
    if study.design.is_drawn:
        return list(_distinct(_drawn_rows(study)))
    answers = [_answers(block) for block in blocks]
    return [
        public
        | {
            name: code
            for block, codes in zip(blocks, answers, strict=True)
            for name, code in block_row(block, codes[turn % len(codes)]).items()
        }
        for turn in range(max(len(codes) for codes in answers))
    ]


def _drawn_rows(study: Study) -> Iterator[Row]:
    sizes = {a.name: a.size - a.may_skip for a in study.schema.hidden}
    public = dict.fromkeys(study.schema.public, 0)
    for turn in range(min(MOST_ANSWERS, max(sizes.values()))):
        yield public | {name: turn % size for name, size in sizes.items()}
    for block in study.design.hidden[:MOST_ANSWERS]:
        for code in _answers(block)[:2]:
            yield public | {**dict.fromkeys(sizes, 0), **block_row(block, code)}


def rows_sent_plainly(study: Study) -> list[tuple[Row, dict[int, frozenset[int]]]]:
    """Rows of answers that are sent as they are, and the codes that each column may then hold.

    Every public value is in one of them; in the last everybody skips what may be skipped.
    """
    design, schema = study.design, study.schema
    first = rows_to_ask(study)[0]
    found: list[tuple[Row, dict[int, frozenset[int]]]] = []
    place = {block.names[0]: design.column_of(i) for i, block in enumerate(design.blocks)}
    for turn in range(max([schema[name].size for name in schema.public], default=0)):
        codes = {name: turn % schema[name].size for name in schema.public}
        allowed = {place[name]: frozenset([code]) for name, code in codes.items()}
        found.append(({**first, **codes}, allowed))
    skipped = {a.name: a.size - 1 for a in schema if a.may_skip}
    if skipped:
        allowed = {
            i: _codes_if_skipped(design, column)
            for i, column in enumerate(design.layout)
            if any(design.blocks[b].channel.may_skip for b in column.blocks)
        }
        found.append(({**first, **skipped}, allowed))
    return found


def _codes_if_skipped(design: Design, column: Column) -> frozenset[int]:
    """What a column can hold if everything is skipped that may be: of such a block its last
    code."""
    found: list[int] = []
    for i, start in zip(column.blocks, column.starts, strict=True):
        channel = design.blocks[i].channel
        last = start + channel.outputs
        found += range(last - 1 if channel.may_skip else start, last)
    return frozenset(found)


def _distinct(rows: Iterator[Row]) -> list[Row]:
    return list({tuple(sorted(row.items())): row for row in rows}.values())


def _answers(block: Block) -> list[int]:
    """Answers to one block: the two that reports tell apart best, and some others."""
    # Who skips is seen to, and spends nothing: only those are compared who answer.
    channel = block.channel.if_answered
    size = channel.inputs
    first, second = _farthest(channel)
    others = [int(code) for code in np.linspace(0, size - 1, MOST_ANSWERS).round()]
    return list(dict.fromkeys([first, second, *others]))[:MOST_ANSWERS]


def _farthest(channel: Channel) -> tuple[int, int]:
    # Any two will do, or there are too many to compare them all.
    if channel.treats_alike or channel.inputs * channel.outputs > MOST_READ_CELLS:
        return 0, channel.inputs - 1
    columns = list(zip(*channel.weights(), strict=True))
    widest = max(columns, key=lambda column: Fraction(max(column), min(column)))
    return widest.index(max(widest)), widest.index(min(widest))


def _chances(channel: Channel, code: int) -> Floats:
    single = np.zeros(channel.inputs)
    single[code] = 1.0
    return apply([channel.forward], single)


def block_code(block: Block, row: Row) -> int:
    return int(np.ravel_multi_index([row[name] for name in block.names], block.sizes))


def block_row(block: Block, code: int) -> dict[str, int]:
    """The answers behind a code, attribute by attribute."""
    digits = np.unravel_index(code, block.sizes)
    return {name: int(digit) for name, digit in zip(block.names, digits, strict=True)}


def labels(study: Study, row: Row) -> dict[str, str]:
    """A row of codes as a person would answer."""
    return {name: study.schema[name].values[code] for name, code in row.items()}


def count_wrong_cells(channels: Sequence[Channel]) -> tuple[int, int]:
    """How many (answer, number) cells of small channels were gone through, and how many were wrong.

    A report must be made of as many of the numbers below `total` as it weighs.
    """
    cells = wrong = 0
    for channel in dict.fromkeys(channels):
        every = channel.total**channel.draws
        if channel.inputs * every > MOST_READ_CELLS or not channel.has_matrix:
            continue
        # All numbers, or all rows of them where a report takes several.
        numbers = np.indices((channel.total,) * channel.draws, dtype=np.uint64)
        drawn = numbers.reshape(channel.draws, -1).T.ravel()
        for code, weights in enumerate(channel.weights()):
            made = channel.respond(np.full(every, code), drawn)
            found = np.bincount(made.astype(np.int64), minlength=channel.outputs)
            wrong += int(np.abs(found - np.array(weights)).sum()) // 2
            cells += every
    return cells, wrong
