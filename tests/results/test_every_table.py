"""Every table of some width: what asking one by one says, from one pass over the reports."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import castell
import castell.results.every_table
from castell import Reports
from castell.counting.counts import MemoryCounts, count_ahead, count_once
from castell.counting.kernels import PairSum, TableSum
from castell.errors import OptionError, QueryError
from tests.contract.designs import STUDIES
from tests.counting.test_engines import axes_of, random_reports, random_study
from tests.populations import collect, population


def _reports(design: str, n: int = 400) -> Reports:
    study = STUDIES[design]
    return collect(study, population(study.schema.sizes, 4).table, n, np.random.default_rng(3))


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize(
    ("method", "design"),
    [
        ("castell", "independent"),
        ("castell", "mixed"),
        ("castell", "sets"),
        ("castell", "drawn pairs"),
        ("independent", "drawn singles"),
        ("auto", "independent"),
        ("latent", "drawn cover"),
    ],
)
def test_all_tables_are_those_asked_for_one_by_one(method: str, design: str, width: int) -> None:
    reports = _reports(design)
    every = castell.fit(reports, method).estimate_all(width)
    alone = castell.fit(reports, method)
    names = reports.study.names
    wanted = list(combinations(names, width))
    if method == "castell" and reports.study.design.draw:
        wanted = [some for some in wanted if reports.study.design.holders(some)]
    assert list(every) == wanted
    assert len(every) == len(wanted)
    for some in wanted:
        mine, theirs = every[some], alone.estimate(some)
        np.testing.assert_array_equal(mine.probabilities, theirs.probabilities)
        np.testing.assert_array_equal(mine.conf_int(), theirs.conf_int())
        assert every[some] is mine
    if wanted and width > 1:
        assert every[wanted[0][::-1]].names == wanted[0][::-1]


def _counting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    passes: list[str] = []
    batches = MemoryCounts.batches

    def listen(counts: MemoryCounts, blocks: Any) -> Any:
        passes.append("pass")
        return batches(counts, blocks)

    monkeypatch.setattr(MemoryCounts, "batches", listen)
    return passes


@pytest.mark.parametrize("width", [2, 3])
def test_one_pass_counts_them_all(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = _counting(monkeypatch)
    every = castell.fit(_reports("independent"), "castell").estimate_all(width)
    for joint in every.values():
        joint.conf_int()
    assert passes == ["pass"]


def test_many_cells_take_more_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = _reports("independent")
    whole = castell.fit(reports, "castell").estimate_all(2)
    monkeypatch.setattr(castell.results.every_table, "MOST_CELLS_IN_A_PASS", 9)
    passes = _counting(monkeypatch)
    every = castell.fit(reports, "castell").estimate_all(2)
    for names, joint in every.items():
        np.testing.assert_array_equal(joint.probabilities, whole[names].probabilities)
    assert len(passes) > 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("entry", [0.0, 1e9], ids=["matrix", "tables"])
def test_pairs_are_counted_either_way(
    seed: int, entry: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("castell.counting.counts._ENTRY", entry)
    reports = random_reports(random_study(seed), 300, seed)
    axes = axes_of(reports.study, reports.study.names)
    tables = [(a,) for a in axes] + list(combinations(axes, 2)) + [(axes[-1], axes[0])]
    ahead, plain = MemoryCounts(reports), MemoryCounts(reports)
    count_ahead(ahead, tables)
    for some in tables:
        np.testing.assert_array_equal(count_once(ahead, some), plain.table(some))


def test_sums_that_are_sent_begin_at_nothing() -> None:
    import pickle

    reports = random_reports(random_study(4), 30, 4)
    axes = axes_of(reports.study, reports.study.names)
    for total in (TableSum([axes]), PairSum(axes)):
        MemoryCounts(reports).add_up(total)
        assert sum(int(array.sum()) for array in total.arrays)
        sent = pickle.loads(pickle.dumps(total))  # noqa: S301
        assert not sum(int(array.sum()) for array in sent.arrays)


def test_what_cannot_be_asked_is_refused() -> None:
    model = castell.fit(_reports("independent"), "castell")
    for width in (0, 4, 2.0, "two", True):
        with pytest.raises(QueryError, match="width is"):
            model.estimate_all(width)  # type: ignore[arg-type]
    with pytest.raises(OptionError):
        model.estimate_all(2, post="no such")
    every = model.estimate_all(2)
    for names in (("a",), ("a", "no"), ("a", "a"), ("a", "b", "c")):
        assert names not in every
        with pytest.raises(KeyError):
            every[names]


def test_all_cells_are_one_frame(tmp_path: Path) -> None:
    del tmp_path
    every = castell.fit(_reports("independent"), "castell").estimate_all(2)
    frame = every.to_frame("polars")
    assert frame.columns == [
        "attribute_1",
        "value_1",
        "attribute_2",
        "value_2",
        "probability",
        "standard_error",
        "lower",
        "upper",
    ]
    assert len(frame) == 2 * 3 + 2 * 4 + 3 * 4
    row = frame.row(7, named=True)
    joint = every[(row["attribute_1"], row["attribute_2"])]
    cell = {row["attribute_1"]: row["value_1"], row["attribute_2"]: row["value_2"]}
    assert joint.probability(**cell) == row["probability"]
    assert repr(every) == "<JointEstimates of 3 sets of 2 attributes>"
