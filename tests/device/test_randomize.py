"""The device's side: exactly uniform numbers, the right weights, and nothing that tells answers."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import castell.device.answer_file
import castell.device.respond
from castell import Attribute, KaryResponse, MatrixResponse, Reports, Schema, Study, randomize_file
from castell.channels import MAX_TOTAL, Channel, Words
from castell.device.random_words import Source, numbers_below, secure_words, seeded_words
from castell.device.respond import block_codes, respond
from castell.errors import AnswerError, OptionError, ReportError
from castell.study.design import Block

ASYMMETRIC = MatrixResponse([[9, 3, 1, 5, 2], [1, 2, 8, 4, 5], [2, 9, 2, 1, 6]])


class Tape:
    """A source of words that were written down before, and a count of what was taken."""

    def __init__(self, words: list[int]) -> None:
        self.words, self.taken = np.array(words, dtype=np.uint64), 0

    def __call__(self, count: int) -> Words:
        start, self.taken = self.taken, self.taken + count
        assert self.taken <= len(self.words), "more words were drawn than there are"
        return self.words[start : self.taken]


# -- numbers ---------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(total=st.integers(2, MAX_TOTAL))
@example(total=3)
@example(total=10)
@example(total=2**32)
@example(total=2**32 + 1)
@example(total=MAX_TOTAL)
@example(total=MAX_TOTAL - 1)
def test_words_above_the_last_whole_multiple_are_drawn_again(total: int) -> None:
    """Words below `limit`, a multiple of the total, hit each number equally often; no others do."""
    limit = 2**64 // total * total
    above = [limit, limit + (2**64 - limit) // 2, 2**64 - 1] if limit < 2**64 else []
    below = [0, 1, total - 1, total, limit - total, limit - 1]
    assert numbers_below(total, len(below), Tape(below)).tolist() == [w % total for w in below]
    # Each word above costs one more, and what is drawn in its place may be above again.
    first = [5, *above, 7]
    again = [*above, *([limit - 1] * len(above))]
    tape = Tape([*first, *again])
    drawn = numbers_below(total, len(first), tape)
    expected = [5, *([limit - 1] * len(above)), 7]
    assert drawn.tolist() == [word % total for word in expected]
    assert tape.taken == len(first) + 2 * len(above)


def test_every_number_has_as_many_words_as_any_other() -> None:
    """All accepted words of a small total around both ends of the range, and every refused one."""
    for total in (3, 5, 6, 7, 10, 11, 100):
        limit = 2**64 // total * total
        ends = [*range(total * 4), *range(limit - total * 4, limit)]
        drawn = numbers_below(total, len(ends), Tape(ends)).astype(np.int64)
        counts = np.bincount(drawn, minlength=total)
        assert (counts == 8).all()
        for word in range(limit, 2**64):
            tape = Tape([word, 0])
            assert numbers_below(total, 1, tape).tolist() == [0]
            assert tape.taken == 2


def test_a_power_of_two_needs_every_word_once() -> None:
    tape = Tape([2**64 - 1, 0, 2**63])
    assert numbers_below(2**53, 3, tape).tolist() == [2**53 - 1, 0, 0]
    assert tape.taken == 3


def test_no_numbers_take_no_words() -> None:
    tape = Tape([])
    assert len(numbers_below(7, 0, tape)) == 0
    assert len(respond(ASYMMETRIC, np.array([], dtype=np.intp), tape)) == 0


# -- nothing depends on the answers ----------------------------------------------------------------


class Counting:
    """A seeded source that writes down how many words were asked for, call by call."""

    def __init__(self, seed: int, raised: bool) -> None:
        self.words, self.calls, self.raised = seeded_words(seed), list[int](), raised

    def __call__(self, count: int) -> Words:
        self.calls.append(count)
        drawn = self.words(count).copy()
        if self.raised:  # to the very top, where more than the usual few are refused
            drawn[drawn % 8 == 0] |= np.uint64(2**64 - 2**11)
        return drawn


@pytest.mark.parametrize(
    "channel",
    [KaryResponse(3, 5, 2), KaryResponse.with_epsilon(7, 1.0), KaryResponse(2, 3, 1), ASYMMETRIC],
    ids=str,
)
@pytest.mark.parametrize("raised", [False, True])
def test_the_words_drawn_do_not_depend_on_the_answers(channel: Channel, raised: bool) -> None:
    rows = 100_001
    random = np.random.default_rng(8)
    columns = [
        np.zeros(rows, dtype=np.intp),
        np.full(rows, channel.inputs - 1),
        random.integers(0, channel.inputs, rows),
    ]
    seen = []
    for codes in columns:
        source = Counting(8, raised)
        respond(channel, codes, source)
        seen.append(source.calls)
    assert seen[0] == seen[1] == seen[2]
    assert sum(seen[0]) >= rows
    if raised and 2**64 % channel.total > 2**11:
        assert sum(seen[0]) > rows


def test_one_answer_takes_one_word_and_touches_no_other_report() -> None:
    rows = 70_000
    codes = np.random.default_rng(1).integers(0, 3, rows)
    reports = respond(ASYMMETRIC, codes, seeded_words(1))
    changed = codes.copy()
    changed[40_000] = (changed[40_000] + 1) % 3
    other = respond(ASYMMETRIC, changed, seeded_words(1))
    assert set(np.flatnonzero(other != reports)) <= {40_000}


@pytest.mark.parametrize("channel", [KaryResponse(3, 6, 1), MatrixResponse([[5, 2, 1], [1, 1, 6]])])
def test_long_columns_are_answered_piece_by_piece(channel: Channel) -> None:
    # A total of 8 refuses no word, so word i is report i's own.
    rows = 3 * castell.device.respond._STEP + 7
    codes = np.random.default_rng(2).integers(0, channel.inputs, rows)
    numbers = seeded_words(2)(rows) % np.uint64(8)
    expected = channel.respond(codes, numbers)
    reports = respond(channel, codes, seeded_words(2))
    np.testing.assert_array_equal(reports, expected)
    assert reports.dtype == np.uint8


# -- the weights, by many draws --------------------------------------------------------------------


def least_likely(channel: Channel, draws: int, words: Source) -> float:
    """The smallest p-value over the answers that the reports have the channel's weights."""
    codes = np.arange(draws) % channel.inputs
    reports = respond(channel, codes, words)
    cells = codes * channel.outputs + reports
    seen = np.bincount(cells, minlength=channel.inputs * channel.outputs)
    seen = seen.reshape(channel.inputs, channel.outputs)
    share = np.array(channel.weights()) / channel.total
    expected = share * seen.sum(axis=1, keepdims=True)
    assert expected.min() > 20
    statistic = ((seen - expected) ** 2 / expected).sum(axis=1)
    return float(chi2.sf(statistic, channel.outputs - 1).min())


@pytest.mark.parametrize(
    "channel",
    [
        KaryResponse.with_epsilon(2, 1.0),
        KaryResponse.with_epsilon(7, 0.3),
        KaryResponse.with_epsilon(240, 2.0),
        ASYMMETRIC,
        MatrixResponse.from_probabilities([[0.123456789123, 0.876543210877], [1 / 3, 2 / 3]]),
    ],
    ids=["2", "7", "240", "asymmetric", "rounded"],
)
def test_ten_million_reports_have_the_weights(channel: Channel) -> None:
    assert least_likely(channel, 10_000_000, seeded_words(20)) > 1e-6


def test_reports_from_the_operating_system_have_the_weights() -> None:
    assert least_likely(KaryResponse.with_epsilon(3, 1.0), 1_000_000, secure_words) > 1e-9


# -- sources ---------------------------------------------------------------------------------------


def test_words_come_from_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def urandom(count: int) -> bytes:
        asked.append(count)
        return b"\x00" * count

    monkeypatch.setattr(os, "urandom", urandom)
    study = Study(Schema([Attribute("a", ["x", "y", "z"])]), 1.0)
    reports = study.randomize({"a": ["z", "y", "z"]})
    assert asked == [24]
    assert reports.columns[0].tolist() == [0, 0, 0]  # the report of the word 0, whatever the answer
    study.randomize({"a": ["z"]}, seed=1)
    assert asked == [24]


def test_a_seed_repeats_and_another_does_not() -> None:
    one, same, other = (seeded_words(seed)(1000) for seed in (7, 7, 8))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    source = seeded_words(7)
    np.testing.assert_array_equal(np.concatenate([source(400), source(600)]), one)
    assert len(set(secure_words(1000).tolist())) == 1000


@pytest.mark.parametrize("seed", [-1, 1.0, "1", True, [1]])
def test_what_is_no_seed_is_refused(seed: Any) -> None:
    with pytest.raises(OptionError, match="seed"):
        seeded_words(seed)
    with pytest.raises(OptionError, match="seed"):
        Study(Schema([Attribute("a", ["x", "y"])]), 1.0).randomize({"a": ["x"]}, seed=seed)


# -- blocks and frames -----------------------------------------------------------------------------


SCHEMA = Schema(
    [Attribute("a", ["x", "y"]), Attribute("b", [1, 2, 3]), Attribute("c", [True, False])]
)
STUDIES = [
    Study(SCHEMA, 3.0),
    Study(SCHEMA, 3.0, "joint"),
    Study(SCHEMA, 3.0, [["c", "a"]]),
    Study(SCHEMA, 3.0, channels={"a": [[0.8, 0.2], [0.3, 0.7]]}),
]


def answers(rows: int, seed: int = 0) -> dict[str, list[Any]]:
    random = np.random.default_rng(seed)
    return {
        "b": random.integers(1, 4, rows).tolist(),
        "a": random.choice(["x", "y"], rows, p=[0.9, 0.1]).tolist(),
        "c": random.choice([True, False], rows).tolist(),
    }


def test_the_last_attribute_of_a_block_moves_fastest() -> None:
    block = Block(("b", "c", "a"), (3, 2, 2), KaryResponse(12, 13, 1))
    codes = {
        "a": np.array([0, 1, 1]),
        "b": np.array([0, 0, 2]),
        "c": np.array([0, 1, 1]),
    }
    assert block_codes(block, codes).tolist() == [0, 3, 11]


@pytest.mark.parametrize("study", STUDIES)
def test_reports_of_a_frame(study: Study) -> None:
    data = answers(500)
    reports = study.randomize(data, seed=4)
    assert len(reports) == 500
    assert not reports.secure
    assert "INSECURE" in repr(reports)
    assert reports.backend is None
    # The same words through the same channels, block by block.
    words = seeded_words(4)
    codes = {
        name: np.array([SCHEMA[name].code(value) for value in column])
        for name, column in data.items()
    }
    for block, column in zip(study.design.blocks, reports.columns, strict=True):
        expected = respond(block.channel, block_codes(block, codes), words)
        np.testing.assert_array_equal(column, expected)
    for kind in (pd.DataFrame, pl.DataFrame, pa.table):
        again = study.randomize(kind(data), seed=4)
        for one, two in zip(reports.columns, again.columns, strict=True):
            np.testing.assert_array_equal(one, two)
    secure = study.randomize(data)
    assert secure.secure
    assert "INSECURE" not in repr(secure)


def test_one_respondent_with_one_attribute() -> None:
    study = Study(Schema([Attribute("a", ["x", "y"])]), 1.0)
    seen = {int(study.randomize({"a": ["y"]}, seed=seed).columns[0][0]) for seed in range(50)}
    assert seen == {0, 1}
    assert len(study.randomize({"a": ["y"]})) == 1


# -- files -----------------------------------------------------------------------------------------


def write(data: dict[str, list[Any]], path: Path) -> Path:
    """Answers as a file by its suffix."""
    table = pa.table(data)
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        texts = {name: map(str, column.to_pylist()) for name, column in data_columns(table)}
        lines = zip(*texts.values(), strict=True)
        path.write_text("\n".join([",".join(texts), *map(",".join, lines)]).lower() + "\n")
    return path


def data_columns(table: Any) -> Iterator[tuple[str, Any]]:
    return ((name, table.column(name)) for name in table.column_names)


def left_behind(folder: Path, *but: str) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name not in but)


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_gives_the_reports_of_the_frame(study: Study, suffix: str, tmp_path: Path) -> None:
    data = answers(400)
    source, target = write(data, tmp_path / f"answers{suffix}"), tmp_path / "reports.parquet"
    assert randomize_file(study, source, target, seed=3) == 400
    loaded, expected = Reports.load(target, study), study.randomize(data, seed=3)
    for one, two in zip(loaded.columns, expected.columns, strict=True):
        np.testing.assert_array_equal(one, two)
    assert left_behind(tmp_path, source.name) == ["reports.parquet"]


@pytest.mark.parametrize("study", STUDIES)
def test_batches_go_on_where_the_last_one_ended(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(castell.device.answer_file, "BATCH_ROWS", 30)
    data = answers(100)
    source = write(data, tmp_path / "answers.parquet")
    heard: list[float] = []
    randomize_file(study, source, tmp_path / "r.parquet", seed=3, progress=heard.append)
    words = seeded_words(3)
    codes = {
        name: np.array([SCHEMA[name].code(value) for value in column])
        for name, column in data.items()
    }
    expected: list[list[int]] = [[] for _ in study.design.blocks]
    for start in range(0, 100, 30):
        part = {name: column[start : start + 30] for name, column in codes.items()}
        for block, column in zip(study.design.blocks, expected, strict=True):
            column += respond(block.channel, block_codes(block, part), words).tolist()
    loaded = Reports.load(tmp_path / "r.parquet", study)
    assert [column.tolist() for column in loaded.columns] == expected
    assert heard == [0.3, 0.6, 0.9, 1.0]


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_a_large_file_is_distributed_as_its_frame(threads: int | None, tmp_path: Path) -> None:
    study = STUDIES[0]
    rows = castell.device.answer_file.BATCH_ROWS + 1000
    source = write(answers(rows), tmp_path / "answers.parquet")
    assert randomize_file(study, source, tmp_path / "r.parquet", threads=threads) == rows
    loaded = Reports.load(tmp_path / "r.parquet", study)
    assert loaded.secure
    channel = study.design.blocks[0].channel
    expected = np.array([0.9, 0.1]) @ np.array(channel.weights()) / channel.total
    assert abs(loaded.columns[0].mean() - expected[1]) < 7 * 0.5 / np.sqrt(rows)


def test_reports_keep_the_order_of_answers_in_several_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(castell.device.answer_file, "BATCH_ROWS", 30)
    schema = Schema([Attribute("block", ["0", "1", "2", "3"], public=True), *SCHEMA])
    study = Study(schema, 6.0)
    data = {"block": [str(row // 30) for row in range(100)], **answers(100)}
    source = write(data, tmp_path / "answers.parquet")
    heard: list[float] = []
    target = tmp_path / "r.parquet"
    assert randomize_file(study, source, target, threads=3, progress=heard.append) == 100
    place = [block.names for block in study.design.blocks].index(("block",))
    codes = Reports.load(target, study).columns[place]
    assert codes.tolist() == [row // 30 for row in range(100)]
    assert heard == [0.3, 0.6, 0.9, 1.0]


def test_bad_answers_are_told_alike_by_however_many_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(castell.device.answer_file, "BATCH_ROWS", 30)
    data = answers(6000)
    data["b"] = [99 if row % 5 == 0 else value for row, value in enumerate(data["b"])]
    data["a"][4321] = None
    source, told = write(data, tmp_path / "answers.parquet"), []
    for threads in (1, 2, 5):
        with pytest.raises(AnswerError, match="1,201 answers") as error:
            randomize_file(STUDIES[0], source, tmp_path / "r.parquet", threads=threads)
        told.append(str(error.value))
    assert len(set(told)) == 1
    assert left_behind(tmp_path) == [source.name]


def test_threads_that_cannot_be_are_refused(tmp_path: Path) -> None:
    source, target = write(answers(5), tmp_path / "answers.csv"), tmp_path / "r.parquet"
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(OptionError, match="a whole number from 1 up"):
            randomize_file(STUDIES[0], source, target, threads=wrong)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="leave one out"):
        randomize_file(STUDIES[0], source, target, threads=2, seed=1)
    assert randomize_file(STUDIES[0], source, target, threads=1, seed=1) == 5


def test_a_seed_marks_the_file(tmp_path: Path) -> None:
    study = STUDIES[0]
    source = write(answers(10), tmp_path / "answers.csv")
    for seed, mark in ((None, b"true"), (0, b"false")):
        target = tmp_path / f"{seed}.parquet"
        randomize_file(study, source, target, seed=seed)
        metadata = pq.read_schema(target).metadata
        assert metadata[b"castell.secure"] == mark
        assert metadata[b"castell.digest"].decode() == study.digest
        loaded = Reports.load(target, study)
        assert loaded.secure == (seed is None)
        assert ("INSECURE" in repr(loaded)) == (seed is not None)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_with_one_respondent_and_with_none(suffix: str, tmp_path: Path) -> None:
    study = STUDIES[2]
    for rows in (1, 0):
        data = {name: column[:rows] for name, column in answers(1).items()}
        if rows == 0 and suffix == ".csv":
            source = tmp_path / "0.csv"
            source.write_text("a,b,c\n")
        else:
            source = write(data, tmp_path / f"{rows}{suffix}")
        assert randomize_file(study, source, tmp_path / "r.parquet") == rows
        loaded = Reports.load(tmp_path / "r.parquet", study)
        assert len(loaded) == rows
        assert len(loaded.columns) == 2


def bad_value(data: dict[str, list[Any]]) -> None:
    data["b"][-1] = 4


def missing_value(data: dict[str, list[Any]]) -> None:
    data["a"][-1] = None


def missing_column(data: dict[str, list[Any]]) -> None:
    del data["c"]


@pytest.mark.parametrize("spoil", [bad_value, missing_value, missing_column])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("before", [None, b"earlier reports"])
def test_an_error_leaves_nothing_behind(
    spoil: Callable[[dict[str, list[Any]]], None],
    suffix: str,
    before: bytes | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(castell.device.answer_file, "BATCH_ROWS", 30)
    data = answers(100)
    spoil(data)
    source, target = write(data, tmp_path / f"answers{suffix}"), tmp_path / "reports.parquet"
    if before:
        target.write_bytes(before)
    with pytest.raises(AnswerError, match=r"row 100|no column 'c'"):
        randomize_file(STUDIES[0], source, target)
    assert left_behind(tmp_path, source.name) == (["reports.parquet"] if before else [])
    if before:
        assert target.read_bytes() == before


def test_an_interruption_leaves_nothing_behind(tmp_path: Path) -> None:
    source = write(answers(100), tmp_path / "answers.csv")

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        randomize_file(STUDIES[0], source, tmp_path / "r.parquet", progress=interrupt)
    assert left_behind(tmp_path) == ["answers.csv"]


def test_a_target_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    source = write(answers(5), tmp_path / "answers.csv")
    with pytest.raises(ReportError, match="no folder"):
        randomize_file(STUDIES[0], source, tmp_path / "absent" / "r.parquet")
    with pytest.raises(AnswerError, match="no file"):
        randomize_file(STUDIES[0], tmp_path / "absent.csv", tmp_path / "r.parquet")
    with pytest.raises(OptionError, match="seed"):
        randomize_file(STUDIES[0], source, tmp_path / "r.parquet", seed=-1)
    assert left_behind(tmp_path) == ["answers.csv"]


def test_a_folder_as_the_target_is_refused(tmp_path: Path) -> None:
    source = write(answers(5), tmp_path / "answers.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ReportError):
        randomize_file(STUDIES[0], source, tmp_path / "folder")
    assert left_behind(tmp_path) == ["answers.csv", "folder"]
