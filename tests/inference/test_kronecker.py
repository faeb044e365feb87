"""The three inversions give one answer, the one that brute force gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castell.channels import Channel, KaryResponse, Lens, MatrixResponse
from castell.errors import TableTooLargeError
from castell.inference.kronecker import castell, naive, reduced
from castell.linear.operators import Floats, apply
from castell.study.schema import MAX_CELLS, check_cells
from tests.populations import kronecker

Inversion = Callable[..., Floats]
INVERSIONS = [naive, reduced, castell]
ASYMMETRIC = MatrixResponse([[14, 4, 2], [3, 16, 1], [6, 2, 12]])
WIDE = MatrixResponse([[6, 3, 1], [1, 2, 7]])


def _forward(channels: Sequence[Channel]) -> Floats:
    """From all answers to all reports, from the integer weights and nothing else."""
    return kronecker(np.array(c.weights(), dtype=np.float64).T / c.total for c in channels)


def _agree(channels: Sequence[Channel], generator: np.random.Generator) -> None:
    forward = _forward(channels)
    answers = tuple(channel.inputs for channel in channels)
    reports = tuple(channel.outputs for channel in channels)
    truth = generator.dirichlet(np.ones(forward.shape[1]))
    seen = (forward @ truth).reshape(reports)
    for inversion in INVERSIONS:
        found = inversion(seen, channels)
        assert found.shape == answers
        np.testing.assert_allclose(found, truth.reshape(answers), atol=1e-10)
    # Real reports are never as expected: any table at all must give one answer too.
    table = generator.dirichlet(np.ones(forward.shape[0])).reshape(reports)
    found = castell(table, channels)
    np.testing.assert_allclose(naive(table, channels), found, atol=1e-10)
    np.testing.assert_allclose(reduced(table, channels), found, atol=1e-10)
    if answers == reports:
        oracle = np.linalg.solve(forward, table.ravel()).reshape(answers)
        np.testing.assert_allclose(found, oracle, atol=1e-10)


@st.composite
def _channel(draw: st.DrawFn) -> Channel:
    size = draw(st.integers(2, 5))
    if draw(st.booleans()):
        other = 1 << draw(st.integers(0, 6))
        return KaryResponse(size, other * draw(st.integers(2, 20)) + 1, other)
    extra = draw(st.integers(0, 2))
    width = size + extra
    cells = st.lists(st.integers(1, 9), min_size=width, max_size=width)
    rows = [draw(cells) for _ in range(size)]
    for i, row in enumerate(rows):
        # Heavier on the answer than on all else: far from singular, whatever was drawn.
        row[i] += 20 * width - sum(row)
    return MatrixResponse(rows)


@settings(max_examples=80, deadline=None)
@given(st.lists(_channel(), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_three_inversions_and_brute_force_agree(channels: list[Channel], seed: int) -> None:
    _agree(channels, np.random.default_rng(seed))


@pytest.mark.parametrize(
    "channels",
    [
        [KaryResponse.with_epsilon(64, 3.0), KaryResponse.with_epsilon(3, 1.0)],
        [KaryResponse.with_epsilon(65, 3.0), KaryResponse.with_epsilon(2, 1.0)],
        [KaryResponse.with_epsilon(2, 1.0), KaryResponse.with_epsilon(100, 4.0), ASYMMETRIC],
        [KaryResponse.with_epsilon(300, 4.0)],
        [ASYMMETRIC, WIDE, KaryResponse.with_epsilon(4, 1.0)],
        [WIDE, WIDE],
    ],
    ids=["64 values", "65 values", "100 values in the middle", "300 alone", "mixed", "wide"],
)
def test_they_agree_where_the_code_takes_another_way(channels: list[Channel]) -> None:
    _agree(channels, np.random.default_rng(7))


def test_a_part_of_a_block_is_seen_through_its_own_matrix() -> None:
    block = KaryResponse.with_epsilon(2 * 3 * 4, 3.0)
    lens = block.project((2, 3, 4), (0, 2))
    whole = np.array(block.weights(), dtype=np.float64) / block.total
    # Reports of the kept digits, for answers that differ in the kept digits.
    kept = whole.reshape(2, 3, 4, 2, 3, 4).sum(axis=4)[:, 0].reshape(8, 8)
    np.testing.assert_allclose(lens.forward.dense().T, kept, atol=1e-14)
    np.testing.assert_allclose(lens.inverse.dense() @ kept.T, np.eye(8), atol=1e-12)
    assert lens.best_guess == pytest.approx(kept.max(axis=0).sum() / 8)


def test_a_table_of_another_shape_is_refused() -> None:
    operators = [ASYMMETRIC.inverse, WIDE.inverse]
    assert apply(operators, np.ones((3, 3))).shape == (3, 2)
    with pytest.raises(ValueError, match=r"shape \(3, 2\) for operators of shape \(3, 3\)"):
        apply(operators, np.ones((3, 2)))


def _never(*_: object) -> NoReturn:
    raise AssertionError("something was built before its size was looked at")


def _huge(size: int) -> Lens:
    """A channel that tells its size and nothing else: whoever builds something from it fails."""
    operator = SimpleNamespace(rows=size, columns=size, dense=_never, turn=_never)
    return cast(Lens, SimpleNamespace(forward=operator, inverse=operator))


@pytest.mark.parametrize("inversion", INVERSIONS)
@pytest.mark.parametrize("sizes", [(1 << 20, 1 << 20), (1 << 40,)])
def test_too_large_is_refused_before_anything_is_allocated(
    inversion: Inversion, sizes: tuple[int, ...]
) -> None:
    table: Any = np.broadcast_to(0.0, sizes)  # takes no memory
    with pytest.raises(TableTooLargeError) as caught:
        inversion(table, [_huge(size) for size in sizes])
    message = str(caught.value)
    cells = 1 << (40 if inversion is castell else 80)
    assert f"{cells:,} cells" in message
    assert f"the limit is {MAX_CELLS:,}" in message
    assert "fewer attributes" in message
    assert "model.probability" in message


@pytest.mark.parametrize("inversion", INVERSIONS)
def test_the_limit_can_be_set(inversion: Inversion) -> None:
    channels = [KaryResponse(2, 3, 1), KaryResponse(3, 3, 1)]
    table = np.full((2, 3), 1 / 6)
    cells = 6 if inversion is castell else 36
    assert inversion(table, channels, cells).shape == (2, 3)
    with pytest.raises(TableTooLargeError, match=f"{cells} cells, the limit is {cells - 1}"):
        inversion(table, channels, cells - 1)


def test_check_cells_counts_beyond_64_bits() -> None:
    assert check_cells("a x b", [3, 4], 12) == 12
    with pytest.raises(TableTooLargeError, match=f"{10**24:,} cells"):
        check_cells("the world", [1000] * 8, None)
