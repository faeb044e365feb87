"""A map kept as one set of shifts does exactly what its matrix does."""

from itertools import product

import numpy as np
import pytest

from castell.channels.difference_sets import points, singer
from castell.linear.operators import Circulant, Dense, Floats, Operator

# Answers, reports and the set. Not all are difference sets: the map does not need one.
SHAPES = [
    (2, 2, (0,)),
    (2, 3, (0, 1)),
    (5, 7, (0, 1, 3)),
    (7, 7, (0, 1, 3)),
    (2, 7, (0, 1, 3)),
    (3, 8, (1, 2, 7)),
    (4, 6, (0, 1, 2, 3, 4, 5)),
    (13, 13, singer(3, 3)),
    (20, 31, singer(5, 3)),
    (100, 121, singer(3, 5)),
    (60, 400, singer(7, 4)),
    (240, 400, singer(7, 4)),
    (50, 1893, singer(43, 3)),
]


def pair(size: int, reports: int, shifts: tuple[int, ...]) -> tuple[Circulant, Floats]:
    """The map and its matrix, written out cell by cell."""
    random = np.random.default_rng(size + reports)
    inside, outside = random.normal(size=(2, reports))
    matrix = np.zeros((size, reports))
    for x, y in product(range(size), range(reports)):
        matrix[x, y] = inside[y] if (y - x) % reports in shifts else outside[y]
    return Circulant(size, shifts, inside, outside), matrix


def does_what(operator: Operator, matrix: Floats) -> None:
    random = np.random.default_rng(1)
    rows, columns = matrix.shape
    assert (operator.rows, operator.columns) == (rows, columns)
    np.testing.assert_array_equal(operator.dense(), matrix)
    for rest in (1, 3, 50):
        table = random.normal(size=(columns, rest))
        turned = operator.turn(table)
        assert turned.shape == (rest, rows)
        assert turned.flags.c_contiguous
        np.testing.assert_allclose(turned, (matrix @ table).T, atol=1e-10)
    for chosen in ([0], [rows - 1, 0], list(range(rows)), list(range(0, rows, 3)), []):
        expected = matrix[chosen].sum(axis=0)
        found = operator.combine(np.array(chosen, dtype=np.intp))
        np.testing.assert_allclose(found, expected, atol=1e-11)
    assert operator.extreme() == np.abs(matrix).max()


@pytest.mark.parametrize(("size", "reports", "shifts"), SHAPES, ids=lambda part: str(part)[:12])
def test_a_circulant_does_what_its_matrix_does(
    size: int, reports: int, shifts: tuple[int, ...]
) -> None:
    circulant, matrix = pair(size, reports, shifts)
    does_what(circulant, matrix)
    does_what(circulant.transpose(), matrix.T)
    does_what(circulant.transpose().transpose(), matrix)
    for exponent in (2, 3):
        does_what(circulant.power(exponent), matrix**exponent)
        does_what(circulant.transpose().power(exponent), (matrix**exponent).T)


def test_a_report_in_no_set_does_not_count_as_the_largest() -> None:
    # Reports 5 and 6 are in the set of neither answer, 1 in both: three numbers are never used.
    inside = np.array([1.0, 2.0, 1.0, 1.0, 1.0, 90.0, 80.0])
    outside = np.array([1.0, -70.0, 1.0, 1.0, -3.0, 1.0, 1.0])
    circulant = Circulant(2, (0, 1, 3), inside, outside)
    assert circulant.extreme() == circulant.transpose().extreme() == 3.0


def test_transposing_a_dense_matrix_and_the_largest_entry() -> None:
    matrix = np.array([[1.0, -5.0, 2.0], [0.0, 3.0, 4.0]])
    dense = Dense(matrix)
    does_what(dense.transpose(), matrix.T)
    assert dense.extreme() == 5.0


def test_one_turn_for_each_axis_brings_every_axis_back() -> None:
    random = np.random.default_rng(1)
    first, one = pair(5, 7, (0, 1, 3))
    second, two = pair(10, 13, singer(3, 3))
    third = random.normal(size=(4, 2))
    operators: list[Operator] = [first, second.transpose(), Dense(third)]
    whole = np.kron(np.kron(one, two.T), third)
    table = random.normal(size=(7, 10, 2))
    turned = table
    for operator in operators:
        turned = operator.turn(np.reshape(turned, (operator.columns, -1)))
    np.testing.assert_allclose(turned.ravel(), whole @ table.ravel(), atol=1e-10)


def test_products_stay_exact_at_the_largest_size() -> None:
    # 32,767 reports: no matrix of them is built, sums of a few rows are.
    reports = points(2, 15)
    shifts = singer(2, 15)
    circulant = Circulant(20_000, shifts, np.full(reports, 3.0), np.full(reports, -1.0))
    chosen = np.array([0, 7, 19_999])
    expected = np.full(reports, -3.0)
    for answer in chosen:
        expected[(answer + np.array(shifts)) % reports] += 4.0
    np.testing.assert_allclose(circulant.combine(chosen), expected, atol=1e-9)
    report = np.zeros((reports, 1))
    report[5] = 1.0
    inside = np.isin((5 - np.arange(20_000)) % reports, shifts)
    turned = circulant.turn(report)
    np.testing.assert_allclose(turned[0], np.where(inside, 3.0, -1.0), atol=1e-9)
