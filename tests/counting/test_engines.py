"""Integer tables and moments of reports: every engine against a loop over the reports."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import castell
import castell.counting.counts
import castell.reports.parquet
from castell import Attribute, MatrixResponse, Reports, Schema, Study
from castell.counting import Counts, Factor, MemoryCounts, scan_reports, tally
from castell.errors import ReportError, TableTooLargeError
from castell.study.design import Axis

Digits = dict[str, list[int]]


def random_reports(study: Study, rows: int, seed: int) -> Reports:
    """Any codes that could be reports, unevenly: some cells stay empty."""
    random = np.random.default_rng(seed)
    columns = []
    for block in study.design.blocks:
        outputs = block.channel.outputs
        columns.append(np.minimum(random.geometric(min(0.5, 4 / outputs), rows) - 1, outputs - 1))
    return Reports(study, columns, secure=seed % 2 == 0)


def random_study(seed: int) -> Study:
    """Unequal domains, clusters in a random order, and an asymmetric matrix."""
    random = np.random.default_rng(seed)
    sizes = random.integers(2, 6, random.integers(2, 6))
    names = [f"a{i}" for i in range(len(sizes))]
    schema = Schema(Attribute(n, range(size)) for n, size in zip(names, sizes, strict=True))
    alone = names[0]
    rest = [str(name) for name in random.permutation(names[1:])]
    cut = int(random.integers(0, len(rest) + 1))
    clusters = [part for part in (rest[:cut], rest[cut:]) if part]
    size = schema[alone].size
    matrix = random.integers(1, 9, (size, size)) + 20 * np.eye(size, dtype=int)
    matrix[:, -1] += matrix.sum(axis=1).max() - matrix.sum(axis=1)
    channels = {alone: MatrixResponse(matrix.tolist())}
    return Study(schema, 20.0, clusters, channels=channels)


def digits_of(reports: Reports) -> Digits:
    """What each report says about each attribute, by divmod from the last attribute up."""
    digits: Digits = {}
    for block, column in zip(reports.study.design.blocks, reports.columns, strict=True):
        left = [int(code) for code in column]
        for name, size in reversed(list(zip(block.names, block.sizes, strict=True))):
            digits[name] = [code % size for code in left]
            left = [code // size for code in left]
    return digits


def axes_of(study: Study, names: Sequence[str]) -> list[Axis]:
    axes: list[Axis] = []
    for name in names:
        (index,) = study.design.holders(name)
        axes += study.design.blocks[index].axes(index, [name])
    return axes


def counted(digits: Digits, study: Study, names: Sequence[str]) -> Any:
    table = np.zeros([study.schema[name].size for name in names], dtype=np.int64)
    for cell, count in Counter(zip(*(digits[name] for name in names), strict=True)).items():
        table[cell] = count
    return table


def engines(reports: Reports, folder: Path) -> Iterator[Counts]:
    yield MemoryCounts(reports)
    path = folder / "reports.parquet"
    reports.save(path)
    yield scan_reports(path, reports.study)


@pytest.fixture(params=[1 << 20, 7], ids=["one group", "many groups"])
def group(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many rows a file holds in one piece."""
    monkeypatch.setattr(castell.reports.parquet, "ROW_GROUP", request.param)
    return int(request.param)


# -- tables ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [0, 1, 50])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.usefixtures("group")
def test_tables_of_any_attributes_in_any_order(seed: int, rows: int, tmp_path: Path) -> None:
    study = random_study(seed)
    reports = random_reports(study, rows, seed)
    digits = digits_of(reports)
    for counts in engines(reports, tmp_path):
        assert (counts.n, counts.study, counts.secure) == (rows, study, seed % 2 == 0)
        assert counts.backend is None
        for width in range(1, 4):
            for chosen in combinations(study.names, width):
                for names in permutations(chosen):
                    table = counts.table(axes_of(study, names))
                    assert table.dtype == np.int64
                    np.testing.assert_array_equal(table, counted(digits, study, names))
        whole = counts.table(axes_of(study, study.names))
        assert whole.sum() == rows


@pytest.mark.parametrize("sizes", [(7,), (3, 50), (40, 25, 40)])
def test_more_reports_than_one_step_holds(sizes: tuple[int, ...], tmp_path: Path) -> None:
    """Small tables are counted in steps that fit the cache, large ones in longer ones."""
    schema = Schema(Attribute(f"a{i}", range(size)) for i, size in enumerate(sizes))
    study = Study(schema, 6.0, [list(schema.names[1:])] if len(sizes) > 1 else "independent")
    reports = random_reports(study, 200_003, 1)
    expected = counted(digits_of(reports), study, study.names)
    assert prod(sizes) < 65_536
    for counts in engines(reports, tmp_path):
        np.testing.assert_array_equal(counts.table(axes_of(study, study.names)), expected)


def test_pairs_of_too_many_values_are_refused_before_there_is_no_memory() -> None:
    study = Study(Schema([Attribute("page", range(70_000)), Attribute("b", ["x", "y"])]), 8.0)
    reports = study.randomize({"page": [1, 2], "b": ["x", "y"]}, seed=1)
    with pytest.raises(TableTooLargeError, match=r"the pairs of .* values have .*: use a method"):
        castell.fit(reports).estimate("b")
    assert castell.fit(reports, "castell").estimate("b").n == 2


@pytest.mark.parametrize("cores", [1, 3])
def test_pairs_of_more_reports_than_one_thread_takes(
    cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("castell.counting.kernels.usable_cores", lambda: cores)
    study = random_study(4)
    reports = random_reports(study, 150_001, 4)
    axes = axes_of(study, study.names)
    every = MemoryCounts(reports)
    found, ends = every.pairs(axes), np.cumsum([0, *(axis.size for axis in axes)])
    for (i, one), (k, two) in product(enumerate(axes), repeat=2):
        block = found[ends[i] : ends[i + 1], ends[k] : ends[k + 1]]
        np.testing.assert_array_equal(block, every.table([one, two]))
    np.testing.assert_array_equal(tally(reports).pairs(axes), found)


def test_an_attribute_counted_with_itself_lies_on_the_diagonal(tmp_path: Path) -> None:
    study = random_study(3)
    reports = random_reports(study, 40, 3)
    name = study.names[1]
    for counts in engines(reports, tmp_path):
        (axis,) = axes_of(study, [name])
        np.testing.assert_array_equal(counts.table([axis, axis]), np.diag(counts.table([axis])))


@pytest.mark.parametrize("position", [0, 1])
def test_more_reports_than_answers_are_each_counted(position: int, tmp_path: Path) -> None:
    """A channel with three reports for two answers: none is lost or put in another cell."""
    schema = Schema([Attribute("a", ["x", "y"]), Attribute("b", ["x", "y"])])
    wide = MatrixResponse([[7, 2, 1], [1, 2, 7]])
    study = Study(schema, 5.0, channels={schema.names[position]: wide})
    codes = [[0, 2, 1, 2, 2, 0], [0, 0, 1, 0, 0, 1]]
    if position == 1:
        codes.reverse()
    expected = np.zeros((3, 2) if position == 0 else (2, 3), dtype=np.int64)
    for cell in zip(*codes, strict=True):
        expected[cell] += 1
    reports = Reports(study, [np.array(column) for column in codes], secure=True)
    for counts in engines(reports, tmp_path):
        np.testing.assert_array_equal(counts.table(axes_of(study, ["a", "b"])), expected)


# -- moments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [0, 1, 60])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.usefixtures("group")
def test_moments_are_means_over_the_reports(seed: int, rows: int, tmp_path: Path) -> None:
    study = random_study(seed)
    reports = random_reports(study, rows, seed)
    digits = digits_of(reports)
    random = np.random.default_rng(seed)
    # Queries of one to three factors, each over one or two attributes, shared or not.
    queries: list[list[tuple[list[str], Any]]] = []
    for _ in range(4):
        query = []
        for _ in range(random.integers(1, 4)):
            names = [str(name) for name in random.permutation(study.names)[:2]]
            values = random.normal(size=[study.schema[name].size for name in names])
            query.append((names, values))
        queries.append(query)
    rowwise = np.ones((rows, len(queries)))
    for row in range(rows):
        for i, query in enumerate(queries):
            for names, values in query:
                rowwise[row, i] *= values[tuple(digits[name][row] for name in names)]
    mean, product = np.zeros(len(queries)), np.zeros((len(queries), len(queries)))
    for line in rowwise:
        mean += line / rows
        product += np.outer(line, line) / rows
    asked = [
        [Factor(tuple(axes_of(study, names)), values.ravel()) for names, values in query]
        for query in queries
    ]
    for counts in engines(reports, tmp_path):
        moments = counts.moments(asked)
        assert moments.n == rows
        np.testing.assert_allclose(moments.mean, mean, atol=1e-12)
        np.testing.assert_allclose(moments.product, product, atol=1e-12)


def test_moments_of_more_reports_than_one_step_holds(tmp_path: Path) -> None:
    study = random_study(2)
    reports = random_reports(study, 150_001, 2)
    name = study.names[-1]
    values = np.random.default_rng(0).normal(size=study.schema[name].size)
    per_report = values[np.array(digits_of(reports)[name])]
    for counts in engines(reports, tmp_path):
        moments = counts.moments([[Factor(tuple(axes_of(study, [name])), values)]])
        assert moments.n == 150_001
        np.testing.assert_allclose(moments.mean, [per_report.mean()], rtol=1e-10)
        np.testing.assert_allclose(moments.product, [[(per_report**2).mean()]], rtol=1e-10)


# -- the reports themselves ------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [0, 1, 50])
@pytest.mark.usefixtures("group")
def test_batches_hold_the_columns_asked_for_in_the_order_asked(rows: int, tmp_path: Path) -> None:
    study = random_study(4)
    reports = random_reports(study, rows, 4)
    last = len(study.design.blocks) - 1
    assert last > 0
    for counts in engines(reports, tmp_path):
        for blocks in ([0], [last, 0], list(range(last + 1))):
            found = list(counts.batches(blocks))
            assert all(len(columns) == len(blocks) for columns in found)
            assert sum(len(columns[0]) for columns in found) == rows
            for place, block in enumerate(blocks):
                column = [int(code) for columns in found for code in columns[place]]
                assert column == reports.columns[block].tolist()


def test_batches_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (castell.reports.parquet, castell.counting.counts):
        monkeypatch.setattr(module, "ROW_GROUP", 7)
    reports = random_reports(random_study(4), 50, 4)
    for counts in engines(reports, tmp_path):
        assert max(len(columns[0]) for columns in counts.batches([0])) == 7


# -- files -----------------------------------------------------------------------------------------


def test_only_what_is_asked_for_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(castell.reports.parquet, "ROW_GROUP", 4)
    study = random_study(4)
    reports = random_reports(study, 10, 4)
    path = tmp_path / "reports.parquet"
    reports.save(path)
    heard: list[float] = []
    asked: list[list[int]] = []
    batches = castell.reports.parquet.ReportFile.batches

    def listen(
        file: castell.reports.parquet.ReportFile, blocks: Sequence[int], groups: Any
    ) -> Iterator[list[Any]]:
        asked.append(list(blocks))
        return batches(file, blocks, groups)

    monkeypatch.setattr(castell.reports.parquet.ReportFile, "batches", listen)
    counts = scan_reports(path, study, progress=heard.append)
    last = study.design.blocks[-1].names[0]
    counts.table(axes_of(study, [last]))
    assert heard == [0.4, 0.8, 1.0]
    assert asked == [[len(study.design.blocks) - 1]]


def test_a_file_that_changed_under_a_scan_is_refused(tmp_path: Path) -> None:
    study = Study(Schema([Attribute("a", [0, 1])]), 1.0)
    path = tmp_path / "reports.parquet"
    study.randomize({"a": ["0", "1"]}).save(path)
    scan = scan_reports(path, study)
    axes = study.design.blocks[0].axes(0, ["a"])
    assert scan.table(axes).sum() == 2
    study.randomize({"a": ["0", "1"]}, seed=1).save(path)
    with pytest.raises(ReportError, match="was changed since"):
        scan.table(axes)


def test_a_table_of_reports_that_cannot_be_held_is_refused() -> None:
    wide = MatrixResponse([[2, *[1] * 2999], [*[1] * 2999, 2]])
    asked = Schema(Attribute(name, [0, 1]) for name in "abc")
    study = Study(asked, channels=dict.fromkeys("abc", wide))
    reports = study.randomize({name: ["0", "1"] for name in "abc"})
    with pytest.raises(TableTooLargeError, match="reports of a x b x c"):
        castell.estimate(reports, ["a", "b", "c"], "castell")
