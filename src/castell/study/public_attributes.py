"""Attributes that are declared public: in every report as they are, outside epsilon.

They are no part of what a design splits a budget over, so a design is made for the others alone.
Whoever reads a report reads them in it: that they single somebody out is said by `small_cells`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import Any

from castell.errors import StudyError
from castell.study.schema import Schema

# Fewer people than this who share all public values: whoever knows one of them may find the report.
SMALL_CELL = 10


def hidden_part(
    schema: Schema,
    design: object,
    shares: Mapping[str, object],
    channels: Mapping[Any, Any],
) -> Schema:
    """The attributes to be randomised; what would hide a public one is refused."""
    public = schema.public
    if not public:
        return schema
    if design == "bloom":
        raise StudyError(
            f"attribute {public[0]!r} is public, and the design is 'bloom'",
            "no method reads Bloom filters beside plain values; use the design 'independent'",
        )
    listed = design if isinstance(design, (list, tuple)) else ()
    clusters = {name for c in listed if isinstance(c, (list, tuple)) for name in c}
    keys = {name for key in channels for name in ((key,) if isinstance(key, str) else key)}
    for where, named in (("a share", set(shares)), ("a channel", keys), ("a cluster", clusters)):
        if found := [name for name in public if name in named]:
            raise StudyError(
                f"attribute {found[0]!r} is public and has {where}",
                "it is reported as it is; leave one of them out",
            )
    return schema.hidden


def public_words(names: Iterable[str]) -> list[str]:
    """What a statement says of public attributes."""
    listed = ", ".join(map(repr, names))
    if not listed:
        return []
    return [
        f"Public, known anyway and sent without noise: {listed}. Epsilon does not cover that, and "
        "no number here is about guessing it.",
        "Whoever is one of few with the same public values can be found among the reports by them; "
        "what is randomised in that report stays randomised.",
    ]


def small_cells(schema: Schema, n: int) -> str | None:
    """What to say of n people if groups of the same public values would be small, on average."""
    if not schema.public:
        return None
    cells = prod(schema[name].size for name in schema.public)
    if n >= SMALL_CELL * cells:
        return None
    return (
        f"{n:,} people in {cells:,} combinations of public values ({', '.join(schema.public)}) are "
        f"fewer than {SMALL_CELL} in each: who is alone with theirs can be linked to their report; "
        "make fewer or coarser attributes public"
    )
