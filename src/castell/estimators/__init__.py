"""Estimators, one file each: the folder is the registry.

A file `name.py` here with a function `fit(study, counts, **options) -> Model` is the method `name`
everywhere: in the library, on the command line, in the contract tests and the experiments. The
first line of its docstring is what people read about it.
"""

from __future__ import annotations

import inspect
import pkgutil
from dataclasses import replace
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from castell.counting import Counts
from castell.errors import OptionError
from castell.model import Model
from castell.schema import suggest


@cache
def methods() -> tuple[str, ...]:
    """The names of all estimators."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name[0] != "_"))


def general() -> tuple[str, ...]:
    """The estimators that read any design, not one of their own only."""
    return tuple(method for method in methods() if not exclusive(method))


def estimator(method: str) -> ModuleType:
    """The file behind a method."""
    if method not in methods():
        raise OptionError(f"there is no method {method!r}", suggest(str(method), methods()))
    return import_module(f"{__name__}.{method}")


def exclusive(method: str) -> bool:
    """Whether a method reads the reports of its own `DESIGN` and of no other."""
    return bool(getattr(estimator(method), "EXCLUSIVE", False))


def describe(method: str) -> str:
    """What a method is, in a line."""
    return (estimator(method).__doc__ or "").strip().split("\n")[0]


def fit_counts(counts: Counts, method: str, options: dict[str, Any]) -> Model:
    """Fit one method; an option it does not have is an error, never ignored."""
    fit = estimator(method).fit
    known = [p.name for p in inspect.signature(fit).parameters.values() if p.kind == p.KEYWORD_ONLY]
    for name in options:
        if name not in known:
            raise OptionError(
                f"method {method!r} has no option {name!r}",
                suggest(name, known) if known else "it has none",
            )
    model: Model = fit(counts.study, counts, **options)
    return replace(model, method=method)
