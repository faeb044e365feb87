"""What `castell check` says beside the cost: when reports are taken, and what was corrected."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from castell.study.collection_table import OpeningHours
from castell.study.corrections import Change, before, changes
from castell.study.study import Study


class CorrectedWords(NamedTuple):
    """The words that one correction changed, and the day it was made."""

    on: str
    changes: tuple[Change, ...]


def each_correction(study: Study) -> list[CorrectedWords]:
    """What each correction of a study changed, the first one first."""
    found, content = [], study.content
    for correction in reversed(study.corrections):
        earlier = before(content)
        found.append(CorrectedWords(correction.on, tuple(changes(earlier, content))))
        content = earlier
    return found[::-1]


def collection_words(study: Study, hours: OpeningHours) -> list[str]:
    """For people, line by line; nothing of a study that is always open and was never corrected."""
    lines = [
        f"{name:<9} {moment.isoformat()}"
        for name, moment in (("opens", hours.opens), ("closes", hours.closes))
        if moment is not None
    ]
    for corrected in each_correction(study):
        for change in corrected.changes:
            was, now = change.was or "(nothing)", change.now or "(nothing)"
            lines += [f"corrected {corrected.on}  {change.where}", f"  was  {was}", f"  now  {now}"]
    return lines


def collection_document(study: Study, hours: OpeningHours) -> dict[str, Any]:
    """The same for programs, as plain JSON values."""
    return {
        "opens": None if hours.opens is None else hours.opens.isoformat(),
        "closes": None if hours.closes is None else hours.closes.isoformat(),
        "corrections": [
            {"on": one.on, "changes": [change._asdict() for change in one.changes]}
            for one in each_correction(study)
        ],
    }


def hours_warning(hours: OpeningHours, now: datetime | None = None) -> str | None:
    """A collection that is over before it begins is most likely a wrong year.

    >>> over = datetime(2026, 12, 22, tzinfo=UTC)
    >>> hours_warning(OpeningHours(closes=over), now=over)
    'the collection closed 2026-12-22T00:00:00+00:00: no reports are taken any more'
    >>> hours_warning(OpeningHours())
    """
    if hours.closes is None or (now or datetime.now(UTC)) < hours.closes:
        return None
    return f"the collection closed {hours.closes.isoformat()}: no reports are taken any more"
