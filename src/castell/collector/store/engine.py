"""The store as a counting engine: `scan_reports("study.sqlite", study)`.

A store grows while it is read, and an estimate reads its reports more than once. So those of one
moment are taken, a few bytes each. They are not left in a transaction: one that stays open keeps
what was written meanwhile in the WAL, in the order it came.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from castell.collector.store import counts_of, is_store, open_store
from castell.counting import Counts
from castell.counting.counts import Progress
from castell.study.study import Study


def open(source: str | Path, study: Study, progress: Progress | None) -> Counts:
    """The reports that a store holds now: a file, or the address of a database."""
    with closing(open_store(source)) as store:
        counts = counts_of(store, study)
    if progress:
        progress(1.0)
    return counts


def opens(source: Any) -> bool:
    return isinstance(source, (str, Path)) and is_store(source)
