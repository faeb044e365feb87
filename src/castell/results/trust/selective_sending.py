"""What nobody can see where people look at their report before they send it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from castell.counting import Counts
from castell.errors import CastellError
from castell.inference.inversion import Observed
from castell.inference.pooled_table import views
from castell.linear.operators import Floats
from castell.results.trust.signal import Signal, points

LEAVING = "Reports seen before they are sent"
# Of those who see the same report so many are supposed to leave. Nobody knows how many do.
SHARE = 0.1


def shift_if_some_leave(observed: Observed, share: float = SHARE) -> Floats:
    """How far each share of one attribute moves if some of those with the worst report leave.

    Let f be the frequency of a report, g what one adds to a cell, and t the cell. Without a share s
    of these reports the cell is (t - s f g) / (1 - s f), so it moves by s f (t - g) / (1 - s f).
    """
    (part,) = observed.parts
    gone = share * observed.frequencies()
    cells = observed.invert()[:, None]
    moved: Floats = np.abs(gone * (cells - part.lens.inverse.dense()) / (1.0 - gone)).max(axis=1)
    return moved


def leaving(counts: Counts, names: Sequence[str]) -> Signal:
    """For a study with `review = "before"`: what could be hidden by people who looked and left.

    It asks for a look always, since no report tells of those that were not sent.
    """
    found = [(move, name) for name in names if (move := _most(counts, name)) is not None]
    text = (
        "Respondents of this study see their report before they send it. Who leaves at the sight "
        "of it biases every share, and nobody can tell how many did: a device that looks sends "
        "nothing."
    )
    if found:
        most, name = max(found)
        text += (
            f" If one in ten left of those who see the same report of '{name}', one of its shares "
            f"would be off by up to {points(most)}; no other signal would show it."
        )
    return Signal(
        "leaving",
        LEAVING,
        "look",
        f"up to {points(max(found)[0])}" if found else "not known",
        text,
        f"the inversion of each attribute's reports without {SHARE:.0%} of the worst of them",
        {"share": SHARE, "shift": max(found)[0]} if found else {"share": SHARE},
    )


def _most(counts: Counts, name: str) -> float | None:
    """The largest shift of a share of one attribute; none where there is nothing to invert."""
    try:
        seen = views(counts, [name])
    except CastellError:
        return None
    if not all(observed.has_small_inverses for _, observed in seen):
        return None
    # Several blocks may hold it: the worst is that people leave in all of them.
    return float(
        np.sum([weight * shift_if_some_leave(observed) for weight, observed in seen], axis=0).max()
    )
