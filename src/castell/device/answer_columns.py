"""Columns of answers, whatever they come in: an Arrow table, and texts as people read them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from castell.errors import AnswerError
from castell.reports.lazy_frames import arrow_batches
from castell.study.choices import questions_before
from castell.study.schema import suggest
from castell.study.value_texts import text_of

if TYPE_CHECKING:
    import pyarrow as pa


BATCH_ROWS = 1 << 17
# The libraries whose frames are in memory.
EAGER = ("pandas", "polars", "pyarrow", "modin", "cudf")


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

    Only the columns asked for are read, and never more than some rows of them are in memory.
    """
    import narwhals as nw
    import pyarrow as pa

    if isinstance(answers, Mapping):
        return None
    if isinstance(answers, pa.RecordBatchReader):
        chosen = named_columns(names, answers.schema.names)
        return (pa.Table.from_batches([batch]).select(chosen) for batch in answers)
    frame = nw.from_native(answers, pass_through=True)
    if not isinstance(frame, nw.LazyFrame):
        return None
    chosen = named_columns(names, frame.collect_schema().names())
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
        columns = {name: _as_list(values) for name, values in answers.items()}
        if len({len(values) for values in columns.values()}) > 1:
            raise AnswerError(
                "the columns differ in length", "give every respondent's every answer"
            )
        present = named_columns(names, list(columns))
        return pa.table({name: _array(name, columns[name]) for name in present})
    if isinstance(answers, pa.Table):
        return answers.select(named_columns(names, answers.column_names))
    try:
        frame = nw.from_native(answers, eager_only=True)
        present = named_columns(names, frame.columns)
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


def _as_list(values: Any) -> Any:
    return [values] if isinstance(values, str) or not hasattr(values, "__len__") else values


def _array(name: str, values: Any) -> pa.Array | pa.ChunkedArray:
    import pyarrow as pa

    try:
        # NaN in a list of texts, as pandas writes a missing answer, is one.
        return values.to_arrow() if hasattr(values, "to_arrow") else pa.array(_plain(values))
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):
        return _of_texts(name, values)


def _of_texts(name: str, values: Any) -> pa.Array:
    """A column of texts and numbers, as spreadsheets have it where somebody wrote "none"."""
    import pyarrow as pa

    listed = values.to_list() if hasattr(values, "to_list") else list(values)
    kinds = {type(value) for value in listed if value is not None}
    if not kinds <= {str, int, float, bool}:
        raise AnswerError(f"column {name!r} mixes types", "use texts throughout")
    return pa.array([None if _is_missing(value) else text_of(name, value) for value in listed])


def _is_missing(value: Any) -> bool:
    return value is None or value != value or value == ""


def _plain(values: Any) -> Any:
    """A list with None for what is not a number; other columns as they are."""
    if not isinstance(values, (list, tuple)):
        return values
    return [None if isinstance(value, float) and value != value else value for value in values]


def column_names(answers: Any) -> list[str]:
    """The columns of an eager frame or of a mapping of columns; none of what is neither."""
    import narwhals as nw

    if isinstance(answers, Mapping):
        return list(answers)
    frame = nw.from_native(answers, eager_only=True, pass_through=True)
    return list(frame.columns) if isinstance(frame, nw.DataFrame) else []


def named_columns(names: Collection[str], columns: list[str]) -> list[str]:
    """The columns that hold what is named, each the only one of its name.

    A column `sports` holds "sports: run" and "sports: swim" where none of these has its own.
    """
    found: dict[str, None] = {}
    # Frames may name columns by numbers.
    own = {each for name in columns for each in questions_before(str(name))}
    for name in names:
        questions = (one for one in questions_before(name) if one not in own | {*names})
        one = next((each for each in (name, *questions) if each in columns), name)
        if one not in columns:
            raise AnswerError(f"the answers have no column {name!r}", suggest(name, columns))
        if columns.count(one) > 1:
            raise AnswerError(f"the answers have two columns {one!r}", "keep one of them")
        found[one] = None
    return list(found)


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
    if pa.types.is_timestamp(column.type):
        column = pc.strftime(column, "%Y-%m-%d %H:%M:%S")
    return column.cast(pa.string())


def without(table: pa.Table, missing: Collection[str]) -> pa.Table:
    """A table with no answer where a cell is one of some texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    listed = pa.array(sorted(missing), pa.string())
    columns = []
    for column in table.columns:
        unsaid = pc.is_in(texts(column), listed)
        columns.append(pc.if_else(unsaid, pa.scalar(None, column.type), column))
    return pa.Table.from_arrays(columns, names=table.column_names)
