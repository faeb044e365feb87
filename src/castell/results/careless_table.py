"""What a table would be without those who answer without regard to the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from castell.errors import QueryError
from castell.inference.careless import WithoutCareless, at_random, careless_table
from castell.inference.reasons import Code, reason
from castell.linear.operators import Floats
from castell.linear.table import Table as LabelledTable
from castell.numbers import is_number
from castell.study.design import Block
from castell.study.report_words import report_words
from castell.study.schema import Attribute, suggest
from castell.study.study import Study

Table = TypeVar("Table", bound=Any)


def without_careless(joint: Table, share: object, says: Mapping[str, str]) -> Table:
    """A joint estimate if so many had been careless; what it is, `JointEstimate.careless` says."""
    if not is_number(share, 0.0) or float(share) >= 1.0:  # type: ignore[arg-type]
        raise QueryError(
            f"the share of careless answers is {share!r}", "give one from 0 to below 1, as in 0.05"
        )
    if joint.post != "raw":
        raise QueryError(
            f"the table was post-processed ({joint.post})",
            "allow for careless answers in a raw one",
        )
    part = float(share)  # type: ignore[arg-type]
    public = [attribute.name for attribute in joint.attributes if attribute.public]
    for name in says:
        if name not in joint.names:
            raise QueryError(f"the table has no {name!r}", suggest(name, joint.names))
        if name in public:
            raise QueryError(
                f"{name!r} is public: it is sent as it is, by the careless too",
                "say what they report of what is randomised",
            )
    if len(public) == len(joint.names):
        raise QueryError(
            "the table is of public attributes alone, which no careless answer changes",
            "ask for one that is randomised",
        )
    whole = LabelledTable(joint.names, joint.unprocessed)

    def spread(names: tuple[str, ...]) -> WithoutCareless:
        told = {name: word for name, word in says.items() if name in names}
        hidden = tuple(name for name in names if name not in public)
        found = LabelledTable(hidden, careless_in(joint.source.studies, hidden, told)).along(names)
        # As many of each public group as there are in it; that share is known from all reports.
        shown = whole.project([name for name in names if name in public]).along(names)
        return WithoutCareless(joint.spread(names), part, np.asarray(found * shown))

    table = spread(joint.names).without(joint.unprocessed)
    words = [f"always say {word!r} for {name}" for name, word in says.items()]
    words += ["answer at random"] if len(says) < len(joint.names) - len(public) else []
    told = reason(Code.CARELESS, *joint.names, text=" and ".join(words), share=part)
    return replace(
        joint,
        probabilities=table,
        unprocessed=table,
        spread=spread,
        why=lambda: (told, *joint.reasons),
    )


def careless_in(
    studies: tuple[Study, ...], names: tuple[str, ...], says: Mapping[str, str]
) -> Floats:
    """What the careless look like in a table of some attributes."""
    tables = []
    for study in studies:
        told: dict[str, Floats] = {}
        for name, word in says.items():
            _, block, _ = alone_in_block(study, name)
            told[name] = careless_reports(study, block, word)
        tables.append(careless_table(study.design, names, told))
    if any(np.abs(table - tables[0]).max() > 1e-9 for table in tables):
        raise QueryError(
            "careless answers look different in the studies that were read together",
            "allow for them in each by itself",
        )
    return tables[0]


def alone_in_block(study: Study, name: str) -> tuple[Attribute, Block, int]:
    (attribute,) = study.schema.select(name)
    blocks = study.design.holders(name)
    block = study.design.blocks[blocks[0]]
    column = study.design.layout[study.design.column_of(blocks[0])]
    alone = len(column.blocks) == len(block.names) == 1
    if not alone or not block.channel.has_matrix:
        raise QueryError(
            f"{name!r} is not reported by itself", "careless answers show in one that is"
        )
    return attribute, block, blocks[0]


def careless_reports(study: Study, block: Block, word: str | None) -> Floats:
    """The distribution of careless reports of a block with one attribute."""
    many = block.channel.outputs
    if word is None:
        return at_random(block.channel, many)
    (words,) = report_words(study.schema, block)
    for code, called in enumerate(words):
        if word in called:
            return np.asarray(np.eye(many)[code])
    raise QueryError(
        f"{word!r} is no report of {block.names[0]!r}", suggest(word, [each[0] for each in words])
    )
