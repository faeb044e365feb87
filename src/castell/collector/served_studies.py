"""Which studies a collector is to serve, each with its path, its store and its hours.

All of it is looked at before anything is opened: a mistake leaves no store behind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from castell.collector.page_files import Look, load_look
from castell.collector.settings import Settings, Staging, State
from castell.collector.several_studies import by_path, study_files
from castell.collector.store import open_store
from castell.collector.wire import wire_of
from castell.errors import OptionError
from castell.study.collection_table import OpeningHours, a_time, load_collection_table
from castell.study.stage_sizes import StageSizes, load_stage_sizes
from castell.study.study import Study


@dataclass(frozen=True)
class Planned:
    """One study to be served. `place` is where its store is."""

    study: Study
    place: str
    hours: OpeningHours
    look: Look
    stages: StageSizes | None = None


@dataclass(frozen=True)
class Plan:
    """The studies by path, or one that is at / under the name ''."""

    studies: Mapping[str, Planned]

    @property
    def is_one(self) -> bool:
        return "" in self.studies

    def open(
        self, settings: Settings, spool: Path | None, *, invited: bool = False
    ) -> dict[str, State]:
        """All stores, open, with what their collectors need. The collectors close them.

        With `invited` every report needs an invitation, before any is made.
        """
        with ExitStack() as undo:
            states = {}
            for name, one in self.studies.items():
                store = open_store(one.place, one.study, spool=spool)
                undo.callback(store.close)
                if invited:
                    store.invite(())
                own = replace(settings, hours=one.hours)
                staging = None
                if one.stages is not None:
                    staging = Staging(one.place, spool, one.stages.ends)
                states[name] = State(store, own, one.look, staging)
            undo.pop_all()
        return states


def plan(
    given: Sequence[Path],
    store_of: Callable[[Path], str],
    *,
    store: str | None = None,
    opens: str | None = None,
    closes: str | None = None,
    kiosk: bool = False,
) -> Plan:
    """What `castell serve` was asked for. A folder has several studies, even if it holds one now:
    their addresses stay as they are when another joins them.
    """
    paths = study_files(given)
    several = len(paths) > 1 or given[0].is_dir()
    if several and store is not None:
        raise OptionError(
            "several studies cannot have one store",
            'leave it out (each has a file beside it), or write store = "..." into [collection] of '
            "each study file",
        )
    if several and (opens is not None or closes is not None):
        raise OptionError(
            "several studies have hours of their own",
            "write opens and closes into [collection] of each study file",
        )
    planned = [_plan_one(path, store_of, opens, closes, kiosk) for path in paths]
    if not several:
        return Plan({"": planned[0]})
    slugs = by_path(one.study for one in planned)
    places = [one.place for one in planned]
    for place in places:
        if places.count(place) > 1:
            raise OptionError("two studies have the same store", "give each its own")
    return Plan(dict(zip(slugs, planned, strict=True)))


def _plan_one(
    path: Path,
    store_of: Callable[[Path], str],
    opens: str | None,
    closes: str | None,
    kiosk: bool,
) -> Planned:
    study = Study.load(path)
    wire_of(study)  # refused if it cannot be collected
    hours = load_collection_table(path).hours
    # What the command says goes before what the file says.
    hours = OpeningHours(
        a_time("--opens", opens) or hours.opens, a_time("--closes", closes) or hours.closes
    )
    look = load_look(path, kiosk=kiosk)
    return Planned(study, store_of(path), hours, look, load_stage_sizes(path))
