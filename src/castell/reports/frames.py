"""Frames out: columns as a table of whichever library the user works with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from castell.errors import MissingExtraError, OptionError


def frame_of(columns: Mapping[str, Any], backend: str | None) -> Any:
    """A native frame of a library narwhals knows; Arrow, which is always there, if none is named.

    >>> frame_of({"a": [1, 2]}, None).num_rows
    2
    """
    import narwhals as nw

    name: Any = backend or "pyarrow"
    try:
        return nw.from_dict(dict(columns), backend=name).to_native()
    except ModuleNotFoundError:
        raise MissingExtraError(f"{name} is not installed", f"pip install {name}") from None
    except (TypeError, ValueError, AssertionError):
        raise OptionError(
            f"{backend!r} is no kind of frame", "use 'pandas', 'polars' or 'pyarrow'"
        ) from None
