"""The smallest n and epsilon: they reach what is wanted, a little less does not."""

from __future__ import annotations

import math

import pytest

from castell.planning.smallest_n_or_epsilon import (
    smallest,
    smallest_epsilon,
    smallest_n,
    three_digits,
)


@pytest.mark.parametrize("wanted", [0.03, 0.001])
def test_n_reaches_and_one_per_cent_less_does_not(wanted: float) -> None:
    def error(n: float) -> float:
        return 3.0 / n + 0.7 / math.sqrt(n)

    n = smallest_n(error, wanted)
    assert n is not None
    assert error(n) <= wanted < error(0.98 * n)


def test_n_is_rounded_up_to_three_digits_whatever_is_wanted() -> None:
    for k in range(40):
        wanted = 0.2 * 0.8**k
        n = smallest_n(lambda n: 1.0 / math.sqrt(n), wanted)
        assert n is not None
        assert n >= wanted**-2
        assert n <= 10 or int(str(n)[3:] or 0) == 0
    assert [three_digits(n) for n in (12_301, 12_300, 999.2, 7.5)] == [12_400, 12_300, 1000, 8]


def test_steps_do_not_trap_it() -> None:
    """Where an error falls in steps, as with sets that change with epsilon."""
    found = smallest(lambda x: 1.0 / math.floor(x), 0.1, 1.0, 1e6)
    assert 10.0 <= found < 10.1


def test_nothing_is_found_where_nothing_is() -> None:
    assert smallest_n(lambda n: 0.2 + 1.0 / n, 0.1) is None
    assert smallest_epsilon(lambda _: math.inf, 0.1) is None


def test_the_least_there_is_may_be_enough() -> None:
    assert smallest_n(lambda _: 0.01, 0.1) == 10


def test_epsilon_is_rounded_up() -> None:
    found = smallest_epsilon(lambda e: math.exp(-e), 0.1)
    assert found is not None
    assert math.log(10) <= found < math.log(10) + 0.02
