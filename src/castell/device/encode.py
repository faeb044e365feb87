"""Answers in: frames of labels or numbers become columns of integer codes.

This is the device's side. Whatever the frame, each column goes through Arrow and is looked up in
its attribute's list of values; a number finds its bin, a day its period. What is missing or unknown
is an error that names rows and columns, all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from castell.device.answer_columns import as_arrow, backend_of, texts
from castell.device.bad_answers import BadAnswers
from castell.device.one_cell import OneCell
from castell.device.random_words import Source, secure_words
from castell.errors import AnswerError
from castell.study.number_texts import (
    is_parted_by_points,
    may_be_parted_by_a_point,
    number_in_file,
)
from castell.study.scales import Bins, Period, Points
from castell.study.schema import Attribute, Schema
from castell.study.value_texts import one_text, text_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["as_arrow", "backend_of", "encode", "tabulate", "texts"]

Codes = NDArray[np.intp]


def encode(
    schema: Schema,
    answers: Any,
    first_row: int = 1,
    words: Source = secure_words,
    bad: BadAnswers | None = None,
) -> dict[str, Codes]:
    """The code of every answer, a column for each attribute.

    `words` round numbers where the study rounds at random. Answers that are none are an error, or
    are told to `bad` and have the code -1.

    >>> schema = Schema([Attribute("sex", ["Female", "Male"]), Attribute("age", bins=[30, 60])])
    >>> encode(schema, {"sex": ["Male", "Female"], "age": [59, 12]})["age"].tolist()
    [1, 0]
    """
    table, found = as_arrow(answers, schema.names), BadAnswers() if bad is None else bad
    columns = dict(zip(table.column_names, table.columns, strict=True))
    wrong: dict[str, NDArray[np.bool_]] = {}
    for question in OneCell.all_of(schema, table.column_names):
        split, unread = question.split(columns[question.name], first_row, found)
        columns |= split
        wrong |= dict.fromkeys(split, unread)
    codes = {a.name: _encode(a, columns[a.name], first_row, words, found) for a in schema}
    for name, unread in wrong.items():
        codes[name][unread] = -1
    if bad is None:
        found.check()
    return codes


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


def _encode(
    attribute: Attribute, column: pa.ChunkedArray, first_row: int, words: Source, bad: BadAnswers
) -> Codes:
    import pyarrow as pa

    scale = attribute.scale
    # A word for every row, whatever was answered.
    chances = (words(len(column)) >> np.uint64(11)) * 2.0**-53 if isinstance(scale, Points) else _NO
    try:
        plain = isinstance(scale, (Bins, Points)) and _is_numeric(column.type)
        labels = column.cast(pa.float64()) if plain else texts(column)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        raise AnswerError(
            f"column {attribute.name!r} holds {column.type}", "give texts or whole numbers"
        ) from None
    if plain and isinstance(scale, (Bins, Points)):
        numbers = np.asarray(labels.to_numpy(), dtype=np.float64)
        codes = _codes_of_numbers(scale, numbers, chances)
        codes[np.isnan(numbers)] = attribute.missing_code
    else:
        codes = _codes_of_texts(attribute, labels, chances)
    for row in np.flatnonzero(codes < 0).tolist():
        said = labels[row].as_py()
        if plain:
            said = None if said is None or said != said else text_of(attribute.name, said)
        bad.add(attribute, said, row + first_row)
        if bad.enough:
            bad.count(attribute, int((codes[row + 1 :] < 0).sum()))
            break
    return codes


_NO = np.zeros(0)


def _is_numeric(kind: pa.DataType) -> bool:
    """Whether numbers are what they say: short floats are the numbers their digits say."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_float64(kind))


def _codes_of_numbers(scale: Bins | Points, numbers: NDArray[np.float64], chances: Any) -> Codes:
    return scale.codes(numbers) if isinstance(scale, Bins) else scale.codes(numbers, chances)


def _codes_of_texts(attribute: Attribute, labels: pa.ChunkedArray, chances: Any) -> Codes:
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pc.index_in(labels, value_set=pa.array(attribute.values, pa.string()))
    codes = np.asarray(pc.fill_null(known, -1).to_numpy(), dtype=np.intp)
    if known.null_count:
        # Each text that is not in the study as it stands is looked at once.
        rows = np.flatnonzero(codes < 0)
        left = labels.take(pa.array(rows)).combine_chunks()
        different = pc.unique(left)
        place = pc.index_in(left, value_set=different).to_numpy(zero_copy_only=False)
        each, numbers = _read(attribute, different)
        codes[rows] = each[place]
        if isinstance(attribute.scale, Points):
            found = attribute.scale.codes(numbers[place], chances[rows])
            codes[rows] = np.where(each[place] < 0, found, each[place])
    return codes


# Numbers as programs write them; the others are read one by one.
_DECIMAL = r"^-?[0-9]{1,300}(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?$"


def _read(attribute: Attribute, written: pa.Array) -> tuple[Codes, NDArray[np.float64]]:
    """The code of each text, -1 where there is none, and the number it says."""
    import pyarrow as pa
    import pyarrow.compute as pc

    scale, by_text = attribute.scale, attribute.codes_by_text
    each = np.full(len(written), -1, dtype=np.intp)
    numbers = np.full(len(written), np.nan)
    rest, parted = np.arange(len(written)), False
    if isinstance(scale, (Bins, Points)):
        decimal = pc.fill_null(pc.match_substring_regex(written, _DECIMAL), False)
        plain = decimal.to_numpy(zero_copy_only=False)
        numbers[plain] = written.filter(decimal).cast(pa.float64()).to_numpy()
        rest = np.flatnonzero(~plain)
    for k in rest.tolist():
        text = written[k].as_py()
        if text is None or not text.strip():
            each[k] = attribute.missing_code
            continue
        each[k] = by_text.get(one_text(text), -1)
        if each[k] < 0 and isinstance(scale, Period):
            each[k] = by_text.get(scale.text(text), -1)
        elif each[k] < 0 and isinstance(scale, (Bins, Points)):
            numbers[k] = number_in_file(text)
            parted = parted or is_parted_by_points(text)
    if parted:
        said = enumerate(written.to_pylist())
        numbers[[k for k, text in said if text and may_be_parted_by_a_point(text)]] = np.nan
    if isinstance(scale, Bins):
        each = np.where(each < 0, scale.codes(numbers), each)
    return each, numbers
