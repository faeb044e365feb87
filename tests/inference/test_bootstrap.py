"""Errors by simulation: the closed form where there is one, and the same twice."""

from __future__ import annotations

import numpy as np
import pytest

from castell.counting import MemoryCounts
from castell.inference import bootstrap as module
from castell.inference.bootstrap import FEWEST, REPLICATES, bootstrap, replicates_for
from castell.inference.inversion import Observed, observe
from castell.inference.products import product_table, product_variance
from tests.populations import collect, population, studies

STUDIES = studies(each=3.0)


def _observed(design: str, n: int = 20000) -> Observed:
    people = population((2, 3, 4), seed=4)
    reports = collect(STUDIES[design], people.table, n, np.random.default_rng(9))
    observed = observe(MemoryCounts(reports), ["c", "a", "b"])
    # The simulation starts from the nearest distribution: here that is the estimate itself.
    assert observed.invert().min() > 0
    return observed


@pytest.mark.parametrize("design", STUDIES)
def test_for_castell_it_is_the_closed_form(design: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REPLICATES", 1500)
    observed = _observed(design)
    spread_of = bootstrap(observed, lambda drawn: drawn.invert())
    for names in (("c", "a", "b"), ("b", "c"), ("c", "b"), ("a",)):
        part = observed.project(names)
        expected = product_variance(part, [part.names], "population")
        found = spread_of(names)
        assert found.variance.shape == part.shape
        # sqrt(2 / 1500) is 3.7 %, so 20 % is 5.5 times what chance does to a cell.
        ratio = found.variance / expected
        np.testing.assert_allclose(ratio, 1.0, atol=0.2)
        assert abs(ratio.mean() - 1) < 0.09
        np.testing.assert_array_equal(found.errors, np.sqrt(found.variance))


def test_for_a_product_of_margins_it_is_the_closed_form_too() -> None:
    observed = _observed("independent")
    groups = [("a",), ("b",), ("c",)]
    found = bootstrap(observed, lambda drawn: product_table(drawn, groups))(observed.names)
    expected = product_variance(observed, groups, "population")
    np.testing.assert_allclose(found.variance, expected, rtol=0.55)
    assert abs((found.variance / expected).mean() - 1) < 0.2


def test_it_is_the_same_twice_and_leaves_the_reports_alone() -> None:
    observed = _observed("joint", n=5000)
    before = observed.table.copy()
    spread_of = bootstrap(observed, lambda drawn: drawn.invert())
    one, two = spread_of(("b", "a")), spread_of(("b", "a"))
    np.testing.assert_array_equal(one.variance, two.variance)
    np.testing.assert_allclose(spread_of(("a", "b")).variance, one.variance.T, atol=1e-15)
    np.testing.assert_array_equal(observed.table, before)


def test_every_round_resamples_as_many_reports_as_there_are() -> None:
    observed, seen = _observed("mixed", n=3000), []

    def statistic(drawn: Observed) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        seen.append((drawn.n, drawn.table.sum(), drawn.names))
        return drawn.invert()

    bootstrap(observed, statistic)(observed.names)
    assert len(seen) == REPLICATES
    assert set(seen) == {(3000, 3000.0, ("c", "a", "b"))}


def test_large_tables_take_fewer_rounds() -> None:
    assert replicates_for(4) == REPLICATES
    assert replicates_for(10**12) == FEWEST
    rounds = [replicates_for(1 << k) for k in range(40)]
    assert rounds == sorted(rounds, reverse=True)
