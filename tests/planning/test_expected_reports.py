"""Expected reports are what the channels' integer weights make of a population."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from castell import Study
from castell.counting import samples_of
from castell.inference.inversion import observe
from castell.inference.products import product_model
from castell.linear.operators import Floats
from castell.planning.expected_reports import ExpectedReports
from castell.planning.population import Careless, People, Uniform, population_of
from tests.populations import own_cluster, population, rectangular, studies

SIZES = (2, 3, 4)
TRUTH = population(SIZES, seed=3).table
STUDIES = {
    **studies(),
    "own cluster": own_cluster(),
    "rectangular": rectangular(),
    "pairs": Study(studies()["independent"].schema, 3.0, "pairs"),
    "singles": Study(studies()["independent"].schema, 3.0, "singles"),
    "cover": Study(studies()["independent"].schema, 5.0, "cover"),
}


def _people(study: Study, truth: Floats = TRUTH) -> People:
    """Rows whose shares are a table, rounded: the table of the rows is what is compared with."""
    counts = np.rint(truth * 2000).astype(int)
    cells = np.repeat(np.arange(truth.size), counts.ravel())
    codes = np.unravel_index(cells, truth.shape)
    return People(study.schema, dict(zip(study.names, map(np.asarray, codes), strict=True)))


def _by_enumeration(study: Study, people: People) -> Floats:
    """How reports are distributed: over every answer and every report, from integer weights."""
    blocks = study.design.blocks
    table = people.table(study.names)
    found = np.zeros([block.channel.outputs for block in blocks])
    dense = [np.array(b.channel.weights()) / b.channel.total for b in blocks]
    for answer in product(*map(range, table.shape)):
        own = dict(zip(study.names, answer, strict=True))
        rows = [
            dense[i][np.ravel_multi_index([own[name] for name in block.names], block.sizes)]
            for i, block in enumerate(blocks)
        ]
        joint = rows[0]
        for row in rows[1:]:
            joint = np.multiply.outer(joint, row)
        found += table[answer] * joint
    return found


@pytest.mark.parametrize("name", STUDIES)
def test_expected_tables_are_those_of_the_integer_weights(name: str) -> None:
    study = STUDIES[name]
    people = _people(study)
    counts = ExpectedReports(study, people).of(9000)
    samples = samples_of(counts)
    assert sum(sample.n for sample in samples) == 9000
    for sample in samples:
        reports = _by_enumeration(sample.study, people)
        if study.design.draw:
            assert sample.n == 9000 // len(samples)
        for width in range(1, len(sample.study.names) + 1):
            for names in combinations(sample.study.names, width):
                view = observe(sample, names)
                assert view.n == sample.n
                # Marginalised by hand, then inverted by the lens: what was put in.
                np.testing.assert_allclose(view.invert(), people.table(names), atol=1e-9)
        axes = [a for i, b in enumerate(sample.study.design.blocks) for a in b.axes(i, b.names)]
        table = sample.table(axes).reshape(reports.shape)
        np.testing.assert_allclose(table, reports * sample.n, atol=1e-9 * sample.n)


def test_moments_are_those_of_the_distribution_of_reports() -> None:
    study = STUDIES["independent"]
    people = _people(study)
    counts = ExpectedReports(study, people).of(500)
    queries = [{"a": np.array([0]), "b": np.array([1, 2])}, {"c": np.array([3])}]
    found = product_model(counts, [study.names], "population").shares(queries)
    truth = people.table(study.names)
    assert found.values == pytest.approx([truth[0, 1:].sum(), truth[..., 3].sum()])
    reports = _by_enumeration(study, people)
    inverses = [
        np.linalg.inv(np.array(b.channel.weights()) / b.channel.total).T
        for b in study.design.blocks
    ]
    one = np.multiply.outer(inverses[0][0], inverses[1][1:].sum(axis=0))[..., None]
    two = np.broadcast_to(inverses[2][3], reports.shape)
    means = [(reports * one).sum(), (reports * two).sum()]
    expected = (reports * one * two).sum() - means[0] * means[1]
    assert found.covariances[0][0, 1] == pytest.approx(expected / 500)


def test_blocks_get_their_weights_and_nobody_is_lost() -> None:
    study = STUDIES["pairs"]
    for n in (1, 2, 10, 1001):
        each = [s.n for s in samples_of(ExpectedReports(study, Uniform(study.schema)).of(n))]
        assert sum(each) == n
        assert max(each) - min(each) <= 1


def test_careless_people_answer_anything() -> None:
    study = STUDIES["independent"]
    people = _people(study)
    mixed = population_of(study.schema, people, 0.25)
    assert isinstance(mixed, Careless)
    np.testing.assert_allclose(mixed.table(["b"]), 0.75 * people.table(["b"]) + 0.25 / 3)
    drawn = mixed.sample(40_000, np.random.default_rng(1))
    seen = np.bincount(drawn["b"], minlength=3) / 40_000
    np.testing.assert_allclose(seen, mixed.table(["b"]), atol=0.015)
