"""Means of functions of the answers: exactly unbiased, with the covariance they have."""

from __future__ import annotations

import numpy as np
import pytest

from castell.counting import MemoryCounts
from castell.errors import QueryError
from castell.inference.unbiased_means import unbiased_means
from castell.linear.table import Table
from tests.populations import collect, drawn_studies, population, studies

PEOPLE = population((2, 3, 4), seed=4, sharpness=2.0)
GENERATOR = np.random.default_rng(1)
FUNCTIONS = [
    Table(("a", "c"), GENERATOR.normal(size=(2, 4))),
    Table(("c", "b"), GENERATOR.normal(size=(4, 3))),
    Table(("b",), GENERATOR.normal(size=3)),
]
STUDIES = studies() | {
    name: study for name, study in drawn_studies().items() if name in ("pairs", "cover")
}


@pytest.mark.parametrize("design", STUDIES)
def test_means_are_unbiased_and_vary_as_they_say(design: str) -> None:
    truth = [float((f.values * PEOPLE.margin(f.names)).sum()) for f in FUNCTIONS]
    generator = np.random.default_rng(3)
    found = [
        unbiased_means(
            MemoryCounts(collect(STUDIES[design], PEOPLE.table, 2000, generator)), FUNCTIONS
        )
        for _ in range(400)
    ]
    values = np.array([one.values for one in found])
    claimed = np.mean([one.covariance for one in found], axis=0)
    apart = (values.mean(axis=0) - truth) / np.sqrt(np.diag(claimed) / 400)
    assert np.abs(apart).max() < 5.5
    errors = np.sqrt(np.diag(claimed))
    correlations = np.cov(values.T) / np.outer(errors, errors)
    np.testing.assert_allclose(correlations, claimed / np.outer(errors, errors), atol=0.36)


def test_what_nobody_reported_together_is_refused() -> None:
    counts = MemoryCounts(collect(drawn_studies()["singles"], PEOPLE.table, 50, GENERATOR))
    with pytest.raises(QueryError, match="no respondent reported a, c together"):
        unbiased_means(counts, FUNCTIONS[:1])
