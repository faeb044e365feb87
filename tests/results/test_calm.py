"""CALM: its choice of marginals, and maximum entropy between consistent tables."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import castell
from castell import Study
from castell.errors import MethodError, OptionError
from castell.linear.table import Table
from castell.planning.calm import calm_marginals, calm_study
from castell.results.calm import block_tables, calm, maximum_entropy
from castell.results.model import counts_of
from tests.populations import collect, population, schema

ASKED = schema((2, 3, 4, 2, 2))


def test_every_pair_is_in_some_set_and_more_people_allow_wider_ones() -> None:
    widths = []
    for n in (300, 30_000, 30_000_000):
        chosen, *others = calm_marginals(ASKED, 1.0, n)
        for one in (chosen, *others):
            held = {pair for names in one.sets for pair in combinations(names, 2)}
            assert held == set(combinations(ASKED.names, 2))
            assert len({len(names) for names in one.sets}) == 1
        widths.append(len(chosen.sets[0]))
        quiet = [o for o in (chosen, *others) if o.noise <= 1e-3]
        if quiet:
            assert chosen.noise <= 1e-3
            assert len(chosen.sets[0]) == max(len(o.sets[0]) for o in quiet)
        else:
            assert chosen.noise == min(o.noise for o in (chosen, *others))
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


def test_a_study_with_its_marginals() -> None:
    study = calm_study(ASKED, 1.0, 10_000)
    assert study.design.draw
    assert 1.0 - 1e-6 < study.epsilon <= 1.0
    for wrong in ({"n": 0}, {"target": 0.0}):
        with pytest.raises(OptionError):
            calm_study(ASKED, 1.0, **{"n": 100, **wrong})  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="two or more"):
        calm_study(schema((2,)), 1.0, 100)


def test_maximum_entropy_is_the_product_where_nothing_is_shared() -> None:
    one, two = Table(("a",), np.array([0.2, 0.8])), Table(("b",), np.array([0.5, 0.3, 0.2]))
    table = maximum_entropy([one, two], ("b", "a"), {"a": 2, "b": 3})
    np.testing.assert_allclose(table, np.outer(two.values, one.values))
    # And conditional independence, given what two tables share.
    truth = np.random.default_rng(1).dirichlet(np.ones(12)).reshape(2, 3, 2)
    ab, bc = truth.sum(axis=2), truth.sum(axis=0)
    made = maximum_entropy(
        [Table(("a", "b"), ab), Table(("b", "c"), bc)], ("a", "b", "c"), {"a": 2, "b": 3, "c": 2}
    )
    expected = ab[:, :, None] * bc[None, :, :] / ab.sum(axis=0)[None, :, None]
    np.testing.assert_allclose(made, expected, atol=1e-9)


def test_tables_are_near_the_truth_and_agree() -> None:
    people = population(ASKED.sizes, seed=4)
    study = Study(ASKED, 6.0, "pairs")
    reports = collect(study, people.table, 40_000, np.random.default_rng(3))
    model = castell.fit(reports, calm)
    for names in (("a",), ("a", "c"), ("b", "d", "a")):
        joint = model.estimate(names)
        truth = Table(ASKED.names, people.table).project(names).values
        assert joint.probabilities.sum() == pytest.approx(1.0)
        assert joint.probabilities.min() >= 0.0
        assert np.abs(joint.probabilities - truth).max() < 0.05
    margins = [t.project(["a"]).values for t in block_tables(counts_of(reports)) if "a" in t.names]
    assert np.ptp(margins, axis=0).max() < 1e-6
    with pytest.raises(MethodError, match="reads one drawn block"):
        castell.fit(collect(Study(ASKED, 6.0), people.table, 100, np.random.default_rng(1)), calm)
