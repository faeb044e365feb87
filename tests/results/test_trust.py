"""Trust signals, each against an oracle, and each tripped by a collection that deserves it."""

from __future__ import annotations

import itertools
from math import e, prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from castell import Attribute, Reports, Schema, Study, estimate
from castell.counting import MemoryCounts
from castell.inference.chisquare import tail
from castell.inference.inversion import Observed, observe
from castell.population import SCHEMA, health_survey
from castell.results.trust import (
    Sight,
    below_noise,
    contributions,
    drift,
    homogeneity,
    influence,
    negative_mass,
    points,
    shifts,
    sights,
    signals,
    standard_errors,
)

SMALL = Schema(
    [
        Attribute("a", ["x", "y"]),
        Attribute("b", ["p", "q", "r"]),
        Attribute("c", ["u", "v"]),
        Attribute("d", ["k", "l", "m"]),
    ]
)
# An asymmetric matrix with more reports than answers, a cluster, and a plain block.
MIXED = Study(
    SMALL,
    epsilon=6.0,
    design=[["b", "c"], ["a"], ["d"]],
    channels={"a": [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]]},
)


def _answers(n: int, seed: int = 1) -> dict[str, NDArray[Any]]:
    rng = np.random.default_rng(seed)
    return {a.name: np.array(a.values, dtype=object)[rng.integers(a.size, size=n)] for a in SMALL}


def _sight(reports: Reports, *names: str) -> Sight:
    (seen,) = sights(MemoryCounts(reports), names)
    return seen


def _observed(reports: Reports, *names: str) -> Observed:
    return observe(MemoryCounts(reports), names)


# -- chi-square ----------------------------------------------------------------------------------


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 30, 101, 999])
def test_the_tail_is_that_of_chi_square(freedom: int) -> None:
    for statistic in (0.01, 0.5, 1.0, freedom * 0.5, freedom * 1.0, freedom * 1.5, freedom + 60.0):
        known = stats.chi2.sf(statistic, freedom)
        assert tail(statistic, freedom) == pytest.approx(known, rel=1e-9, abs=1e-300)
    assert tail(0.0, freedom) == 1.0


def test_homogeneity_is_pearsons_test() -> None:
    table = np.array([[30, 50, 20], [45, 60, 45], [10, 31, 12]])
    known = stats.chi2_contingency(table, correction=False)
    found = homogeneity(table)
    assert found.statistic == pytest.approx(known.statistic)
    assert found.freedom == known.dof
    assert found.p == pytest.approx(known.pvalue)


def test_rare_reports_are_pooled_and_empty_periods_dropped() -> None:
    table = np.array([[300, 200, 1, 2, 0], [310, 190, 2, 1, 3], [0, 0, 0, 0, 0]])
    known = stats.chi2_contingency([[300, 200, 3], [310, 190, 6]], correction=False)
    # Three rare columns together still expect fewer than five: they join the one before.
    pooled = stats.chi2_contingency([[300, 203], [310, 196]], correction=False)
    found = homogeneity(table)
    assert found.freedom == 1
    assert found.statistic == pytest.approx(pooled.statistic)
    wider = homogeneity(table * np.array([1, 1, 3, 3, 3]))
    assert wider.freedom == known.dof
    assert homogeneity(np.array([[5, 5]])).p == 1.0
    assert homogeneity(np.array([[5, 0], [7, 0]])).p == 1.0


# -- drift ---------------------------------------------------------------------------------------


def _days(study: Study, shares: list[float], seed: int, n: int = 4000) -> NDArray[Any]:
    """Report tables of some days, on each of which some share says the last value."""
    rng = np.random.default_rng(seed)
    rows = []
    for day, share in enumerate(shares):
        answers = _answers(n, seed=100 * seed + day)
        moved = rng.random(n) < share
        answers["d"] = np.where(moved, "m", answers["d"])
        reports = study.randomize(answers, seed=1000 * seed + day)
        rows.append(_observed(reports, "a", "d").table.ravel())
    return np.array(rows)


def test_a_steady_collection_does_not_drift_and_p_is_uniform() -> None:
    ps = []
    for seed in range(120):
        tables = _days(MIXED, [0.1, 0.1, 0.1], seed, n=500)
        signal = drift(tables, ["mon", "tue", "wed"], "day")
        ps.append(signal.numbers["p"])
    assert stats.kstest(ps, "uniform").pvalue > 1e-6
    assert sum(p < 1e-3 for p in ps) <= 4


def test_a_drifting_collection_is_seen_and_its_day_named() -> None:
    signal = drift(_days(MIXED, [0.0, 0.0, 0.5, 0.0], 7), ["mon", "tue", "wed", "thu"], "day")
    assert signal.state == "look"
    assert "wed stands out" in signal.text
    assert "chi-square" in signal.method
    assert "p < 0.0001" in signal.method


def test_sparse_tables_are_pooled_and_still_tested() -> None:
    rng = np.random.default_rng(5)
    shares = rng.dirichlet(np.ones(500))
    # Thirty days of sixty reports over five hundred cells: no cell alone expects enough.
    ps = [homogeneity(rng.multinomial(60, shares, size=30)).p for _ in range(400)]
    assert stats.kstest(ps, "uniform").pvalue > 1e-6
    moved = np.concatenate([shares[:250] * 0.4, shares[250:] * 1.6])
    days = rng.multinomial(60, shares, size=30)
    days[-10:] = rng.multinomial(60, moved / moved.sum(), size=10)
    assert homogeneity(days).p < 1e-3


def test_periods_too_small_to_compare_are_not_called_alike() -> None:
    signal = drift(np.array([[1, 1], [1, 2]]), ["mon", "tue"], "day")
    assert signal.state == "unknown"
    assert "too few reports in each day" in signal.text


def test_one_period_says_nothing() -> None:
    signal = drift(np.array([[5, 7]]), ["mon"], "hour")
    assert signal.state == "unknown"
    assert "one hour" in signal.text


# -- influence -----------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("a",), ("d", "a"), ("b",), ("c", "b"), ("a", "d", "c")])
def test_shifts_are_what_adding_the_worst_report_does(names: tuple[str, ...]) -> None:
    reports = MIXED.randomize(_answers(400), seed=3)
    seen = _sight(reports, *names)
    before = seen.raw.unprocessed
    worst = np.zeros(before.shape)
    for codes in itertools.product(*(range(b.channel.outputs) for b in MIXED.design.blocks)):
        columns = [np.append(c, code) for c, code in zip(reports.columns, codes, strict=True)]
        after = _observed(Reports(MIXED, columns, secure=False), *names).invert()
        worst = np.maximum(worst, np.abs(after - before))
    assert shifts(seen) == pytest.approx(worst, abs=1e-12)


# Blocks that overlap, one of them with many more reports than answers.
DRAWN = Study(SMALL, epsilon=3.0, design=[["a", "b", "d"], ["a", "b"], ["b", "c"]], draw=True)


@pytest.mark.parametrize("names", [("a",), ("b",), ("b", "a"), ("d", "a"), ("a", "d", "b")])
def test_shifts_of_a_drawn_design_are_those_of_the_worst_report_too(names: tuple[str, ...]) -> None:
    reports = DRAWN.randomize(_answers(600), seed=3)
    seen = _sight(reports, *names)
    assert sum(weight for weight, _ in seen.views) == pytest.approx(1.0)
    before = seen.raw.unprocessed
    assert before == pytest.approx(estimate(reports, names, "castell").unprocessed)
    worst = np.zeros(before.shape)
    for code in range(DRAWN.design.widths[0]):
        columns = [np.append(reports.columns[0], code)]
        after = estimate(Reports(DRAWN, columns, secure=False), names, "castell").unprocessed
        worst = np.maximum(worst, np.abs(after - before))
    assert shifts(seen) == pytest.approx(worst, abs=1e-12)


def test_a_report_counts_in_a_drawn_design_as_check_states() -> None:
    study = Study(SMALL, epsilon=3.0, design="pairs")
    reports = study.randomize(_answers(60_000), seed=1)
    for stated in study.statement().exposures:
        seen = _sight(reports, stated.name)
        most = [len(reports) * w / o.n * max(map(np.max, contributions(o))) for w, o in seen.views]
        assert max(most) == pytest.approx(stated.influence, rel=0.05)


def test_what_nobody_reported_together_is_looked_at_in_parts() -> None:
    reports = DRAWN.randomize(_answers(3000), seed=1)
    seen = sights(MemoryCounts(reports), ["c", "d", "b", "a"])
    assert [sight.raw.names for sight in seen] == [("c", "b"), ("d", "b", "a")]
    joint = estimate(reports, ["c", "d", "b", "a"], "latent")
    found = {signal.key: signal for signal in signals(MemoryCounts(reports), joint)}
    assert {signal.state for signal in found.values()} <= {"fine", "look"}
    for key in ("negative", "influence"):
        assert "2 tables of 3 attributes or fewer" in found[key].text
    singles = Study(SMALL, epsilon=3.0, design="singles").randomize(_answers(500), seed=1)
    parts = sights(MemoryCounts(singles), ["a", "b"])
    assert "2 tables of single attributes" in influence(*parts).text


def test_blocks_that_nobody_has_drawn_yet_are_left_out() -> None:
    columns = [np.zeros(50, dtype=np.int64)]  # the first block, over and over
    seen = sights(MemoryCounts(Reports(DRAWN, columns, secure=False)), ["b", "c"])
    assert [sight.raw.names for sight in seen] == [("b",)]


def test_a_check_that_cannot_be_made_says_why() -> None:
    study = Study(SMALL, epsilon=4.0, design="bloom")
    reports = study.randomize(_answers(500), seed=1)
    joint = estimate(reports, ["a", "b"], "lopub")
    found = {signal.key: signal for signal in signals(MemoryCounts(reports), joint)}
    assert found["errors"].state != "unknown"
    assert {found[key].state for key in ("negative", "influence")} == {"unknown"}
    assert "Bloom filters" in found["negative"].text


def test_the_weight_of_a_report_is_the_product_of_the_blocks() -> None:
    study = Study(SMALL, epsilon=4.0)
    seen = _observed(study.randomize(_answers(1000), seed=1), "a", "b")
    # L = prod (e^eps + d - 2) / (e^eps - 1), one block after the other.
    known = prod((e + d - 2) / (e - 1) for d in (2, 3))
    assert contributions(seen)[1].max() == pytest.approx(known, rel=1e-6)


def test_influence_asks_for_a_look_where_one_report_outweighs_the_noise() -> None:
    honest = Study(SMALL, epsilon=4.0).randomize(_answers(5000), seed=1)
    signal = influence(_sight(honest, "a", "d"))
    assert signal.state == "fine"
    assert 1 < signal.numbers["forged_for_one_error"] < 500
    # Everybody reports one and the same: there is no noise to hide behind.
    alike = [np.zeros(50, dtype=np.int64) for _ in MIXED.design.blocks]
    alone = Reports(MIXED, alike, secure=False)
    signal = influence(_sight(alone, "a"))
    assert signal.state == "look"


# -- negative mass -------------------------------------------------------------------------------


def test_honest_reports_leave_no_negative_mass_beyond_noise() -> None:
    study, raised, negative = Study(SCHEMA, epsilon=6.0), 0, 0.0
    answers = health_survey(2000)
    for seed in range(100):
        raw = estimate(study.randomize(answers, seed=seed), ["smokes", "health"], "castell")
        signal = negative_mass(raw)
        raised += signal.state == "look"
        negative += signal.numbers["negative"]
    # The check has something to explain, and 1 in 1000 tables may be more than it can.
    assert negative > 0.1
    assert raised <= 4


def test_a_forged_flood_leaves_negative_mass() -> None:
    study = Study(SCHEMA, epsilon=6.0)
    honest = study.randomize(health_survey(6000), seed=2)
    flood = [np.concatenate([c, np.zeros(4000, c.dtype)]) for c in honest.columns]
    raw = estimate(Reports(study, flood, secure=False), ["smokes", "health"], "castell")
    signal = negative_mass(raw)
    assert signal.state == "look"
    assert signal.numbers["beyond"] > 0.0
    assert "forged" in signal.text


def test_a_forged_flood_of_a_drawn_design_leaves_negative_mass() -> None:
    study = Study(SCHEMA, epsilon=4.0, design="pairs")
    honest = study.randomize(health_survey(20_000), seed=2)
    for forged, state in ((0, "fine"), (10_000, "look")):
        column = np.concatenate([honest.columns[0], np.zeros(forged, honest.columns[0].dtype)])
        counts = MemoryCounts(Reports(study, [column], secure=False))
        seen = sights(counts, study.names)
        assert len(seen) == 15
        assert negative_mass(*(sight.raw for sight in seen)).state == state


def test_the_words_for_no_negative_cell() -> None:
    raw = estimate(Study(SMALL, epsilon=20.0).randomize(_answers(5000), seed=1), "a", "castell")
    signal = negative_mass(raw)
    assert (signal.state, signal.value) == ("fine", "none")
    assert "No cell" in signal.text


# -- errors and noise ----------------------------------------------------------------------------


def test_errors_and_noise_of_a_good_table_and_of_a_hopeless_one() -> None:
    answers = _answers(20_000)
    good = estimate(Study(SMALL, epsilon=8.0).randomize(answers, seed=1), ["a", "d"], "castell")
    signal = standard_errors(good)
    assert signal.state == "fine"
    assert signal.numbers["largest"] == good.standard_errors.max()
    assert signal.numbers["median"] == np.median(good.standard_errors)
    assert below_noise(good).state == "fine"
    assert below_noise(good).numbers["below"] == 0
    few = {name: column[:60] for name, column in answers.items()}
    bad = estimate(Study(SMALL, epsilon=1.0).randomize(few, seed=1), ["a", "b", "d"], "castell")
    assert standard_errors(bad).state == "look"
    low, high = bad.conf_int()
    signal = below_noise(bad)
    assert signal.state == "look"
    assert signal.numbers["below"] == ((low <= 0) & (high >= 0)).sum()


def test_a_signal_is_a_plain_document() -> None:
    raw = estimate(Study(SMALL, epsilon=4.0).randomize(_answers(500), seed=1), "a", "castell")
    document = standard_errors(raw).to_dict()
    assert set(document) == {"key", "title", "state", "value", "text", "method", "numbers"}
    assert points(0.0001) == "0.010 points"
