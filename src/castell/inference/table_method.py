"""A method from a function that gives tables: all that other questions need follows from them.

Whoever has a way to estimate a joint table has a method. Where it also states the standard error of
each cell, groups of cells have an upper bound of theirs, whatever the correlations. Where it does
not, nothing is known of the error, and the intervals say so: they are all that a share can be.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, overload

import numpy as np

from castell.counting import Counts
from castell.errors import MethodError
from castell.inference.intervals import Bounds, Normal, Spread
from castell.inference.method import Fitted, Reads, Solution
from castell.inference.queries import Query, names_of
from castell.inference.reasons import Code, Reason, reason
from castell.inference.shares import Shares
from castell.linear.operators import Floats
from castell.study.schema import check_cells

# A table of some attributes, one axis for each in the order asked, perhaps with standard errors.
Tables = Callable[[tuple[str, ...]], Any]

UNKNOWN = reason(Code.ERRORS_UNKNOWN)


def from_tables(counts: Counts, tables: Tables, *, reasons: tuple[Reason, ...] = ()) -> Fitted:
    """A fitted model from a function `tables(names)` that returns an array, or (array, errors).

    `errors` are standard errors, one for each cell.
    """
    return Fitted(
        counts, partial(_joint, counts, tables, reasons), partial(_shares, counts, tables, reasons)
    )


class TableMethod:
    """A function `table(counts, names, **options)` as a method of `castell.fit`."""

    def __init__(self, function: Callable[..., Any], reads: Reads) -> None:
        self.function = function
        self.READS = reads
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        every = inspect.signature(function)
        first, *rest = every.parameters.values()
        # The names are asked for later, by the model.
        self.__signature__ = every.replace(parameters=[first, *rest[1:]])

    def __repr__(self) -> str:
        return f"<method {self.__name__!r} of a function that gives tables>"

    def __reduce__(self) -> str:
        """A model is pickled with its method, which a file names as it names a function."""
        return str(self.function.__qualname__)

    def __call__(self, counts: Counts, **options: Any) -> Fitted:
        return from_tables(counts, lambda names: self.function(counts, names, **options))


@overload
def table_method(function: Callable[..., Any]) -> TableMethod: ...


@overload
def table_method(*, reads: Reads) -> Callable[[Callable[..., Any]], TableMethod]: ...


def table_method(function: Callable[..., Any] | None = None, *, reads: Reads | None = None) -> Any:
    """Make a method of a function `table(counts, names, **options)`; see `from_tables`.

    `reads` says which reports it reads: those that everybody sends for every block, if nothing.

    >>> @table_method
    ... def even(counts, names):
    ...     "Every cell alike, whatever the reports say."
    ...     sizes = [counts.study.schema[name].size for name in names]
    ...     return np.full(sizes, 1 / np.prod(sizes))
    >>> even.__name__, even.READS.kinds
    ('even', ('everybody',))
    """
    if function is None:
        return lambda given: TableMethod(given, reads or Reads())
    return TableMethod(function, reads or Reads())


def _solve(
    counts: Counts, tables: Tables, names: tuple[str, ...], max_cells: int | None
) -> tuple[Floats, Floats | None]:
    """A table and its errors, checked to be what was asked for."""
    shape = tuple(counts.study.schema[name].size for name in names)
    check_cells(" x ".join(names), shape, max_cells)
    given = tables(names)
    table, errors = given if isinstance(given, tuple) else (given, None)
    found = _numbers(table, shape, "table", names)
    if errors is None:
        return found, None
    off = _numbers(errors, shape, "table of standard errors", names)
    if (off < 0.0).any():
        raise MethodError("the method gave a standard error below 0", "give square roots")
    return found, off


def _numbers(given: Any, shape: tuple[int, ...], what: str, names: Sequence[str]) -> Floats:
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise MethodError(
            f"the method gave {given!r:.60} for a {what} of {' x '.join(names)}",
            "give an array of numbers, or a tuple of it and of its standard errors",
        ) from None
    if found.shape != shape or not np.isfinite(found).all():
        raise MethodError(
            f"the method gave a {what} of {' x '.join(names)} with shape {found.shape}, or with "
            "numbers that are none",
            f"give finite numbers with one axis for each attribute, in the order asked: {shape}",
        )
    return found


def _with_unknown_errors(errors: Floats | None, reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
    return reasons if errors is not None else (*reasons, UNKNOWN)


def _spread(values: Floats, errors: Floats | None) -> Spread:
    if errors is None:
        return Bounds(lambda level: (np.zeros_like(values), np.ones_like(values)))  # noqa: ARG005
    return Normal(errors**2)


def _joint(
    counts: Counts,
    tables: Tables,
    reasons: tuple[Reason, ...],
    names: tuple[str, ...],
    max_cells: int | None,
) -> Solution:
    table, errors = _solve(counts, tables, names, max_cells)

    def spread(kept: tuple[str, ...]) -> Spread:
        # Of a marginal the method knows the errors itself.
        values, off = (table, errors) if kept == names else _solve(counts, tables, kept, max_cells)
        return _spread(values, off)

    return Solution(table, spread, _with_unknown_errors(errors, reasons))


def _shares(
    counts: Counts, tables: Tables, reasons: tuple[Reason, ...], queries: Sequence[Query]
) -> Shares:
    names = names_of(queries)
    table, errors = _solve(counts, tables, names, None)
    chosen = [_cells(counts, names, query) for query in queries]
    values = np.array([table[cells].sum() for cells in chosen])
    if errors is None:
        return Shares(values, _spread(values, None), (), _with_unknown_errors(None, reasons))
    # However cells err together, the error of a sum is at most the sum of their errors. Where they
    # sum to one, those in a group err as much as all others.
    inside = np.array([errors[cells].sum() for cells in chosen])
    if abs(table.sum() - 1.0) < 1e-9:
        inside = np.minimum(inside, errors.sum() - inside)
    return Shares(values, Normal(inside**2), (), reasons)


def _cells(counts: Counts, names: tuple[str, ...], query: Query) -> tuple[Any, ...]:
    """The cells of a table that a query asks for."""
    sizes = {name: counts.study.schema[name].size for name in names}
    return np.ix_(*(query.get(name, np.arange(sizes[name])) for name in names))
