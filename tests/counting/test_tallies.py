"""Tallies: kept, added, subtracted, and the same as the reports they count."""

import copy
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import castell.counting.folds
import castell.counting.tallies
from castell import Attribute, Reports, Schema, Study, scan_reports, tally
from castell.counting import MemoryCounts, Tally, folds_of, join_stages
from castell.counting.folds import Part
from castell.errors import ReportError
from tests.counting.test_engines import axes_of, random_reports, random_study


def _rows(counts: object) -> Counter[tuple[int, ...]]:
    widths = range(len(counts.study.design.widths))  # type: ignore[attr-defined]
    found: Counter[tuple[int, ...]] = Counter()
    for columns in counts.batches(widths):  # type: ignore[attr-defined]
        found.update(zip(*(column.tolist() for column in columns), strict=True))
    return found


@pytest.fixture(params=["narrow", "wide"])
def narrow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether all possible reports are counted in a table, or those that came are sorted."""
    if request.param == "wide":
        monkeypatch.setattr(castell.counting.tallies, "FEW_REPORTS", 1)
    return bool(request.param == "narrow")


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("rows", [0, 1, 300])
def test_a_tally_says_how_often_each_report_came(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(castell.counting.tallies, "ROW_GROUP", 7)
    reports = random_reports(random_study(4), rows, 4)
    expected = _rows(MemoryCounts(reports))
    found = tally(reports)
    assert (found.n, found.secure) == (rows, True)
    each = zip(*(column.tolist() for column in found.columns), strict=True)
    assert dict(zip(each, found.times.tolist(), strict=True)) == expected
    assert _rows(found) == expected
    assert all(len(columns[0]) <= 7 for columns in found.batches([0]))
    names = reports.study.names
    for asked in (names, names[:1], names[1:]):
        axes = axes_of(reports.study, asked)
        np.testing.assert_array_equal(found.table(axes), MemoryCounts(reports).table(axes))
    axes = axes_of(reports.study, names)
    np.testing.assert_array_equal(found.pairs(axes), MemoryCounts(reports).pairs(axes))


def test_more_columns_than_one_number_holds() -> None:
    """Sixty attributes of nine values are told apart by all of them."""
    schema = Schema(Attribute(f"a{i}", range(9)) for i in range(60))
    study = Study(schema, 60.0)
    random = np.random.default_rng(0)
    some = random.integers(0, 9, (60, 5))
    for place in (0, 31, 59):
        some[:, 1] = some[:, 0]
        some[place, 1] = (some[place, 0] + 1) % 9
        columns = [np.array([a, b, a, c]) for a, b, c in some[:, :3]]
        found = tally(Reports(study, columns, secure=True))
        assert sorted(found.times.tolist()) == [1, 1, 2]


@pytest.mark.usefixtures("narrow")
def test_days_are_added_and_taken_out() -> None:
    study = random_study(2)
    monday, tuesday = random_reports(study, 200, 2), random_reports(study, 90, 4)
    both = tally(monday) + tally(tuesday)
    assert _rows(both) == _rows(MemoryCounts(Reports.concat([monday, tuesday])))
    left = both - tally(monday)
    assert _rows(left) == _rows(MemoryCounts(tuesday))
    assert (both - both).n == 0
    assert (both - both + left).n == 90
    with pytest.raises(ReportError, match="are not there: subtract what was added"):
        tally(monday) - both
    with pytest.raises(ReportError, match="is no tally"):
        tally(monday) + 1
    with pytest.raises(ReportError, match="are of two studies"):
        tally(monday) + tally(random_reports(random_study(3), 5, 2))


def test_seeded_reports_mark_all_they_are_mixed_with() -> None:
    study = random_study(2)
    secure, seeded = tally(random_reports(study, 20, 2)), tally(random_reports(study, 20, 3))
    assert secure.secure
    assert not seeded.secure
    mixed = secure + seeded
    assert not mixed.secure
    assert not (mixed - seeded).secure
    assert "INSECURE" in repr(mixed)
    assert "INSECURE" not in repr(secure)


@pytest.mark.parametrize("seed", [2, 3])
def test_a_file_keeps_the_study_and_the_mark(seed: int, tmp_path: Path) -> None:
    reports = random_reports(random_study(seed), 300, seed)
    made = tally(reports)
    path = tmp_path / "monday.parquet"
    made.save(path)
    again = scan_reports(path, reports.study)
    assert isinstance(again, Tally)
    assert (again.n, again.secure) == (300, seed % 2 == 0)
    assert _rows(again) == _rows(made)
    with pytest.raises(ReportError, match="belongs to another study"):
        scan_reports(path, random_study(seed + 2))
    for twin in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):  # noqa: S301
        assert _rows(twin) == _rows(made)
    with pytest.raises(ReportError, match="there is no folder"):
        made.save(tmp_path / "no" / "t.parquet")


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("castell.times", 0, "less than once"),
        ("castell.times", -3, "less than once"),
        ("a0", 200, "is not a report"),
    ],
)
def test_a_damaged_file_is_refused(column: str, value: int, said: str, tmp_path: Path) -> None:
    reports = random_reports(random_study(2), 50, 2)
    table = tally(reports).to_arrow()
    place = table.column_names.index(column)
    codes = table.column(column).to_numpy().copy()
    codes[0] = value
    table = table.set_column(place, table.schema.field(place), pa.array(codes))
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(ReportError, match=said):
        scan_reports(tmp_path / "t.parquet", reports.study)


@pytest.mark.parametrize("rows", [1, 4, 500])
def test_folds_of_a_tally_are_those_of_its_reports(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = random_reports(random_study(2), rows, 2)
    monkeypatch.setattr(castell.counting.folds, "_STEP", 37)
    of_tally = folds_of(tally(reports))
    monkeypatch.setattr(castell.counting.tallies, "FEW_REPORTS", 1)
    of_reports = folds_of(MemoryCounts(reports))
    assert isinstance(of_reports[0].held_out, Part)
    for one, two in zip(of_tally, of_reports, strict=True):
        assert _rows(one.held_out) == _rows(two.held_out)
        assert _rows(one.training) == _rows(two.training)
        assert one.held_out.n + one.training.n == rows


def test_several_studies_have_no_tally_in_common() -> None:
    schema = Schema([Attribute("a", ["x", "y"])])
    first, then = Study(schema, 1.0), Study(schema, 2.0)
    parts = [MemoryCounts(s.randomize({"a": ["x", "y"]})) for s in (first, then)]
    with pytest.raises(ReportError, match="no tally in common"):
        tally(join_stages(parts))
    with pytest.raises(ReportError, match="a dict holds no reports"):
        tally({})  # type: ignore[arg-type]
