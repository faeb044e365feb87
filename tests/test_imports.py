"""Imports point one way, and `import castell` loads little."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import castell

# Each module may import those above it. `castell` itself, the public names, is for what comes
# after it: a module above would import itself.
LAYERS = [
    ("errors", "wording", "schema", "budget", "operators", "channel", "sets", "design", "study"),
    ("capabilities",),
    ("frames", "answers", "reports", "randomize", "device", "client"),
    ("marginal", "counting", "postprocess", "kronecker", "inversion", "pooling", "support"),
    ("chisquare", "reasons", "spread", "shares", "misfit", "estimate", "summary"),
    ("probability", "conditional", "model"),
    ("metrics", "bounds", "grouped", "drawn", "product", "margins", "frechet"),
    ("association_error", "model_error", "model_intervals"),
    ("threads", "bootstrap", "consistency", "likelihood", "belief", "mixture", "evidence", "climb"),
    ("gathering", "rows", "trials", "mixture_error", "trust"),
    ("sampled", "filters", "junction", "copula"),
    ("estimators", "fitting", "castell"),
    ("progress", "population", "studyfile"),
    ("chances", "exposure", "sentences", "statement"),
    ("plots", "collector", "demo", "tables", "sending", "cli", "__main__"),
]
ORDER = [module for layer in LAYERS for module in layer]

# Imports that look forward, inside functions, so that nothing is loaded before it is needed.
LAZY = {
    ("study", "randomize"),  # study.randomize(answers)
    ("study", "statement"),  # study.statement()
    ("estimate", "summary"),  # joint.summary()
    ("estimate", "plots"),  # joint.plot()
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


def _modules() -> dict[str, list[Path]]:
    """Top-level modules with their files; the files of a folder count as one."""
    found = {path.stem: [path] for path in ROOT.glob("*.py") if path.stem != "__init__"}
    for init in ROOT.glob("*/__init__.py"):
        found[init.parent.name] = sorted(init.parent.rglob("*.py"))
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
                files = {alias.name for alias in node.names} & set(_modules())
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


def test_every_module_has_its_place() -> None:
    unknown = sorted(set(_modules()) - set(ORDER))
    assert not unknown, (
        f"{', '.join(unknown)}: new in src/castell; put it in LAYERS in tests/test_imports.py, "
        "after all that it imports and before all that may import it"
    )


@pytest.mark.parametrize("module", sorted(set(_modules()) & set(ORDER)))
def test_a_module_imports_only_what_comes_before_it(module: str) -> None:
    place = ORDER.index(module)
    for path in _modules()[module]:
        for name, deep in _imports(ast.parse(path.read_text(encoding="utf-8"))):
            if name == module and path.parent != ROOT:
                continue  # within a folder
            assert name in ORDER, f"{path.name} imports {name}, which has no place in LAYERS"
            if deep and (module, name) in LAZY:
                continue
            assert ORDER.index(name) < place, f"{path.name} imports {name}, which comes after it"


def test_the_check_sees_what_it_should() -> None:
    code = """
from typing import TYPE_CHECKING
import numpy
from castell.errors import StudyError
if TYPE_CHECKING:
    from castell.reports import Reports
def late():
    import castell.plots
    from castell import cli, Study
class A:
    async def b(self):
        from castell import fit
"""
    found = sorted(_imports(ast.parse(code)))
    modules = {name for name, _ in found}
    assert ("errors", False) in found
    assert ("plots", True) in found
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
