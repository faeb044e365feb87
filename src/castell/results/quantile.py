"""Quantiles of attributes whose values have an order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from castell.display.json_values import plain
from castell.display.notebook import heading, html_table
from castell.display.number_text import number_text
from castell.display.one_line import one_line
from castell.inference.intervals import quantile as normal_quantile
from castell.linear.operators import Floats
from castell.results.provenance import FromReports, Labels, as_lists, describe_values
from castell.results.score_scale import numbers_of
from castell.results.summary import percent, with_warning
from castell.study.scales import Bins
from castell.study.schema import Attribute

Ends = tuple[float, float] | tuple[str, str]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Quantile(FromReports):
    """The value below which a share `q` of those who answered lies, with Woodruff's interval.

    A number where the values stand for numbers, else one of the values. With bins `value` spreads
    the answers of a bin evenly over it, `label` is the bin and `bounds` are its ends. The interval
    (Woodruff, JASA 47, 1952) reads off at which values the interval of the share at or below them
    holds q; it ends at ends of bins, as nothing is known inside them.
    """

    attribute: Attribute
    codes: tuple[int, ...]  # those on the scale
    q: float
    given: Labels
    cumulated: Floats  # the share at or below each value but the last
    ends: Callable[[float], tuple[Floats, Floats]]  # its interval, at a level

    @property
    def title(self) -> str:
        among = f" given {describe_values(self.given)}" if self.given else ""
        what = "median" if self.q == 0.5 else f"{self.q:g} quantile"
        some = " of those who have any" if self.attribute.may_have_none else ""
        return f"{what} of {self.attribute.name}{some}{among}"

    def _place(self, cumulated: Floats) -> int:
        """The first value with enough at or below it; what is estimated may go down, so the most
        so far counts."""
        enough = np.maximum.accumulate(np.append(cumulated, np.inf)) >= self.q
        return int(np.argmax(enough))

    @property
    def is_known(self) -> bool:
        """Whether anybody is in the group, as far as is known."""
        return bool(np.isfinite(self.cumulated).all())

    @property
    def label(self) -> str:
        """The value, or the bin, that the quantile is in; empty where it is not known."""
        if not self.is_known:
            return ""
        return self.attribute.values[self.codes[self._place(self.cumulated)]]

    @property
    def value(self) -> float | str:
        """The quantile; not a number in a bin that has no end, or of nobody."""
        if not self.is_known:
            return float("nan")
        place, scale = self._place(self.cumulated), self.attribute.scale
        if isinstance(scale, Bins):
            return self._inside(scale, self.cumulated)
        numbers = numbers_of(self.attribute, self.codes)
        return self.label if numbers is None else float(numbers[place])

    def _inside(self, scale: Bins, cumulated: Floats) -> float:
        """Where q falls in a bin over which answers are spread evenly."""
        place = self._place(cumulated)
        lower, upper = scale.limits[place : place + 2]
        whole = np.clip(np.maximum.accumulate(np.concatenate([[0.0], cumulated, [1.0]])), 0, 1)
        below, above = whole[place], max(whole[place + 1], self.q)
        if not np.isfinite(lower) or not np.isfinite(upper):
            return float("nan")
        part = (self.q - below) / (above - below) if above > below else 0.5
        return float(lower + min(max(part, 0.0), 1.0) * (upper - lower))

    @property
    def bounds(self) -> Ends:
        """The ends of the bin, or the value itself; of nobody, those of all values."""
        if not self.is_known:
            return self._between(0, len(self.codes) - 1)
        place = self._place(self.cumulated)
        return self._between(place, place)

    def _between(self, first: int, last: int) -> Ends:
        scale = self.attribute.scale
        if isinstance(scale, Bins):
            return float(scale.lower[first]), float(scale.upper[last])
        numbers = numbers_of(self.attribute, self.codes)
        if numbers is not None:
            return float(numbers[first]), float(numbers[last])
        values = self.attribute.values
        return values[self.codes[first]], values[self.codes[last]]

    def conf_int(self, level: float = 0.95) -> Ends:
        """A confidence interval; with bins it ends at ends of bins."""
        normal_quantile(level)
        low, high = self.ends(level)
        return self._between(self._place(high), self._place(low))

    def noise_conf_int(self, level: float = 0.95) -> Ends:
        """A confidence interval if answers were spread evenly inside their bins: the error of
        sampling and noise alone. Not a number where it reaches a bin without an end."""
        scale = self.attribute.scale
        if not isinstance(scale, Bins):
            return self.conf_int(level)
        low, high = self.ends(level)
        return self._inside(scale, high), self._inside(scale, low)

    @property
    def standard_error(self) -> float:
        """Half the interval of sampling and noise, over that of a normal error."""
        low, high = self.noise_conf_int(0.95)
        if isinstance(low, str) or isinstance(high, str):
            return float("nan")
        return (high - low) / (2.0 * normal_quantile(0.95))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the bins leave open, and the reasons in words."""
        told = super().notes
        if not isinstance(self.attribute.scale, Bins) or not self.is_known:
            return told
        spread = "which has no end" if self.value != self.value else "spread evenly over it"
        return (
            f"the quantile is in the bin {self.label!r}, {spread}; the interval does not "
            "suppose that",
            *told,
        )

    def summary(self, level: float = 0.95) -> str:
        """The quantile as a text for a report."""
        unit = getattr(self.attribute.scale, "unit", "")
        low, high = (_end_text(end) for end in self.conf_int(level))
        lines = [
            self.title,
            f"{_end_text(self.value)}{' ' + unit if unit else ''} ({self.source.method})",
            f"{percent(level)} interval [{low}, {high}]",
        ]
        if isinstance(self.attribute.scale, Bins):
            low, high = (_end_text(end) for end in self.noise_conf_int(level))
            lines[-1] += f", of sampling and noise alone [{low}, {high}]"
        return "\n".join([*lines, *with_warning(self.secure, self.notes)])

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The quantile for programs, as plain JSON values."""
        low, high = self.conf_int(level)
        noise = self.noise_conf_int(level)
        return {
            "kind": "quantile",
            **self.source.to_dict(),
            "attribute": self.attribute.name,
            "q": self.q,
            "given": as_lists(self.given),
            "value": _plain(self.value),
            "label": self.label,
            "standard_error": plain(self.standard_error),
            "lower": _plain(low),
            "upper": _plain(high),
            "noise_lower": _plain(noise[0]),
            "noise_upper": _plain(noise[1]),
            **self._how_sure(level),
        }

    def _repr_html_(self) -> str:
        low, high = self.conf_int()
        return html_table(
            heading(self.title, *self.source.facts()),
            ["estimate", "95% interval"],
            [[_end_text(self.value), f"{_end_text(low)} to {_end_text(high)}"]],
            labels=0,
            texts=2,
            notes=with_warning(self.secure, self.notes),
        )

    def __repr__(self) -> str:
        return one_line("Quantile", self.title, [_end_text(self.value), *self.source.facts()])


def _end_text(end: float | str) -> str:
    if isinstance(end, str):
        return end
    return number_text(end) if end == end else "not known"


def _plain(end: float | str) -> Any:
    if isinstance(end, str):
        return end
    return plain(end) if np.isfinite(end) else None
