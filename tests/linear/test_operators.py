"""A map kept as two numbers does exactly what its matrix does."""

import numpy as np
import pytest

from castell.linear.operators import Dense, Floats, Operator, Uniform

# On both sides of the size at which Uniform stops multiplying matrices.
SIZES = [2, 3, 63, 64, 65, 150]


def pair(size: int) -> tuple[Uniform, Dense, np.random.Generator]:
    random = np.random.default_rng(size)
    uniform = Uniform(size, float(random.normal()), float(random.normal()))
    matrix = np.full((size, size), uniform.rest)
    matrix[np.arange(size), np.arange(size)] = uniform.diagonal
    return uniform, Dense(matrix), random


@pytest.mark.parametrize("size", SIZES)
def test_uniform_does_what_its_matrix_does(size: int) -> None:
    uniform, dense, random = pair(size)
    assert (uniform.rows, uniform.columns) == (dense.rows, dense.columns) == (size, size)
    np.testing.assert_array_equal(uniform.dense(), dense.matrix)
    for exponent in (2, 3):
        powered = uniform.power(exponent).dense()
        np.testing.assert_allclose(powered, dense.matrix**exponent, rtol=1e-13)
    for rest in (1, 7, 20_001):
        table = random.normal(size=(size, rest))
        np.testing.assert_allclose(uniform.turn(table), (dense.matrix @ table).T, atol=1e-11)
        np.testing.assert_allclose(dense.turn(table), (dense.matrix @ table).T, atol=1e-11)
    for rows in ([0], [size - 1, 0], list(range(size)), []):
        chosen = np.array(rows, dtype=np.intp)
        expected = sum((dense.matrix[row] for row in rows), np.zeros(size))
        np.testing.assert_allclose(uniform.combine(chosen), expected, atol=1e-11)
        np.testing.assert_allclose(dense.combine(chosen), expected, atol=1e-11)


@pytest.mark.parametrize("columns", [2, 5])
def test_an_asymmetric_matrix_maps_columns_to_rows(columns: int) -> None:
    random = np.random.default_rng(0)
    matrix: Floats = random.normal(size=(2, columns))
    dense = Dense(matrix)
    table = random.normal(size=(columns, 3))
    assert (dense.rows, dense.columns) == (2, columns)
    np.testing.assert_allclose(dense.turn(table), (matrix @ table).T)
    np.testing.assert_allclose(dense.combine(np.array([1])), matrix[1])
    np.testing.assert_allclose(dense.power(3).dense(), matrix**3)


def test_one_turn_for_each_axis_brings_every_axis_back() -> None:
    # The result of a turn is laid out so that the next axis comes first: what kronecker relies on.
    random = np.random.default_rng(1)
    sizes = (2, 70, 3)
    first = Dense(random.normal(size=(4, 2)))
    operators: list[Operator] = [first, Uniform(70, 1.5, 0.25), Uniform(3, 2.0, -1.0)]
    table = random.normal(size=sizes)
    turned = table
    for operator in operators:
        turned = operator.turn(np.reshape(turned, (operator.columns, -1)))
    whole = np.kron(np.kron(operators[0].dense(), operators[1].dense()), operators[2].dense())
    np.testing.assert_allclose(turned.ravel(), whole @ table.ravel(), atol=1e-10)
