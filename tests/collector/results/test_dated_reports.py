"""The dated reports of a store: everything in it once, in the order of the hours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from castell import fit
from castell.collector.results.answer import solve
from castell.collector.results.dated_reports import DatedReports, period_tables, periods, read_store
from castell.collector.results.question import Question
from castell.collector.store import open_store
from castell.counting import Counts, samples_of
from castell.inference.inversion import observe
from castell.results.model import Model
from tests.collector.results.stores import (
    DAY,
    HOUR,
    MIDNIGHT,
    PAIRS,
    STUDY,
    fill_store,
    reports_of,
    spread,
)


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> DatedReports:
    reports = reports_of(600)
    store = fill_store(tmp_path_factory.mktemp("m") / "s.sqlite", reports, spread(600, 3))
    try:
        return read_store(store)
    finally:
        store.close()


def test_everything_is_there_once_and_in_the_order_of_the_hours(dated: DatedReports) -> None:
    reports = reports_of(600)
    hours = spread(600, 3)
    given = sorted(zip(hours.tolist(), *(c.tolist() for c in reports.columns), strict=True))
    kept = zip(dated.hours.tolist(), *(c.tolist() for c in dated.reports.columns), strict=True)
    assert sorted(kept) == given
    assert (np.diff(dated.hours) >= 0).all()
    assert dated.reports.secure is False


def test_the_timeline_is_the_stores(tmp_path: Path) -> None:
    store = fill_store(tmp_path / "s.sqlite", reports_of(200), spread(200, 2))
    assert read_store(store).timeline() == store.timeline()
    store.close()


def test_an_empty_store_has_a_moment_too(tmp_path: Path) -> None:
    store = open_store(tmp_path / "s.sqlite", STUDY)
    empty = read_store(store)
    store.close()
    assert empty.n == 0
    assert empty.timeline() == []
    assert len(empty.reports.columns) == 6


def test_periods_are_days_or_the_hours_of_one_day() -> None:
    days = periods(spread(900, 3))
    assert (days.unit, len(days.labels)) == ("day", 3)
    assert days.labels[0] == "2026-01-01"
    assert days.ends == ((0, 300), (300, 600), (600, 900))
    hours = periods(np.repeat(MIDNIGHT + HOUR * np.arange(4), 60))
    assert (hours.unit, len(hours.labels)) == ("hour", 4)
    assert hours.labels[3] == "2026-01-01 03:00"


def test_small_periods_are_put_together() -> None:
    counts = [10, 80, 30, 90, 5]
    found = periods(np.repeat(MIDNIGHT + DAY * np.arange(5), counts))
    # 10 joins the next day, 30 the one after it, and 5 the one before.
    assert found.ends == ((0, 90), (90, 215))
    assert found.labels == ("2026-01-01", "2026-01-03")
    assert periods(np.repeat([MIDNIGHT], 7)).ends == ((0, 7),)
    assert len(periods(spread(90_000, 90)).labels) == 30


def test_the_periods_tables_add_up_to_the_whole(dated: DatedReports) -> None:
    names = ["health", "age"]
    tables = period_tables(dated, names, periods(dated.hours))
    assert tables.shape[0] == 3
    assert (tables.sum(axis=0) == observe(dated.counts, names).table.ravel()).all()


def test_the_periods_tables_of_a_drawn_design_hold_all_blocks_that_know(tmp_path: Path) -> None:
    reports = reports_of(900, study=PAIRS)
    store = fill_store(tmp_path / "s.sqlite", reports, spread(900, 3))
    dated = read_store(store)
    store.close()
    tables = period_tables(dated, ["age", "health"], periods(dated.hours))
    blocks = [b for b in samples_of(dated.counts) if {"age", "health"} & set(b.study.names)]
    assert len(blocks) == 9
    known = [observe(b, [n for n in ("age", "health") if n in b.study.names]) for b in blocks]
    assert (tables.sum(axis=0) == np.concatenate([o.table.ravel() for o in known])).all()
    assert tables.sum() == sum(b.n for b in blocks)


def test_a_method_is_fitted_once_to_the_reports_of_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = fill_store(tmp_path / "s.sqlite", reports_of(300), spread(300, 2))
    dated, later = read_store(store), read_store(store)
    fits = []

    def counted(counts: Counts, method: str) -> Model:
        fits.append(method)
        return fit(counts, method)

    monkeypatch.setattr("castell.collector.results.dated_reports.fit", counted)
    for names in (("age",), ("smokes", "health")):
        for method in ("auto", "castell"):
            shown = solve(dated, Question(names, method))
            alone = fit(dated.counts, method).estimate(names)
            np.testing.assert_array_equal(shown.probabilities, alone.probabilities)
    solve(later, Question(("age",), "castell"))
    assert fits == ["auto", "castell", "castell"]
    store.close()
