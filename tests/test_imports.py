"""Imports point one way, and `import castell` loads little."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import castell

# Rooms in the order the data travels: each may import those before it, and itself. `castell`, the
# public names, is for what comes after `results`: a room before it would import itself.
ROOMS = [
    "errors",
    "plugins",
    "linear",
    "channels",
    "study",
    "population",
    "reports",
    "device",
    "counting",
    "inference",
    "evaluation",
    "estimators",
    "results",
    "extend",
    "castell",
    "collector",
    "cli",
    "__main__",
]

# Imports that look forward, inside functions, so that nothing is loaded before it is needed.
LAZY = {
    ("study", "device"),  # study.randomize(answers)
}

# What is loaded only when it is asked for.
HEAVY = [
    "pandas",
    "polars",
    "pyarrow",
    "narwhals",
    "altair",
    "xarray",
    "rich",
    "typer",
    "scipy",
    "jax",
]

ROOT = Path(castell.__file__).parent


def _rooms() -> dict[str, list[Path]]:
    """Every room with its files; a file that lies in no folder is a room of its own."""
    found = {path.stem: [path] for path in ROOT.glob("*.py") if path.stem != "__init__"}
    for folder in sorted(path for path in ROOT.iterdir() if path.is_dir()):
        files = sorted(folder.rglob("*.py"))
        if files:
            found[folder.name] = files
    return found


def _imports(tree: ast.AST, *, deep: bool = False) -> Iterator[tuple[str, bool]]:
    """The modules of castell that code imports, and whether it does so inside a function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue  # for the type checker only: never run
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "write imports in full: from castell.errors import ..."
            names = [node.module or ""]
            if node.module == "castell":
                # `from castell import study` may mean the module.
                files = {alias.name for alias in node.names} & set(_rooms())
                names = [f"castell.{name}" for name in files] or names
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports(node, deep=deep or inside)
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "castell":
                yield (parts[1] if len(parts) > 1 else "castell"), deep


def test_every_room_has_its_place_and_says_what_it_is_for() -> None:
    unknown = sorted(set(_rooms()) - set(ROOMS))
    assert not unknown, (
        f"{', '.join(unknown)}: new in src/castell; put it in a room, or in ROOMS in "
        "tests/test_imports.py, after all that it imports and before all that may import it"
    )
    for room in sorted(path for path in ROOT.iterdir() if path.is_dir()):
        init = room / "__init__.py"
        if room.name != "__pycache__":
            assert ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))), init


@pytest.mark.parametrize("room", sorted(set(_rooms()) & set(ROOMS)))
def test_a_room_imports_only_what_comes_before_it(room: str) -> None:
    place = ROOMS.index(room)
    for path in _rooms()[room]:
        for name, deep in _imports(ast.parse(path.read_text(encoding="utf-8"))):
            if name == room or (deep and (room, name) in LAZY):
                continue
            assert name in ROOMS, f"{path.name} imports {name}, which is no room"
            assert ROOMS.index(name) < place, f"{path.name} imports {name}, which comes after it"


@pytest.mark.parametrize("room", sorted(set(_rooms()) & set(ROOMS)))
def test_no_module_imports_itself_by_way_of_others(room: str) -> None:
    """Within a room: a cycle of modules can only be read all at once."""
    files = {_dotted(path): path for path in _rooms()[room] if path.parent != ROOT}
    needs = {name: _within(path) & set(files) - {name} for name, path in files.items()}
    while needs:
        free = [name for name, others in needs.items() if not others & set(needs)]
        assert free, f"these import each other: {sorted(needs)}"
        for name in free:
            del needs[name]


def _dotted(path: Path) -> str:
    parts = ("castell", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _within(path: Path) -> set[str]:
    """The modules a file imports, in full, lazy imports included but not those for types only."""
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                file = ROOT.parent.joinpath(*inner.split(".")).with_suffix(".py")
                found.add(inner if file.exists() else node.module)
    return found


def test_the_check_sees_what_it_should() -> None:
    code = """
from typing import TYPE_CHECKING
import numpy
from castell.errors import StudyError
if TYPE_CHECKING:
    from castell.reports.reports import Reports
def late():
    import castell.collector.pages
    from castell import cli, Study
class A:
    async def b(self):
        from castell import fit
"""
    found = sorted(_imports(ast.parse(code)))
    modules = {name for name, _ in found}
    assert ("errors", False) in found
    assert ("collector", True) in found
    assert ("castell", True) in found
    assert "reports" not in modules
    assert "numpy" not in modules


def test_import_castell_loads_little() -> None:
    code = f"import sys, castell; print(*[m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_public_names_are_there() -> None:
    assert sorted(castell.__all__) == castell.__all__
    for name in castell.__all__:
        assert getattr(castell, name) is not None
