"""Where reports can be counted: files, a store, frames, clusters, and what packages add.

An engine is a module with `open(source, study, progress) -> Counts` and `opens(source) -> bool`, by
which it is found. One from outside may be the first function alone; it is then found by its name.
One of ours that takes an `address` or the mark `secure` says so in `TAKES`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib import import_module
from time import perf_counter
from typing import Any, Protocol

from castell.counting.counts import Counts, Progress, missing_of
from castell.counting.stages import join_stages
from castell.errors import CastellError, OptionError, PluginError
from castell.plugins import ENGINES, Plugin, plugins
from castell.reports.report_files import is_files
from castell.study.schema import suggest
from castell.study.study import Study

_LOG = logging.getLogger(__name__)

# Named, not imported: loaded when asked for, and a store lies with the collector.
BUILT_IN = {
    "parquet": "castell.counting.parquet",
    "store": "castell.collector.store.engine",
    "dask": "castell.counting.dask",
    "spark": "castell.counting.spark",
    "frames": "castell.counting.frames",
}
# What anything that no engine knows is taken for.
DEFAULT = "parquet"


class Engine(Protocol):
    """Makes counts of a source of reports."""

    def __call__(self, source: Any, study: Study, progress: Progress | None) -> Counts: ...


def engines() -> tuple[str, ...]:
    """The names of all counting engines that `scan_reports` can use."""
    return tuple(sorted({*BUILT_IN, *_added_engines()} - _refused_engines()))


def scan_reports(
    source: Any,
    study: Study,
    *,
    engine: str | None = None,
    secure: bool | None = None,
    progress: Progress | None = None,
) -> Counts:
    """Reports to estimate from where they are.

    A Parquet file, a folder of them, a pattern such as "reports/*.parquet" or a list; an object
    store's address; a collector's file or address; a DuckDB relation, a Polars, Dask, Spark or
    other frame. What is counted are the same whole numbers everywhere.

    `engine` names one of `castell.counting.engines()`: "dask" or "dask://host:8786" has a cluster
    count the files, "spark" or "spark://host:15002" a Spark session. Without it the source tells. A
    frame cannot say whether its reports were made with a seed: `secure=True` vouches that they were
    not.
    """
    name, mark, address = (engine or "").partition("://")
    if engine is not None and name not in BUILT_IN and name not in _added_engines():
        raise OptionError(f"there is no engine {engine!r}", suggest(str(name), engines()))
    if engine is None and isinstance(source, (list, tuple)) and not is_files(source):
        parts = [scan_reports(each, study, secure=secure, progress=progress) for each in source]
        return join_stages(parts)
    chosen = name if engine is not None else _engine_for(source)
    options: dict[str, Any] = {"address": address} if mark else {}
    options |= {} if secure is None else {"secure": secure}
    begin = perf_counter()
    found = _scan(chosen, source, study, progress, options)
    _LOG.info("%s: %d reports, opened in %.2f s", chosen, found.n, perf_counter() - begin)
    return found


def _scan(
    name: str, source: Any, study: Study, progress: Progress | None, options: dict[str, Any]
) -> Counts:
    module = import_module(BUILT_IN[name]) if name in BUILT_IN else None
    for option in options:
        if option not in getattr(module, "TAKES", ()):
            raise OptionError(f"the engine {name!r} takes no {option}", "leave it out")
    if module is None:
        return _open(_added_engines()[name], source, study, progress)
    found: Counts = module.open(source, study, progress, **options)
    return found


def _added_engines() -> dict[str, Plugin]:
    return plugins(ENGINES, BUILT_IN)


def _refused_engines() -> set[str]:
    refused = set()
    for name, plugin in _added_engines().items():
        try:
            _parts(plugin)
        except PluginError:
            refused.add(name)
    return refused


def _engine_for(source: Any) -> str:
    for name, module in BUILT_IN.items():
        if import_module(module).opens(source):
            return name
    able = [name for name, plugin in _added_engines().items() if _opens(plugin, source)]
    if len(able) > 1:
        raise OptionError(f"{' and '.join(able)} can both open this", "name one: engine=...")
    return able[0] if able else DEFAULT


def _opens(plugin: Plugin, source: Any) -> bool:
    """Whether an engine says that it can open a source. One that fails cannot; by its name it is
    told why."""
    try:
        return bool(_parts(plugin)[1](source))
    except Exception:
        return False


def _parts(plugin: Plugin) -> tuple[Engine, Callable[[Any], bool]]:
    """What opens a source, and what says whether it can."""
    loaded = plugin.load()
    opening = getattr(loaded, "open", loaded)
    if not callable(opening):
        raise plugin.broken("it is no function, and has none named open")
    return opening, getattr(loaded, "opens", lambda _: False)


def _open(plugin: Plugin, source: Any, study: Study, progress: Progress | None) -> Counts:
    opening, _ = _parts(plugin)
    try:
        counts = opening(source, study, progress)
        missing = missing_of(counts)
        same = not missing and counts.study == study
    except CastellError:
        raise  # says itself what is wrong with the source
    except Exception as error:
        raise plugin.broken(f"{type(error).__name__}: {error}") from error
    if missing:
        raise plugin.broken(f"what it opened has no {', '.join(missing)}")
    if not same:
        raise plugin.broken("what it opened are reports of another study")
    return counts
