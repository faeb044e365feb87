"""What a channel says a guess gains, against counting over its whole matrix."""

from __future__ import annotations

from itertools import combinations
from math import prod

import pytest

from castell import KaryResponse, MatrixResponse, Study
from castell.channels import (
    MECHANISMS,
    Channel,
    CyclicResponse,
    HadamardResponse,
    ParityResponse,
    built_in,
    mechanism,
)
from castell.channels.difference_sets import singer
from castell.study.design import Block, lens_on
from tests.coarse_studies import LEAVES, MERGED, ON_A_CIRCLE
from tests.guessing import best_guess, chances, worst_guess
from tests.populations import schema

# Some reports of a circle are in no answer's set, where there are more reports than answers.
CHANNELS: dict[str, Channel] = {
    "kary": KaryResponse(12, 9, 2),
    "sharp": KaryResponse(12, 2**50, 2**4),
    "asymmetric": MatrixResponse([[8, 2], [3, 7]]),
    "one report says most": MatrixResponse([[1000, 1], [500, 501]]),
    "rectangular": MatrixResponse([[6, 3, 1], [1, 2, 7]]),
    "three": MatrixResponse([[90, 7, 3], [5, 80, 15], [11, 19, 70]]),
    "circle": CyclicResponse(12, 13, singer(3, 3), 3, 1),
    "sparse circle": CyclicResponse(12, 40, singer(3, 4), 11, 4),
    "few answers": CyclicResponse(2, 13, singer(3, 3), 5, 1),
    "every answer": CyclicResponse(15, 15, singer(2, 4), 3, 1),
    "hadamard": HadamardResponse(12, 2, 11, 4),
    "hadamard of one group": HadamardResponse(12, 1, 3, 1),
    "leaves": LEAVES,
    "leaves on a circle": ON_A_CIRCLE,
    "merged": MERGED,
    "sharp circle": CyclicResponse(12, 31, singer(5, 3), 2**40 + 1, 2),
    **{f"named {name}": mechanism(name, 6, 1.5) for name in MECHANISMS},
    **{f"named {name}": mechanism(name, 6, 1.5) for name in ("hybrid", "pckv-ue", "pckv-grr")},
    "privkv": mechanism("privkv", 3, 1.5),
    "made up": mechanism("rs+fd", (2, 3), 1.5),
    "parity": ParityResponse(3, 3, 1),
}


def test_every_kind_is_looked_at() -> None:
    """Bloom filters have no matrix, and what is sent as it is needs no guess."""
    kinds = {channel.kind for channel in CHANNELS.values()}
    assert kinds == set(built_in()) - {"bloom", "clear", "skip"}


@pytest.mark.parametrize("channel", CHANNELS.values(), ids=CHANNELS)
def test_guesses_at_a_whole_block(channel: Channel) -> None:
    block = Block(("a",), (channel.inputs,), channel)
    assert channel.best_guess == pytest.approx(best_guess(block), rel=1e-12)
    assert channel.worst_guess == pytest.approx(worst_guess(block), rel=1e-12)
    assert channel.worst_guess >= channel.best_guess > 1 / channel.inputs


@pytest.mark.parametrize("sizes", [(3, 4), (4, 3), (2, 2, 3), (3, 2, 2), (6, 2)])
@pytest.mark.parametrize(
    "name", ["kary", "sharp", "circle", "sparse circle", "sharp circle", "hadamard"]
)
def test_guesses_at_some_of_a_block(name: str, sizes: tuple[int, ...]) -> None:
    block = Block(tuple("abc"[: len(sizes)]), sizes, CHANNELS[name])
    for attribute in block.names:
        lens = lens_on(block, [attribute])
        assert lens.best_guess == pytest.approx(best_guess(block, attribute), rel=1e-12)
        assert lens.worst_guess == pytest.approx(worst_guess(block, attribute), rel=1e-12)
    for one, two in combinations(range(len(sizes)), 2):
        lens = lens_on(block, [block.names[one], block.names[two]])
        table = chances(block).reshape(*sizes, -1)
        gone = tuple(i for i in range(len(sizes)) if i not in (one, two))
        seen = table.sum(axis=gone).reshape(sizes[one] * sizes[two], -1)
        assert lens.best_guess == pytest.approx(seen.max(axis=0).sum(), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 8.0, 20.0])
def test_guesses_at_blocks_as_designs_make_them(epsilon: float) -> None:
    for design in ("singles", "pairs", "cover", "joint"):
        study = Study(schema((2, 5, 3, 4)), epsilon, design)
        for block in study.design.blocks:
            assert block.channel.best_guess == pytest.approx(best_guess(block), rel=1e-9)
            assert block.channel.inputs == prod(block.sizes)
            for name in block.names:
                lens = lens_on(block, [name])
                assert lens.best_guess == pytest.approx(best_guess(block, name), rel=1e-9)
                assert lens.worst_guess == pytest.approx(worst_guess(block, name), rel=1e-9)
