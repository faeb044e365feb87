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


def test_lopubs_claim_is_judged_alike_first_and_then_by_the_printed_number() -> None:
    """The most generous reading sets errors at the caption's epsilon beside LoPub's printed one."""

    def judged(hybrid: float, lopub: float, by_reports: float = 0.3) -> str:
        means = {"truncated": 0.002, "hybrid": hybrid, "lopub, as published": lopub}
        means["hybrid, by the reports"] = by_reports
        records = [
            {"each": each, "scheme": scheme, "x": "mean", "mean": mean}
            for each in claims.BUDGETS
            for scheme, mean in means.items()
        ]
        return claims._lopub({"table_comp": {"real": {"records": records}}}).verdict

    everywhere = "holds at epsilon 4 each, 1 each, 4 in all"
    assert judged(0.014, 0.4) == everywhere
    assert judged(0.014, 0.09, 0.002) == f"{everywhere} if hybrid decides by the reports"
    assert judged(0.014, 0.09) == "holds at epsilon 4 each beside the printed LoPub only"
    assert judged(0.3, 0.09) == "does not hold"
