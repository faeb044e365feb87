"""Studies of every kind of design and channel, for the contract tests."""

from __future__ import annotations

from castell import Study
from castell.channels import CyclicResponse
from castell.channels.differences import singer
from castell.study.design import Block, Design
from tests.populations import drawn_studies, rectangular, schema, studies

ASKED = schema((2, 3, 4))


def _one_block() -> Study:
    """Sets of reports for all attributes at once, from everybody."""
    channel = CyclicResponse(12, 13, singer(3, 3), 11, 4)
    block = Block(("c", "a", "b"), (2, 2, 3), channel)
    return Study(schema((2, 3, 2)), design=Design((block,)))


STUDIES: dict[str, Study] = {
    **studies(),
    "rectangular": rectangular(),
    "sets": _one_block(),
    **{f"drawn {name}": study for name, study in drawn_studies().items()},
    "sample": Study(ASKED, 2.0, sample=2),
    "bloom": Study(ASKED, 6.0, "bloom"),
}
