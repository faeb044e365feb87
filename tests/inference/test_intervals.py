"""Intervals: Wilson's where he applies, and how often they hold the truth."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from scipy.stats import binomtest, norm

import castell
from castell import Reports, Study
from castell.errors import OptionError
from castell.inference import intervals
from castell.inference.intervals import Bounds, Normal, quantile
from tests.populations import (
    ASYMMETRIC,
    Population,
    ask,
    collect,
    population,
    reports_of,
    schema,
    sparse,
)

# -- one interval --------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_where_nothing_more_is_known_it_is_the_plain_interval(level: float) -> None:
    variance = np.array([[0.04, 0.0], [1e-8, 9.0]])
    values = np.array([[0.3, 0.0], [-0.1, 2.0]])
    spread = Normal(variance)
    low, high = spread.plain(values, level)
    reach = norm.ppf(0.5 + level / 2) * np.sqrt(variance)
    np.testing.assert_allclose(low, values - reach, rtol=1e-12)
    np.testing.assert_allclose(high, values + reach, rtol=1e-12)
    np.testing.assert_array_equal(spread.errors, np.sqrt(variance))


@pytest.mark.parametrize(("k", "n"), [(0, 10), (1, 100), (3, 7), (50, 100), (12, 12)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_for_a_binomial_it_is_wilsons(k: int, n: int, level: float) -> None:
    p = np.array(k / n)
    spread = Normal(p * (1 - p) / n, (1 - 2 * p) / n, -1 / n)
    low, high = spread.plain(p, level)
    wilson = binomtest(k, n).proportion_ci(level, method="wilson")
    assert (float(low), float(high)) == pytest.approx((wilson.low, wilson.high), abs=1e-12)


def test_it_holds_the_truths_that_the_estimate_would_not_surprise() -> None:
    base, slope, bend = 0.004, 0.01, -0.002
    truths = np.linspace(-1.0, 1.0, 200_001)
    for value in (-0.5, -0.2, -0.05, 0.0, 0.05, 0.2, 0.6):
        variance = base + slope * (truths - value) + bend * (truths - value) ** 2
        for level in (0.5, 0.95):
            held = truths[(value - truths) ** 2 <= quantile(level) ** 2 * variance]
            ends = Normal(np.array(base), slope, bend).plain(np.array(value), level)
            assert [float(end) for end in ends] == pytest.approx([held[0], held[-1]], abs=2e-5)


# -- inside 0 and 1 --------------------------------------------------------------------------------


def test_the_unified_ends_are_those_of_feldman_and_cousins() -> None:
    # Their table X, 95 %: a normal estimate of a mean that is not negative, in standard errors.
    known = {-3.0: (0.0, 0.42), -1.0: (0.0, 1.10), 0.0: (0.0, 1.96), 1.0: (0.0, 2.96),
             2.0: (0.35, 3.96), 3.0: (1.14, 4.96)}  # fmt: skip
    error = 1e-3
    for value, ends in known.items():
        low, high = Normal(np.array(error**2)).interval(np.array(value * error), 0.95)
        assert (low / error, high / error) == pytest.approx(ends, abs=0.01)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("truth", [0.0, 0.3, 1.0, 1.7, 2.5, 5.0])
def test_bounded_intervals_hold_a_normal_truth_exactly_as_often(level: float, truth: float) -> None:
    """At both bounds, and never empty: 200,000 estimates leave 0.1 % of chance at most."""
    error, many = 0.01, 200_000
    values = error * (truth + np.random.default_rng(1).standard_normal(many))
    spread = Normal(np.full(many, error**2))
    for meant, estimates in ((error * truth, values), (1 - error * truth, 1 - values)):
        low, high = spread.interval(estimates, level)
        assert low.min() >= 0.0
        assert high.max() <= 1.0
        assert (low < high).all()
        held = ((low <= meant + 1e-15) & (meant - 1e-15 <= high)).mean()
        noise = np.sqrt(level * (1 - level) / many)
        # At 80 % a truth next to the bound is held a little more often.
        assert level - 5 * noise <= held <= level + max(5 * noise, 0.02 if level < 0.9 else 0.0)


def test_an_outward_slope_only_ever_lengthens() -> None:
    value, variance = np.array([0.02, 0.98]), np.array([1e-4, 1e-4])
    slope = np.array([0.01, -0.01])
    plain = Normal(variance).plain(value, 0.95)
    low, high = Normal(variance, slope, -0.01, outward=True).plain(value, 0.95)
    assert low[0] == plain[0][0]
    assert high[0] > plain[1][0]
    assert low[1] < plain[0][1]
    assert high[1] == plain[1][1]


def test_bounds_are_an_interval_with_the_error_of_anything_between() -> None:
    known = Bounds(lambda level: (np.array([0.1]), np.array([0.1 + 0.4 * level])))
    np.testing.assert_allclose(known.interval(np.array([0.2]), 0.5), [[0.1], [0.3]])
    assert known.errors == pytest.approx(0.4 * 0.95 / 12**0.5)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95, float("nan"), "0.95", None])
def test_a_level_is_between_0_and_1(level: float) -> None:
    with pytest.raises(OptionError, match="give one between 0 and 1"):
        quantile(level)


def test_without_noise_castells_interval_is_wilsons() -> None:
    people = population((3,), seed=1)
    study = Study(people.schema, 30.0)
    reports = study.randomize({"a": ["a0"] * 3 + ["a2"] * 37}, seed=0)
    low, high = castell.estimate(reports, "a", "castell").conf_int(0.9)
    for i, k in enumerate((3, 0, 37)):
        wilson = binomtest(k, 40).proportion_ci(0.9, method="wilson")
        assert (low[i], high[i]) == pytest.approx((wilson.low, wilson.high), abs=1e-6)


@pytest.mark.parametrize("yes", [0, 1, 5, 20, 150, 290, 300])
@pytest.mark.parametrize("target", ["population", "respondents"])
def test_a_share_and_the_rest_say_the_same(yes: int, target: str) -> None:
    study = Study(schema((2,)), 4.0)
    joint = castell.estimate(
        reports_of(study, np.array([yes, 300 - yes])), "a", "castell", target=target
    )
    low, high = joint.conf_int()
    # Whoever is not in one cell is in the other.
    np.testing.assert_allclose(low, 1.0 - high[::-1], atol=1e-9)


# -- how often intervals hold the truth ----------------------------------------------------------

POPULATIONS: Mapping[str, Population] = {
    "dense": population((2, 3), seed=1),
    "asymmetric": population((2, 3), seed=6),
    "sparse": sparse((5, 6), held=4, seed=2),
    "unequal": population((2, 7, 4), seed=3),
}
ROUNDS = 400


def _study(name: str, each: float) -> Study:
    asked = POPULATIONS[name].schema
    if name == "asymmetric":
        return Study(asked, shares={"a": each}, channels={"b": ASYMMETRIC})
    return Study(asked, each * len(asked))


def _coverage(name: str, n: int, each: float, target: str) -> tuple[float, float]:
    """How often 95 % intervals, and plain ones of 1.96 errors, hold the truth; mean over cells."""
    study, truth = _study(name, each), POPULATIONS[name].table
    generator = np.random.default_rng(17)
    people = generator.multinomial(n, truth.ravel()).reshape(truth.shape)
    held = plain = 0.0
    for _ in range(ROUNDS):
        if target == "respondents":
            reports, meant = ask(study, people, generator), people / n
        else:
            reports, meant = collect(study, truth, n, generator), truth
        joint = castell.estimate(reports, study.names, "castell", target=target)
        low, high = joint.conf_int(0.95)
        held += float(((low <= meant) & (meant <= high)).mean())
        off = np.abs(joint.probabilities - meant)
        plain += float((off <= quantile(0.95) * joint.standard_errors).mean())
    return held / ROUNDS, plain / ROUNDS


@pytest.mark.parametrize("target", ["population", "respondents"])
@pytest.mark.parametrize("each", [1.0, 2.0, 4.0])
@pytest.mark.parametrize("n", [300, 30000])
@pytest.mark.parametrize("name", POPULATIONS)
def test_95_percent_intervals_hold_the_truth_so_often(
    name: str, n: int, each: float, target: str
) -> None:
    held, _ = _coverage(name, n, each, target)
    assert 0.93 <= held <= 0.97


def test_plain_intervals_would_fail_where_cells_are_nearly_empty() -> None:
    held, plain = _coverage("sparse", 300, 4.0, "population")
    assert 300 * np.median(POPULATIONS["sparse"].table) < 1
    assert held >= 0.93
    assert plain < 0.85


def test_so_do_intervals_of_cells_that_no_table_could_hold() -> None:
    """Two kinds of people, each with its own answer to 24 questions, one slip in fifty."""
    width, n, slip = 24, 300, 0.02
    study = Study(schema([2] * width, [f"q{i}" for i in range(width)]), width * 4.0)
    channel = study.design.blocks[0].channel
    flip = channel.weights()[0][1] / channel.total
    share = 0.4 * (1 - slip) ** width + 0.6 * slip**width
    everything = {a.name: a.values[0] for a in study.schema}
    generator = np.random.default_rng(3)
    held = 0
    for _ in range(ROUNDS):
        kind = generator.random((n, 1)) < 0.6
        answers = kind ^ (generator.random((n, width)) < slip)
        columns = (answers ^ (generator.random((n, width)) < flip)).astype(np.uint8).T
        found = castell.fit(Reports(study, list(columns), secure=True), "castell").probability(
            everything
        )
        low, high = found.conf_int(0.95)
        held += low <= share <= high
    # Of one cell, not of many: 400 rounds leave 1.1 % of chance.
    assert 0.92 <= held / ROUNDS <= 0.98


def test_intervals_stay_sane_where_rare_reports_decide() -> None:
    wide = Study(schema((5,) * 6), 6.0)
    generator = np.random.default_rng(3)
    truth, held = 5.0**-6, []
    for _ in range(60):
        people = {
            name: [f"{name}{v}" for v in generator.integers(5, size=2000)] for name in wide.names
        }
        share = castell.fit(wide.randomize(people, seed=1), "castell").probability(
            {name: f"{name}0" for name in wide.names}
        )
        low, high = share.conf_int()
        held.append(low <= truth <= high)
    assert np.mean(held) > 0.8


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 1 - 2**-53, float("nan"), "0.95"])
def test_a_level_is_refused_where_there_is_no_interval(level: object) -> None:
    with pytest.raises(castell.CastellError, match="the level is"):
        quantile(level)  # type: ignore[arg-type]


@pytest.mark.parametrize("outward", [False, True])
def test_cells_of_a_large_table_have_the_intervals_they_have_alone(outward: bool) -> None:
    """Tables are gone through some cells at a time, and cells that feel no bound left aside."""
    generator = np.random.default_rng(3)
    shape = (5, 1 + intervals._CELLS // 2)
    # Rare and common shares, nearly everybody, noise across both bounds, and noise alone.
    at, errors = np.array([[1e-4, 0.3, 0.999, 0.5, 0.2], [1e-3, 0.02, 0.01, 0.5, 1.2]])[..., None]
    values = generator.normal(at, errors, shape)
    variance = errors**2 * generator.uniform(0.0, 2.0, shape)
    slope = generator.normal(0.0, 1e-3, shape[1])
    low, high = Normal(variance, slope, -1e-4, outward).interval(values, 0.9)
    assert low.shape == high.shape == shape
    for i, k in generator.integers(0, shape, (200, 2)):
        alone = Normal(variance[i, k], slope[k], -1e-4, outward).interval(values[i, k], 0.9)
        assert alone == (low[i, k], high[i, k])
