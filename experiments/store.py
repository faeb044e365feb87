"""Results kept by their parameters: the same question to the same code is not computed twice."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import castell
from experiments import datasets, expected, harness, questions, sweep, systems
from experiments.datasets import census1990
from experiments.datasets.source import cache_folder
from experiments.settings import Settings

_SHOWS = ("table", "draw", "findings", "check")


def run(module: ModuleType, settings: Settings, *, fresh: bool = False) -> dict[str, Any]:
    """An experiment's result, from the cache where it is there."""
    name = module.__name__.rpartition(".")[2]
    path = cache_folder() / "experiments" / f"{name}-{key(module, settings)[:16]}.json"
    if path.is_file() and not fresh:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found
    result: dict[str, Any] = {"name": name, **module.run(settings)}
    text = json.dumps(result, indent=1, allow_nan=False)
    if getattr(module, "KEEP", True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    # As from the cache, so that both ways give the same.
    plain: dict[str, Any] = json.loads(text)
    return plain


def key(module: ModuleType, settings: Settings) -> str:
    """Everything a result depends on: the question, the data, and the code that answers it."""
    question = json.dumps(asdict(settings), sort_keys=True)
    parts = [module.__name__, question, census1990.which(), _code(), _own(module)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _own(module: ModuleType) -> str:
    """What an experiment computes with: its file without what only shows results."""
    tree = ast.parse(inspect.getsource(module))
    tree.body = [node for node in tree.body if getattr(node, "name", "") not in _SHOWS]
    return ast.dump(tree)


@cache
def _code() -> str:
    digest = hashlib.sha256()
    folders = [Path(castell.__file__).parent, Path(datasets.__file__).parent]
    folders.append(Path(systems.__file__).parent)
    files = [file for folder in folders for file in folder.rglob("*.py")]
    files += [Path(inspect.getfile(module)) for module in (harness, expected, questions, sweep)]
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()
