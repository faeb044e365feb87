"""Counting in Spark: one row of partial counts comes back from each partition.

Works on frames of a Spark session and of Spark Connect. Every partition adds up its reports in
Arrow batches, with castell on the workers, and sends whole numbers; the reports stay where they
are.
"""

from __future__ import annotations

import io
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from castell.counting.counts import Counts, Progress
from castell.counting.kernels import Integers, Sum, include
from castell.counting.parquet import ParquetCounts
from castell.counting.parquet import open as open_parquet
from castell.counting.unordered_reports import Unordered, codes_of_batch
from castell.errors import MissingExtraError, OptionError, ReportError
from castell.reports.codes import check_codes, column_names
from castell.reports.parquet import ROW_GROUP
from castell.study.study import Study

TAKES = ("address", "secure")


# Where Spark Connect listens, unless it is told otherwise.
_PORT = 15002


@dataclass(frozen=True, eq=False)
class SparkCounts(Unordered):
    """The counts of a Spark data frame whose columns are those of the reports, in order."""

    frame: Any
    study: Study
    n: int
    secure: bool
    backend: str | None = None
    progress: Progress | None = field(default=None, repr=False)

    def add_up(self, *totals: Sum) -> None:
        self._same(_add_partitions(self.frame, self.study, totals))
        if self.progress:
            self.progress(1.0)

    def stream(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        chosen = self.frame.select(*(f"c{i}" for i in blocks))
        if hasattr(chosen, "toArrow"):
            yield codes_of_batch(chosen.toArrow())
        else:
            frame = chosen.toPandas()
            yield [frame[name].to_numpy() for name in frame.columns]


def _add_partitions(frame: Any, study: Study, totals: Sequence[Sum]) -> int:
    """Add the partial sums of all partitions; how many reports they were of."""
    blocks = sorted({block for total in totals for block in total.blocks})
    chosen = frame.select(*(f"c{i}" for i in blocks))
    rows = 0
    for (part,) in chosen.mapInArrow(_adder(study, blocks, tuple(totals)), "sums binary").collect():
        (many,), *arrays = _unpack(bytes(part))
        rows += int(many)
        for total in totals:
            mine, arrays = arrays[: len(total.arrays)], arrays[len(total.arrays) :]
            include(total, mine)
    return rows


def _adder(
    study: Study, blocks: list[int], totals: tuple[Sum, ...]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a partition runs. Small batches are put together: a table is added up once for many."""

    def add(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        names, widths = column_names(study), study.design.widths
        rows = 0
        waiting: list[Any] = []

        def flush() -> None:
            found = codes_of_batch(pa.Table.from_batches(waiting))
            columns = {
                i: check_codes(names[i], widths[i], codes)
                for i, codes in zip(blocks, found, strict=True)
            }
            for total in totals:
                total.add(columns, len(found[0]))

        for batch in batches:
            waiting.append(batch)
            rows += batch.num_rows
            if sum(each.num_rows for each in waiting) >= ROW_GROUP:
                flush()
                waiting = []
        if waiting:
            flush()
        arrays = [array for total in totals for array in total.arrays]
        content = _pack([np.array([rows]), *arrays])
        yield pa.RecordBatch.from_arrays([pa.array([content], pa.binary())], names=["sums"])

    return add


def _pack(arrays: Sequence[Integers]) -> bytes:
    stream = io.BytesIO()
    for array in arrays:
        np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)
    return stream.getvalue()


def _unpack(content: bytes) -> list[Integers]:
    stream, found = io.BytesIO(content), []
    while stream.tell() < len(content):
        found.append(np.lib.format.read_array(stream, allow_pickle=False))
    return found


def open(
    source: Any,
    study: Study,
    progress: Progress | None,
    *,
    address: str | None = None,
    secure: bool | None = None,
) -> Counts:
    """A Spark data frame, or Parquet files that a Spark session reads."""
    names = column_names(study)
    if not opens(source):
        if secure is not None:
            raise OptionError("files say themselves whether they are secure", "leave secure out")
        found = open_parquet(source, study, None)
        if not isinstance(found, ParquetCounts):
            return found  # tallies are counted already
        paths = [str(file.path) for file in found.files]
        read = _session(address).read.parquet(*paths)
        return SparkCounts(
            _rename_columns(read, names), study, found.n, found.secure, progress=progress
        )
    for name in names:
        if name not in source.columns:
            raise ReportError(
                f"the frame has no column {name!r}",
                f"reports of this study have {', '.join(map(repr, names))}",
            )
    frame = _rename_columns(source, names)
    return SparkCounts(frame, study, frame.count(), bool(secure), progress=progress)


def opens(source: Any) -> bool:
    return type(source).__module__.startswith("pyspark.") and hasattr(source, "mapInArrow")


def _rename_columns(frame: Any, names: list[str]) -> Any:
    """The columns of reports by number: a name may be anything, and Spark reads dots in names."""
    chosen = frame.select(*(f"`{name.replace('`', '``')}`" for name in names))
    return chosen.toDF(*(f"c{i}" for i in range(len(names))))


def _session(address: str | None) -> Any:
    """The session at an address (sc:// for Spark Connect); else the one in use, or a local one."""
    try:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder
        if not address:
            return builder.getOrCreate()
        _require_answer(address)
        return builder.remote(f"sc://{address}").getOrCreate()
    except ImportError:
        # Of PySpark itself, or of what it needs for Spark Connect.
        raise MissingExtraError("Spark is not installed", "pip install 'castell[spark]'") from None


def _require_answer(address: str) -> None:
    """Spark Connect tries for ten minutes to reach a server that is not there."""
    try:
        server = urlsplit(f"//{address}")
        place = (server.hostname or "", server.port or _PORT)
        socket.create_connection(place, timeout=10.0).close()
    except (OSError, ValueError):
        raise OptionError(
            f"no Spark Connect server answers at {address}",
            "start one, start-connect-server.sh, and name it by host and port",
        ) from None
