"""Frames in, some rows at a time: those of databases and lazy ones are never whole in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def arrow_batches(frame: Any, names: list[str], rows: int) -> Iterator[Any]:
    """Some rows of some columns at a time, as Arrow. A lazy frame is never whole in memory."""
    import narwhals as nw
    import pyarrow as pa

    chosen = nw.from_native(frame).select(*names).to_native()
    if hasattr(chosen, "collect_batches"):  # Polars
        for part in chosen.collect_batches(chunk_size=rows):
            yield part.to_arrow()
    elif hasattr(chosen, "to_arrow_reader"):  # DuckDB
        yield from chosen.to_arrow_reader(rows)
    elif hasattr(chosen, "fetch_arrow_reader"):  # DuckDB before 1.4
        yield from chosen.fetch_arrow_reader(rows)
    elif hasattr(chosen, "to_pyarrow_batches"):  # ibis
        try:
            yield from chosen.to_pyarrow_batches(chunk_size=rows)
        except AttributeError:  # ibis 12 streams from DuckDB by a call that DuckDB 2 has no more
            yield from chosen.to_pyarrow().to_batches(max_chunksize=rows)
    elif hasattr(chosen, "collect"):
        yield nw.from_native(chosen).collect(backend="pyarrow").to_native()
    elif hasattr(chosen, "__arrow_c_stream__"):
        yield from pa.RecordBatchReader.from_stream(chosen)
    else:
        yield nw.from_native(chosen, eager_only=True).to_arrow()
