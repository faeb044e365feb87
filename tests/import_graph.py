"""Which module of castell imports which, read from the source and not from what happens to run.

Imports inside functions and those for the type checker count like any other: a reader has to follow
them too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Set
from functools import cache
from pathlib import Path

import castell

ROOT = Path(castell.__file__).parent

Graph = Mapping[str, Set[str]]


def modules() -> dict[str, Path]:
    """Every module by its full name; a package is the name of its `__init__`."""
    return {_dotted(path): path for path in sorted(ROOT.rglob("*.py"))}


def packages() -> list[str]:
    return sorted(name for name, path in modules().items() if path.name == "__init__.py")


def _dotted(path: Path) -> str:
    parts = ("castell", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(source: str, known: Iterable[str]) -> set[str]:
    """Those of the known modules that the source imports, wherever in it that stands."""
    found: set[str] = set()
    names = set(known)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "write imports in full: from castell.errors import ..."
            module = node.module or ""
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                found.add(inner if inner in names else module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & names


@cache
def graph() -> Graph:
    """Every module with those it imports; read once."""
    files = modules()
    return {
        name: imports(path.read_text(encoding="utf-8"), files) - {name}
        for name, path in files.items()
    }


def child(package: str, module: str) -> str | None:
    """The part of a package that a module lies in; the package itself is `__init__`.

    >>> child("castell.collector", "castell.collector.store.tables")
    'store'
    >>> child("castell.collector", "castell.collector")
    '__init__'
    """
    if module == package:
        return "__init__"
    if module.startswith(package + "."):
        return module.removeprefix(package + ".").split(".")[0]
    return None


def inside(package: str, whole: Graph) -> dict[str, set[str]]:
    """The parts of a package, a sub-package as one part, with the parts they import."""
    parts: dict[str, set[str]] = {}
    for module, others in whole.items():
        here = child(package, module)
        if here is not None:
            there = {child(package, other) for other in others} - {None, here}
            parts.setdefault(here, set()).update(str(part) for part in there)
    return parts


def in_circles(parts: Graph) -> list[str]:
    """What is left when all that imports nothing else is taken away, again and again.

    >>> in_circles({"a": set(), "b": {"a", "c"}, "c": {"b"}})
    ['b', 'c']
    """
    left = {name: set(others) for name, others in parts.items()}
    while free := [name for name, others in left.items() if not others & set(left)]:
        for name in free:
            del left[name]
    return sorted(left)
