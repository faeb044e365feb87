"""Files of answers as they come: CSV with any separator and encoding, packed, Parquet, Excel.

What was not plain about a file is a remark, so that nobody is surprised by how it was read.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from zipfile import BadZipFile

from castell.device.answer_columns import named_columns, without
from castell.errors import AnswerError, MissingExtraError, SchemaError
from castell.study.value_texts import text_of

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1 << 17
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_TEXT = {".csv", ".tsv", ".txt"}
# What begins a file in one of these encodings.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HEAD = 1 << 16
# What is read at a time is this, or so many times the first rows.
_BLOCK, _LONGER = 1 << 20, 8
_FIRST_ROW = "write them in the first row"


class AnswerFile:
    """A file of answers, some rows at a time, whatever its size. Columns have spaces around them
    taken away, and only those named are read."""

    def __init__(
        self,
        path: str | Path,
        names: Collection[str] | None = None,
        *,
        missing: Collection[str] = (),
    ) -> None:
        self.path, self.names = Path(path), names
        # Texts that stand for no answer in this file: 'NA', '999'.
        self.missing = frozenset(text.strip() for text in missing)
        self.rows = 0
        self.done = 0.0
        self.remarks: list[str] = []
        if not self.path.is_file():
            raise AnswerError(f"there is no file {path}", "give a CSV or Parquet file of answers")

    def __iter__(self) -> Iterator[pa.Table]:
        for batch in self._batches():
            yield without(batch, self.missing) if self.missing else batch

    def _batches(self) -> Iterator[pa.Table]:
        import pyarrow as pa

        suffixes = [suffix.lower() for suffix in self.path.suffixes]
        packed = suffixes[-1:] == [".gz"]
        suffix = (suffixes[:-1] if packed else suffixes)[-1:]
        try:
            if suffix in ([".parquet"], [".pq"]) and not packed:
                yield from self._parquet()
            elif suffix and suffix[0] in _TEXT:
                yield from self._csv(packed)
            elif suffix == [".xlsx"] and not packed:
                yield from self._excel()
            else:
                raise AnswerError(
                    f"{self.path} is neither CSV nor Parquet nor Excel by its name",
                    "give a .csv, .tsv, .csv.gz, .parquet or .xlsx file",
                )
        except pa.ArrowInvalid as error:
            # Arrow quotes the row it could not read; answers do not belong in a message or a log.
            first = str(error).split("\n")[0]
            first = re.sub(r"(got \d+): .*", r"\1", first)
            raise AnswerError(f"cannot read {self.path} ({first})", "correct the file") from None
        except (UnicodeError, gzip.BadGzipFile, EOFError):
            raise AnswerError(f"cannot read {self.path}", "save it as CSV in UTF-8") from None

    def _wanted_columns(self, columns: list[str]) -> list[str]:
        return columns if self.names is None else named_columns(self.names, columns)

    def _parquet(self) -> Iterator[pa.Table]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path) as file:
            columns = self._wanted_columns(file.schema_arrow.names)
            for batch in file.iter_batches(BATCH_ROWS, columns=columns):
                self.rows += batch.num_rows
                self.done = self.rows / file.metadata.num_rows
                yield pa.Table.from_batches([batch])

    # -- text ----------------------------------------------------------------------------------

    def _csv(self, packed: bool) -> Iterator[pa.Table]:
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import csv as arrow_csv

        encoding = self._encoding(packed)
        head = self._head(packed, encoding)
        separator = self._separator(head.lstrip("\ufeff"))
        header = [name.strip() for name in _header(head.lstrip("\ufeff"), separator)]
        if not any(header):
            raise AnswerError(f"cannot read {self.path}: it has no names of columns", _FIRST_ROW)
        columns = [(f"f{k}", name) for k, name in enumerate(header)]
        wanted = set(self._wanted_columns(header))
        if self.names is None:
            self._say_twice(header)
        chosen = [(place, name) for place, name in columns if name in wanted]
        # As texts: guessing types would turn '01' into 1 and 'NA' into a missing answer.
        options = {
            "read_options": arrow_csv.ReadOptions(
                encoding="utf8" if encoding == "utf-8" else encoding,
                autogenerate_column_names=True,
                skip_rows_after_names=1,
                # No row is longer than a block; answers may be, than the names of their columns.
                block_size=max(_BLOCK, _LONGER * len(head)),
            ),
            "parse_options": arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            "convert_options": arrow_csv.ConvertOptions(
                include_columns=[place for place, _ in chosen],
                column_types={place: pa.string() for place, _ in columns},
            ),
        }
        ragged: list[tuple[int, int]] = []
        size = self.path.stat().st_size
        names = _each_once([name for _, name in chosen])
        try:
            with self._open(packed) as (raw, text), arrow_csv.open_csv(text, **options) as reader:
                for batch in reader:
                    self.rows += batch.num_rows
                    self.done = raw.tell() / size
                    trimmed = [pc.utf8_trim_whitespace(column) for column in batch.columns]
                    yield pa.Table.from_arrays(trimmed, names=names)
        except pa.ArrowInvalid:
            ragged = self._ragged_rows(packed, encoding, separator, len(header))
            if not ragged:
                raise
        # Not while the error of Arrow is held, and with it the reader and its threads.
        if ragged:
            raise AnswerError(
                f"cannot read {self.path}: {_ragged_text(ragged, len(header))}",
                "correct the file, or put texts that hold the separator in quotes",
            )

    @contextmanager
    def _open(self, packed: bool) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """The file as it is stored, to tell how far one is, and its text."""
        with self.path.open("rb") as raw:
            if not packed:
                yield raw, raw
                return
            with gzip.GzipFile(fileobj=raw) as text:
                yield raw, io.BufferedReader(text)

    def _head(self, packed: bool, encoding: str) -> str:
        """The first rows: the first of all is whole, however many columns it names."""
        decoder = codecs.getincrementaldecoder(encoding)()
        with self._open(packed) as (_, text):
            head = decoder.decode(text.read(_HEAD))
            while not _has_row(head) and (more := text.read(len(head))):
                head += decoder.decode(more)
        return head

    def _encoding(self, packed: bool) -> str:
        """UTF-8 if all of it is; what its first bytes say; else what Western Windows writes."""
        with self._open(packed) as (_, text):
            first = text.read(_HEAD)
            for mark, encoding in _MARKS:
                if first.startswith(mark):
                    return encoding
            decoder = codecs.getincrementaldecoder("utf-8")()
            try:
                while first:
                    decoder.decode(first)
                    first = text.read(1 << 22)
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                self.remarks.append(
                    f"{self.path.name} is not UTF-8: read as Windows-1252 (Western European); "
                    "if letters are wrong, save it as UTF-8"
                )
                return "cp1252"
        return "utf-8"

    def _separator(self, head: str) -> str:
        """What parts the columns: what the first rows have equally often, and most of."""
        if self.path.name.lower().removesuffix(".gz").endswith(".tsv"):
            return "\t"
        widths = {mark: _widths(head, mark) for mark in SEPARATORS}
        even = [mark for mark, found in widths.items() if len(set(found)) == 1 and found[0] > 1]
        # Commas, if they part every row alike; else what does; else what parts the first row.
        best = max(SEPARATORS, key=lambda mark: widths[mark][0] if widths[mark] else 0)
        if even:
            best = "," if "," in even else max(even, key=lambda mark: widths[mark][0])
        if best != ",":
            self.remarks.append(f"{self.path.name} is separated by {SEPARATORS[best]}")
        return best

    def _ragged_rows(
        self, packed: bool, encoding: str, separator: str, wide: int
    ) -> list[tuple[int, int]]:
        """All rows that have more or fewer columns than the first: which, and how many."""
        with self._open(packed) as (_, raw):
            text = io.TextIOWrapper(raw, encoding, newline="")
            try:
                next(rows := (row for row in csv.reader(text, delimiter=separator) if row), None)
                return [(k, len(row)) for k, row in enumerate(rows, 1) if len(row) != wide]
            except csv.Error:
                return []

    def _say_twice(self, header: list[str]) -> None:
        for name, many in Counter(header).items():
            if many > 1:
                self.remarks.append(
                    f"{many} columns are called {name!r}: rename all but one of them"
                )

    # -- Excel -----------------------------------------------------------------------------------

    def _excel(self) -> Iterator[pa.Table]:
        """The first sheet; its first row names the columns."""

        try:
            from openpyxl import load_workbook
            from openpyxl.utils.exceptions import InvalidFileException
        except ImportError:
            raise MissingExtraError(
                "openpyxl is not installed", "pip install 'castell[excel]', or save it as CSV"
            ) from None
        try:
            book = load_workbook(self.path, read_only=True, data_only=True)
        except (InvalidFileException, BadZipFile, KeyError, OSError, ValueError):
            raise AnswerError(f"cannot read {self.path}", "save it again, or as CSV") from None
        try:
            sheet = book.worksheets[0]
            if len(book.worksheets) > 1:
                self.remarks.append(
                    f"{self.path.name} has {len(book.worksheets)} sheets: read is the first, "
                    f"{sheet.title!r}"
                )
            rows = sheet.iter_rows(values_only=True)
            header = [str(cell).strip() if cell is not None else "" for cell in next(rows, ())]
            wanted = set(self._wanted_columns([name for name in header if name]))
            if self.names is None:
                self._say_twice(header)
            places = [k for k, name in enumerate(header) if name in wanted]
            names = _each_once([header[k] for k in places])
            rows_read: list[tuple[Any, ...]] = []
            for row in rows:
                if any(cell is not None for cell in row):
                    rows_read.append(row)
                if len(rows_read) == BATCH_ROWS:
                    yield self._table(rows_read, places, names)
                    rows_read = []
            if rows_read or not self.rows:
                yield self._table(rows_read, places, names)
            self.done = 1.0
        finally:
            book.close()

    def _table(self, rows: list[tuple[Any, ...]], places: list[int], names: list[str]) -> pa.Table:
        import pyarrow as pa

        self.rows += len(rows)
        columns = [
            pa.array([_cell(row[k] if k < len(row) else None) for row in rows], pa.string())
            for k in places
        ]
        return pa.Table.from_arrays(columns, names=names)


def _cell(value: object) -> str | None:
    if value is None:
        return ""  # as in CSV
    try:
        return text_of("", value).strip()
    except SchemaError:
        return None


def _has_row(head: str) -> bool:
    """Whether a line ends outside of quotes."""
    lines = head.splitlines(keepends=True)
    ends = (line[-1:] in "\r\n" for line in lines)
    quotes = accumulate(line.count('"') for line in lines)
    return any(end and many % 2 == 0 for end, many in zip(ends, quotes, strict=True))


def _rows(head: str, separator: str) -> Iterator[list[str]]:
    """None from where a separator that is none makes a whole file one field."""
    with suppress(csv.Error):
        yield from csv.reader(io.StringIO(head, newline=""), delimiter=separator)


def _header(head: str, separator: str) -> list[str]:
    return next(_rows(head, separator), [])


def _widths(head: str, separator: str) -> list[int]:
    """How many columns each of the first rows has; the last may have been cut off."""
    rows = list(_rows(head, separator))
    whole = rows[:-1] if len(head) >= _HEAD // 2 and len(rows) > 1 else rows
    return [len(row) for row in whole[:50] if row]


def _ragged_text(ragged: Sequence[tuple[int, int]], wide: int) -> str:
    rows = ", ".join(f"row {k} has {many}" for k, many in ragged[:3])
    several = f"{len(ragged):,} rows do" if len(ragged) > 1 else "1 row does"
    more = ", ..." if len(ragged) > 3 else ""
    return f"{several} not have the {wide} columns of the first ({rows}{more})"


def _each_once(names: list[str]) -> list[str]:
    """Names told apart: a second 'x' is 'x (2)'."""
    times: Counter[str] = Counter()
    found = []
    for name in names:
        times[name] += 1
        found.append(f"{name} ({times[name]})" if times[name] > 1 else name)
    return found
