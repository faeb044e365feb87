"""The design of InpHT: each respondent reports the parity of one drawn set of attributes."""

from __future__ import annotations

from itertools import combinations
from math import comb

from castell.channels.parity import MOST_ATTRIBUTES, ParityResponse
from castell.errors import StudyError
from castell.numbers import is_whole
from castell.study.drawn_sets import MOST_BLOCKS
from castell.study.schema import Schema

# Tables of two attributes, if nothing is said.
WIDTH = 2


def parities(
    schema: Schema, epsilon: object, width: object | None
) -> list[tuple[tuple[str, ...], ParityResponse]]:
    """All sets of up to `width` attributes, each with the channel of its parity.

    >>> from castell.study.schema import Attribute
    >>> asked = Schema([Attribute(name, ["no", "yes"]) for name in "abc"])
    >>> [names for names, _ in parities(asked, 1.0, 2)]
    [('a',), ('b',), ('c',), ('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    if epsilon is None:
        raise StudyError("the design 'inpht' has no epsilon", "give epsilon, for example 1.0")
    if width is None:
        width = WIDTH
    if not is_whole(width, 1) or int(width) > MOST_ATTRIBUTES:  # type: ignore[call-overload]
        raise StudyError(
            f"sample is {width!r} in the design 'inpht'",
            f"give the width of the tables, from 1 to {MOST_ATTRIBUTES}",
        )
    wide = [a.name for a in schema if a.size != 2]
    if wide:
        raise StudyError(
            f"{wide[0]!r} has {schema[wide[0]].size} values, and the design 'inpht' is for two",
            "ask for it as several yes-or-no questions, or use another design, such as cover",
        )
    most = min(int(width), len(schema.names))  # type: ignore[call-overload]
    sets = sum(comb(len(schema.names), k) for k in range(1, most + 1))
    if sets > MOST_BLOCKS:
        raise StudyError(
            f"there are {sets:,} sets of attributes to draw from",
            f"more than {MOST_BLOCKS:,} would get too few respondents each; use narrower tables",
        )
    return [
        (names, ParityResponse.with_epsilon(len(names), epsilon))
        for k in range(1, most + 1)
        for names in combinations(schema.names, k)
    ]
