"""Samples weigh as much as they are precise: by what a channel tells and by how many reported."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castell import KaryResponse, MatrixResponse
from castell.channels import CyclicResponse, Lens
from castell.channels.difference_sets import singer
from castell.channels.protocol import precision_weights, predicted_variance

LENSES: dict[str, Lens] = {
    "kary": KaryResponse(6, 7, 2),
    "margin of kary": KaryResponse(6, 7, 2).project((2, 3), (1,)),
    "matrix": MatrixResponse([[8, 2], [3, 7]]),
    "cyclic": CyclicResponse(15, 15, singer(2, 4), 3, 1),
    "wide": CyclicResponse(10, 13, singer(3, 3), 3, 1),
    "margin of cyclic": CyclicResponse(10, 13, singer(3, 3), 3, 1).project((5, 2), (0,)),
}


@pytest.mark.parametrize("lens", LENSES.values(), ids=LENSES)
def test_predicted_is_the_mean_square_over_uniform_reports(lens: Lens) -> None:
    inverse = lens.inverse.dense()
    expected = (inverse**2).mean() - 1 / inverse.shape[0] ** 2
    assert predicted_variance(lens) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", ["kary", "cyclic"])
def test_predicted_is_the_mean_variance_of_uniform_respondents(name: str) -> None:
    # With as many reports as answers uniform answers have uniform reports: it is exact.
    channel = LENSES[name]
    inverse, forward = channel.inverse.dense(), channel.forward.dense()
    reports = forward @ np.full(forward.shape[1], 1 / forward.shape[1])
    variance = inverse**2 @ reports - (inverse @ reports) ** 2
    assert predicted_variance(channel) == pytest.approx(variance.mean(), rel=1e-10)


@settings(max_examples=100, deadline=None)
@given(
    parts=st.lists(st.tuples(st.floats(1e-3, 1e6), st.integers(1, 10**7)), min_size=1, max_size=6),
    seed=st.integers(0, 1000),
)
def test_no_other_weights_have_less_variance(parts: list[tuple[float, int]], seed: int) -> None:
    variances, reports = [v for v, _ in parts], [n for _, n in parts]
    weights = precision_weights(variances, reports)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights > 0).all()
    each = np.array(variances) / np.array(reports)
    best = (weights**2 * each).sum()
    assert best == pytest.approx(1 / (1 / each).sum())
    other = np.random.default_rng(seed).dirichlet(np.ones(len(parts)))
    assert (other**2 * each).sum() >= best * (1 - 1e-12)
