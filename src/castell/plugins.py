"""What installed packages add, by entry points: methods, channels and counting engines.

A package names what it adds in its `pyproject.toml`; nothing of it is imported before it is asked
for. A name that castell has itself stays castell's; one that two packages claim belongs to neither,
and whoever asks for it is told so. A package that cannot be loaded is named in the error, and the
others go on working.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from castell.errors import PluginError

_LOG = logging.getLogger(__name__)

ESTIMATORS, CHANNELS, ENGINES = "castell.estimators", "castell.channels", "castell.engines"


@dataclass(frozen=True)
class Plugin:
    """One name of one group, and the packages that add it."""

    group: str
    name: str
    entries: tuple[EntryPoint, ...]

    @property
    def packages(self) -> str:
        return " and ".join(sorted({_package(entry) for entry in self.entries}))

    def load(self) -> Any:
        """What the package adds. Any failure is an error that names the package."""
        if len(self.entries) > 1:
            raise PluginError(
                f"{self.packages} add {self.name!r} to {self.group}, a name both of them claim",
                "uninstall one of them, or have it take another name",
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
    _say_not_used.cache_clear()


def plugins(group: str, built_in: Collection[str]) -> dict[str, Plugin]:
    """What packages add to a group, by name; `built_in` are the names that castell has itself.

    They are asked only where a name is none of castell's, or all names are listed.
    """
    found: dict[str, dict[tuple[str, str], EntryPoint]] = {}
    for entry in _entries(group):
        # The same package may lie on the path twice.
        if entry.name in built_in:
            _say_not_used(group, entry.name, _package(entry))
        else:
            found.setdefault(entry.name, {})[_package(entry), entry.value] = entry
    return {
        name: Plugin(group, name, tuple(entries.values()))
        for name, entries in sorted(found.items())
    }


@cache
def _say_not_used(group: str, name: str, package: str) -> None:
    """Its author should know; nobody else is kept from working."""
    _LOG.warning("%s adds %r to %s, a name that castell has: not used", package, name, group)


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value
