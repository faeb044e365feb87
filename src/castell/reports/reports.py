"""Reports: small integers, and the digest of the study they belong to.

At rest they are Parquet: a column for each block, named by the block's attributes, or a single one
where each respondent reports a block that was drawn; and the digest in the file's metadata. A file
of another study is refused, and so is a code that no report of this study can be.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from castell.display.notebook import heading, html_table
from castell.display.one_line import one_line
from castell.errors import ReportError
from castell.reports.marks import check_study, is_secure, marked_schema, metadata_of
from castell.study.study import Study

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP = 1 << 20


def code_type(outputs: int) -> np.dtype[Any]:
    """The smallest unsigned integers that hold every report of a channel."""
    return np.min_scalar_type(outputs - 1)


def column_names(study: Study) -> list[str]:
    """A name for each column."""
    return list(study.design.columns)


def column_types(study: Study) -> dict[str, np.dtype[Any]]:
    """The columns of a study's reports and the integers in them."""
    widths = zip(column_names(study), study.design.widths, strict=True)
    return {name: code_type(width) for name, width in widths}


def check_codes(name: str, outputs: int, codes: NDArray[Any], first_row: int = 1) -> NDArray[Any]:
    """A column of codes, refused if one of them cannot be such a report."""
    codes = np.asarray(codes)
    if codes.ndim != 1 or codes.dtype.kind not in "ui":
        raise ReportError(
            f"the reports of {name!r} are {codes.dtype} in {codes.ndim} dimensions",
            "reports are one column of integers for each block",
        )
    if len(codes) and (codes.max() >= outputs or codes.min() < 0):
        row = int(np.flatnonzero((codes >= outputs) | (codes < 0))[0])
        raise ReportError(
            f"row {row + first_row}, {name!r}: {codes[row]} is not a report",
            f"codes run from 0 to {outputs - 1}; the file is damaged or forged",
        )
    return codes.astype(code_type(outputs), copy=False)


def joined(study: Study, parts: Iterable[Sequence[NDArray[Any]]]) -> list[NDArray[Any]]:
    """Columns that came some rows at a time, whole."""
    empty = [np.empty(0, code_type(width)) for width in study.design.widths]
    return [np.concatenate(column) for column in zip(*parts, strict=True)] or empty


@dataclass(frozen=True, eq=False)
class Reports:
    """What the server holds: for each block a column of codes. Frozen and checked."""

    study: Study
    columns: tuple[NDArray[Any], ...]
    secure: bool
    backend: str | None

    def __init__(
        self,
        study: Study,
        columns: Sequence[NDArray[Any]],
        *,
        secure: bool,
        backend: str | None = None,
    ) -> None:
        names, widths = column_names(study), study.design.widths
        if len(columns) != len(widths):
            raise ReportError(
                f"there are {len(columns)} columns for {len(widths)} blocks",
                "give one for each block of the study, or one in all if blocks are drawn",
            )
        checked = []
        for name, width, codes in zip(names, widths, columns, strict=True):
            # A copy: whoever made the array could change it after it was checked.
            column = check_codes(name, width, codes).copy()
            column.flags.writeable = False
            checked.append(column)
        if len({len(column) for column in checked}) > 1:
            raise ReportError("the columns differ in length", "a report holds every block")
        object.__setattr__(self, "study", study)
        object.__setattr__(self, "columns", tuple(checked))
        object.__setattr__(self, "secure", bool(secure))
        object.__setattr__(self, "backend", backend)

    def __len__(self) -> int:
        return len(self.columns[0])

    def _facts(self) -> list[str]:
        found = [f"n = {len(self):,}", f"epsilon {self.study.epsilon:.4g}"]
        return found if self.secure else [*found, "INSECURE (seeded)"]

    def __repr__(self) -> str:
        return one_line("Reports", f"of {self.study.name!r}", self._facts())

    def _repr_html_(self) -> str:
        design = self.study.design
        each = [len(self)] * len(design.blocks)
        if design.draw:
            ends = (*design.starts, *design.widths)
            each = np.histogram(self.columns[0], bins=ends)[0].tolist()
        rows = []
        for block, n in zip(design.blocks, each, strict=True):
            channel = block.channel
            numbers = [f"{channel.outputs:,}", f"{channel.exact_epsilon:.4g}", f"{n:,}"]
            rows.append([" x ".join(block.names), *numbers])
        caption = heading(f"Reports of {self.study.name!r}", *self._facts())
        return html_table(caption, ["reported", "codes", "epsilon", "reports"], rows)

    def to_dict(self) -> dict[str, Any]:
        """The reports for programs, as plain JSON values: the codes of every column.

        docs/results.md has the layout. Many reports are better kept as Parquet: `save`.
        """
        columns = zip(column_names(self.study), self.columns, strict=True)
        return {
            "kind": "reports",
            "study": self.study.name,
            "digest": self.study.digest,
            "n": len(self),
            "epsilon": self.study.epsilon,
            "secure": self.secure,
            "columns": [{"name": name, "codes": codes.tolist()} for name, codes in columns],
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """The randomised labels as a frame of the kind the answers came in, or Arrow."""
        from castell.reports.frames import frame_of

        columns: dict[str, Any] = {}
        if len(self.study.design.samples) > 1:
            raise ReportError(
                "each respondent reported one of several blocks, so there is no frame of labels",
                "use reports.columns, the codes",
            )
        for block, codes in zip(self.study.design.blocks, self.columns, strict=True):
            if not block.reports_answers:
                raise ReportError(
                    f"the reports of {' x '.join(block.names)!r} are no answers and have no labels",
                    "use reports.columns, the codes",
                )
            digits = np.unravel_index(codes.astype(np.intp), block.sizes)
            for name, digit in zip(block.names, digits, strict=True):
                columns[name] = np.array(self.study.schema[name].values, dtype=object)[digit]
        ordered = {name: columns[name] for name in self.study.names}
        frame = frame_of(ordered, backend or self.backend)
        if hasattr(frame, "replace_schema_metadata"):
            return frame.replace_schema_metadata(metadata_of(self.study.digest, secure=self.secure))
        return frame

    @classmethod
    def concat(cls, parts: Iterable[Reports]) -> Reports:
        """The reports of several collections of one study, in order; secure only if all are."""
        every = list(parts)
        if not every:
            raise ReportError("there are no reports to put together", "give at least one part")
        first = every[0]
        for part in every:
            if not isinstance(part, Reports):
                raise ReportError(
                    f"a {type(part).__name__} is no collection of reports", "give castell.Reports"
                )
            if part.study != first.study:
                raise ReportError(
                    f"reports of {part.study.name!r} ({part.study.digest[:12]}) and of "
                    f"{first.study.name!r} ({first.study.digest[:12]}) are of two studies",
                    "put reports of one study together",
                )
        same = all(part.backend == first.backend for part in every)
        return cls(
            first.study,
            joined(first.study, [part.columns for part in every]),
            secure=all(part.secure for part in every),
            backend=first.backend if same else None,
        )

    def to_arrow(self) -> pa.Table:
        """The codes as an Arrow table that says of which study they are, and if they are secure."""
        import pyarrow as pa

        types = column_types(self.study)
        schema = marked_schema(types, self.study.digest, secure=self.secure)
        return pa.Table.from_arrays([pa.array(column) for column in self.columns], schema=schema)

    @classmethod
    def from_arrow(cls, table: pa.Table, study: Study) -> Reports:
        """Reports from an Arrow table of codes, as `to_arrow` makes it."""
        names = column_names(study)
        check_study("the table", table.schema, study.digest, names)
        for name in names:
            if table.column(name).null_count:
                raise ReportError(f"{name!r} has missing reports", "take the table again")
        columns = [table.column(name).to_numpy() for name in names]
        return cls(study, columns, secure=is_secure(table.schema))

    def sorted(self) -> Reports:
        """The same reports in the order of their codes, which says nothing of when they came.

        Methods that hold some reports out deal them by their place: what is sorted is dealt alike.
        """
        order = np.lexsort(self.columns[::-1])
        columns = [column[order] for column in self.columns]
        return Reports(self.study, columns, secure=self.secure, backend=self.backend)

    def save(self, path: str | Path) -> None:
        with ReportWriter(self.study, path, secure=self.secure) as writer:
            for start in range(0, len(self), ROW_GROUP):
                writer.write([column[start : start + ROW_GROUP] for column in self.columns])

    @classmethod
    def load(cls, path: str | Path, study: Study) -> Reports:
        """All reports of a Parquet file in memory. `scan_reports` reads larger ones."""
        with ReportFile(path, study) as file:
            parts = file.batches(range(len(study.design.widths)))
            return cls(study, joined(study, parts), secure=file.secure)


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

        self.path, self.study = Path(path), study
        try:
            self._file = pq.ParquetFile(path)
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
            check_study(str(path), schema, study.digest, column_names(study))
        except ReportError:
            self.close()
            raise
        # Reports count as secure only when their file says so.
        self.secure = is_secure(schema)
        self.rows: int = self._file.metadata.num_rows

    def batches(self, wanted: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        """The codes of some columns, a good number of rows at a time, each checked."""
        every, widths = column_names(self.study), self.study.design.widths
        names = [every[i] for i in wanted]
        row = 1
        for batch in self._read(names):
            columns = []
            for i, name in zip(wanted, names, strict=True):
                column: pa.Array = batch.column(name)
                if column.null_count:
                    raise ReportError(f"{self.path}: {name!r} has missing reports", "it is damaged")
                codes = column.to_numpy(zero_copy_only=False)
                columns.append(check_codes(name, widths[i], codes, row))
            row += batch.num_rows
            yield columns

    def _read(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        try:
            yield from self._file.iter_batches(ROW_GROUP, columns=names)
        except (pa.ArrowInvalid, OSError) as error:
            first = str(error).split("\n")[0]
            raise ReportError(f"{self.path} is damaged ({first})", "take it again") from None

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
