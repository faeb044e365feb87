"""Files of reports: a column for each block, and the digest of the study in the metadata.

A file of another study is refused, and so is a code that no report of this study can be.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import NDArray

from castell.errors import ReportError
from castell.reports.arrow_metadata import check_study, is_secure, marked_schema
from castell.reports.codes import check_codes, column_names, column_types
from castell.reports.report_files import file_system, is_address
from castell.study.study import Study

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP = 1 << 20


class ReportWriter:
    """Writes a Parquet file of reports, which appears under its name only when it is whole."""

    def __init__(self, study: Study, path: str | Path, *, secure: bool) -> None:
        import pyarrow.parquet as pq

        self.study, self.path = study, Path(path)
        if not self.path.parent.is_dir():
            raise ReportError(f"there is no folder {self.path.parent}", "make it first")
        if self.path.is_dir():
            raise ReportError(f"{self.path} is a folder", "give the name of a file in it")
        self._part = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.part")
        self._schema = marked_schema(column_types(study), study.digest, secure=secure)
        self._writer = pq.ParquetWriter(self._part, self._schema, compression="zstd")
        self._waiting: list[pa.Table] = []

    def write(self, columns: Sequence[NDArray[Any]]) -> None:
        """Add some reports. They are written in large groups, however few come at a time."""
        import pyarrow as pa

        names, widths = column_names(self.study), self.study.design.widths
        arrays = [
            pa.array(check_codes(name, width, codes))
            for name, width, codes in zip(names, widths, columns, strict=True)
        ]
        self._waiting.append(pa.Table.from_arrays(arrays, schema=self._schema))
        if sum(table.num_rows for table in self._waiting) >= ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._waiting:
            self._writer.write_table(pa.concat_tables(self._waiting), ROW_GROUP)
            self._waiting = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._flush()
        self._writer.close()
        if kind is None:
            self._part.replace(self.path)
        else:
            self._part.unlink()


class ReportFile:
    """A Parquet file of reports, open for reading and known to be this study's."""

    def __init__(self, path: str | Path, study: Study) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.path, self.study = path, study
        system, name = file_system(str(path)) if is_address(path) else (None, path)
        try:
            self._file = pq.ParquetFile(name, filesystem=system)
        except FileNotFoundError:
            raise ReportError(
                f"there is no file {path}", "castell randomize writes one, castell serve a store"
            ) from None
        except (pa.ArrowInvalid, OSError) as error:
            raise ReportError(
                f"{path} is not Parquet ({error})", "reports are written by castell randomize"
            ) from None
        schema = self._file.schema_arrow
        try:
            check_study(str(path), schema, study.digests, column_names(study))
        except ReportError:
            self.close()
            raise
        # Reports count as secure only when their file says so.
        self.secure = is_secure(schema)
        self.rows: int = self._file.metadata.num_rows
        self.groups: int = self._file.metadata.num_row_groups

    def batches(
        self, wanted: Sequence[int], groups: Sequence[int] | None = None
    ) -> Iterator[list[NDArray[Any]]]:
        """The codes of some columns, a good number of rows at a time, each checked.

        Of the whole file, or of some of its row groups.
        """
        every, widths = column_names(self.study), self.study.design.widths
        names = [every[i] for i in wanted]
        row = 1
        for batch in self._read_batches(names, groups):
            columns = []
            for i, name in zip(wanted, names, strict=True):
                column: pa.Array = batch.column(name)
                if column.null_count:
                    raise ReportError(f"{self.path}: {name!r} has missing reports", "it is damaged")
                codes = column.to_numpy(zero_copy_only=False)
                columns.append(check_codes(name, widths[i], codes, row))
            row += batch.num_rows
            yield columns

    def _read_batches(
        self, names: list[str], groups: Sequence[int] | None
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        try:
            yield from self._file.iter_batches(ROW_GROUP, groups, names)
        except (pa.ArrowInvalid, OSError) as error:
            first = str(error).split("\n")[0]
            raise ReportError(f"{self.path} is damaged ({first})", "take it again") from None

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
