"""Cross-validation folds: nobody is lost, nobody counts twice, and every split is the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from castell import Reports, Study, scan_reports
from castell.counting import Counts, Factor, MemoryCounts
from castell.counting import memory as memory_counts
from castell.counting.folds import FOLDS, split_fold
from castell.inference.inversion import factors
from castell.study.design import Axis
from tests.populations import collect, drawn_studies, population, rectangular, studies

STUDIES = {**studies(), "rectangular": rectangular(), "pairs": drawn_studies()["pairs"]}
PEOPLE = population((2, 3, 4), seed=4)
each_design = pytest.mark.parametrize("design", STUDIES)


def _reports(design: str, n: int = 900) -> Reports:
    """In no order, as they come."""
    reports = collect(STUDIES[design], PEOPLE.table, n, np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(n)
    columns = [column[order] for column in reports.columns]
    return Reports(reports.study, columns, secure=True, backend="pandas")


def _tables(study: Study) -> list[list[Axis]]:
    """Single columns, and all of them together."""
    whole = [Axis(i, 1, width, inner=False) for i, width in enumerate(study.design.widths)]
    tables = [[axis] for axis in whole]
    if len(whole) > 1:
        tables.append(whole[::-1])
    if not study.design.draw:
        tables += [list(b.axes(i, b.names[-1:])) for i, b in enumerate(study.design.blocks)]
    return tables


def _queries(study: Study) -> list[list[Factor]]:
    return [
        factors(study, {"a": np.array([0]), "c": np.array([1, 3])}),
        factors(study, {"b": np.array([2])}),
    ]


@each_design
def test_the_parts_add_up_to_the_whole(design: str) -> None:
    whole = MemoryCounts(_reports(design))
    train, held = split_fold(whole)
    assert train.n + held.n == whole.n
    for axes in _tables(whole.study):
        one, two = train.table(axes), held.table(axes)
        assert (one.sum(), two.sum()) == (train.n, held.n)
        assert one.dtype == two.dtype == np.int64
        np.testing.assert_array_equal(one + two, whole.table(axes))
    if not whole.study.design.draw:
        queries = _queries(whole.study)
        every, first, second = (counts.moments(queries) for counts in (whole, train, held))
        assert (first.n, second.n) == (train.n, held.n)
        for name in ("mean", "product"):
            both = first.n * getattr(first, name) + second.n * getattr(second, name)
            np.testing.assert_allclose(both, whole.n * getattr(every, name), rtol=1e-12)


@each_design
def test_tables_and_moments_are_those_of_the_reports_dealt(design: str) -> None:
    whole = MemoryCounts(_reports(design))
    columns = range(len(whole.study.design.widths))
    for fold in split_fold(whole):
        batches = list(fold.batches(columns))
        rows = [np.concatenate(parts) for parts in zip(*batches, strict=True)]
        alone = MemoryCounts(Reports(whole.study, rows, secure=True))
        assert alone.n == fold.n
        for axes in _tables(whole.study):
            np.testing.assert_array_equal(fold.table(axes), alone.table(axes))
        if not whole.study.design.draw:
            queries = _queries(whole.study)
            np.testing.assert_allclose(fold.moments(queries).mean, alone.moments(queries).mean)


@each_design
def test_every_pass_deals_alike_whatever_is_asked(
    design: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = _reports(design)
    reports.save(tmp_path / "reports.parquet")
    columns = list(range(len(reports.columns)))

    def rows(counts: Counts) -> list[list[int]]:
        return [
            np.concatenate(parts).tolist() for parts in zip(*counts.batches(columns), strict=True)
        ]

    for whole in (MemoryCounts(reports), scan_reports(tmp_path / "reports.parquet", reports.study)):
        for fold, same in zip(split_fold(whole), split_fold(MemoryCounts(reports)), strict=True):
            assert rows(fold) == rows(fold) == rows(same)
            assert fold.n == same.n
            # One column alone: still the same people.
            last = np.concatenate([batch[0] for batch in fold.batches(columns[-1:])])
            assert last.tolist() == rows(same)[-1]
    # However many come at a time.
    wanted = [rows(fold) for fold in split_fold(MemoryCounts(reports))]
    monkeypatch.setattr(memory_counts, "ROW_GROUP", 7)
    assert [rows(fold) for fold in split_fold(MemoryCounts(reports))] == wanted


def test_how_many_are_held_out_and_by_whom() -> None:
    whole = MemoryCounts(_reports("independent", n=20_000))
    _, held = split_fold(whole)
    # Six standard deviations of a fair deal.
    assert abs(held.n - whole.n / FOLDS) < 6 * np.sqrt(0.16 * whole.n)
    other = split_fold(whole, fold=1)[1]
    axes = [Axis(2, 1, 4, inner=False)]
    assert (other.table(axes) != held.table(axes)).any()


def test_they_say_what_the_whole_says() -> None:
    whole = MemoryCounts(_reports("mixed"))
    for fold in split_fold(whole):
        assert fold.study is whole.study
        assert (fold.secure, fold.backend) == (True, "pandas")


@pytest.mark.parametrize("n", [0, 1, 2])
def test_next_to_nobody(n: int) -> None:
    whole = MemoryCounts(_reports("independent", n=n))
    train, held = split_fold(whole)
    axes = [Axis(0, 1, 2, inner=False)]
    assert train.n + held.n == n
    assert train.table(axes).sum() == train.n
    assert held.table(axes).sum() == held.n
