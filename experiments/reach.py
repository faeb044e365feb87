"""Which source a name rests on: followed through the imports of castell and of this folder.

Comments, docstrings and layout do not count, nor does what only shows a number.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import castell
import experiments
from experiments import datasets

Name = tuple[str, str | None]  # a module, and a name in it unless it is all of it

_FOLDERS = {"castell": castell, "experiments": experiments}
# Rooms that show numbers and make none; of results, `model` alone fits and answers.
_SHOWS = (
    "castell.cli", "castell.collector", "castell.display", "castell.results",
    "experiments.costs", "experiments.freshness", "experiments.lines", "experiments.memory",
    "experiments.page", "experiments.pool", "experiments.probes", "experiments.reach",
    "experiments.store", "experiments.style", "experiments.text",
)  # fmt: skip
_KEPT = ("castell.results.model",)
# Loaded by name, so that no import says so.
_LOADED = {
    "experiments.datasets": tuple(f"experiments.datasets.{name}" for name in datasets.PAPER),
}
# What a probe runs (`probes`): of experiments' own code these are left out.
_PROBED = {
    ("experiments.harness", "schemes"), ("experiments.harness", "schemes_named"),
    ("experiments.harness", "ask"), ("experiments.questions", "evaluate"),
    ("experiments.questions", "left_out"),
}  # fmt: skip


@cache
def paths() -> dict[str, Path]:
    found = {}
    for top, package in _FOLDERS.items():
        root = Path(str(package.__file__)).parent
        for path in root.rglob("*.py"):
            parts = (top, *path.relative_to(root).with_suffix("").parts)
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def _tree(module: str) -> ast.Module:
    return _bare(ast.parse(paths()[module].read_text(encoding="utf-8")))


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


def _source(module: str, name: str) -> Name:
    """Where an imported name is defined: a module, and the name in it unless it is the module."""
    if f"{module}.{name}" in paths():
        return f"{module}.{name}", None
    while module in paths() and paths()[module].name == "__init__.py":
        if name not in _exports(module):
            break
        module, name = _exports(module)[name]
        if f"{module}.{name}" in paths():
            return f"{module}.{name}", None
    return module, name


def _imports(nodes: Iterable[ast.stmt]) -> set[Name]:
    found: set[Name] = set()
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {_source(node.module, alias.name) for alias in node.names}
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                # `import castell`, then castell.fit
                found |= {_source(node.value.id, node.attr)} if node.value.id in _FOLDERS else set()
    return {(module, name) for module, name in found if module in paths()}


@cache
def _imported(module: str) -> frozenset[Name]:
    return frozenset(_imports(_tree(module).body))


@cache
def _told(module: str) -> bytes:
    return hashlib.sha256(f"{module}\0{ast.dump(_tree(module))}".encode()).digest()


def forget() -> None:
    """Read the source anew: it was changed."""
    for kept in (_tree, _exports, _imported, _told, _code, _own):
        kept.cache_clear()


def code(roots: Iterable[Name], skip: tuple[str, ...] = ()) -> str:
    """A digest of modules, or of single names of experiments, and of all that they import."""
    return _code(frozenset(roots), skip)


@cache
def _code(roots: frozenset[Name], skip: tuple[str, ...]) -> str:
    waiting, whole, parts = list(roots), set[str](), dict[str, set[str]]()
    while waiting:
        module, name = waiting.pop()
        if _shown(module) or module in skip or module in whole:
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


def own_code(roots: Iterable[Name]) -> str:
    """A digest of what some names reach in this folder alone, without imports and probed code.

    Code of castell can move, and so what is imported from it, while these stay as they are.
    """
    return _own(frozenset(roots))


@cache
def _own(roots: frozenset[Name]) -> str:
    waiting, parts = list(roots), dict[str, set[str]]()
    while waiting:
        module, name = waiting.pop()
        if _shown(module) or (module, name) in _PROBED or not module.startswith("experiments"):
            continue
        tree = _tree(module)
        names = [name] if name else [n for node in tree.body for n in _names(node)]
        new = set(names) - parts.setdefault(module, set())
        parts[module] |= new
        if new:
            waiting += _imports(_reached(tree, new))
        waiting += [(other, None) for other in _LOADED.get(module, ()) if other not in parts]
    digest = hashlib.sha256()
    for module, found in sorted(parts.items()):
        nodes = _reached(_tree(module), found)
        told = [ast.dump(n) for n in nodes if not isinstance(n, (ast.Import, ast.ImportFrom))]
        digest.update(f"{module}\0{''.join(told)}\0".encode())
    return digest.hexdigest()[:16]


def source_of(module: str) -> str:
    """A digest of one file alone."""
    return _told(module).hex()[:16]


def _shown(module: str) -> bool:
    return module.startswith(_SHOWS) and module not in _KEPT
