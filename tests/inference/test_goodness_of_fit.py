"""Whether a table fits its reports: the null distribution, and what is found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, kstest, ncx2

import castell
from castell import Study, Verdict
from castell.counting import MemoryCounts
from castell.inference.chisquare import critical, noncentrality, power, tail
from castell.inference.constants import ALARM
from castell.inference.goodness_of_fit import detectable, misfit
from castell.linear.operators import Floats
from castell.results import trust
from tests.populations import ASYMMETRIC, Population, collect, population, product

APART = product({"a": [0.3, 0.7], "b": [0.5, 0.2, 0.3], "c": [0.1, 0.2, 0.3, 0.4]})
TOGETHER = population((2, 3, 4), seed=4, sharpness=2.0)
STUDIES = {
    "independent": Study(APART.schema, 6.0),
    "asymmetric": Study(APART.schema, shares={"a": 2.0, "c": 2.0}, channels={"b": ASYMMETRIC}),
    "joint": Study(APART.schema, 4.0, "joint"),
    "clusters": Study(APART.schema, 5.0, [["a", "c"], ["b"]]),
    "pairs": Study(APART.schema, 3.0, "pairs"),
    "cover": Study(APART.schema, 4.0, "cover"),
    "sample": Study(APART.schema, 3.0, sample=3),
}


@pytest.mark.parametrize("design", STUDIES)
@pytest.mark.parametrize("names", [("a", "b"), ("c", "b"), ("c", "a", "b")])
def test_of_a_true_model_every_p_value_is_as_likely(design: str, names: tuple[str, ...]) -> None:
    """The margins are estimated, as they always are; the associations are the model's: none."""
    study, generator = STUDIES[design], np.random.default_rng(3)
    # Its pairs, and all of them together, where somebody reported that.
    tests = {2: 1, 3: 3 if design == "pairs" else 4}[len(names)]
    found = []
    for _ in range(300):
        counts = MemoryCounts(collect(study, APART.table, 3000, generator))
        table = castell.fit(counts, "independent").estimate(names).probabilities
        result = misfit(counts, names, table, names)
        assert result.tests == tests
        found.append(result.p)
    values = np.array(found)
    if len(names) == 2:
        assert kstest(values, "uniform").pvalue > 1e-6
    else:
        # Bonferroni over four tests: never too often, and hardly ever at the level of an alarm.
        assert (values < 0.05).mean() < 0.05 + 5 * np.sqrt(0.05 * 0.95 / 300)
    assert (values < ALARM).sum() <= 4


@pytest.mark.parametrize("design", STUDIES)
def test_independence_that_does_not_hold_is_doubtful_and_so_is_said(design: str) -> None:
    counts = MemoryCounts(
        collect(STUDIES[design], TOGETHER.table, 60_000, np.random.default_rng(0))
    )
    joint = castell.fit(counts, "independent").estimate(["b", "c"])
    assert joint.misfit is not None
    assert joint.verdict is Verdict.DOUBTFUL
    assert joint.misfit.names == ("b", "c")
    assert joint.summary().count("DOUBTFUL") == 1
    assert joint.to_dict()["verdict"] == "doubtful"
    signal = {s.key: s for s in trust.signals(counts, joint)}["misfit"]
    assert (signal.state, signal.value) == ("look", "doubtful")
    assert "such as auto or castell" in signal.text
    # What is not wrong is not called so: margins, and methods that learned the association.
    assert joint.project("b").verdict is Verdict.FITS
    for method in ("auto", "castell"):
        other = castell.fit(counts, method).estimate(["b", "c"])
        assert other.verdict is Verdict.FITS
        assert "DOUBTFUL" not in other.summary()


def test_an_interaction_of_three_is_found_where_all_are_reported() -> None:
    table = np.full((2, 2, 2), 0.02)
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        table[a, b, a ^ b] = 0.23
    people = Population(product({n: [0.5, 0.5] for n in "abc"}).schema, table / table.sum())
    for design, verdict in (("independent", Verdict.DOUBTFUL), ("pairs", Verdict.FITS)):
        study = Study(people.schema, 9.0 if design == "independent" else 3.0, design)
        counts = MemoryCounts(collect(study, people.table, 20_000, np.random.default_rng(1)))
        joint = castell.fit(counts, "independent").estimate(["a", "b", "c"])
        # Nobody reported three: what no pair shows cannot be seen, and that is said.
        assert joint.verdict is verdict
        assert joint.checked == ("whole" if design == "independent" else "pairs")


def test_nothing_to_compare_with_is_no_verdict() -> None:
    study = Study(APART.schema, 3.0, "singles")
    counts = MemoryCounts(collect(study, APART.table, 3000, np.random.default_rng(0)))
    joint = castell.fit(counts, "independent").estimate(["a", "b"])
    assert joint.verdict is Verdict.UNKNOWN
    signal = {s.key: s for s in trust.signals(counts, joint)}["misfit"]
    assert signal.state == "unknown"
    assert castell.fit(counts, "independent").estimate("a").verdict is Verdict.FITS


def test_rare_values_are_put_together() -> None:
    rare = product({"a": [0.9995, 0.0005], "b": [0.999, 0.0004, 0.0003, 0.0003], "c": [0.5, 0.5]})
    study = Study(rare.schema, 9.0)
    counts = MemoryCounts(collect(study, rare.table, 2000, np.random.default_rng(0)))
    model = castell.fit(counts, "independent")
    # Nothing of a and b can be tested, c and b hardly, but nothing fails.
    for names in (("a", "b"), ("b", "c"), ("a", "b", "c")):
        assert model.estimate(names).verdict in (Verdict.UNKNOWN, Verdict.FITS)


def test_a_pair_of_many_values_is_tested_too() -> None:
    """More interactions than are tested at once: the rarest values are put together."""
    values = [f"v{i}" for i in range(25)]
    schema = castell.Schema([castell.Attribute(name, values) for name in "ab"])
    study, generator = Study(schema, 10.0), np.random.default_rng(5)
    uneven = np.linspace(1.0, 3.0, 25) / 50.0
    for table, verdict in (
        (np.diag(uneven), Verdict.DOUBTFUL),
        (np.multiply.outer(uneven, uneven), Verdict.FITS),
    ):
        counts = MemoryCounts(collect(study, table, 20_000, generator))
        joint = castell.fit(counts, "independent").estimate(["a", "b"])
        assert joint.misfit is not None
        assert joint.misfit.freedom <= 400
        assert joint.verdict is verdict
    assert detectable(counts, ("a", "b"), [uneven, uneven]) < 0.2


def test_p_values_of_a_pair_of_many_values_are_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("castell.inference.goodness_of_fit.MOST_INTERACTIONS", 4)
    study, generator, found = STUDIES["independent"], np.random.default_rng(11), []
    for _ in range(300):
        counts = MemoryCounts(collect(study, APART.table, 3000, generator))
        table = castell.fit(counts, "independent").estimate(["b", "c"]).probabilities
        result = misfit(counts, ("b", "c"), table, ("b", "c"))
        assert result.freedom == 4
        found.append(result.p)
    assert kstest(found, "uniform").pvalue > 1e-6


# -- what would have shown -------------------------------------------------------------------------


def _tilted(size: float, generator: np.random.Generator) -> Floats:
    """A table of independent margins and an association of a given Cramer's V, in any direction."""
    one, two = APART.margin(["b"]), APART.margin(["c"])
    apart = np.multiply.outer(one, two)
    while True:
        z = generator.standard_normal((3, 4)) * np.sqrt(apart)
        for axis, margin in ((0, np.sqrt(one)), (1, np.sqrt(two))):
            unit = margin if axis == 0 else margin[None]
            shape = unit[:, None] if axis == 0 else unit
            z = z - (z * shape).sum(axis=axis, keepdims=True) * shape
        z *= size * np.sqrt(2) / np.sqrt((z**2 / 1.0).sum())
        table = apart + z * np.sqrt(apart)
        if table.min() >= 0:
            return np.asarray(table / table.sum())


@pytest.mark.parametrize("design", ["independent", "pairs", "joint"])
def test_an_association_at_the_limit_is_found_four_times_in_five(design: str) -> None:
    study, generator, n = STUDIES[design], np.random.default_rng(7), 20_000
    names, margins = ("b", "c"), [APART.margin(["b"]), APART.margin(["c"])]
    counts = MemoryCounts(collect(study, APART.table, n, generator))
    limit = detectable(counts, names, margins)
    assert 0.0 < limit < 0.3
    found = 0
    for _ in range(300):
        table = _tilted(limit, generator)
        whole = np.stack([0.3 * table, 0.7 * table])
        reports = MemoryCounts(collect(study, whole, n, generator))
        model = castell.fit(reports, "independent").estimate(names)
        assert model.misfit is not None
        found += model.misfit.p < 0.05
    assert 0.65 < found / 300 < 0.92


def test_with_few_reports_nothing_would_show() -> None:
    counts = MemoryCounts(collect(STUDIES["independent"], APART.table, 3, np.random.default_rng(0)))
    assert detectable(counts, ("a", "b"), [APART.margin(["a"]), APART.margin(["b"])]) == 1.0


def test_the_distribution_is_scipys() -> None:
    for freedom in (1, 2, 5, 40):
        for value in (0.1, 3.0, 30.0):
            assert tail(value, freedom) == pytest.approx(chi2.sf(value, freedom), rel=1e-9)
        assert critical(0.01, freedom) == pytest.approx(chi2.isf(0.01, freedom), rel=1e-9)
        bar = chi2.isf(0.05, freedom)
        assert power(12.0, freedom) == pytest.approx(ncx2.sf(bar, freedom, 12.0), rel=1e-8)
        wanted = noncentrality(freedom)
        assert ncx2.sf(bar, freedom, wanted) == pytest.approx(0.8, abs=1e-6)
