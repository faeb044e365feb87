"""The slope of a variance, worked out some cells at a time."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from castell.inference import inversion as module
from castell.inference.inversion import margins_of, moment_slope, product_moment_slopes


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (2, 1, 3, 2, 5)])
def test_margins_are_sums_over_all_other_axes(shape: tuple[int, ...]) -> None:
    table = np.random.default_rng(0).integers(0, 9, shape).astype(float)
    found = margins_of(table)
    assert len(found) == len(shape)
    for k, margin in enumerate(found):
        others = tuple(axis for axis in range(len(shape)) if axis != k)
        np.testing.assert_array_equal(margin, table.sum(axis=others))


@pytest.mark.parametrize("cells", [1, 7, 24, 10_000])
@pytest.mark.parametrize("sizes", [(5,), (9, 3), (4, 2, 3, 5)])
def test_some_cells_at_a_time_are_as_all_at_once(
    cells: int, sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CELLS", cells)
    generator = np.random.default_rng(1)
    # Means of g, g^2, g^3 of a report that says one of two things.
    values = [generator.normal(0, 2, (2, size)) for size in sizes]
    means = [[(each**power).mean(axis=0) for each in values] for power in (1, 2, 3)]
    powers = [reduce(np.multiply.outer, own).ravel() for own in means]
    np.testing.assert_allclose(
        product_moment_slopes(means, 50), moment_slope(powers, 50), rtol=1e-9
    )
