"""Two operators side by side, against the matrix they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from castell.linear.kronecker_product import KroneckerProduct, identity
from castell.linear.operators import Circulant, Dense, Operator, Uniform

SETS = Circulant(3, (0, 1), np.array([0.5, 0.6, 0.7, 0.8]), np.array([0.1, 0.2, 0.3, 0.4]))
OPERATORS = [Uniform(3, 2.0, 0.5), Dense(np.arange(6.0).reshape(2, 3)), SETS]


@pytest.mark.parametrize("left", [*OPERATORS, identity(2)])
@pytest.mark.parametrize("right", [*OPERATORS, identity(2)])
def test_it_is_the_kronecker_product(left: Operator, right: Operator) -> None:
    made = KroneckerProduct(left, right)
    whole = np.kron(left.dense(), right.dense())
    assert np.abs(made.dense() - whole).max() == 0.0
    table = np.random.default_rng(1).random((4, made.columns))
    assert np.abs(made.apply_last(table) - table @ whole.T).max() < 1e-12
    assert np.abs(made.turn(np.ascontiguousarray(table.T)) - table @ whole.T).max() < 1e-12
    assert np.abs(made.transpose().dense() - whole.T).max() == 0.0
    assert np.abs(made.power(2).dense() - whole**2).max() < 1e-12
    rows = np.array([0, made.rows - 1])
    assert np.abs(made.combine(rows) - whole[rows].sum(axis=0)).max() < 1e-12
    assert made.extreme() == np.abs(whole).max()
    assert (made.rows, made.columns) == whole.shape
