"""Compared systems that collect for themselves, one file each: the folder is the registry.

A method of castell reads one report for each respondent. A system here runs a protocol of its own,
over rounds perhaps, so it gets the people and a total budget, and simulates both sides. A file
`name.py` has

    answers(people, epsilon, seed) -> function from attribute names to a table

in which no respondent may spend more than `epsilon` in all; its docstring says how that is counted.
It is then the scheme `name`, or its `LABEL`, in every figure that shows all schemes. One that
answers the same on every machine says so with `PROBED`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType

from castell.linear.operators import Floats
from experiments.datasets.population import Population

Answer = Callable[[tuple[str, ...]], Floats]
Answers = Callable[[Population, float, int], Answer]


@cache
def systems() -> tuple[str, ...]:
    """The names of all systems."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name[0] != "_"))


def system(name: str) -> ModuleType:
    """The file behind a system."""
    return import_module(f"{__name__}.{name}")
