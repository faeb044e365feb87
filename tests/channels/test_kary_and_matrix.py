"""Channels are exact: the budget, the sampler and the inverse all follow from the same integers."""

import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from castell import KaryResponse, MatrixResponse
from castell.channels import MAX_TOTAL, Channel, channel_of
from castell.errors import ChannelError, QueryError

# An oracle of its own: far more digits than the code uses, and exp instead of its ln.
DIGITS = Context(prec=90)
LN2 = DIGITS.ln(Decimal(2))
SLACK = DIGITS.power(Decimal(2), Decimal(-30))

SMALL: list[Channel] = [
    KaryResponse(2, 3, 1),
    KaryResponse(2, 2, 1),
    KaryResponse(3, 5, 2),
    KaryResponse(5, 9, 4),
    KaryResponse(7, 64, 1),
    MatrixResponse([[8, 2], [3, 7]]),
    MatrixResponse([[1, 6], [5, 2]]),
    MatrixResponse([[6, 3, 1], [1, 7, 2], [3, 2, 5]]),
    # More reports than answers, and five of them: the bisection has to pad.
    MatrixResponse([[7, 2, 1], [1, 2, 7]]),
    MatrixResponse([[9, 3, 1, 5, 2], [1, 2, 8, 4, 5], [2, 9, 2, 1, 6]]),
    MatrixResponse([[9, 1, 3, 5, 2], [1, 9, 2, 4, 4], [3, 2, 9, 1, 5], [2, 2, 2, 13, 1], [4] * 5]),
]


def asked_of(epsilon: float | Decimal) -> Decimal:
    return epsilon if isinstance(epsilon, Decimal) else Decimal(repr(epsilon))


def holds_the_budget(channel: KaryResponse, asked: Decimal) -> bool:
    """Never above what was asked, less than 2^-30 below it."""
    ratio = DIGITS.divide(Decimal(channel.same), Decimal(channel.other))
    return DIGITS.exp(DIGITS.subtract(asked, SLACK)) < ratio <= DIGITS.exp(asked)


# -- the budget ----------------------------------------------------------------------------------


EPSILONS = st.one_of(
    st.floats(2**-20, 32.0),
    st.floats(-20.0, 5.0).map(lambda power: 2.0**power),
    st.decimals(Decimal("0.000001"), Decimal(32), places=9),
)


@settings(max_examples=400, deadline=None)
@given(epsilon=EPSILONS, size=st.integers(2, 2**21))
@example(epsilon=0.1, size=2)
@example(epsilon=0.3, size=3)
@example(epsilon=2.0**-20, size=2**21)
@example(epsilon=32.0, size=2**21)
@example(epsilon=Decimal(1) / Decimal(3), size=240)
def test_kary_response_never_spends_more_than_asked(epsilon: float | Decimal, size: int) -> None:
    channel = KaryResponse.with_epsilon(size, epsilon)
    asked = asked_of(epsilon)
    assert holds_the_budget(channel, asked)
    # What it states is what the weights say: the true loss to 50 digits, and a float not below.
    true = DIGITS.subtract(DIGITS.ln(Decimal(channel.same)), DIGITS.ln(Decimal(channel.other)))
    assert abs(DIGITS.subtract(channel.exact_epsilon, true)) < Decimal("1e-50")
    assert Decimal(channel.epsilon) >= channel.exact_epsilon
    assert Decimal(math.nextafter(channel.epsilon, 0.0)) < channel.exact_epsilon
    assert channel.total == channel.same + (size - 1) * channel.other <= MAX_TOTAL == 2**53


@pytest.mark.parametrize("power", range(1, 47))
def test_the_budget_holds_where_the_weights_change_scale(power: int) -> None:
    edge = float(DIGITS.multiply(LN2, Decimal(power)))
    for epsilon in (math.nextafter(edge, 0.0), edge, math.nextafter(edge, 40.0)):
        if epsilon <= 32:
            assert holds_the_budget(KaryResponse.with_epsilon(2, epsilon), asked_of(epsilon))


@pytest.mark.parametrize("digits", [3, 6, 28])
def test_the_callers_decimal_context_changes_nothing(digits: int) -> None:
    # A program may compute with few digits for reasons of its own; the budget is none of them.
    for epsilon in (0.7, 1.0, 3.3, 0.012345):
        with localcontext() as context:
            context.prec = digits
            channel = KaryResponse.with_epsilon(3, epsilon)
        assert holds_the_budget(channel, asked_of(epsilon))


@given(st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_a_matrix_spends_its_worst_ratio(seed: int) -> None:
    random = np.random.default_rng(seed)
    inputs, outputs = sorted(random.integers(2, 6, size=2))
    rows = random.integers(1, 1000, size=(inputs, outputs))
    rows[:, 0] += rows.sum(axis=1).max() - rows.sum(axis=1)
    try:
        channel = MatrixResponse(rows.tolist())
    except ChannelError:
        assert np.linalg.cond(rows.astype(float)) > 1e5  # rarely, rows nearly alike
        return
    worst = max(
        Fraction(int(rows[a, y]), int(rows[b, y]))
        for a in range(inputs)
        for b in range(inputs)
        for y in range(outputs)
    )
    true = DIGITS.ln(DIGITS.divide(Decimal(worst.numerator), Decimal(worst.denominator)))
    assert abs(DIGITS.subtract(channel.exact_epsilon, true)) < Decimal("1e-50")
    assert Decimal(channel.epsilon) >= channel.exact_epsilon


# -- the sampler ---------------------------------------------------------------------------------


@pytest.mark.parametrize("channel", SMALL, ids=str)
@pytest.mark.parametrize("kind", [np.intp, np.uint8])
def test_every_number_of_a_small_channel_gives_every_cell_its_weight(
    channel: Channel, kind: type[np.integer[Any]]
) -> None:
    weights = np.array(channel.weights())
    assert weights.shape == (channel.inputs, channel.outputs)
    assert (weights > 0).all()
    assert (weights.sum(axis=1) == channel.total).all()
    numbers = np.arange(channel.total, dtype=np.uint64)
    for answer in range(channel.inputs):
        reports = channel.respond(np.full(channel.total, answer, dtype=kind), numbers)
        counts = np.bincount(np.asarray(reports, dtype=np.intp), minlength=channel.outputs)
        np.testing.assert_array_equal(counts, weights[answer])


@pytest.mark.parametrize("channel", SMALL, ids=str)
def test_answers_of_one_column_do_not_touch_each_other(channel: Channel) -> None:
    numbers = np.tile(np.arange(channel.total, dtype=np.uint64), channel.inputs)
    codes = np.repeat(np.arange(channel.inputs), channel.total)
    order = np.random.default_rng(3).permutation(len(codes))
    together = channel.respond(codes[order], numbers[order])
    alone = [int(channel.respond(codes[[i]], numbers[[i]])[0]) for i in order]
    assert list(together) == alone


def test_the_largest_channels_are_exact_at_every_edge() -> None:
    """Around each boundary between two reports, where an off-by-one would show."""
    big = KaryResponse.with_epsilon(2**21, 2.0**-20)
    rows = [[2**52, 2**52 - 999, 999], [999, 2**52, 2**52 - 999], [2**51, 2**51, 2**52]]
    matrix = MatrixResponse(rows)
    assert matrix.total == MAX_TOTAL
    for answer, row in enumerate(rows):
        end = 0
        for report, weight in enumerate(row):
            edges = np.array([end, end + weight - 1], dtype=np.uint64)
            assert matrix.respond(np.array([answer] * 2), edges).tolist() == [report] * 2
            end += weight
    edge = big.size * big.other
    assert big.total - edge == big.same - big.other
    numbers = np.array([0, big.other - 1, big.other, edge - 1, edge, big.total - 1], np.uint64)
    codes = np.full(6, 12345)
    assert big.respond(codes, numbers).tolist() == [0, 0, 1, big.size - 1, 12345, 12345]


# -- the way back --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "channel", [*SMALL, KaryResponse.with_epsilon(240, 0.5), KaryResponse.with_epsilon(2, 30)]
)
def test_the_inverse_takes_the_channel_back_out(channel: Channel) -> None:
    weights = np.array(channel.weights()) / channel.total
    # Row x of the weights is where answer x goes: reports are distributed as weights^T pi.
    np.testing.assert_allclose(channel.forward.dense(), weights.T, rtol=1e-15)
    product = channel.inverse.dense() @ channel.forward.dense()
    np.testing.assert_allclose(product, np.eye(channel.inputs), atol=1e-10)
    guess = (weights.max(axis=0)).sum() / channel.inputs
    assert channel.best_guess == pytest.approx(guess, rel=1e-12)


KEEPS = [keep for r in (1, 2, 3) for keep in combinations(range(3), r)]


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("channel", [KaryResponse(12, 21, 4), KaryResponse.with_epsilon(12, 2.0)])
def test_part_of_a_block_is_the_marginal_of_the_whole(
    channel: KaryResponse, keep: tuple[int, ...]
) -> None:
    """Marginalising the reports of any distribution is the coarse channel on its marginal."""
    sizes = (2, 3, 2)
    lens = channel.project(sizes, keep)
    gone = tuple(i for i in range(3) if i not in keep)
    whole = np.array(channel.weights()).T / channel.total
    random = np.random.default_rng(5)
    for _ in range(20):
        pi = random.dirichlet(np.full(12, 0.5))
        reports = (whole @ pi).reshape(sizes).sum(axis=gone).ravel()
        answers = pi.reshape(sizes).sum(axis=gone).ravel()
        np.testing.assert_allclose(lens.forward.dense() @ answers, reports, atol=1e-14)
        np.testing.assert_allclose(lens.inverse.dense() @ reports, answers, atol=1e-12)
    size = len(answers)
    np.testing.assert_allclose(
        lens.inverse.dense() @ lens.forward.dense(), np.eye(size), atol=1e-12
    )
    # A uniform answer, guessed from the kept digits of its report.
    guess = lens.forward.dense().max(axis=1).sum() / size
    assert lens.best_guess == pytest.approx(guess, rel=1e-12)


@pytest.mark.parametrize("keep", [(0,), (1,), (2,), (0, 2), (1, 2)])
def test_a_part_of_a_block_through_any_matrix(keep: tuple[int, ...]) -> None:
    sizes, gone = (2, 3, 2), tuple(i for i in range(3) if i not in keep)
    random = np.random.default_rng(8)
    weights = random.integers(1, 9, (12, 15)) + 30 * np.eye(12, 15, dtype=int)
    weights[:, -1] += weights.sum(axis=1).max() - weights.sum(axis=1)
    channel = MatrixResponse(weights.tolist())
    assert channel.project(sizes, (0, 1, 2)) is channel
    lens = channel.project(sizes, keep)
    whole = weights.T / channel.total
    for _ in range(20):
        pi = random.dirichlet(np.full(12, 0.5))
        answers = pi.reshape(sizes).sum(axis=gone).ravel()
        np.testing.assert_allclose(lens.inverse.dense() @ (whole @ pi), answers, atol=1e-12)
    # How a part is reported depends on the rest.
    assert not lens.has_forward
    with pytest.raises(QueryError, match="depends on the others"):
        _ = lens.forward
    # A uniform answer, guessed from its whole report.
    parts = weights.reshape(*sizes, 15).sum(axis=gone).reshape(-1, 15)
    assert lens.best_guess == pytest.approx(parts.max(axis=0).sum() / weights.sum(), rel=1e-14)
    worst = (parts.max(axis=0) / parts.sum(axis=0)).max()
    assert lens.worst_guess == pytest.approx(worst, rel=1e-14)


# -- matrices as people write them ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "rows"),
    [
        ([[0.8, 0.2], [0.3, 0.7]], ((8, 2), (3, 7))),
        ([[Decimal("0.75"), Decimal("0.25")], [0.1, 0.9]], ((15, 5), (2, 18))),
        ([[Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 4), Fraction(3, 4)]], ((8, 4), (3, 9))),
        (np.array([[0.5, 0.25, 0.25], [0.125, 0.375, 0.5]]), ((4, 2, 2), (1, 3, 4))),
    ],
)
def test_short_decimals_stay_exact(matrix: Any, rows: tuple[tuple[int, ...], ...]) -> None:
    assert MatrixResponse.from_probabilities(matrix).rows == rows


@given(st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_other_matrices_are_rounded_by_less_than_one_weight(seed: int) -> None:
    size = 2 + seed % 5
    matrix = np.random.default_rng(seed).dirichlet(np.full(size, 2.0), size=size) + np.eye(size)
    matrix /= matrix.sum(axis=1, keepdims=True)
    channel = MatrixResponse.from_probabilities(matrix.tolist())
    assert channel.total <= MAX_TOTAL
    assert {sum(row) for row in channel.rows} == {channel.total}
    for row, given_row in zip(channel.rows, matrix.tolist(), strict=True):
        asked = [Fraction(repr(value)) for value in given_row]
        for weight, share in zip(row, asked, strict=True):
            assert abs(weight - share / sum(asked) * channel.total) < 1


# -- every refusal -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "epsilon",
    [
        0,
        0.0,
        -1,
        -0.5,
        math.inf,
        -math.inf,
        math.nan,
        Decimal("NaN"),
        Decimal("Infinity"),
        True,
        False,
        np.True_,
        "1",
        None,
        [1.0],
        1j,
        np.complex128(1.0),
        1000,
        32.000001,
        10**400,
        1e-12,
        2.0**-21,
    ],
    ids=lambda epsilon: str(epsilon)[:12],
)
def test_what_is_no_privacy_choice_is_refused(epsilon: Any) -> None:
    with pytest.raises(ChannelError, match="the share of sex"):
        KaryResponse.with_epsilon(3, epsilon, "the share of sex")


def kary(size: Any, same: Any, other: Any) -> Callable[[], object]:
    return lambda: KaryResponse(size, same, other)


def weights(rows: Any) -> Callable[[], object]:
    return lambda: MatrixResponse(rows)


def probabilities(matrix: Any) -> Callable[[], object]:
    return lambda: MatrixResponse.from_probabilities(matrix, "the matrix of 'sex'")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (kary(1, 3, 1), "two values or more"),
        (kary(2, 3, 0), "power of two"),
        (kary(2, 7, 3), "power of two"),
        (kary(2, 3, -2), "power of two"),
        (kary(2, 2, 2), "weigh more"),
        (kary(2, 1, 2), "weigh more"),
        (kary(2, 3.0, 1), "not an integer weight"),
        (kary(2, 3, True), "not an integer weight"),
        (kary("2", 3, 1), "not an integer weight"),
        (kary(2, 2**53, 1), "too large"),
        (kary(2**53, 3, 1), "too large"),
        (lambda: KaryResponse.with_epsilon(2**23, 2.0**-20), "smaller clusters"),
        (weights([[1, 2], [1, 2]]), "singular"),
        (weights([[1000000000, 1000000001], [1000000001, 1000000000]]), "singular"),
        (weights([[3, 1], [2, 2], [1, 3]]), "singular"),
        (weights([[3, 0], [1, 2]]), "weight 0"),
        (weights([[3, 1, 0], [1, 3, 0]]), "weight 0"),
        (weights([[3, 1], [1, 2, 1]]), "all of one length"),
        (weights([[3, 1]]), "two rows"),
        (weights([[4, -1], [1, 2]]), "not a weight"),
        (weights([[2.0, 1.0], [1.0, 2.0]]), "not a weight"),
        (weights([[True, 2], [2, 1]]), "not a weight"),
        (weights([["2", "1"], ["1", "2"]]), "not a weight"),
        (weights([[2, None], [1, 2]]), "not a weight"),
        (weights([[2, 1], [1, 3]]), "different totals"),
        (weights([[2**53, 1], [1, 2**53]]), "below 2\\^53"),
        (weights([[2**53 - 1, 1], [1, 2**53 - 1]]), "above 32"),
        (weights([]), "empty"),
        (weights([[], []]), "empty"),
        (weights(3), "not rows"),
        (weights([3, 4]), "not rows"),
        (probabilities([[0.5, 0.4], [0.3, 0.7]]), "row 1 of the matrix of 'sex' sums to 0.9"),
        (probabilities([[0.8, 0.2], [0.6, 0.6]]), "row 2 of the matrix of 'sex' sums to 1.2"),
        (probabilities([[1.2, -0.2], [0.3, 0.7]]), "row 1"),
        (probabilities([[1.0, 0.0], [0.3, 0.7]]), "weight 0"),
        (probabilities([[0.5, 0.5], [0.5, 0.5]]), "singular"),
        (probabilities([[0.5, 0.5], [1.0]]), "all of one length"),
        (probabilities([[math.nan, 0.5], [0.5, 0.5]]), "rows of numbers"),
        (probabilities([[math.inf, 0.5], [0.5, 0.5]]), "rows of numbers"),
        (probabilities([["much", "little"], [0.5, 0.5]]), "rows of numbers"),
        (probabilities([["1/0", 0.5], [0.5, 0.5]]), "rows of numbers"),
        (probabilities([[None, 0.5], [0.5, 0.5]]), "rows of numbers"),
        (probabilities(0.5), "rows of numbers"),
        (probabilities([0.5, 0.5]), "rows of numbers"),
        (probabilities([]), "empty"),
        (probabilities([[], []]), "row 1"),
        (probabilities([[1 - 1e-15, 1e-15], [1e-15, 1 - 1e-15]]), "above 32"),
    ],
)
def test_what_gives_no_privacy_or_no_estimate_is_refused(
    make: Callable[[], object], message: str
) -> None:
    with pytest.raises(ChannelError, match=message):
        make()


# -- as published --------------------------------------------------------------------------------


@pytest.mark.parametrize("channel", SMALL, ids=str)
def test_a_published_channel_is_the_same_channel(channel: Channel) -> None:
    assert channel_of(channel.document()) == channel


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"kind": "subset", "size": 3},
        {"kind": "kary", "size": 3, "same": 5},
        {"kind": "kary", "size": 3, "same": 5, "other": 2, "seed": 1},
        {"kind": "kary", "size": 3, "same": "5", "other": 2},
        {"kind": "matrix"},
        {"kind": "matrix", "weights": [[2, 1], [1, 2]], "total": 3},
        {"kind": "matrix", "weights": None},
        {"kind": ["kary"], "size": 3, "same": 5, "other": 2},
    ],
    ids=str,
)
def test_an_unknown_channel_is_refused(document: Any) -> None:
    with pytest.raises(ChannelError):
        channel_of(document)


def test_nothing_changes_after_construction() -> None:
    rows = [[8, 2], [3, 7]]
    matrix, kary_response = MatrixResponse(rows), KaryResponse(2, 3, 1)
    rows[0][0] = 1
    matrix.weights()[0][0] = 1
    assert matrix.rows == ((8, 2), (3, 7))
    with pytest.raises(FrozenInstanceError):
        matrix.rows = ((1, 2), (2, 1))  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        kary_response.same = 99  # type: ignore[misc]
