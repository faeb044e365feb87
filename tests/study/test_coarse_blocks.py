"""Coarse blocks and unequal draws in a study: what is published, refused and stated."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import pytest

from castell import KaryResponse, Study
from castell.channels.protocol import predicted_variance
from castell.errors import CastellError, StudyError
from castell.study.canonical import canonical
from castell.study.design import Block, Design, lens_on
from castell.study.exposure import exposure, together
from tests.coarse_studies import GRID, LEAVES, MERGED, ON_A_CIRCLE, coarse_studies, drawn
from tests.populations import schema

ASKED = schema((2, 3, 4))
STUDIES = coarse_studies(ASKED)
PAIR, ONE = KaryResponse(6, 40, 8), KaryResponse(4, 9, 2)
each_study = pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)


def published(document: dict[str, Any]) -> str:
    """With a digest that fits, whatever stands in it."""
    content = {key: value for key, value in document.items() if key != "digest"}
    digest = hashlib.sha256(canonical(content).encode()).hexdigest()
    return canonical({**content, "digest": digest})


# -- what is published -----------------------------------------------------------------------------


@each_study
def test_a_published_study_gives_itself_back(study: Study) -> None:
    back = Study.from_json(study.to_json())
    assert (back, back.design, back.digest) == (study, study.design, study.digest)
    assert back.to_json() == study.to_json()
    draw = study.to_dict().get("draw")
    expected = list(study.design.weights) if len(set(study.design.weights)) > 1 else 1
    assert draw == (expected if study.design.draw else None)


def test_weights_are_in_the_digest_as_their_smallest_numbers() -> None:
    def made(*weights: int) -> Study:
        return drawn(ASKED, weights, ("01", PAIR), ("2", ONE))

    assert made(4, 6).design.weights == made(2, 3).design.weights == (2, 3)
    assert made(4, 6).digest == made(2, 3).digest
    assert made(5, 5) == made() == made(1, 1)
    assert made().to_dict()["draw"] == 1
    assert len({made(*weights).digest for weights in [(1, 1), (1, 2), (2, 1), (2, 3)]}) == 4
    numpy_weights = made(*np.array([4, 6]))
    assert numpy_weights.digest == made(2, 3).digest
    assert all(type(weight) is int for weight in numpy_weights.design.weights)


WRONG: list[Any] = [
    [1, 1],  # the same as 1, and another digest
    [2, 4],  # the same as [1, 2]
    [],
    [1],
    [1, 2, 3],
    [0, 1],
    [-1, 2],
    [1, 2.0],
    [1, 2.5],
    [1, True],
    [1, "2"],
    [1, [2]],
    [1, None],
    [2**53, 1],
    {"0": 1, "1": 2},
    "12",
    2,
]


@pytest.mark.parametrize("draw", WRONG, ids=map(str, WRONG))
def test_draws_that_no_study_publishes(draw: Any) -> None:
    document = json.loads(STUDIES["fine, unequal"].to_json())
    assert Study.from_json(published({**document, "draw": [1, 2]})).design.weights == (1, 2)
    with pytest.raises(CastellError):
        Study.from_json(published({**document, "draw": draw}))


def test_weights_that_no_design_has() -> None:
    blocks = STUDIES["fine, unequal"].design.blocks
    for weights in [(1,), (1, 2, 3), (0, 1), (1, -2), (1, 2.0), (True, 2), ("1", 2), (2**53, 1)]:
        with pytest.raises(StudyError, match="the weights of a draw are"):
            Design(blocks, True, weights)  # type: ignore[arg-type]
    with pytest.raises(StudyError, match=r"the weights of a draw are \[5\]"):
        Design(blocks, True, 5)  # type: ignore[arg-type]
    with pytest.raises(StudyError, match="none where nothing is drawn"):
        Design(blocks, False, (3, 1))
    assert Design(blocks, True, (2**53 - 1, 1)).weights == (2**53 - 1, 1)
    assert Design(blocks).weights == (1,)
    assert Design(blocks, True).weights == (1, 1)


def test_a_coarse_block_beside_others_is_refused() -> None:
    blocks = (Block(("a", "b"), (2, 3), PAIR), Block(("c",), (4,), MERGED))
    assert Study(ASKED, design=Design(blocks, draw=True)).design.blocks[1].is_coarse
    with pytest.raises(StudyError, match="asks coarsely is reported beside others"):
        Study(ASKED, design=Design(blocks))


@pytest.mark.parametrize(
    ("names", "sizes"), [(("c", "b"), (4, 3)), (("c", "b"), (3, 4)), (("b", "c"), (4, 3))]
)
def test_a_partition_of_other_sizes_is_refused(
    names: tuple[str, ...], sizes: tuple[int, ...]
) -> None:
    """As many combinations, but another order: the boxes would hold other answers."""
    one = Block(("a",), (2,), KaryResponse(2, 3, 1))
    with pytest.raises(StudyError, match="does not fit its values"):
        Study(ASKED, design=Design((Block(names, sizes, GRID), one), draw=True))


# -- what is stated --------------------------------------------------------------------------------


def chances(block: Block) -> np.ndarray[Any, Any]:
    return np.array(block.channel.weights(), dtype=object)


def best(block: Block, name: str | None = None) -> Fraction:
    """How often the best guess is right, by adding up the whole matrix."""
    weights = chances(block).reshape(*block.sizes, -1)
    at = None if name is None else block.names.index(name)
    gone = () if at is None else tuple(i for i in range(len(block.sizes)) if i != at)
    seen = weights.sum(axis=gone).reshape(-1, block.channel.outputs)
    return Fraction(int(seen.max(axis=0).sum()), int(seen.sum()))


@each_study
def test_exposure_over_the_draw_is_that_of_everybody(study: Study) -> None:
    design = study.design
    total = sum(design.weights)
    for attribute in study.schema:
        found = exposure(design, attribute)
        blind = Fraction(1, attribute.size)
        over = [
            best(b, attribute.name) if attribute.name in b.names else blind for b in design.blocks
        ]
        weights = design.weights if design.draw else (1,)
        right = sum((w * x for w, x in zip(weights, over, strict=True)), Fraction(0)) / total
        assert found.best_guess_over_draw == pytest.approx(float(right), rel=1e-14)
        asked = sum(
            w for w, b in zip(weights, design.blocks, strict=True) if attribute.name in b.names
        )
        assert (found.asked, found.draws) == (asked, total)
        assert found.chance_drawn == asked / total
    cells = prod(study.schema.sizes)
    every = [best(b) * prod(b.sizes) / cells for b in design.blocks]
    right = sum((w * x for w, x in zip(design.weights, every, strict=True)), Fraction(0)) / total
    assert together(design, study.schema).guess_over_draw == pytest.approx(float(right), rel=1e-14)


def test_a_forged_report_counts_more_in_a_block_that_is_drawn_rarely() -> None:
    """How far one report of n moves a table, in units of an honest one's 1/n."""
    c = ASKED["c"]
    for weights, share in [((1, 1), 1 / 2), ((9, 1), 1 / 10), ((1, 9), 9 / 10)]:
        study = drawn(ASKED, weights, ("01", PAIR), ("2", ONE))
        alone = float(np.abs(np.linalg.inv(np.array(ONE.weights()).T / ONE.total)).max())
        assert exposure(study.design, c).influence == pytest.approx(alone / share)


def test_a_forged_report_in_the_average_of_two_blocks() -> None:
    """Each block's table counts by its reports over their variance."""
    sharp = KaryResponse(4, 30, 2)
    study = drawn(ASKED, (3, 2, 5), ("01", PAIR), ("2", ONE), ("2", sharp))
    blocks = study.design.blocks[1:]
    lenses = [lens_on(block, ["c"]) for block in blocks]
    known = np.array([2, 5]) / [predicted_variance(lens) for lens in lenses]
    each = known / known.sum() / (np.array([2, 5]) / 10) * [x.inverse.extreme() for x in lenses]
    assert exposure(study.design, ASKED["c"]).influence == pytest.approx(each.max())


def test_a_forged_report_where_only_groups_are_asked() -> None:
    """A table of groups rests on one block; that of an attribute on blocks that ask finely."""
    circle = ON_A_CIRCLE.inner.inverse.extreme()
    leaves = LEAVES.inner.inverse.extreme()
    two = STUDIES["twice the same questions"].design
    for attribute in ASKED:
        assert exposure(two, attribute).influence == pytest.approx(max(3 * leaves, 1.5 * circle))
    mixed = STUDIES["three to one"].design
    fine = lens_on(mixed.blocks[1], ["a"]).inverse.extreme()
    assert exposure(mixed, ASKED["a"]).influence == pytest.approx(4 * fine)
    assert exposure(mixed, ASKED["c"]).influence == pytest.approx(4 / 3 * leaves)


def test_a_toml_file_may_give_a_partition_to_a_block() -> None:
    text = """
epsilon = 3.0
clusters = [["a", "b"], ["b"]]
draw = true
[[attribute]]
name = "a"
values = ["x", "y"]
[[attribute]]
name = "b"
values = ["u", "v", "w"]
[[channel]]
attributes = ["a", "b"]
kind = "partition"
sizes = [2, 3]
leaves = [[[0], [0]], [[0], [1, 2]], [[1], [0, 1, 2]]]
channel = { kind = "kary", size = 3, same = 9, other = 2 }
"""
    study = Study.from_toml(text)
    assert [block.is_coarse for block in study.design.blocks] == [True, False]
    assert Study.from_json(study.to_json()) == study
