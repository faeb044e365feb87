"""Estimators, one file each: the folder is the registry.

A file `name.py` here with a function `fit(counts, **options) -> Fitted` is the method `name`
everywhere: in the library, on the command line, in the contract tests and the experiments. The
first line of its docstring is what people read about it, and `READS` says which reports it reads
(`inference/capabilities.py`): those that everybody sends for every block, if it says nothing.

Imports inference, evaluation and what they import. A method imports no other method; what methods
share is in files that begin with _.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from castell.counting import Counts
from castell.errors import MethodError, OptionError, ReportError
from castell.inference.capabilities import Reads, described, kinds_of, one_of
from castell.inference.fitted import Fitted
from castell.study.schema import suggest
from castell.study.study import Study


@cache
def methods() -> tuple[str, ...]:
    """The names of all estimators."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name[0] != "_"))


def methods_for(study: Study) -> tuple[str, ...]:
    """The names of the estimators that read a study's reports.

    >>> from castell import Attribute, Schema
    >>> schema = Schema([Attribute(name, ["no", "yes"]) for name in ("a", "b")])
    >>> methods_for(Study(schema, epsilon=2.0, design="bloom"))
    ('lopub',)
    """
    return tuple(method for method in methods() if reads(method).reports_of(study))


def methods_across() -> tuple[str, ...]:
    """The names of the estimators that join what no drawn block holds together."""
    found = ((method, reads(method)) for method in methods())
    return tuple(method for method, declared in found if declared.drawn and declared.across)


def estimator(method: str) -> ModuleType:
    """The file behind a method."""
    if method not in methods():
        raise OptionError(f"there is no method {method!r}", suggest(str(method), methods()))
    return import_module(f"{__name__}.{method}")


def reads(method: str) -> Reads:
    """What a method declares to read."""
    declared: Reads = getattr(estimator(method), "READS", Reads())
    return declared


def options_of(method: str) -> dict[str, Any]:
    """The options of a method and what they are if not given."""
    given = inspect.signature(estimator(method).fit).parameters.values()
    return {p.name: p.default for p in given if p.kind == p.KEYWORD_ONLY}


def describe(method: str) -> str:
    """What a method is, in a line."""
    return (estimator(method).__doc__ or "").strip().split("\n")[0]


def check_reads(method: str, study: Study) -> None:
    """Refuse a method that does not read a study's reports, with those that do."""
    declared = reads(method)
    if declared.reports_of(study):
        return
    able = methods_for(study)
    raise MethodError(
        f"method {method!r} reads {described(declared.kinds, 'or')}, and these reports hold "
        f"{described(kinds_of(study), 'and')}",
        f"use {one_of(able)}" if able else "no method reads that; collect with another design",
    )


def check_options(method: str, study: Study, options: Mapping[str, Any]) -> None:
    """Refuse an option that a method does not have, or that means nothing for these reports."""
    known, declared = options_of(method), reads(method)
    for name, value in options.items():
        if name not in known:
            others = [
                other
                for other in methods_for(study)
                if name in options_of(other) and reads(other).option(name, study)
            ]
            raise OptionError(
                f"method {method!r} has no option {name!r}",
                (suggest(name, known) if known else "it has none")
                + (f"; {name} is an option of {one_of(others)}" if others else ""),
            )
        default = known[name]
        # What is so anyway may be said.
        said = type(value) is type(default) and value == default
        if not said and not declared.option(name, study):
            raise OptionError(
                f"{name} is {value!r}, which means nothing for reports that hold "
                f"{described(kinds_of(study), 'and')}",
                f"leave it out; it is for {described(declared.options[name], 'or')}",
            )


def fit_counts(counts: Counts, method: str, options: dict[str, Any]) -> Fitted:
    """Fit one method; what it cannot read is an error, never ignored, and comes before the work."""
    fit = estimator(method).fit
    check_reads(method, counts.study)
    check_options(method, counts.study, options)
    if counts.n == 0:
        raise ReportError("there are no reports", "collect some before estimating")
    fitted: Fitted = fit(counts, **options)
    return fitted
