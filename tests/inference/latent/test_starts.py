"""Rare answers that go together are found, and not taken for the noise of their channels."""

from __future__ import annotations

from functools import reduce
from itertools import combinations

import numpy as np
import pytest

import castell
from castell import Study
from castell.counting import MemoryCounts
from castell.inference.latent import cross_validation
from castell.inference.latent.mixture import PositiveResiduals, Start, random_start, seed
from castell.inference.latent.model import learn
from castell.inference.latent.sufficient_statistics import (
    BlockTable,
    positive_residuals,
    sufficient_statistics,
    whole_blocks,
)
from castell.linear.operators import Floats
from tests.coarse_studies import coarse_studies
from tests.populations import Population, collect, schema

CLUSTER = 0.02  # share of people who answer the rare value everywhere
RARE = 0.005  # share of the others who do so in one attribute


def _rare_together(many: int = 5) -> Population:
    others = reduce(np.multiply.outer, [np.array([1.0 - RARE, RARE])] * many)
    table = (1.0 - CLUSTER) * others
    table[(1,) * many] += CLUSTER
    return Population(schema((2,) * many), table)


def _error(model: castell.Model, people: Population) -> float:
    """The mean total variation of all tables of one to three attributes."""
    names = people.schema.names
    asked = [some for width in (1, 2, 3) for some in combinations(names, width)]
    tables = [(model.estimate(list(some)).probabilities, people.margin(some)) for some in asked]
    return float(np.mean([np.abs(found - true).sum() / 2 for found, true in tables]))


DESIGNS = {
    "joint": lambda people: Study(people.schema, 6.0, "joint"),
    "cover": lambda people: Study(people.schema, 8.0, "cover"),
    "clusters": lambda people: Study(
        people.schema, 12.0, [people.schema.names[:3], people.schema.names[3:]]
    ),
    "independent": lambda people: Study(people.schema, 5.0),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_rare_answers_that_go_together_are_found(design: str) -> None:
    people = _rare_together()
    study = DESIGNS[design](people)
    errors: dict[str, list[float]] = {"auto": [], "latent": [], "castell": []}
    for number in range(3):
        reports = collect(study, people.table, 20_000, np.random.default_rng(number))
        for method, found in errors.items():
            found.append(_error(castell.fit(reports, method), people))
    unbiased = np.mean(errors["castell"])
    assert np.mean(errors["auto"]) < 1.3 * unbiased
    assert np.mean(errors["latent"]) < 2.5 * unbiased


@pytest.mark.parametrize("design", ["joint", "independent"])
def test_starts_near_independence_do_not_find_them(
    design: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the test above can fail."""
    starts = cross_validation._starts
    monkeypatch.setattr(
        cross_validation, "_starts", lambda *given: [s for s in starts(*given) if not s.seeded]
    )
    people = _rare_together()
    reports = collect(DESIGNS[design](people), people.table, 20_000, _random())
    alone, unbiased = castell.fit(reports, "latent"), castell.fit(reports, "castell")
    assert _error(alone, people) > 1.5 * _error(unbiased, people)


def test_margins_alone_are_no_association() -> None:
    """Near 0 the most likely margin is a poor one, and each counts in the pairs of all others."""
    rare = [np.array([1.0 - share, share]) for share in (0.01, 0.01, 0.05, 0.06, 0.1, 0.3, 0.4)]
    people = Population(schema((2,) * len(rare)), reduce(np.multiply.outer, rare))
    for number in range(6):
        generator = np.random.default_rng(number)
        reports = collect(Study(people.schema, 7.0), people.table, 20_000, generator)
        assert not learn(MemoryCounts(reports), None, None, 1).associated


def test_pairs_are_looked_at_where_nothing_else_was_found() -> None:
    """Of attributes reported apart; margins are those of single attributes."""
    people = _rare_together(3)
    reports = collect(Study(people.schema, 60.0), people.table, 50_000, _random())
    tables = sufficient_statistics(MemoryCounts(reports))
    (found,) = positive_residuals(tables, people.schema.sizes)
    assert [each.attributes for each in found] == [(0, 1), (0, 2), (1, 2)]
    for each in found:
        table = people.margin([people.schema.names[a] for a in each.attributes])
        margins = np.outer(table.sum(axis=1), table.sum(axis=0))
        np.testing.assert_allclose(each.excess, np.maximum(table - margins, 0.0), atol=0.003)
    alone = tuple(np.full(2, 0.5) for _ in range(3))
    assert Start(8, 0.3, seeded=True).margins(alone, found) == alone


def _random() -> np.random.Generator:
    return np.random.default_rng(0)


def _block(people: Population, n: int = 50_000, epsilon: float = 20.0) -> BlockTable:
    reports = collect(Study(people.schema, epsilon, "joint"), people.table, n, _random())
    (table,) = sufficient_statistics(MemoryCounts(reports))
    assert isinstance(table, BlockTable)
    return table


def test_what_stands_out_is_what_independence_leaves_open() -> None:
    people = _rare_together(3)
    table = _block(people)
    (found,) = table.positive_residuals(people.schema.sizes)
    answers: Floats = (table.counts / table.counts.sum()).reshape(2, 2, 2)  # hardly any noise
    margins = [answers.sum(axis=others) for others in ((1, 2), (0, 2), (0, 1))]
    expected = np.maximum(answers - reduce(np.multiply.outer, margins), 0.0)
    np.testing.assert_allclose(found.excess, expected, atol=1e-6)
    assert found.excess[1, 1, 1] > 0.019
    for told, margin in zip(found.margins, margins, strict=True):
        np.testing.assert_allclose(told, 50_000 * margin, atol=1.0)


def test_a_block_without_reports_says_nothing() -> None:
    people = _rare_together(3)
    table = _block(people)
    nobody = table.with_counts(np.zeros_like(table.counts))
    (found,) = nobody.positive_residuals(people.schema.sizes)
    plain = random_start([np.array([0.5, 0.5])] * 3, 4, 0.3, _random())
    assert found.excess.sum() == 0.0
    assert seed(plain, [found], _random()) is plain


def test_classes_are_put_where_something_stands_out() -> None:
    excess = np.zeros((2, 3))
    excess[1, 2] = 0.2
    residuals = PositiveResiduals(
        (0, 2), excess, (np.array([70.0, 30.0]), np.array([50.0, 25.0, 25.0]))
    )
    alone = [np.array([0.5, 0.5]), np.array([0.9, 0.1]), np.full(3, 1 / 3)]
    start = Start(8, 0.3, seeded=True)
    margins = start.margins(alone, [residuals])
    np.testing.assert_allclose(margins[0], [0.7, 0.3])
    np.testing.assert_allclose(margins[1], [0.9, 0.1])  # in no block
    np.testing.assert_allclose(margins[2], [0.5, 0.25, 0.25])
    found = start.mixture(alone, [residuals], _random())
    assert found.weights[0] == pytest.approx(0.2)
    np.testing.assert_allclose(found.weights[1:], 0.8 / 7)
    np.testing.assert_allclose(found.parts[0][0], [0.07, 0.93], rtol=1e-6)
    np.testing.assert_allclose(found.parts[1][0], [0.9, 0.1], rtol=1e-6)
    np.testing.assert_allclose(found.parts[2][0], [0.05, 0.025, 0.925], rtol=1e-6)
    for part in found.parts:
        np.testing.assert_allclose(part.sum(axis=1), 1.0)
    assert Start(8, 0.3).margins(alone, [residuals]) == tuple(alone)


def test_a_start_is_random_unless_it_is_to_be_seeded() -> None:
    margins = [np.array([0.5, 0.5])] * 3
    plain = Start(4, 0.3).mixture(margins, [], _random())
    np.testing.assert_array_equal(plain.profiles, random_start(margins, 4, 0.3, _random()).profiles)


def test_leaves_and_single_attributes_are_no_whole_blocks() -> None:
    people = _rare_together(3)
    apart = collect(Study(people.schema, 6.0), people.table, 100, _random())
    assert not whole_blocks(sufficient_statistics(MemoryCounts(apart)))
    for study in coarse_studies(schema((2, 3, 4))).values():
        tables = sufficient_statistics(MemoryCounts(study.randomize(_everyone(study), seed=1)))
        held = [b for b in study.design.blocks if not b.is_coarse and len(b.names) > 1]
        assert [len(table.attributes) for table in whole_blocks(tables)] == [
            len(block.names) for block in held
        ]


def _everyone(study: Study) -> dict[str, list[str]]:
    return {a.name: [a.values[0]] * 20 for a in study.schema}
