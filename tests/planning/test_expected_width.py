"""The length of an interval, on average over what may be estimated, beside its simulation."""

from __future__ import annotations

import numpy as np
import pytest

from castell.inference.intervals import KnownZeros, Normal
from castell.inference.margin_bounds import Reshaped, bounds
from castell.inference.shorter_interval import AsUnbiased, WithinMargins
from castell.planning.expected_width import expected_half_widths

ERROR = 0.04
# Three attributes; of the first two the values are rare or common, so that bounds are close.
MARGINS = (np.array([0.15, 0.85]), np.array([0.2, 0.8]), np.array([0.18, 0.82]))


def within_margins(model_error: float) -> tuple[WithinMargins, np.ndarray]:
    """A table of three attributes whose model says little: what margins leave open is shorter."""
    truth = np.einsum("i,j,k->ijk", *MARGINS)
    events = []
    for axis, margin in enumerate(MARGINS):
        shape = tuple(2 if k == axis else 1 for k in range(3))
        spread = KnownZeros(Normal(np.full(2, ERROR**2)), np.zeros(2, dtype=np.bool_))
        own = AsUnbiased(margin, spread)
        events.append((margin.reshape(shape), Reshaped(own, (2,), shape)))
    model = Normal(np.full(truth.shape, model_error**2), outward=True)
    return WithinMargins(model, bounds(events, beside=1)), truth


def test_what_margins_leave_open_is_averaged_over_margins() -> None:
    """The least of three upper ends is on average below the least that is expected of them."""
    spread, truth = within_margins(0.5)
    generator = np.random.default_rng(1)
    drawn = []
    for _ in range(4000):
        events = [
            ((share + generator.normal(0.0, ERROR, share.shape)), own)
            for share, own in spread.bounds.events  # type: ignore[attr-defined]
        ]
        events = [(share, Reshaped(own.of.spread, own.own, own.shape)) for share, own in events]
        low, high = bounds(events, beside=1).ends(0.95)
        drawn.append((high - low) / 2)
    simulated = np.mean(drawn, axis=0)
    predicted = expected_half_widths(spread, truth)
    assert predicted == pytest.approx(simulated, rel=0.02)
    # At the margins that are expected it would be longer, of the rarest cell by a twentieth.
    low, high = spread.bounds.ends(0.95)
    assert ((high - low) / 2)[0, 0, 0] > 1.04 * simulated[0, 0, 0]


def test_where_the_model_says_more_margins_do_not_matter() -> None:
    spread, truth = within_margins(0.01)
    assert expected_half_widths(spread, truth)[0, 0, 0] == pytest.approx(
        expected_half_widths(spread.of, truth)[0, 0, 0], rel=0.01
    )
