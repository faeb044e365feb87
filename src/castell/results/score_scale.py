"""Which numbers the values of an attribute stand for, as far as they are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from castell.errors import QueryError
from castell.linear.operators import Floats
from castell.study.declining import number_codes
from castell.study.number_texts import number_of
from castell.study.scales import Bins, Period, Points, range_ends
from castell.study.schema import Attribute

_TRUTH = {"false": 0.0, "true": 1.0}


@dataclass(frozen=True, eq=False)
class ScoreScale:
    """For each value that answers the question: its code, its label, and the least and largest
    number it may stand for."""

    attribute: Attribute
    codes: tuple[int, ...]
    lower: Floats
    upper: Floats

    @classmethod
    def of(cls, attribute: Attribute, ends: Sequence[object] | None = None) -> ScoreScale:
        """The numbers of an attribute; `ends` close bins that are open."""
        scale, codes = attribute.scale, tuple(number_codes(attribute))
        if isinstance(scale, Bins):
            lower, upper = _with_ends(attribute.name, scale, ends)
            return cls(attribute, codes, lower, upper)
        if ends is not None:
            raise QueryError(f"{attribute.name!r} has no open bins", "leave the range out")
        if isinstance(scale, Points):
            return cls(attribute, codes, scale.limits, scale.limits)
        numbers = numbers_of(attribute, codes)
        if numbers is None:
            kind = "is of days" if isinstance(scale, Period) else "has values that are no numbers"
            raise QueryError(
                f"{attribute.name!r} {kind}, and has no mean",
                "ask for its shares or, if it is ordered, for a quantile",
            )
        return cls(attribute, codes, numbers, numbers)

    @property
    def middle(self) -> Floats:
        return (self.lower + self.upper) / 2

    @property
    def exact(self) -> bool:
        """Whether each value stands for one number."""
        return bool((self.lower == self.upper).all())

    def check_closed(self) -> None:
        """Refuse a mean where a bin has no end: it could be anything."""
        is_open = ~np.isfinite(self.lower) | ~np.isfinite(self.upper)
        if is_open.any():
            label = self.attribute.values[self.codes[int(np.flatnonzero(is_open)[0])]]
            raise QueryError(
                f"the bin {label!r} of {self.attribute.name!r} has no end, so there is no mean",
                "say between which numbers all answers lie, range=(0, 120), on the command line "
                "--within 0,120, or ask for the median",
            )


def numbers_of(attribute: Attribute, codes: Sequence[int]) -> Floats | None:
    """The numbers that values are, if all of them are numbers, or truth values."""
    texts = [attribute.values[code] for code in codes]
    if sorted(texts) == ["false", "true"]:
        return np.array([_TRUTH[text] for text in texts])
    found = np.array([number_of(text) for text in texts])
    return None if np.isnan(found).any() else found


def _with_ends(name: str, scale: Bins, ends: Sequence[object] | None) -> tuple[Floats, Floats]:
    lower, upper = scale.lower, scale.upper
    if ends is None:
        return lower, upper
    least, most = (float(text) for text in range_ends(ends))
    fits_below = np.isfinite(lower[0]) or least <= upper[0]
    fits_above = np.isfinite(upper[-1]) or most >= lower[-1]
    if not (fits_below and fits_above):
        raise QueryError(
            f"the range {least:g} to {most:g} does not hold all bins of {name!r}", "widen it"
        )
    lower[0] = lower[0] if np.isfinite(lower[0]) else least
    upper[-1] = upper[-1] if np.isfinite(upper[-1]) else most
    return lower, upper
