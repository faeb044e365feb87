"""Which code a number rests on, as a digest: what was computed before and changed since is seen.

The code of an experiment is what its `run` reaches, followed through the imports of castell and of
this folder as they stand in the source. Comments, docstrings and layout do not count, nor does what
only shows a number. A method counts for the lines that are its own: see `code_of`.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import castell
import experiments
from experiments import datasets
from experiments.harness import REFERENCES, Scheme, schemes

_FOLDERS = {"castell": castell, "experiments": experiments}
# Rooms that show numbers and make none; of results, `model` alone fits and answers.
_SHOWS = (
    "castell.cli", "castell.collector", "castell.display", "castell.results",
    "experiments.freshness", "experiments.lines", "experiments.memory", "experiments.page",
    "experiments.pool", "experiments.store", "experiments.style", "experiments.text",
)  # fmt: skip
_KEPT = ("castell.results.model",)
# Loaded by name, so that no import says so.
_LOADED = {
    "experiments.datasets": tuple(f"experiments.datasets.{name}" for name in datasets.PAPER),
}
# What every scheme is asked through.
_HARNESS = ("experiments.harness", "experiments.questions")
_ROUNDING = "experiments.expected"
WHOLE = "experiment"


@cache
def _paths() -> dict[str, Path]:
    found = {}
    for top, package in _FOLDERS.items():
        root = Path(str(package.__file__)).parent
        for path in root.rglob("*.py"):
            parts = (top, *path.relative_to(root).with_suffix("").parts)
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def _tree(module: str) -> ast.Module:
    return _bare(ast.parse(_paths()[module].read_text(encoding="utf-8")))


def _bare(tree: ast.Module) -> ast.Module:
    """Without docstrings, which say what code does and do nothing."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
    return tree


def _is_experiment(module: str) -> bool:
    return module.startswith(("experiments.fig_", "experiments.table_"))


def _reached(tree: ast.Module, wanted: Iterable[str]) -> list[ast.stmt]:
    """Those statements of a module that some of its names lead to, imports included."""
    named: dict[str, ast.stmt] = {}
    for node in tree.body:
        for name in _names(node):
            named[name] = node
    waiting, found = list(wanted), dict[int, ast.stmt]()
    while waiting:
        reached = named.get(waiting.pop())
        if reached is None or id(reached) in found:
            continue
        found[id(reached)] = reached
        waiting += [n.id for n in ast.walk(reached) if isinstance(n, ast.Name)]
    return [node for node in tree.body if id(node) in found]


def _names(node: ast.stmt) -> list[str]:
    """What a statement at the top of a module defines."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [
        t.id for target in targets if target for t in ast.walk(target) if isinstance(t, ast.Name)
    ]


@cache
def _exports(package: str) -> dict[str, tuple[str, str]]:
    """What a package passes on under its own name: name by name, module and name it comes from."""
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in _tree(package).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _source(module: str, name: str) -> tuple[str, str | None]:
    """Where an imported name is defined: a module, and the name in it unless it is the module."""
    if f"{module}.{name}" in _paths():
        return f"{module}.{name}", None
    while module in _paths() and _paths()[module].name == "__init__.py":
        if name not in _exports(module):
            break
        module, name = _exports(module)[name]
        if f"{module}.{name}" in _paths():
            return f"{module}.{name}", None
    return module, name


def _imports(nodes: Iterable[ast.stmt]) -> set[tuple[str, str | None]]:
    found: set[tuple[str, str | None]] = set()
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {_source(node.module, alias.name) for alias in node.names}
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                # `import castell`, then castell.fit
                found |= {_source(node.value.id, node.attr)} if node.value.id in _FOLDERS else set()
    return {(module, name) for module, name in found if module in _paths()}


@cache
def _imported(module: str) -> frozenset[tuple[str, str | None]]:
    return frozenset(_imports(_tree(module).body))


@cache
def _told(module: str) -> bytes:
    return hashlib.sha256(f"{module}\0{ast.dump(_tree(module))}".encode()).digest()


@cache
def _code(roots: frozenset[tuple[str, str | None]], skip: tuple[str, ...]) -> str:
    return _digest(roots, skip)


def forget() -> None:
    """Read the source anew: it was changed."""
    for kept in (_tree, _exports, _imported, _told, _code, scheme_code):
        kept.cache_clear()


def code(roots: Iterable[tuple[str, str | None]], skip: tuple[str, ...] = ()) -> str:
    """A digest of modules, or of single names of experiments, and of all that they import."""
    return _code(frozenset(roots), skip)


def _digest(roots: Iterable[tuple[str, str | None]], skip: tuple[str, ...]) -> str:
    waiting, whole, parts = list(roots), set[str](), dict[str, set[str]]()
    while waiting:
        module, name = waiting.pop()
        shown = module.startswith(_SHOWS) and module not in _KEPT
        if shown or module in skip or module in whole:
            continue
        if _is_experiment(module) and name is not None:
            if name in parts.setdefault(module, set()):
                continue
            parts[module].add(name)
            waiting += _imports(_reached(_tree(module), [name]))
        else:
            whole.add(module)
            waiting += _imported(module)
            waiting += [(name, None) for name in _LOADED.get(module, ())]
    digest = hashlib.sha256()
    for module in sorted(whole):
        digest.update(_told(module))
    for module, names in sorted(parts.items()):
        if module not in whole:
            told = "".join(ast.dump(node) for node in _reached(_tree(module), names))
            digest.update(f"{module}\0{told}\0".encode())
    return digest.hexdigest()[:16]


@cache
def scheme_code(scheme: Scheme, noise: str) -> str:
    """Of one scheme, with what it is asked through."""
    room = "experiments.systems" if scheme.system else "castell.estimators"
    roots = [(name, None) for name in (*_HARNESS, f"{room}.{scheme.method}")]
    made = code(roots, () if noise == "rounding" else (_ROUNDING,))
    return _join(made, scheme.options)


def code_of(module: ModuleType, noise: str, labels: Iterable[str] = ()) -> dict[str, str]:
    """The digest that each line of a result rests on: the experiment's code and the scheme's.

    A result without lines has one digest, as `WHOLE`. An experiment that fits methods by itself
    names them as `METHODS`, and schemes of its own as `SCHEMES`.
    """
    name, skip = module.__name__, () if noise == "rounding" else (_ROUNDING,)
    methods = [(f"castell.estimators.{m}", None) for m in getattr(module, "METHODS", ())]
    known = {scheme.label: scheme for scheme in (*schemes(), *getattr(module, "SCHEMES", ()))}
    shown = [label for label in labels if label in known or label in REFERENCES]
    if name not in _paths():  # a file that somebody put beside the others
        told = Path(str(module.__file__)).read_text(encoding="utf-8")
        return {label: _join(told) for label in shown or [WHOLE]}
    if not shown:
        return {WHOLE: code([(name, "run"), *methods], skip)}
    # What the schemes are asked through counts with each of them.
    own = code([(name, "run"), *methods], (*skip, *_HARNESS))
    asked = code([(part, None) for part in _HARNESS], skip)
    return {
        label: _join(own, asked if label in REFERENCES else scheme_code(known[label], noise))
        for label in shown
    }


def _join(*digests: object) -> str:
    return hashlib.sha256(repr(digests).encode()).hexdigest()[:16]


def changed(module: ModuleType, result: dict[str, Any]) -> list[str]:
    """The lines of a result, if any, that are of code that is not here any more."""
    lines: dict[str, dict[str, str]] = result["made"]["lines"]
    now = code_of(module, result["made"]["settings"]["noise"], lines)
    return [label for label, line in lines.items() if now.get(label) != line["code"]]
