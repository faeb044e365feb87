"""Where reports can be counted: Parquet files, and what installed packages add.

An engine is a function `open(source, study, progress) -> Counts`, or a module that has one as
`open`. With `opens(source) -> bool` beside it, it is found by what it is given; else by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from castell.counting.counts import Counts, Progress
from castell.counting.parquet import scan_reports as scan_parquet
from castell.errors import CastellError, OptionError, PluginError
from castell.plugins import ENGINES, Plugin, plugins
from castell.study.schema import suggest
from castell.study.study import Study

PARQUET = "parquet"
NEEDED = ("study", "secure", "backend", "n", "table", "pairs", "moments", "batches")


class Engine(Protocol):
    """Makes counts of a source of reports."""

    def __call__(self, source: Any, study: Study, progress: Progress | None) -> Counts: ...


def engines() -> tuple[str, ...]:
    """The names of all counting engines that `scan_reports` can use."""
    return tuple(sorted({PARQUET, *_added()} - _refused()))


def scan_reports(
    source: Any, study: Study, *, engine: str | None = None, progress: Progress | None = None
) -> Counts:
    """Reports to estimate from without loading them: a Parquet file, or what an engine opens.

    `engine` names one of `castell.counting.engines()`. Without it a name that ends in .parquet is
    a Parquet file, and of anything else the engines say whether they can open it.
    """
    added = _added()
    if engine is not None and engine not in {PARQUET, *added}:
        raise OptionError(f"there is no engine {engine!r}", suggest(str(engine), engines()))
    chosen = engine if engine is not None else _engine_for(source)
    if chosen in added:
        return _opened(added[chosen], source, study, progress)
    return scan_parquet(source, study, progress=progress)


def _added() -> dict[str, Plugin]:
    return plugins(ENGINES, [PARQUET])


def _refused() -> set[str]:
    refused = set()
    for name, plugin in _added().items():
        try:
            _parts(plugin)
        except PluginError:
            refused.add(name)
    return refused


def _engine_for(source: Any) -> str:
    if isinstance(source, (str, Path)) and str(source).endswith(".parquet"):
        return PARQUET
    able = [name for name, plugin in _added().items() if _opens(plugin, source)]
    if len(able) > 1:
        raise OptionError(f"{' and '.join(able)} can both open this", "name one: engine=...")
    return able[0] if able else PARQUET


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


def _opened(plugin: Plugin, source: Any, study: Study, progress: Progress | None) -> Counts:
    opening, _ = _parts(plugin)
    try:
        counts = opening(source, study, progress)
        missing = [name for name in NEEDED if not hasattr(counts, name)]
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
