"""The reports that a command reads: what counts them (`--engine`), other studies' beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from castell.counting.counts import Progress
from castell.errors import OptionError
from castell.study.study import Study

WithDeclined = Annotated[
    bool,
    typer.Option("--with-declined", help='Take "prefer not to say" for a value like any other.'),
]
EngineOption = Annotated[
    str | None,
    typer.Option(
        help="What counts the reports: dask://HOST:PORT, spark://HOST:PORT, or one that a "
        "package adds."
    ),
]


def open_reports(
    study: Study,
    reports: str,
    also: list[str] | None,
    *,
    engine: str | None = None,
    tell: Progress | None = None,
) -> Any:
    """Reports as `fit` takes them, those of other studies before them."""
    from castell.collector.store_places import resolve
    from castell.counting import scan_reports

    counts = scan_reports(resolve(reports), study, engine=engine, progress=tell)
    if not also:
        return counts
    others = other_studies(also)
    places = [reports, *(place for _, place in others)]
    for place in places:
        if places.count(place) > 1:
            raise OptionError(f"{place} is given twice", "its people would count as twice as many")
    earlier = [scan_reports(resolve(place), other) for other, place in others]
    return [*earlier, counts]


def attributes_of(study: Study, given: Sequence[str] | None) -> list[str]:
    """The attributes named; files among them are what a shell made of a pattern without quotes."""
    for name in given or ():
        if name not in study.names and Path(name).is_file():
            raise OptionError(
                f"{name} is a file, and attributes follow the reports",
                "give all reports as one: put a pattern in quotes, or name the folder",
            )
    return list(given or ())


def other_studies(also: list[str], what: str = "--also") -> list[tuple[Study, str]]:
    """Studies and where their reports are."""
    found = []
    for given in also:
        study, mark, place = given.partition("=")
        if not mark or not study or not place:
            raise OptionError(f"{what} is {given!r}", f"write {what} old.toml=old.parquet")
        found.append((Study.load(study), place))
    return found
