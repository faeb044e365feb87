"""Blocks to choose from: they hold everything once, and people are where their answers are."""

from __future__ import annotations

import numpy as np
import pytest

from castell.channels import PartitionResponse
from castell.planning.candidates import MOST_CODES, Candidate, candidates
from tests.populations import population

PEOPLE = population((2, 5, 9, 3), seed=3, sharpness=4.0)
CODES = [column.astype(np.intp) for column in PEOPLE.codes(3000, 1).values()]


@pytest.fixture(scope="module", params=[1.0, 4.0])
def offered(request: pytest.FixtureRequest) -> list[Candidate]:
    generator = np.random.default_rng(0)
    return list(candidates(CODES, PEOPLE.schema.sizes, request.param, generator))


def test_people_are_in_the_leaf_of_their_answers(offered: list[Candidate]) -> None:
    assert len(offered) > 50
    for candidate in offered:
        block = candidate.block(PEOPLE.schema, 2.0)  # refuses boxes that overlap or leave gaps
        held = tuple(CODES[place] for place in candidate.places)
        answers = np.ravel_multi_index(held, block.sizes)
        if isinstance(block.channel, PartitionResponse):
            assert np.array_equal(block.channel.leaf_of[answers], candidate.codes)
            assert len(block.channel.leaves) == candidate.many
        else:
            assert np.array_equal(answers, candidate.codes)
            assert block.channel.inputs == candidate.many
        assert block.channel.exact_epsilon <= 2


def test_there_are_finer_and_coarser_ones_and_none_twice(offered: list[Candidate]) -> None:
    assert len({(c.places, c.boxes) for c in offered}) == len(offered)
    assert {len(c.places) for c in offered} == {1, 2, 3, 4}
    assert any(c.boxes is None for c in offered)
    assert any(c.boxes is not None for c in offered)
    assert all(2 <= c.many <= MOST_CODES for c in offered)
    # Every attribute can be asked by itself.
    assert {c.places for c in offered if len(c.places) == 1} == {(i,) for i in range(4)}


def test_rare_values_are_merged_and_no_others() -> None:
    rare = np.array([0] * 500 + [1] * 470 + [2] * 10 + [3] * 12 + [4] * 8, dtype=np.intp)
    (plain, merged) = list(candidates([rare], [5], 4.0, np.random.default_rng(0)))
    assert plain.boxes is None
    assert merged.boxes == (((0,),), ((1,),), ((2, 3, 4),))


def test_wide_schemas_offer_some_sets_of_each_width() -> None:
    many = [np.random.default_rng(k).integers(0, 2, 200).astype(np.intp) for k in range(40)]
    found = list(candidates(many, [2] * 40, 2.0, np.random.default_rng(0)))
    assert {len(c.places) for c in found} >= {1, 2, 3, 4}
    assert len(found) < 3000
