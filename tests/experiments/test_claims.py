"""How a claim of the paper is judged."""

from __future__ import annotations

import pytest

from experiments import claims
from experiments.fig_adw import STAND_IN


@pytest.mark.parametrize(
    ("name", "printed", "width", "reached"),
    [
        ("adult", 4, 4, True),
        ("adult", 4, 5, True),
        ("adult", 4, 6, False),
        ("adult", 4, None, False),
        ("census1990", 8, 5, True),  # its first rows show fewer widths than all would
        ("census1990", 8, 10, False),
        (STAND_IN, 8, 10, True),  # and its stand-in more
        (STAND_IN, 8, 6, False),
    ],
)
def test_a_printed_width_is_met(name: str, printed: int, width: int | None, reached: bool) -> None:
    assert claims._reached(name, printed, {name: width}) is reached
