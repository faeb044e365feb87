"""What margins leave open of a share: right, and used where it is closer."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import castell
from castell.inference.intervals import Bounds, Normal
from castell.inference.margin_bounds import bounds
from castell.inference.shares import Shares, Unbiased
from castell.inference.shorter_interval import WithinMargins
from castell.inference.sum_interval import sum_interval

SCHEMA = castell.Schema([castell.Attribute(name, ["no", "yes"]) for name in "abc"])
RARE = {"a": "yes", "b": "yes"}
MANY = 100_000


def people(n: int, share: float, generator: np.random.Generator) -> pd.DataFrame:
    """`a` is rare and `b` is the same as `a`, so that P(a, b) is as large as its margins allow;
    `c` is common and unassociated."""
    rare = np.where(generator.random(n) < share, "yes", "no")
    common = np.where(generator.random(n) < 0.9, "yes", "no")
    return pd.DataFrame({"a": rare, "b": rare, "c": common})


def model_of(epsilon: float, seed: int, n: int = 500, share: float = 0.02) -> castell.Model:
    generator = np.random.default_rng(seed)
    study = castell.Study(SCHEMA, epsilon)
    return castell.fit(study.randomize(people(n, share, generator), seed=seed))


@pytest.fixture(scope="module")
def noisy() -> castell.Model:
    return model_of(1.5, seed=4, n=20_000)


def test_known_events_have_frechets_bounds() -> None:
    """All ways in which two events of .3 and .9 can go together: from .2 to .3."""
    sure = Normal(np.zeros(1))
    events = [(np.array([0.3]), sure), (np.array([0.9]), sure)]
    low, high = bounds(events).ends(0.95)
    tables = [[x, 0.3 - x, 0.9 - x, x - 0.2] for x in np.linspace(0.0, 1.0, 1001)]
    possible = [table[0] for table in tables if min(table) >= -1e-12]
    assert (low[0], high[0]) == pytest.approx((min(possible), max(possible)))


def test_the_level_is_parted(noisy: castell.Model) -> None:
    third = 1.0 - 0.05 / 3  # two events, and the interval beside them
    each = [noisy.probability({name: "yes"}).conf_int(third) for name in "ab"]
    low, high = noisy.probability(RARE).conf_int(0.95)
    assert low == pytest.approx(max(0.0, sum(low for low, _ in each) - 1.0), abs=1e-12)
    assert high == pytest.approx(min(high for _, high in each), abs=1e-12)
    table_low, table_high = noisy.estimate(["a", "b"]).conf_int(0.95)
    assert (table_low[1, 1], table_high[1, 1]) == pytest.approx((low, high), abs=1e-9)


def test_a_share_that_is_nearly_everybody_is_bounded_from_below(noisy: castell.Model) -> None:
    """What is left of a common answer is rare, and is known as well as that."""
    query = {"a": "no", "b": "no", "c": ["no", "yes"]}
    found = noisy.probability(query)
    low, high = found.conf_int()
    level = 1.0 - 0.05 / 4
    missing = [1.0 - noisy.probability({name: "no"}).conf_int(level)[0] for name in "ab"]
    assert low >= 1.0 - sum(missing) - 1e-12
    assert low <= found.value <= high
    assert low <= 0.98 <= high


def test_intervals_of_higher_levels_contain_those_of_lower_ones(noisy: castell.Model) -> None:
    for query in (RARE, {"a": "no", "c": "yes"}, {"a": "yes", "b": "no", "c": "yes"}):
        share = noisy.probability(query)
        ends = [share.conf_int(level) for level in (0.5, 0.8, 0.95, 0.99)]
        for (low, high), (lower, higher) in pairwise(ends):
            assert lower <= low + 1e-12
            assert high <= higher + 1e-12
            assert low <= share.value <= high


def test_differences_and_conditional_shares_inherit_it() -> None:
    """A rare answer is rare among a common group too, and so is what two rare ones differ by."""
    model = model_of(1.5, seed=1, n=20_000)
    plain = castell.fit(model.counts, "castell")
    among = {"a": "yes"}, {"c": "yes"}
    widths = [
        np.diff(np.ravel(m.conditional(among[0], given=among[1]).conf_int()))[0]
        for m in (model, plain)
    ]
    assert widths[0] < widths[1]
    asked = RARE, {"a": "yes", "b": "yes", "c": "no"}
    low, high = model.difference(*asked).conf_int()
    least, most = plain.difference(*asked).conf_int()
    assert high - low < most - least
    assert low <= 0.02 * 0.9 <= high


def test_the_closer_one_is_taken_cell_by_cell() -> None:
    of = Normal(np.array([1e-6, 0.04]))
    ends = np.array([0.1, 0.1]), np.array([0.2, 0.2])
    both = WithinMargins(of, Bounds(lambda _: ends))
    low, high = both.interval(np.array([0.15, 0.15]), 0.95)
    assert (low[0], high[0]) == pytest.approx((0.148, 0.152), abs=1e-4)
    assert (low[1], high[1]) == (0.1, 0.2)
    assert both.errors == pytest.approx([1e-3, 0.1 / np.sqrt(12.0)])
    np.testing.assert_allclose(both.variance, both.errors**2)


def test_a_sum_of_bounded_shares_is_bounded() -> None:
    """Two shares of .1 at most differ by .1 at most, however badly they were estimated."""
    of, ends = Normal(np.full(2, 0.04)), (np.zeros(2), np.full(2, 0.1))
    shares = Shares(
        np.array([0.05, 0.02]),
        WithinMargins(of, Bounds(lambda _: ends)),
        (np.eye(2) * 0.04,),
        unbiased=Unbiased(np.array([0.3, 0.0]), np.eye(2) * 0.04),
    )
    assert sum_interval(shares, np.array([1.0, -1.0]), 0.95) == pytest.approx((-0.1, 0.1))
    assert shares.ratio_interval(0.95)[0] == 0.0


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("together", [0.0, 0.03, 0.06])
@pytest.mark.parametrize("error", [0.005, 0.02, 0.08])
def test_they_cover_wherever_the_truth_is(level: float, together: float, error: float) -> None:
    """Two events of .06, with a share of both that is as small as it can be, or as large: then they
    are one and the same. The shares of each are known with an error of .01."""
    generator, truth, margin = np.random.default_rng(6), together, 0.06
    own = Normal(np.full(MANY, 1e-4))
    events = [(margin + 0.01 * generator.standard_normal(MANY), own) for _ in range(2)]
    estimate = truth + error * generator.standard_normal(MANY)
    alone = Normal(np.full(MANY, error**2))
    low, high = WithinMargins(alone, bounds(events, beside=1)).interval(estimate, level)
    covered = ((low <= truth) & (truth <= high)).mean()
    spared = 0.25 * (1.0 - level) if together == margin else 0.0
    assert covered >= level - spared - 5 * np.sqrt(level * (1 - level) / MANY)
    least, most = alone.interval(estimate, level)
    if level == 0.95:
        assert (high - low <= most - least + 1e-12).all()
        assert np.median(high - low) <= (0.7 if error > 0.05 else 1.0) * np.median(most - least)
