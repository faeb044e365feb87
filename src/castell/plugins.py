"""What installed packages add, by entry points: methods, channels and counting engines.

A package names what it adds in its `pyproject.toml`; nothing of it is imported before it is asked
for. A name that castell has already, or that two packages claim, belongs to nobody: whoever asks
for it is told so. A package that cannot be loaded is named in the error, and the others go on
working.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from castell.errors import PluginError

ESTIMATORS, CHANNELS, ENGINES = "castell.estimators", "castell.channels", "castell.engines"


@dataclass(frozen=True)
class Plugin:
    """One name of one group, and the packages that add it."""

    group: str
    name: str
    entries: tuple[EntryPoint, ...]
    taken: bool  # castell has the name itself

    @property
    def packages(self) -> str:
        return " and ".join(sorted({_package(entry) for entry in self.entries}))

    def load(self) -> Any:
        """What the package adds. Any failure is an error that names the package."""
        if self.taken or len(self.entries) > 1:
            also = "castell has already" if self.taken else "both of them claim"
            raise PluginError(
                f"{self.packages} adds {self.name!r} to {self.group}, a name that {also}",
                "uninstall the package, or have it take another name",
            )
        try:
            return self.entries[0].load()
        # A package may fail in any way it likes.
        except Exception as error:
            raise self.broken(f"{type(error).__name__}: {error}") from error

    def broken(self, problem: str) -> PluginError:
        return PluginError(
            f"{self.name!r} of {self.group}, which package {self.packages} adds, does not work "
            f"({problem})",
            "correct, update or uninstall the package",
        )


@cache
def _entries(group: str) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))


def forget() -> None:
    """Look for packages anew: for tests, and after an installation in a running process."""
    _entries.cache_clear()


def plugins(group: str, built_in: Collection[str]) -> dict[str, Plugin]:
    """What packages add to a group, by name; `built_in` are the names that castell has itself."""
    found: dict[str, dict[tuple[str, str], EntryPoint]] = {}
    for entry in _entries(group):
        # The same package may lie on the path twice.
        found.setdefault(entry.name, {})[_package(entry), entry.value] = entry
    return {
        name: Plugin(group, name, tuple(entries.values()), name in built_in)
        for name, entries in sorted(found.items())
    }


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value
