"""How a study is collected: the `[collection]` table of a study file.

It is for whoever runs the collector and no part of what is published. So the digest does not change
with it, and a study that is prolonged keeps its reports.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from castell.errors import StudyError
from castell.study.schema import suggest

_EXAMPLE = "2026-12-01T08:00:00+01:00"
_KNOWN = ("opens", "closes", "store")


@dataclass(frozen=True)
class OpeningHours:
    """From when until when reports are taken; nothing where there is no such end.

    >>> hours = OpeningHours(closes=a_time("closes", "2026-12-22T18:00:00Z"))
    >>> hours.closes.isoformat()
    '2026-12-22T18:00:00+00:00'
    """

    opens: datetime | None = None
    closes: datetime | None = None

    def __post_init__(self) -> None:
        if self.opens is not None and self.closes is not None and self.closes <= self.opens:
            raise StudyError(
                f"the collection closes ({self.closes.isoformat()}) before it opens "
                f"({self.opens.isoformat()})",
                "give a later time for closes",
            )


ALWAYS = OpeningHours()


@dataclass(frozen=True)
class CollectionTable:
    """What a study file says of its collection. `store` is a place, as --store takes it."""

    hours: OpeningHours = ALWAYS
    store: str | None = None

    @classmethod
    def of(cls, content: dict[str, Any]) -> CollectionTable:
        """The table of a whole study file that is read already."""
        table = content.get("collection", {})
        if not isinstance(table, dict):
            raise StudyError("collection is no table", "write [collection] above its entries")
        for key in table:
            if key not in _KNOWN:
                raise StudyError(f"[collection] has an unknown entry {key!r}", suggest(key, _KNOWN))
        store = table.get("store")
        if store is not None and (not isinstance(store, str) or not store):
            raise StudyError("store in [collection] is no text", 'write store = "@address.txt"')
        opens, closes = (a_time(key, table.get(key)) for key in ("opens", "closes"))
        return cls(OpeningHours(opens, closes), store)


def load_collection_table(path: Path) -> CollectionTable:
    """What a study file says of its collection. A published study says nothing."""
    if path.suffix == ".json":
        return CollectionTable()
    return CollectionTable.of(tomllib.loads(path.read_text(encoding="utf-8")))


def a_time(name: str, given: object) -> datetime | None:
    """A moment, from TOML's own dates or from text; one without a time zone is none."""
    made = given
    if isinstance(given, str):
        try:
            made = datetime.fromisoformat(given)
        except ValueError:
            made = None
    elif given is None:
        return None
    if not isinstance(made, datetime):
        raise StudyError(f"{name} is no date with a time ({given})", f"write it as {_EXAMPLE}")
    if made.utcoffset() is None:
        raise StudyError(
            f"{name} has no time zone ({given})", f"add it, +01:00 or Z, as in {_EXAMPLE}"
        )
    return made
