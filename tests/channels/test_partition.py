"""Blocks that ask coarsely: leaves, weights, guesses and the sampler, against brute force."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from castell import KaryResponse, MatrixResponse
from castell.channels import CyclicResponse, PartitionResponse, channel_of
from castell.channels.block_margins import MatrixMargin
from castell.channels.partition import MOST_ANSWERS, Box, Inner
from castell.channels.registry import checked_channel
from castell.device.random_words import seeded_words
from castell.device.respond import respond
from castell.errors import ChannelError, QueryError
from castell.linear.operators import Dense
from tests.coarse_studies import BOXES, GRID, LEAVES, MERGED, ON_A_CIRCLE

ASYMMETRIC = MatrixResponse(
    [
        [40, 2, 3, 1, 5, 6, 4, 2],
        [1, 42, 3, 1, 5, 6, 3, 2],
        [7, 2, 33, 1, 5, 6, 7, 2],
        [1, 9, 3, 31, 5, 6, 6, 2],
        [1, 2, 3, 8, 35, 6, 6, 2],
        [3, 2, 3, 1, 5, 38, 9, 2],
        [3, 2, 3, 1, 5, 2, 12, 35],
    ]
)
CHANNELS = {
    "leaves": LEAVES,
    "circle": ON_A_CIRCLE,
    "matrix": PartitionResponse((2, 3, 4), BOXES, ASYMMETRIC),
    "merged": MERGED,
    "grid": GRID,
    "two": PartitionResponse((2,), (((1,),), ((0,),)), KaryResponse(2, 3, 1)),
}
each = pytest.mark.parametrize("channel", CHANNELS.values(), ids=CHANNELS)


def rows(channel: PartitionResponse) -> list[list[int]]:
    """The weights of every answer: those of the one leaf whose box holds each of its codes."""
    inner = channel.inner.weights()
    found = []
    for codes in product(*map(range, channel.sizes)):
        (leaf,) = (
            i
            for i, box in enumerate(channel.leaves)
            if all(code in inside for code, inside in zip(codes, box, strict=True))
        )
        found.append(inner[leaf])
    return found


# -- the matrix ------------------------------------------------------------------------------------


@each
def test_answers_have_the_weights_of_their_leaf(channel: PartitionResponse) -> None:
    weights = rows(channel)
    assert channel.weights() == weights
    assert channel.inputs == len(weights) == math.prod(channel.sizes)
    assert channel.outputs == len(weights[0])
    assert {sum(row) for row in weights} == {channel.total}
    expected = np.array(weights).T / channel.total
    np.testing.assert_allclose(channel.forward.dense(), expected, rtol=1e-15)
    assert channel.volumes == [math.prod(map(len, box)) for box in channel.leaves]


@each
def test_epsilon_is_the_worst_ratio_of_any_two_answers(channel: PartitionResponse) -> None:
    columns = list(zip(*rows(channel), strict=True))
    worst = max(Fraction(max(column), min(column)) for column in columns)
    assert channel.exact_epsilon == channel.inner.exact_epsilon
    true = (Decimal(worst.numerator) / worst.denominator).ln()
    assert abs(channel.exact_epsilon - true) < Decimal("1e-25")
    assert channel.epsilon >= math.log(worst) - 1e-15


@each
def test_which_values_a_leaf_holds(channel: PartitionResponse) -> None:
    for place, size in enumerate(channel.sizes):
        members = channel.members(place)
        assert members.shape == (len(channel.leaves), size)
        held = [tuple(np.flatnonzero(row)) for row in members]
        assert held == [box[place] for box in channel.leaves]


@each
def test_there_is_no_way_back(channel: PartitionResponse) -> None:
    assert not channel.has_inverse
    assert channel.has_matrix
    with pytest.raises(QueryError, match="does not tell its answers apart"):
        _ = channel.inverse
    if len(channel.sizes) > 1:
        part = channel.project(channel.sizes, [0])
        for read in ("inverse", "forward"):
            with pytest.raises(QueryError):
                getattr(part, read)
    assert channel.project(channel.sizes, range(len(channel.sizes))) is channel


def test_merged_values_are_a_grid_of_boxes() -> None:
    leaves = PartitionResponse.grid((3, 2), ([[2, 0], [1]], [[0], [1]]))
    assert leaves == [((0, 2), (0,)), ((0, 2), (1,)), ((1,), (0,)), ((1,), (1,))]
    with pytest.raises(ChannelError, match="some attribute has no groups"):
        PartitionResponse.grid((3, 2), ([[0], [1, 2]],))


# -- guesses ---------------------------------------------------------------------------------------


def brute(channel: PartitionResponse, keep: tuple[int, ...]) -> MatrixMargin:
    weights = tuple(tuple(row) for row in rows(channel))
    return MatrixMargin(weights, Dense(np.eye(len(weights))), channel.sizes, keep)


@each
def test_guesses_are_those_of_the_whole_matrix(channel: PartitionResponse) -> None:
    """To the last bit: both are sums of whole numbers, divided once."""
    places = range(len(channel.sizes))
    whole = brute(channel, tuple(places))
    assert channel.best_guess == whole.best_guess
    assert channel.worst_guess == whole.worst_guess
    for count in range(1, len(channel.sizes)):
        for keep in combinations(places, count):
            found = channel.project(channel.sizes, keep)
            assert found.best_guess == brute(channel, keep).best_guess, keep
            assert found.worst_guess == brute(channel, keep).worst_guess, keep


# -- the sampler -----------------------------------------------------------------------------------


@each
def test_every_number_gives_each_report_its_weight(channel: PartitionResponse) -> None:
    """Run once for every number there is: exact."""
    for answer, weights in enumerate(rows(channel)):
        numbers = np.arange(channel.total, dtype=np.uint64)
        reports = channel.respond(np.full(channel.total, answer), numbers)
        assert np.bincount(reports, minlength=channel.outputs).tolist() == weights


@pytest.mark.parametrize("name", ["leaves", "circle", "matrix"])
def test_reports_have_the_chances_of_the_weights(name: str) -> None:
    channel, n = CHANNELS[name], 400_000
    for answer in (0, 5, 17, channel.inputs - 1):
        reports = respond(channel, np.full(n, answer), seeded_words(answer))
        seen = np.bincount(reports, minlength=channel.outputs)
        expected = n * np.array(rows(channel)[answer]) / channel.total
        assert chisquare(seen, expected).pvalue > 1e-7
        # The leaf of another answer would be seen.
        other = next(row for row in rows(channel) if row != rows(channel)[answer])
        assert chisquare(seen, n * np.array(other) / channel.total).pvalue < 1e-7


def test_large_blocks_are_small_reports() -> None:
    half = MOST_ANSWERS // 2
    leaves = (((0,), tuple(range(half))), ((1,), tuple(range(half))))
    channel = PartitionResponse((2, half), leaves, KaryResponse(2, 3, 1))
    assert (channel.inputs, channel.outputs, channel.draws) == (MOST_ANSWERS, 2, 1)
    assert channel.best_guess == pytest.approx(2 * 3 / 4 / MOST_ANSWERS)


# -- documents -------------------------------------------------------------------------------------


@each
def test_documents_give_the_channel_back(channel: PartitionResponse) -> None:
    document = json.loads(json.dumps(channel.document()))
    assert set(document) == {"kind", "sizes", "leaves", "channel"}
    assert document["channel"] == channel.inner.document()
    back = channel_of(document)
    assert back == channel
    assert hash(back) == hash(channel)
    assert back.document() == document
    assert checked_channel(back) is back


# -- what is refused -------------------------------------------------------------------------------

GOOD = (((0,), (0,)), ((0,), (1, 2)), ((1,), (0, 1, 2)))
THREE = KaryResponse(3, 9, 2)


def last(*box: Any) -> tuple[Any, ...]:
    """The good leaves, the last of them in another form."""
    return (*GOOD[:2], box)


def test_the_good_leaves_are_good() -> None:
    assert PartitionResponse((2, 3), GOOD, THREE).leaf_of.tolist() == [0, 1, 1, 2, 2, 2]
    numpy_codes: Any = [[np.array(codes) for codes in box] for box in GOOD]
    assert PartitionResponse((2, 3), numpy_codes, THREE) == PartitionResponse((2, 3), GOOD, THREE)


@pytest.mark.parametrize("sizes", [6, None, (2, 3.0), (2, True), (1, 6), ("2", "3"), "23", (2, -3)])
def test_sizes_that_are_none(sizes: Any) -> None:
    with pytest.raises(ChannelError, match="is no size or code"):
        PartitionResponse(sizes, GOOD, THREE)


@pytest.mark.parametrize("sizes", [(), (2, MOST_ANSWERS), (2,) * 21, (2,) * 50_000])
def test_no_or_too_many_combinations(sizes: tuple[int, ...]) -> None:
    with pytest.raises(ChannelError, match="has no or too many combinations"):
        PartitionResponse(sizes, GOOD, THREE)


@pytest.mark.parametrize("leaves", [7, None, [1, 2, 3], [[1], [2], [3]]])
def test_leaves_that_are_no_boxes(leaves: Any) -> None:
    with pytest.raises(ChannelError):
        PartitionResponse((2, 3), leaves, THREE)


@pytest.mark.parametrize("code", [-1, 1.0, True, "1", None])
def test_codes_that_are_none(code: Any) -> None:
    with pytest.raises(ChannelError, match="is no size or code"):
        PartitionResponse((2, 3), last((code,), (0, 1, 2)), THREE)


@pytest.mark.parametrize(
    "box",
    [
        ((1,),),
        ((1,), (0, 1, 2), (0,)),
        ((), (0, 1, 2)),
        ((1,), (0, 1, 3)),
        ((1,), (0, 2, 1)),
        ((1,), (0, 0, 1, 2)),
    ],
)
def test_leaves_that_are_another_box(box: Any) -> None:
    with pytest.raises(ChannelError, match="is no box of values"):
        PartitionResponse((2, 3), last(*box), THREE)


@pytest.mark.parametrize(
    "box",
    [
        ((0, 1), (0, 1, 2)),  # holds too much
        ((0,), (0, 1, 2)),  # as many answers, but others
        ((1,), (0, 1)),
    ],
)
def test_leaves_that_overlap_or_leave_answers_out(box: Box) -> None:
    with pytest.raises(ChannelError, match="overlap or leave answers out"):
        PartitionResponse((2, 3), last(*box), THREE)


def test_leaves_that_would_fill_the_memory_are_counted_first() -> None:
    """Each of a thousand leaves holds all of a million answers: a small document."""
    every = tuple(range(1024))
    with pytest.raises(ChannelError, match="overlap or leave answers out"):
        PartitionResponse((1024, 1024), ((every, every),) * 1000, KaryResponse(1000, 3, 1))


@pytest.mark.parametrize(
    "inner",
    [
        KaryResponse(2, 3, 1),
        KaryResponse(4, 3, 1),
        CyclicResponse(7, 7, (0, 1, 3), 5, 2),
        PartitionResponse((3,), (((0,),), ((1,),), ((2,),)), THREE),
        None,
    ],
)
def test_a_channel_of_another_kind_or_size(inner: Any) -> None:
    with pytest.raises(ChannelError, match="a channel of another kind or size"):
        PartitionResponse((2, 3), GOOD, inner)


@pytest.mark.parametrize("inner", [None, [], "kary", {"kind": "bloom"}, {"kind": ["kary"]}, {}])
def test_a_document_with_a_channel_of_another_kind(inner: Any) -> None:
    document = PartitionResponse((2, 3), GOOD, THREE).document()
    with pytest.raises(ChannelError, match="go through a channel of kind"):
        channel_of({**document, "channel": inner})
    with pytest.raises(ChannelError, match="has other entries"):
        channel_of({**document, "note": 1})


@pytest.mark.parametrize(
    "inner", [KaryResponse, lambda *weights: CyclicResponse(3, 7, (0, 1, 3), *weights[1:])]
)
def test_leaves_reported_as_they_are(inner: Any) -> None:
    made: Inner = inner(3, 2**46, 1)
    assert PartitionResponse((2, 3), GOOD, made).epsilon < 32
    with pytest.raises(ChannelError, match="above 32"):
        inner(3, 2**47, 1)
