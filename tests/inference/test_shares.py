"""Shares that err together: sums, differences, ratios, and the intervals of each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from scipy.stats import binomtest

import castell
from castell import Checked, Model, Study
from castell.errors import QueryError
from castell.inference.intervals import Normal
from castell.inference.shares import Shares, Unbiased
from castell.inference.sum_interval import sum_interval
from tests.populations import ASYMMETRIC, collect, population

PEOPLE = population((2, 3, 4), seed=4, sharpness=2.0)
STUDIES = {
    "independent": Study(PEOPLE.schema, 9.0),
    "asymmetric": Study(PEOPLE.schema, shares={"a": 3.0, "c": 3.0}, channels={"b": ASYMMETRIC}),
    "joint": Study(PEOPLE.schema, 5.0, "joint"),
    "pairs": Study(PEOPLE.schema, 4.0, "pairs"),
    "cover": Study(PEOPLE.schema, 4.0, "cover"),
}
ROUNDS = 300


def _covered(
    design: str, method: str, n: int, ask: Callable[[Model], tuple[float, float]], truth: float
) -> float:
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(ROUNDS):
        model = castell.fit(collect(STUDIES[design], PEOPLE.table, n, generator), method)
        low, high = ask(model)
        held += low <= truth <= high
    return held / ROUNDS


each_design = pytest.mark.parametrize("design", STUDIES)


@each_design
@pytest.mark.parametrize("n", [400, 20_000])
def test_grouped_shares_of_castell_are_covered(design: str, n: int) -> None:
    truth = float(PEOPLE.margin(["b", "c"])[:2, 1:].sum())
    held = _covered(
        design,
        "castell",
        n,
        lambda m: m.probability(b=["b0", "b1"], c=["c1", "c2", "c3"]).conf_int(),
        truth,
    )
    # 300 collections: 95 % +- 5 standard deviations of 1.26 %.
    assert held >= 0.885


@each_design
def test_differences_of_castell_are_covered(design: str) -> None:
    table = PEOPLE.margin(["a", "c"])
    truth = float(table[0, 1] - table[1, 2])
    one, other = {"a": "a0", "c": "c1"}, {"a": "a1", "c": "c2"}
    held = _covered(design, "castell", 5000, lambda m: m.difference(one, other).conf_int(), truth)
    assert 0.885 <= held <= 0.995


@each_design
def test_conditional_shares_of_castell_are_covered(design: str) -> None:
    table = PEOPLE.margin(["a", "c"])
    truth = float(table[0, 2] / table[:, 2].sum())

    def ask(model: Model) -> tuple[float, float]:
        low, high = model.conditional({"a": "a0"}, given={"c": "c2"}).conf_int()
        return float(low[0]), float(high[0])

    assert 0.885 <= _covered(design, "castell", 5000, ask, truth) <= 0.995


@each_design
@pytest.mark.parametrize("method", ["castell", "auto"])
def test_what_a_share_must_be(design: str, method: str) -> None:
    reports = collect(STUDIES[design], PEOPLE.table, 3000, np.random.default_rng(0))
    model = castell.fit(reports, method)
    share = model.probability(b=["b0", "b2"], c=["c1", "c3"])
    joint = model.estimate(["b", "c"])
    cells = joint.unprocessed[np.ix_([0, 2], [1, 3])]
    assert share.value == pytest.approx(float(cells.sum()), abs=1e-9)
    # A group of one cell is the cell.
    one = model.probability(b="b1", c="c2")
    low, high = joint.conf_int()
    assert one.conf_int() == pytest.approx((low[1, 2], high[1, 2]), abs=1e-9)
    assert one.standard_error == pytest.approx(joint.standard_errors[1, 2], rel=1e-6)
    # The rest is known as well.
    rest = share.complement()
    least, most = share.conf_int()
    assert rest.value == pytest.approx(1 - share.value)
    assert rest.conf_int() == pytest.approx((1 - most, 1 - least))
    assert rest.standard_error == share.standard_error
    # A difference with itself is nothing, and its sign turns with the order.
    less = model.difference({"b": "b0", "c": "c1"}, {"b": "b1", "c": "c2"})
    more = model.difference({"b": "b1", "c": "c2"}, {"b": "b0", "c": "c1"})
    assert less.value == pytest.approx(-more.value)
    assert less.conf_int() == pytest.approx(tuple(-end for end in reversed(more.conf_int())))
    same = model.difference({"b": "b0", "c": "c1"}, {"b": "b0", "c": "c1"})
    assert same.value == 0.0
    assert same.standard_error == pytest.approx(0.0, abs=1e-9)
    # All values given one are everything.
    given = model.conditional("c", given={"b": "b0"})
    assert given.probabilities.sum() == pytest.approx(1.0, abs=1e-6)
    assert given.values == ("c0", "c1", "c2", "c3")
    assert (given.conf_int()[0] <= given.probabilities).all()
    assert "c given b = b0" in given.summary()
    assert given.to_frame("pandas").shape == (4, 5)
    assert given.checked is Checked.WHOLE


def test_a_group_that_may_be_empty_tells_nothing() -> None:
    study = Study(PEOPLE.schema, 0.3)
    reports = collect(study, PEOPLE.table, 50, np.random.default_rng(0))
    low, high = castell.fit(reports, "castell").conditional("c", given={"b": "b0"}).conf_int()
    np.testing.assert_array_equal((low, high), (np.zeros(4), np.ones(4)))


@pytest.mark.parametrize("method", ["castell", "auto", "independent"])
def test_what_cannot_be_asked_is_refused(method: str) -> None:
    model = castell.fit(
        collect(STUDIES["independent"], PEOPLE.table, 200, np.random.default_rng(0)), method
    )
    with pytest.raises(QueryError, match="'a' is asked for and given"):
        model.conditional("a", given={"a": "a0"})
    with pytest.raises(QueryError, match="no value of 'b' counts"):
        model.conditional({"b": []}, given={"a": "a0"})
    with pytest.raises(QueryError):
        model.difference({"z": "1"}, {"a": "a0"})


# -- the arithmetic --------------------------------------------------------------------------------


def test_a_combination_takes_the_larger_variance_and_the_shorter_interval() -> None:
    values = np.array([0.3, 0.1])
    covariances = (np.diag([0.01, 0.01]), np.array([[0.01, 0.009], [0.009, 0.01]]))
    less, both = np.array([1.0, -1.0]), np.array([1.0, 1.0])
    shares = Shares(values, Normal(np.array([0.01, 0.01])), covariances)
    assert shares.variance(less) == pytest.approx(0.02)
    assert shares.variance(both) == pytest.approx(0.038)
    other = Unbiased(np.array([0.35, 0.1]), np.diag([1e-4, 1e-4]))
    known = Shares(values, shares.spread, covariances, unbiased=other)
    assert known.variance(less) == pytest.approx(2e-4)
    low, high = sum_interval(known, less, 0.95)
    # Down to the estimate, so the other end is a one-sided limit.
    assert (low, high) == pytest.approx((0.2, 0.25 + 1.645 * 2e-4**0.5), abs=1e-5)


def test_without_a_covariance_bounds_are_combined() -> None:
    from castell.inference.intervals import Bounds

    ends = np.array([0.1, 0.4]), np.array([0.2, 0.5])
    shares = Shares(np.array([0.15, 0.45]), Bounds(lambda _: ends), ())
    assert sum_interval(shares, np.array([1.0, -1.0]), 0.95) == pytest.approx((-0.4, -0.2))
    assert shares.ratio_interval(0.95) == pytest.approx((0.2, 0.5))
    assert shares.variance(np.array([1.0, -1.0])) == pytest.approx((0.2 / 12**0.5) ** 2)


def test_fiellers_interval_holds_a_ratio_of_normals() -> None:
    truth, covariance = np.array([0.06, 0.2]), np.array([[4e-4, 1e-4], [1e-4, 9e-4]])
    generator = np.random.default_rng(0)
    held = 0
    for values in generator.multivariate_normal(truth, covariance, 4000):
        shares = Shares(values, Normal(np.diag(covariance)), (covariance,))
        low, high = shares.ratio_interval(0.95)
        held += low <= 0.3 <= high
    assert held / 4000 == pytest.approx(0.95, abs=5 * (0.95 * 0.05 / 4000) ** 0.5)


def test_where_few_of_a_group_answered_all_alike_the_interval_is_wilsons() -> None:
    """Without noise a conditional share is a proportion of those in the group."""
    study = Study(PEOPLE.schema, 90.0)
    answers = {
        "a": ["a0"] * 6 + ["a1"] * 44,
        "b": ["b0"] * 50,
        "c": ["c0"] * 6 + ["c1"] * 20 + ["c2"] * 24,
    }
    model = castell.fit(study.randomize(answers, seed=0), "castell")
    for value, group, k, n in (("c0", "a0", 6, 6), ("c1", "a1", 20, 44), ("c0", "a1", 0, 44)):
        low, high = model.conditional({"c": value}, given={"a": group}).conf_int()
        wilson = binomtest(k, n).proportion_ci(0.95, method="wilson")
        # The number in the group is estimated too, which hardly matters.
        assert (low[0], high[0]) == pytest.approx((wilson.low, wilson.high), abs=0.03)


def test_intervals_of_higher_levels_hold_those_of_lower_ones() -> None:
    """Which of two intervals is the shorter one may differ from level to level; one is used."""
    generator = np.random.default_rng(2)
    levels = (0.2, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.9999)
    for _ in range(200):
        values, direct = generator.uniform(0.05, 0.5, (2, 2))
        own, other = (np.diag(generator.uniform(1e-5, 4e-3, 2)) for _ in range(2))
        shares = Shares(values, Normal(np.diag(own)), (own,), unbiased=Unbiased(direct, other))
        asks: tuple[Callable[[float], tuple[float, float]], ...] = (
            partial(sum_interval, shares, np.array([1.0, -1.0])),
            shares.ratio_interval,
        )
        for ask in asks:
            ends = np.array([ask(level) for level in levels])
            assert (np.diff(ends[:, 0]) <= 1e-12).all()
            assert (np.diff(ends[:, 1]) >= -1e-12).all()


def test_a_share_that_is_zero_for_sure_does_not_err() -> None:
    covariance = np.array([[0.04, 0.03], [0.03, 0.09]])
    unbiased = Unbiased(np.array([-0.1, 0.3]), covariance / 2)
    shares = Shares(
        np.array([0.1, 0.2]), Normal(np.diag(covariance)), (covariance,), unbiased=unbiased
    )
    assert shares.with_zeros([False, False]) is shares
    known = shares.with_zeros([True, False])
    assert known.values.tolist() == [0.0, 0.2]
    assert known.variance(np.array([1.0, 0.0])) == 0.0
    assert known.variance(np.array([1.0, -1.0])) == pytest.approx(0.045)
    assert sum_interval(known, np.array([1.0, 0.0]), 0.95) == (0.0, 0.0)
    # The second share may well be 0, and any ratio would be possible.
    assert shares.ratio_interval(0.95) == (0.0, 1.0)
    assert known.ratio_interval(0.95) == (0.0, 0.0)
