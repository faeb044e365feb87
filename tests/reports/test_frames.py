"""Tables out, in the library the user works with."""

import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from castell.errors import MissingExtraError, OptionError
from castell.reports.frames import frame_of

COLUMNS: dict[str, Any] = {
    "label": np.array(["x", "y", "x"], dtype=object),
    "share": np.array([0.5, -0.25, 0.0]),
    "count": np.array([1, 2, 3]),
}


@pytest.mark.parametrize(
    ("backend", "kind"),
    [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table), (None, pa.Table)],
)
def test_every_library_gets_the_same_table(backend: str | None, kind: type[Any]) -> None:
    frame = frame_of(COLUMNS, backend)
    assert isinstance(frame, kind)
    for name, column in COLUMNS.items():
        assert list(frame[name].to_numpy()) == list(column)
    empty = frame_of({name: column[:0] for name, column in COLUMNS.items()}, backend)
    assert len(empty["share"]) == 0


@pytest.mark.parametrize("backend", ["excel", "duckdb", "dask", 5])
def test_an_unknown_library_is_refused(backend: Any) -> None:
    with pytest.raises(OptionError, match="'pandas', 'polars' or 'pyarrow'"):
        frame_of(COLUMNS, backend)


def test_a_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "modin", None)
    with pytest.raises(MissingExtraError, match="modin is not installed: pip install modin"):
        frame_of(COLUMNS, "modin")
