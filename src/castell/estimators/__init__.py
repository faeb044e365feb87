"""Estimators, one file each: the folder is the registry, and installed packages add to it.

A file `name.py` here with a function `fit(counts, **options) -> Fitted` is the method `name`
everywhere: in the library, on the command line, in the contract tests and the experiments. So is
what a package names in the group `castell.estimators` of its entry points. The first line of its
docstring is what people read about it, and `READS` says which reports it reads
(`inference/method.py`): those that everybody sends for every block, if it says nothing.

Wherever a method is named here, it may also be given as it is: a function, or what has a `fit`.

Imports inference, evaluation and what they import. A method imports no other method; what methods
share lies in inference.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from castell.counting import Counts, studies_of
from castell.errors import CastellError, MethodError, OptionError, PluginError, ReportError
from castell.inference.method import Fitted, Reads, describe_kinds, kinds_of, one_of
from castell.inference.sampling_columns import SAMPLING, sample_design
from castell.plugins import ESTIMATORS, Plugin, plugins
from castell.study.schema import suggest
from castell.study.study import Study

# A name, a function `fit(counts, **options)`, or a module or object that has one.
Method = Any


@cache
def _files() -> frozenset[str]:
    return frozenset(m.name for m in pkgutil.iter_modules(__path__) if m.name[0] != "_")


def _plugins() -> dict[str, Plugin]:
    return plugins(ESTIMATORS, _files())


def forget() -> None:
    """Look through the folder and the packages again, as where a file was added meanwhile."""
    _files.cache_clear()
    methods.cache_clear()


@cache
def methods() -> tuple[str, ...]:
    """The names of all estimators, those of installed packages included if they can be loaded."""
    added = _plugins()
    return tuple(sorted(_files() | {n for n, p in added.items() if _loads(p)}))


def methods_for(*studies: Study) -> tuple[str, ...]:
    """The names of the estimators that read a study's reports, or those of several together.

    >>> from castell import Attribute, Schema
    >>> schema = Schema([Attribute(name, ["no", "yes"]) for name in ("a", "b")])
    >>> methods_for(Study(schema, epsilon=2.0, design="bloom"))
    ('lopub',)
    """
    return tuple(method for method in methods() if reads(method).reports_of(*studies))


def methods_across() -> tuple[str, ...]:
    """The names of the estimators that join what no drawn block holds together."""
    found = ((method, reads(method)) for method in methods())
    return tuple(method for method, declared in found if declared.drawn and declared.across)


def estimator(method: Method) -> Any:
    """What is behind a method: its file, what a package adds, or the method itself."""
    if not isinstance(method, str):
        _check(method)
        return method
    if method in _files():
        return import_module(f"{__name__}.{method}")
    added = _plugins().get(method)
    if added is None:
        raise OptionError(f"there is no method {method!r}", suggest(method, methods()))
    return _load(added)


def _check(given: Any) -> None:
    fit = getattr(given, "fit", given)
    if not callable(fit) or isinstance(fit, type):
        raise OptionError(
            f"a {type(given).__name__} is no method",
            "give a name, a function fit(counts, **options) -> Fitted, or what has one as fit",
        )
    name = getattr(given, "__name__", "the method")
    takes = list(inspect.signature(fit).parameters.values())
    if not takes or takes[0].kind == inspect.Parameter.KEYWORD_ONLY:
        raise OptionError(f"{name} takes no counts", "make that its first parameter")
    positional = [p for p in takes[1:] if p.kind == p.POSITIONAL_OR_KEYWORD]
    needed = [p.name for p in positional if p.default is p.empty]
    if needed:
        raise OptionError(
            f"{name} asks for {', '.join(needed)} besides counts",
            "a function table(counts, names) becomes a method by @castell.extend.table_method; any "
            "other option needs a default",
        )
    if not isinstance(getattr(given, "READS", Reads()), Reads):
        raise OptionError(
            f"READS of a method is a {type(given.READS).__name__}",
            "make it a castell.extend.Reads",
        )


def _load(plugin: Plugin) -> Any:
    found = plugin.load()
    try:
        _check(found)
    except OptionError as error:
        raise plugin.broken(error.problem) from error
    return found


def _loads(plugin: Plugin) -> bool:
    try:
        _load(plugin)
    except PluginError:
        return False  # whoever asks for it by name is told why
    return True


def name_of(method: Method) -> str:
    """What a method is called; one that is given as it is never passes for another's name."""
    if isinstance(method, str):
        return method
    inner = getattr(method, "func", method)  # functools.partial
    name = str(getattr(inner, "__name__", type(inner).__name__)).rpartition(".")[2]
    return f"{name} (own)" if name in methods() else name


def _fit(method: Method) -> Callable[..., Any]:
    found = estimator(method)
    fit: Callable[..., Any] = getattr(found, "fit", found)
    return fit


def reads(method: Method) -> Reads:
    """What a method declares to read."""
    declared: Reads = getattr(estimator(method), "READS", Reads())
    return declared


def options_of(method: Method) -> dict[str, Any]:
    """The options of a method and what they are if not given."""
    _, *given = inspect.signature(_fit(method)).parameters.values()
    return {p.name: p.default for p in given if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}


def _takes_any(method: Method) -> bool:
    given = inspect.signature(_fit(method)).parameters.values()
    return any(p.kind == p.VAR_KEYWORD for p in given)


def describe(method: Method) -> str:
    """What a method is, in a line."""
    return (estimator(method).__doc__ or "").strip().split("\n")[0]


def check_reads(method: Method, *studies: Study) -> None:
    """Refuse a method that does not read the reports of a study, or several, with those that do."""
    declared = reads(method)
    if declared.reports_of(*studies):
        return
    able = methods_for(*studies)
    raise MethodError(
        f"method {name_of(method)!r} reads {describe_kinds(declared.kinds, 'or')}, "
        f"and these reports hold {describe_kinds(kinds_of(*studies), 'and')}",
        f"use {one_of(able)}" if able else "no method reads that; collect with another design",
    )


def check_options(method: Method, studies: Sequence[Study], options: Mapping[str, Any]) -> None:
    """Refuse an option that a method does not have, or that means nothing for these reports."""
    known, declared = options_of(method), reads(method)
    for name, value in options.items():
        if name not in known and _takes_any(method):
            continue
        if name not in known:
            others = [
                other
                for other in methods_for(*studies)
                if name in options_of(other) and reads(other).option(name, *studies)
            ]
            raise OptionError(
                f"method {name_of(method)!r} has no option {name!r}",
                (suggest(name, known) if known else "it has none")
                + (f"; {name} is an option of {one_of(others)}" if others else ""),
            )
        default = known[name]
        # What is so anyway may be said.
        said = type(value) is type(default) and value == default
        if not said and not declared.option(name, *studies):
            raise OptionError(
                f"{name} is {value!r}, which means nothing for reports that hold "
                f"{describe_kinds(kinds_of(*studies), 'and')}",
                f"leave it out; it is for {describe_kinds(declared.options[name], 'or')}",
            )


def require_reports(counts: Counts) -> None:
    """Refuse to estimate from nothing."""
    if counts.n == 0:
        raise ReportError("there are no reports", "collect some before estimating")


def fit_counts(counts: Counts, method: Method, options: dict[str, Any]) -> Fitted:
    """Fit one method; what it cannot read is an error, never ignored, and comes before the work."""
    fit = _fit(method)
    studies = studies_of(counts)
    check_reads(method, *studies)
    check_options(method, studies, options)
    require_reports(counts)
    try:
        fitted = fit(counts, **options)
    except CastellError:
        raise
    except Exception as error:
        plugin = _plugins().get(method) if isinstance(method, str) else None
        if plugin is None:
            raise
        raise plugin.broken(f"{type(error).__name__}: {error}") from error
    if not isinstance(fitted, Fitted):
        raise MethodError(
            f"method {name_of(method)!r} returned a {type(fitted).__name__}",
            "return a castell.extend.Fitted; castell.extend.table_method makes one of tables",
        )
    return fitted


def methods_weighted() -> tuple[str, ...]:
    """The names of the estimators that weigh reports: their file has `weighted`."""
    return tuple(method for method in methods() if hasattr(estimator(method), "weighted"))


def fit_sampled(counts: Counts, method: Method, options: dict[str, Any]) -> Fitted:
    """Fit one method; where options say how respondents were sampled, weighted by that.

    An option of the same name that a method has is the method's own.
    """
    own = options_of(method)
    given = {key: options[key] for key in SAMPLING if key in options and key not in own}
    rest = {key: value for key, value in options.items() if key not in given}
    if all(column is None for column in given.values()):
        return fit_counts(counts, method, rest)
    weighted = getattr(estimator(method), "weighted", None)
    if weighted is None:
        raise MethodError(
            f"method {name_of(method)!r} does not weigh reports",
            f"use {one_of(methods_weighted())}",
        )
    check_reads(method, *studies_of(counts))
    for name, value in rest.items():
        raise OptionError(
            f"{name} is {value!r}, which means nothing for weighted reports", "leave it out"
        )
    require_reports(counts)
    fitted: Fitted = weighted(counts, sample_design(counts, **given))
    return fitted


def resume_counts(counts: Counts, method: Method, options: dict[str, Any], learned: Any) -> Fitted:
    """What a method fitted before, from what was kept of it; fitted anew if it keeps nothing."""
    resume = getattr(estimator(method), "resume", None)
    if resume is None:
        return fit_counts(counts, method, options)
    check_reads(method, *studies_of(counts))
    check_options(method, studies_of(counts), options)
    require_reports(counts)
    found: Fitted = resume(counts, learned, **options)
    return found
