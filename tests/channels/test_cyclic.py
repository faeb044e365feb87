"""Set-valued response is exact: sampler, budget and inverse follow from the same integers."""

import math
from dataclasses import FrozenInstanceError
from decimal import Context, Decimal, localcontext
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from castell import KaryResponse
from castell.channels import MAX_TOTAL, Channel, CyclicResponse, SetMargin, best_channel, channel_of
from castell.channels.best_channel import WORTH, noise
from castell.channels.difference_sets import MOST_POINTS, geometries, points, singer
from castell.device.random_words import seeded_words
from castell.device.respond import respond
from castell.errors import ChannelError, QueryError
from castell.linear.operators import Floats

DIGITS = Context(prec=90)
SLACK = DIGITS.power(Decimal(2), Decimal(-30))

SMALL = [
    CyclicResponse(5, 7, (0, 1, 3), 3, 1),
    CyclicResponse(7, 7, (0, 1, 3), 5, 2),
    CyclicResponse(2, 7, (0, 1, 3), 9, 4),  # some reports lie in no answer's set
    CyclicResponse(2, 2, (0,), 3, 1),
    CyclicResponse(6, 6, (0,), 7, 2),  # both of these are k-ary response
    CyclicResponse(3, 3, (1,), 3, 1),
    CyclicResponse(3, 4, (0, 1, 2), 2, 1),
    CyclicResponse(12, 13, singer(3, 3), 11, 4),
    CyclicResponse(15, 15, singer(2, 4), 3, 1),
    CyclicResponse(6, 31, singer(5, 3), 17, 1),
    CyclicResponse(20, 31, tuple(d for d in range(31) if d not in singer(5, 3)), 3, 2),
]
LARGE = [
    CyclicResponse.with_epsilon(240, 400, singer(7, 4), 2.0),
    CyclicResponse.with_epsilon(100, 121, singer(3, 5), 0.5),
    CyclicResponse.with_epsilon(30, 31, singer(5, 3), 1.5),
]


def matrix(channel: CyclicResponse) -> Floats:
    """Row x holds the chances of the reports of answer x, cell by cell from what is published."""
    inside, v = set(channel.shifts), channel.outputs
    weights = [
        [channel.same if (y - x) % v in inside else channel.other for y in range(v)]
        for x in range(channel.size)
    ]
    return np.array(weights) / channel.total


# -- the sampler ---------------------------------------------------------------------------------


@pytest.mark.parametrize("channel", SMALL, ids=str)
@pytest.mark.parametrize("kind", [np.intp, np.uint8])
def test_every_number_gives_every_cell_its_weight(
    channel: CyclicResponse, kind: type[np.integer[Any]]
) -> None:
    weights = np.array(channel.weights())
    np.testing.assert_array_equal(weights, np.rint(matrix(channel) * channel.total))
    assert (weights.sum(axis=1) == channel.total).all()
    numbers = np.arange(channel.total, dtype=np.uint64)
    for answer in range(channel.size):
        reports = channel.respond(np.full(channel.total, answer, dtype=kind), numbers)
        counts = np.bincount(np.asarray(reports, dtype=np.intp), minlength=channel.outputs)
        np.testing.assert_array_equal(counts, weights[answer])


def test_the_report_of_each_number_is_the_published_one() -> None:
    """Other devices, in other languages, must turn the same number into the same report."""
    channel = CyclicResponse(5, 7, (0, 1, 3), 7, 4)
    for answer in range(5):
        for number in range(channel.total):
            if number < 7 * 4:
                expected = number >> 2
            else:
                expected = (answer + (0, 1, 3)[(number - 28) // 3]) % 7
            drawn = channel.respond(np.array([answer]), np.array([number], dtype=np.uint64))
            assert drawn.tolist() == [expected]


def test_the_largest_channels_are_exact_at_every_edge() -> None:
    shifts = singer(2, 12)
    big = CyclicResponse.with_epsilon(4000, 4095, shifts, 2.0**-20)
    edge, gap = big.outputs * big.other, big.same - big.other
    assert big.total == edge + len(shifts) * gap <= MAX_TOTAL
    numbers = [0, big.other - 1, big.other, edge - 1, edge, edge + gap - 1, edge + gap]
    drawn = big.respond(np.full(8, 3999), np.array([*numbers, big.total - 1], dtype=np.uint64))
    likely = [(3999 + shifts[place]) % 4095 for place in (0, 0, 1, -1)]
    assert drawn.tolist() == [0, 0, 1, 4094, *likely]


@pytest.mark.parametrize("channel", LARGE, ids=["240", "100", "30"])
def test_a_million_reports_have_the_weights(channel: CyclicResponse) -> None:
    codes = np.arange(1_500_000) % channel.size
    reports = respond(channel, codes, seeded_words(31))
    assert reports.dtype == (np.uint16 if channel.outputs > 256 else np.uint8)
    cells = np.bincount(codes * channel.outputs + reports, minlength=channel.size * channel.outputs)
    seen = cells.reshape(channel.size, channel.outputs)
    expected = matrix(channel) * seen.sum(axis=1, keepdims=True)
    statistic = ((seen - expected) ** 2 / expected).sum()
    freedom = channel.size * (channel.outputs - 1)
    assert 1e-6 < chi2.sf(statistic, freedom) < 1 - 1e-6
    # The sets of single answers, where a set shifted by one would show at once.
    hits = (seen * (matrix(channel) * channel.total > channel.other + 0.5)).sum(axis=1)
    own, _ = channel.chances
    spread = np.sqrt(own * (1 - own) * seen.sum(axis=1))
    assert np.abs((hits - own * seen.sum(axis=1)) / spread).max() < 6.5


# -- the budget ----------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(
    epsilon=st.one_of(
        st.floats(2**-20, 20.0),
        st.floats(-20.0, 4.0).map(lambda power: 2.0**power),
        st.decimals(Decimal("0.000001"), Decimal(20), places=9),
    ),
    space=st.sampled_from([(2, 3), (2, 8), (3, 4), (5, 3), (7, 4), (83, 3)]),
)
@example(epsilon=0.1, space=(2, 3))
@example(epsilon=2.0**-20, space=(83, 3))
@example(epsilon=32.0, space=(2, 3))
@example(epsilon=Decimal(1) / Decimal(3), space=(3, 4))
def test_it_never_spends_more_than_asked(epsilon: float | Decimal, space: tuple[int, int]) -> None:
    channel = CyclicResponse.with_epsilon(2, points(*space), singer(*space), epsilon)
    asked = epsilon if isinstance(epsilon, Decimal) else Decimal(repr(epsilon))
    ratio = DIGITS.divide(Decimal(channel.same), Decimal(channel.other))
    assert DIGITS.exp(DIGITS.subtract(asked, SLACK)) < ratio <= DIGITS.exp(asked)
    assert abs(DIGITS.subtract(channel.exact_epsilon, DIGITS.ln(ratio))) < Decimal("1e-50")
    assert Decimal(channel.epsilon) >= channel.exact_epsilon
    assert Decimal(math.nextafter(channel.epsilon, 0.0)) < channel.exact_epsilon


@pytest.mark.parametrize("digits", [3, 28])
def test_the_callers_decimal_context_changes_nothing(digits: int) -> None:
    plain = CyclicResponse.with_epsilon(5, 7, (0, 1, 3), 0.7)
    with localcontext() as context:
        context.prec = digits
        assert CyclicResponse.with_epsilon(5, 7, (0, 1, 3), 0.7) == plain
        assert (
            best_channel(240, 0.7).exact_epsilon == best_channel(240, Decimal("0.7")).exact_epsilon
        )


@pytest.mark.parametrize("channel", SMALL, ids=str)
def test_the_stated_loss_is_the_worst_ratio_of_two_answers(channel: CyclicResponse) -> None:
    weights = np.array(channel.weights())
    worst = (weights.max(axis=0) / weights.min(axis=0)).max()
    assert worst == channel.same / channel.other
    assert channel.epsilon == pytest.approx(math.log(worst), rel=1e-14)


# -- the way back --------------------------------------------------------------------------------


@pytest.mark.parametrize("channel", [*SMALL, *LARGE], ids=str)
def test_the_inverse_takes_the_channel_back_out(channel: CyclicResponse) -> None:
    chances = matrix(channel)
    np.testing.assert_allclose(channel.forward.dense(), chances.T, rtol=1e-14)
    inverse = channel.inverse.dense()
    assert inverse.shape == (channel.inputs, channel.outputs)
    np.testing.assert_allclose(inverse @ chances.T, np.eye(channel.inputs), atol=1e-9)
    # Whatever the report, it adds one in all: estimates always sum to one.
    np.testing.assert_allclose(inverse.sum(axis=0), 1.0, atol=1e-9)
    squares = channel.inverse.power(2)
    np.testing.assert_allclose(squares.dense(), inverse**2, rtol=1e-12)
    reports = np.random.default_rng(0).dirichlet(np.ones(channel.outputs), 3).T
    np.testing.assert_allclose(channel.inverse.turn(reports), (inverse @ reports).T, atol=1e-9)
    np.testing.assert_allclose(squares.turn(reports), (inverse**2 @ reports).T, rtol=1e-9)
    assert channel.inverse.extreme() == pytest.approx(np.abs(inverse).max(), rel=1e-12)


@pytest.mark.parametrize("channel", SMALL + LARGE[1:], ids=str)
def test_chances_and_best_guess_are_those_of_the_matrix(channel: CyclicResponse) -> None:
    chances = matrix(channel)
    inside = chances * channel.total > channel.other + 0.5
    hits = chances @ inside.T
    own, others = channel.chances
    np.testing.assert_allclose(np.diag(hits), own, rtol=1e-12)
    off = hits[~np.eye(channel.size, dtype=bool)]
    np.testing.assert_allclose(off, others, rtol=1e-12)
    guess = chances.max(axis=0).sum() / channel.size
    assert channel.best_guess == pytest.approx(guess, rel=1e-12)


def test_with_sets_of_one_it_is_kary_response() -> None:
    cyclic, kary = CyclicResponse(6, 6, (0,), 7, 2), KaryResponse(6, 7, 2)
    assert cyclic.weights() == kary.weights()
    assert (cyclic.total, cyclic.epsilon, cyclic.best_guess) == (
        kary.total,
        kary.epsilon,
        kary.best_guess,
    )
    np.testing.assert_allclose(cyclic.inverse.dense(), kary.inverse.dense(), atol=1e-14)


BLOCKS = [
    (CyclicResponse(12, 13, singer(3, 3), 11, 4), (2, 3, 2)),
    (CyclicResponse(15, 15, singer(2, 4), 3, 1), (3, 5)),
    (CyclicResponse(6, 31, singer(5, 3), 17, 1), (3, 2)),
    (CyclicResponse.with_epsilon(60, 121, singer(3, 5), 1.0), (5, 3, 4)),
]


@pytest.mark.parametrize(("channel", "sizes"), BLOCKS, ids=str)
def test_part_of_a_block_is_the_marginal_of_the_whole(
    channel: CyclicResponse, sizes: tuple[int, ...]
) -> None:
    places = range(len(sizes))
    chances, inverse = matrix(channel), channel.inverse.dense()
    for keep in (keep for r in range(1, len(sizes)) for keep in combinations(places, r)):
        lens = channel.project(sizes, keep)
        assert isinstance(lens, SetMargin)
        gone = tuple(i for i in places if i not in keep)
        kept = math.prod(sizes[i] for i in keep)
        summed = inverse.reshape(*sizes, -1).sum(axis=gone).reshape(kept, -1)
        np.testing.assert_allclose(lens.inverse.dense(), summed, atol=1e-10)
        pi = np.random.default_rng(3).dirichlet(np.ones(channel.size))
        margin = pi.reshape(sizes).sum(axis=gone).ravel()
        np.testing.assert_allclose(lens.inverse.dense() @ (pi @ chances), margin, atol=1e-10)
        joint = chances.reshape(*sizes, -1).sum(axis=gone).reshape(kept, -1) / channel.size
        assert lens.best_guess == pytest.approx(joint.max(axis=0).sum(), rel=1e-12)
        with pytest.raises(QueryError, match="depends on the others"):
            _ = lens.forward
    assert channel.project(sizes, tuple(places)) is channel


# -- which channel -------------------------------------------------------------------------------


def variance(channel: Channel) -> float:
    """The variance of the share of a cell that nobody is in, for each report."""
    if isinstance(channel, KaryResponse):
        own, others = channel.same / channel.total, channel.other / channel.total
    else:
        assert isinstance(channel, CyclicResponse)
        own, others = channel.chances
    return others * (1 - others) / (own - others) ** 2


@pytest.mark.parametrize("channel", [KaryResponse(6, 7, 2), SMALL[1], SMALL[8]], ids=str)
def test_noise_is_the_variance_of_an_empty_cell(channel: KaryResponse | CyclicResponse) -> None:
    """By brute force, where there are as many reports as answers: nothing is evened out."""
    inside = 1 if isinstance(channel, KaryResponse) else len(channel.shifts)
    shared = (
        0
        if isinstance(channel, KaryResponse)
        else round(inside * (inside - 1) / (channel.size - 1))
    )
    chances, inverse = np.array(channel.weights()) / channel.total, channel.inverse.dense()
    spread = chances @ (inverse**2).T - (chances @ inverse.T) ** 2
    predicted = noise(channel.outputs, inside, shared, channel.same / channel.other)
    off = spread[~np.eye(channel.inputs, dtype=bool)]
    np.testing.assert_allclose(off, predicted, rtol=1e-9)
    assert variance(channel) == pytest.approx(predicted, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(size=st.integers(2, 4000), epsilon=st.floats(0.01, 12.0))
@example(size=2, epsilon=0.01)
@example(size=6, epsilon=0.01)
@example(size=4000, epsilon=4.0)
def test_the_best_channel_is_the_best_of_all(size: int, epsilon: float) -> None:
    channel = best_channel(size, epsilon)
    assert channel.inputs == size
    assert Decimal(repr(epsilon)) >= channel.exact_epsilon > Decimal(repr(epsilon)) - SLACK
    kary = variance(KaryResponse.with_epsilon(size, epsilon))
    ratio = math.exp(epsilon)
    others = [
        noise(points(q, t), points(q, t - 1), points(q, t - 2), ratio) for q, t in geometries(size)
    ]
    assert variance(channel) <= kary * (1 + 1e-6)
    assert variance(channel) <= WORTH * min([kary, *others]) * (1 + 1e-6)


@pytest.mark.parametrize("size", [240, 1000, 5000])
@pytest.mark.parametrize("epsilon", [0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0])
def test_large_domains_cost_no_more_than_the_known_optimum(size: int, epsilon: float) -> None:
    """No channel does better than 4 e / (e - 1)^2 for each report once there are many values."""
    power = math.exp(epsilon)
    best = 4 * power / (power - 1) ** 2
    assert 0.97 * best < variance(best_channel(size, epsilon)) < 1.03 * best


@pytest.mark.parametrize("epsilon", [1e-17, 1e-300, Decimal("1e-400"), 33, 10**400, 0, -1, "2"])
def test_a_budget_that_is_none_is_refused(epsilon: Any) -> None:
    with pytest.raises(ChannelError, match="the share of sex is"):
        best_channel(100, epsilon, "the share of sex")
    with pytest.raises(ChannelError, match="the share of sex is"):
        CyclicResponse.with_epsilon(5, 7, (0, 1, 3), epsilon, "the share of sex")


@pytest.mark.parametrize("size", [10**17, 10**400])
def test_a_domain_too_large_for_exact_weights_is_refused(size: int) -> None:
    with pytest.raises(ChannelError, match="smaller clusters"):
        best_channel(size, 1.0)


# -- every refusal -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 7, (0, 1, 3), 3, 1), "1 answers with 7 reports"),
        ((0, 7, (0, 1, 3), 3, 1), "two answers or more"),
        ((-2, 7, (0, 1, 3), 3, 1), "two answers or more"),
        ((8, 7, (0, 1, 3), 3, 1), "8 answers with 7 reports"),
        ((5, 7, (0, 1, 3), 1, 1), "must be larger"),
        ((5, 7, (0, 1, 3), 1, 2), "must be larger"),
        ((5, 7, (0, 1, 3), 4, 3), "power of two"),
        ((5, 7, (0, 1, 3), 4, 0), "power of two"),
        ((5, 7, (0, 1, 3), 4, -2), "power of two"),
        ((5, 7, (0, 1, 3), 2**53, 1), "below 2\\^53"),
        ((5, 7, (0, 1, 3), 2**52, 2**51), "below 2\\^53"),
        # Looked at before anything of that size is allocated.
        ((5, 2**45, (0, 1, 3), 3, 1), f"below {MOST_POINTS + 1}"),
        ((5, MOST_POINTS + 1, (0,), 3, 1), f"below {MOST_POINTS + 1}"),
        ((5, 7, (0, 3, 1), 3, 1), "not in order"),
        ((5, 7, (0, 1, 1, 3), 3, 1), "not in order"),
        ((5, 7, (0, 1, 7), 3, 1), "not in order"),
        ((5, 7, (-1, 0, 2), 3, 1), "not in order"),
        ((5, 7, (0, 1, 2), 3, 1), "not a cyclic difference set"),
        ((5, 7, (0, 1), 3, 1), "not a cyclic difference set"),
        ((5, 7, (), 3, 1), "not a cyclic difference set"),
        ((5, 7, tuple(range(7)), 3, 1), "not a cyclic difference set"),
        ((5.0, 7, (0, 1, 3), 3, 1), "5.0 is not a whole number"),
        ((5, "7", (0, 1, 3), 3, 1), "'7' is not a whole number"),
        ((5, 7, (0, 1, 3.0), 3, 1), "3.0 is not a whole number"),
        ((5, 7, (0, True, 3), 3, 1), "True is not a whole number"),
        ((5, 7, (0, 1, None), 3, 1), "None is not a whole number"),
        ((5, 7, (0, 1, 3), 3, True), "True is not a whole number"),
    ],
    ids=str,
)
def test_what_is_no_channel_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ChannelError, match=message):
        CyclicResponse(*arguments)


def test_what_is_published_comes_back() -> None:
    for channel in (*SMALL, *LARGE):
        assert channel_of(channel.document()) == channel


@pytest.mark.parametrize(
    "change",
    [
        {"size": 8},
        {"outputs": 8},
        {"outputs": 2**50},
        {"set": [0, 1, 2]},
        {"set": [0, 1, 3, 8]},
        {"set": 3},
        {"set": "013"},
        {"set": None},
        {"set": {"0": 1}},
        {"set": [[0], [1], [3]]},
        {"same": 1},
        {"same": 3.0},
        {"other": 3},
        {"kind": "Cyclic"},
        {"kind": "kary"},
        {"seed": 1},
    ],
    ids=str,
)
def test_a_changed_publication_is_refused(change: dict[str, Any]) -> None:
    document = CyclicResponse(5, 7, (0, 1, 3), 3, 1).document()
    assert channel_of(document).outputs == 7
    with pytest.raises(ChannelError):
        channel_of({**document, **change})
    for key in document:
        with pytest.raises(ChannelError):
            channel_of({name: part for name, part in document.items() if name != key})


def test_nothing_changes_after_construction() -> None:
    shifts = [0, 1, 3]
    channel = CyclicResponse(5, 7, shifts, 3, 1)  # type: ignore[arg-type]
    shifts[0] = 5
    assert channel.shifts == (0, 1, 3)
    with pytest.raises(FrozenInstanceError):
        channel.same = 5  # type: ignore[misc]
    document = channel.document()
    document["set"].append(6)
    assert channel.shifts == (0, 1, 3)
