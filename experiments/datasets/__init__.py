"""The data sets of the paper by name, one file each: `load("adult")`."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from castell.study.schema import suggest
from experiments.datasets.population import DataError, Population

# In the order of the paper's table and figures.
PAPER = ("adult", "census1990", "german", "nursery")


def names() -> tuple[str, ...]:
    """Every file here that has a `load()`; the paper's four first."""
    found = [m.name for m in pkgutil.iter_modules(__path__)]
    own = [n for n in found if hasattr(import_module(f"{__name__}.{n}"), "load")]
    return (*PAPER, *(name for name in own if name not in PAPER))


def load(name: str) -> Population:
    """A data set, found or obtained, and checked."""
    if name not in names():
        raise DataError(f"there is no data set {name!r}", suggest(name, names()))
    return _load(name)


@cache
def _load(name: str) -> Population:
    people: Population = import_module(f"{__name__}.{name}").load()
    return people
