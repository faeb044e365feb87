"""Answers in: frames and files of labels become columns of integer codes.

This is the device's side. Whatever the frame, each column goes through Arrow and is looked up in
its attribute's list of values; what is missing or unknown is an error that names row and column.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from castell.errors import AnswerError
from castell.reports.lazy_frames import arrow_batches
from castell.study.schema import Attribute, Schema, suggest, text_of

if TYPE_CHECKING:
    import pyarrow as pa

Codes = NDArray[np.intp]

BATCH_ROWS = 1 << 17
# The libraries whose frames are held in memory.
EAGER = ("pandas", "polars", "pyarrow", "modin", "cudf")


def encode(schema: Schema, answers: Any, first_row: int = 1) -> dict[str, Codes]:
    """The code of every answer, a column for each attribute.

    >>> schema = Schema([Attribute("sex", ["Female", "Male"])])
    >>> encode(schema, {"sex": ["Male", "Female"]})["sex"].tolist()
    [1, 0]
    """
    table = as_arrow(answers, schema.names)
    return {a.name: _encode(a, table.column(a.name), first_row) for a in schema}


def tabulate(schema: Schema, answers: Any, names: Any) -> NDArray[np.float64]:
    """The exact joint distribution of raw answers: what an estimate is compared with.

    Only for whoever holds the answers anyway: tests, experiments, a person trying things out.

    >>> schema = Schema([Attribute("a", ["x", "y"]), Attribute("b", ["x", "y"])])
    >>> tabulate(schema, {"a": ["x", "x"], "b": ["x", "y"]}, ["a", "b"])
    array([[0.5, 0.5],
           [0. , 0. ]])
    """
    chosen = schema.select(names)
    codes = encode(Schema(chosen), answers)
    shape = tuple(a.size for a in chosen)
    keys = np.ravel_multi_index([codes[a.name] for a in chosen], shape)
    counts = np.bincount(keys, minlength=int(np.prod(shape)))
    return (counts / max(1, len(keys))).reshape(shape)


def backend_of(answers: Any) -> str | None:
    """Which library a frame came from, so that what goes out is of the same kind."""
    import narwhals as nw

    if isinstance(answers, Mapping):
        return None
    frame = nw.from_native(answers, pass_through=True)
    name = str(frame.implementation.value) if hasattr(frame, "implementation") else "pyarrow"
    # What has no frames in memory of its own gives Arrow's.
    return name if name in EAGER else "pyarrow"


def answer_batches(answers: Any, names: Collection[str]) -> Iterator[pa.Table] | None:
    """A lazy frame, a DuckDB relation or an Arrow stream, some rows at a time; else none.

    Only the columns asked for are read, and never more than some rows of them are held.
    """
    import narwhals as nw
    import pyarrow as pa

    if isinstance(answers, Mapping):
        return None
    if isinstance(answers, pa.RecordBatchReader):
        chosen = _present(names, answers.schema.names)
        return (pa.Table.from_batches([batch]).select(chosen) for batch in answers)
    frame = nw.from_native(answers, pass_through=True)
    if not isinstance(frame, nw.LazyFrame):
        return None
    chosen = _present(names, frame.collect_schema().names())
    return map(_as_table, arrow_batches(answers, chosen, BATCH_ROWS))


def _as_table(batch: Any) -> pa.Table:
    import pyarrow as pa

    return batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])


def as_arrow(answers: Any, names: Collection[str]) -> pa.Table:
    """The columns asked for of any eager frame, or of a mapping of columns, as an Arrow table."""
    import narwhals as nw
    import pyarrow as pa
    from narwhals.exceptions import DuplicateError

    if isinstance(answers, Mapping):
        columns = {name: _listed(values) for name, values in answers.items()}
        if len({len(values) for values in columns.values()}) > 1:
            raise AnswerError(
                "the columns differ in length", "give every respondent's every answer"
            )
        present = _present(names, list(columns))
        return pa.table({name: _array(name, columns[name]) for name in present})
    if isinstance(answers, pa.Table):
        return answers.select(_present(names, answers.column_names))
    try:
        frame = nw.from_native(answers, eager_only=True)
        present = _present(names, frame.columns)
    except TypeError:
        raise AnswerError(
            f"a {type(answers).__name__} is not a frame of answers",
            "give a pandas, Polars or Arrow frame, or a mapping of columns",
        ) from None
    except DuplicateError as error:
        twice = " ".join(str(error).split())
        raise AnswerError(f"two columns have one name ({twice})", "keep one of them") from None
    # Only the columns' values matter: pandas' index has no meaning here.
    return pa.table({name: _array(name, frame[name]) for name in present})


def _listed(values: Any) -> Any:
    return [values] if isinstance(values, str) or not hasattr(values, "__len__") else values


def _array(name: str, values: Any) -> pa.Array | pa.ChunkedArray:
    import pyarrow as pa

    try:
        return values.to_arrow() if hasattr(values, "to_arrow") else pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):
        raise AnswerError(f"column {name!r} mixes types", "use texts throughout") from None


def _present(names: Collection[str], columns: list[str]) -> list[str]:
    """The names, if each is the name of one column."""
    for name in names:
        if name not in columns:
            raise AnswerError(f"the answers have no column {name!r}", suggest(name, columns))
        if columns.count(name) > 1:
            raise AnswerError(f"the answers have two columns {name!r}", "keep one of them")
    return list(names)


def texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as the texts a person would read: 1 and 1.0 are both '1'."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        # A frame turns whole numbers into floats as soon as one is missing, with NaN for it.
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        if pc.all(pc.equal(pc.round(column), column)).as_py():
            return column.cast(pa.int64()).cast(pa.string())
        # Each number as Python writes it, which is how the study's values were written.
        numbers = pc.unique(column.drop_null())
        written = pa.array(
            [text_of("", number) for number in numbers.to_numpy(zero_copy_only=False)], pa.string()
        )
        return pa.chunked_array([written.take(pc.index_in(column, numbers).combine_chunks())])
    return column.cast(pa.string())


def _encode(attribute: Attribute, column: pa.ChunkedArray, first_row: int) -> Codes:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        labels = texts(column)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        raise AnswerError(
            f"column {attribute.name!r} holds {column.type}", "give texts or whole numbers"
        ) from None
    found = pc.index_in(labels, value_set=pa.array(attribute.values, pa.string()))
    if found.null_count:
        row = int(np.flatnonzero(found.is_null().to_numpy(zero_copy_only=False))[0])
        raise _unknown(attribute, labels[row].as_py(), row + first_row)
    return np.asarray(found.to_numpy(), dtype=np.intp)


def _unknown(attribute: Attribute, value: str | None, row: int) -> AnswerError:
    where = f"row {row}, column {attribute.name!r}"
    if value is None or not value.strip():
        return AnswerError(
            f"{where}: the answer is missing",
            "drop the row, or give the attribute a value such as 'no answer' and fill it in",
        )
    if value.strip() in attribute.values:
        return AnswerError(
            f"{where}: {value!r} has spaces around it", f"write it as {value.strip()!r}"
        )
    return AnswerError(
        f"{where}: {value!r} is not a value of the study", suggest(value, attribute.values)
    )


# -- files ---------------------------------------------------------------------------------------


class AnswerFile:
    """A CSV or Parquet file of answers, some rows at a time, whatever its size."""

    def __init__(self, path: str | Path, names: Collection[str] | None = None) -> None:
        self.path, self.names = Path(path), names
        self.rows = 0
        self.done = 0.0
        if not self.path.is_file():
            raise AnswerError(f"there is no file {path}", "give a CSV or Parquet file of answers")

    def __iter__(self) -> Iterator[pa.Table]:
        import pyarrow as pa

        suffix = self.path.suffix.lower()
        try:
            if suffix in {".parquet", ".pq"}:
                yield from self._parquet()
            elif suffix in {".csv", ".tsv", ".txt"}:
                yield from self._csv("\t" if suffix == ".tsv" else ",")
            else:
                raise AnswerError(
                    f"{self.path} is neither CSV nor Parquet by its name",
                    "give a .csv, .tsv or .parquet file",
                )
        except pa.ArrowInvalid as error:
            # Arrow quotes the row it could not read; answers do not belong in a message or a log.
            first = str(error).split("\n")[0]
            first = re.sub(r"(got \d+): .*", r"\1", first)
            raise AnswerError(f"cannot read {self.path} ({first})", "correct the file") from None
        except UnicodeDecodeError:
            raise AnswerError(f"cannot read {self.path}", "save it as UTF-8") from None

    def _wanted(self, columns: list[str]) -> list[str]:
        return columns if self.names is None else _present(self.names, columns)

    def _parquet(self) -> Iterator[pa.Table]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path) as file:
            columns = self._wanted(file.schema_arrow.names)
            for batch in file.iter_batches(BATCH_ROWS, columns=columns):
                self.rows += batch.num_rows
                self.done = self.rows / file.metadata.num_rows
                yield pa.Table.from_batches([batch])

    def _csv(self, delimiter: str) -> Iterator[pa.Table]:
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import csv

        parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
        with csv.open_csv(self.path, parse_options=parse) as head:
            header = head.schema.names
        # Many write CSV with a space after the comma: spaces around names and values are dropped.
        wanted = self._wanted([name.strip() for name in header])
        # As texts: guessing types would turn '01' into 1 and 'NA' into a missing answer.
        convert = csv.ConvertOptions(
            include_columns=[name for name in header if name.strip() in wanted],
            column_types={name: pa.string() for name in header},
        )
        size = self.path.stat().st_size
        with (
            self.path.open("rb") as raw,
            csv.open_csv(raw, parse_options=parse, convert_options=convert) as reader,
        ):
            for batch in reader:
                self.rows += batch.num_rows
                self.done = raw.tell() / size
                trimmed = [pc.utf8_trim_whitespace(column) for column in batch.columns]
                names = [name.strip() for name in batch.schema.names]
                yield pa.Table.from_arrays(trimmed, names=names)
