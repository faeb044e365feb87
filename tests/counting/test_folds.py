"""Cross-validation folds: nobody is lost, nobody counts twice, and every split is the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2, chisquare, kstest

from castell import Reports, Study, scan_reports
from castell.counting import Counts, Factor, MemoryCounts
from castell.counting import counts as counting_counts
from castell.counting.folds import FOLDS, fold_of, folds_of, repetitions, report_keys
from castell.counting.tallies import Tally
from castell.inference.queries import factors
from castell.study.design import Axis
from tests.populations import collect, drawn_studies, population, rectangular, schema, studies

STUDIES = {**studies(), "rectangular": rectangular(), "pairs": drawn_studies()["pairs"]}
PEOPLE = population((2, 3, 4), seed=4)
each_design = pytest.mark.parametrize("design", STUDIES)


def _reports(design: str, n: int = 900) -> Reports:
    """In no order, as they come."""
    reports = collect(STUDIES[design], PEOPLE.table, n, np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(n)
    columns = [column[order] for column in reports.columns]
    return Reports(reports.study, columns, secure=True, backend="pandas")


def _parts(counts: Counts, fold: int = 0) -> tuple[Counts, Counts]:
    found = folds_of(counts)[fold]
    return found.training, found.held_out


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
    train, held = _parts(whole)
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
    for fold in _parts(whole):
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
        for fold, same in zip(_parts(whole), _parts(MemoryCounts(reports)), strict=True):
            assert rows(fold) == rows(fold) == rows(same)
            assert fold.n == same.n
            # One column alone: still the same people.
            last = np.concatenate([batch[0] for batch in fold.batches(columns[-1:])])
            assert last.tolist() == rows(same)[-1]
    # However many come at a time.
    wanted = [rows(fold) for fold in _parts(MemoryCounts(reports))]
    monkeypatch.setattr(counting_counts, "ROW_GROUP", 7)
    assert [rows(fold) for fold in _parts(MemoryCounts(reports))] == wanted


def test_how_many_are_held_out_and_by_whom() -> None:
    whole = MemoryCounts(_reports("independent", n=20_000))
    _, held = _parts(whole)
    # Six standard deviations of a fair deal.
    assert abs(held.n - whole.n / FOLDS) < 6 * np.sqrt(0.16 * whole.n)
    other = _parts(whole, fold=1)[1]
    axes = [Axis(2, 1, 4, inner=False)]
    assert (other.table(axes) != held.table(axes)).any()


def test_they_say_what_the_whole_says() -> None:
    whole = MemoryCounts(_reports("mixed"))
    for fold in _parts(whole):
        assert fold.study is whole.study
        assert (fold.secure, fold.backend) == (True, "pandas")


@pytest.mark.parametrize("n", [0, 1, 2])
def test_next_to_nobody(n: int) -> None:
    whole = MemoryCounts(_reports("independent", n=n))
    train, held = _parts(whole)
    axes = [Axis(0, 1, 2, inner=False)]
    assert train.n + held.n == n
    assert train.table(axes).sum() == train.n
    assert held.table(axes).sum() == held.n


@each_design
def test_the_order_of_reports_changes_no_fold(design: str) -> None:
    """The same reports in another order: the same tables in every fold."""
    reports = _reports(design)
    order = np.random.default_rng(7).permutation(len(reports))
    columns = [column[order] for column in reports.columns]
    other = MemoryCounts(Reports(reports.study, columns, secure=True))
    for fold in range(FOLDS):
        for one, two in zip(_parts(MemoryCounts(reports), fold), _parts(other, fold), strict=True):
            assert one.n == two.n
            for axes in _tables(reports.study):
                np.testing.assert_array_equal(one.table(axes), two.table(axes))


@each_design
def test_pair_tables_are_the_tables_of_pairs(design: str) -> None:
    whole = MemoryCounts(_reports(design))
    axes = [Axis(i, 1, width, inner=False) for i, width in enumerate(whole.study.design.widths)]
    ends = np.cumsum([0, *(axis.size for axis in axes)])
    for counts in (whole, *_parts(whole)):
        pairs = counts.pairs(axes)
        assert pairs.dtype == np.int64
        for i, one in enumerate(axes):
            own = pairs[ends[i] : ends[i + 1], ends[i] : ends[i + 1]]
            np.testing.assert_array_equal(own, np.diag(counts.table([one])))
            for k, two in enumerate(axes[:i]):
                found = pairs[ends[i] : ends[i + 1], ends[k] : ends[k + 1]]
                np.testing.assert_array_equal(found, counts.table([one, two]))


def test_equal_reports_are_parted_as_if_by_dice() -> None:
    """Neither kept together nor dealt in turn: a chi-square in the middle, for many contents."""
    many, contents = 2_000, 400
    statistics = []
    for content in range(contents):
        keys = report_keys([np.full(many, content), np.full(many, 3)])
        found = np.bincount(fold_of(keys, repetitions(keys)), minlength=FOLDS)
        statistics.append(((found - many / FOLDS) ** 2 / (many / FOLDS)).sum())
    # Four degrees of freedom each: mean 4, variance 8. Dealt in turn they would all be 0.
    distance = kstest(statistics, chi2(FOLDS - 1).cdf)
    assert distance.pvalue > 1e-6
    total = sum(statistics)
    assert abs(total - 4 * contents) < 6 * np.sqrt(8 * contents)


def test_different_reports_fall_into_folds_independently() -> None:
    """Neighbouring contents, one report of each: pairs of folds are uniform."""
    codes = np.arange(100_000)
    found = fold_of(report_keys([codes // 300, codes % 300]), np.zeros(len(codes), dtype=np.int64))
    for gap in (1, 2, 300):
        pairs = np.bincount(found[:-gap].astype(int) * FOLDS + found[gap:], minlength=FOLDS**2)
        assert chisquare(pairs).pvalue > 1e-6


def test_keys_tell_reports_apart() -> None:
    one, two = (part.ravel() for part in np.mgrid[:1000, :1000])
    assert len(np.unique(report_keys([one, two]))) == 1_000_000


def test_repetitions() -> None:
    keys = np.array([5, 3, 5, 5, 3, 9])
    assert repetitions(keys).tolist() == [0, 0, 1, 2, 1, 0]
    assert repetitions(keys[:0]).tolist() == []


def test_expected_numbers_are_parted_though_they_are_not_whole() -> None:
    """Twelve people over eight kinds of reports, 1.49999... each and one cell less than none."""
    study = Study(schema((2, 4)), epsilon=2.0)
    times = np.array([[1.4999999, 2.25, -0.01, 1.0], [0.2600001, 3.0, 2.0, 2.0]])
    whole = Tally.of_table(study, times, secure=False)
    parts = folds_of(whole)
    assert sum(fold.held_out.n for fold in parts) == whole.n == 12
    again = Tally.of_table(study, np.rint(np.abs(times)).astype(np.int64), secure=False)
    assert sum(fold.held_out.n for fold in folds_of(again)) == again.n
