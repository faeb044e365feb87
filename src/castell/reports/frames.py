"""Frames out: columns as a table of whichever library the user works with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from castell.errors import MissingExtraError, OptionError


def frame_of(
    columns: Mapping[str, Any],
    backend: str | None,
    orders: Mapping[str, Sequence[str]] | None = None,
) -> Any:
    """A native frame of a library narwhals knows; Arrow, which is always there, if none is named.

    Columns with an order are ordered categories: pandas' ordered Categorical, Polars' Enum, an
    ordered dictionary of Arrow.

    >>> frame_of({"a": [1, 2]}, None).num_rows
    2
    """
    import narwhals as nw

    name: Any = backend or "pyarrow"
    try:
        frame = nw.from_dict(dict(columns), backend=name)
        if not orders:
            return frame.to_native()
        if frame.implementation.is_pyarrow():
            return _arrow(frame.to_native(), orders)
        kinds = {column: nw.Enum(list(values)) for column, values in orders.items()}
        casts = [nw.col(column).cast(kind) for column, kind in kinds.items()]
        return frame.with_columns(casts).to_native()
    except ModuleNotFoundError:
        raise MissingExtraError(f"{name} is not installed", f"pip install {name}") from None
    except (TypeError, ValueError, AssertionError):
        raise OptionError(
            f"{backend!r} is no kind of frame", "use 'pandas', 'polars' or 'pyarrow'"
        ) from None


def _arrow(table: Any, orders: Mapping[str, Sequence[str]]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    for column, values in orders.items():
        listed, place = pa.array(list(values), pa.string()), table.column_names.index(column)
        codes = pc.index_in(table[column].combine_chunks(), value_set=listed)
        made = pa.DictionaryArray.from_arrays(codes, listed, ordered=True)
        table = table.set_column(place, column, made)
    return table
