"""Means of attributes that stand for numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from castell.display.json_values import plain
from castell.display.number_text import number_text
from castell.inference.group_mean import GroupMean
from castell.results.probability import OneNumber
from castell.results.provenance import Labels, as_lists, describe_values
from castell.results.score_scale import ScoreScale
from castell.results.summary import percent, with_warning


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Mean(OneNumber):
    """The estimated mean of those who answered, and its standard error.

    With bins, `value` puts everybody in the middle of their bin, and the standard error is that of
    sampling and noise. What lies inside the bins nobody has reported: `bounds` are the means with
    everybody at the lower or the upper end, and `conf_int` allows for all between.
    """

    scale: ScoreScale
    shares: GroupMean
    given: Labels

    @classmethod
    def of(cls, scale: ScoreScale, shares: GroupMean, given: Labels, **more: Any) -> Mean:
        middle = scale.middle
        return cls(
            value=shares.value(middle),
            standard_error=shares.standard_error(middle),
            scale=scale,
            shares=shares,
            given=given,
            **more,
        )

    @property
    def unit(self) -> str:
        return getattr(self.scale.attribute.scale, "unit", "")

    @property
    def title(self) -> str:
        among = f" given {describe_values(self.given)}" if self.given else ""
        some = " of those who have any" if self.scale.attribute.may_have_none else ""
        return f"mean of {self.scale.attribute.name}{some}{among}"

    @property
    def bounds(self) -> tuple[float, float]:
        """What the bins leave open, were the shares known: all at the lower or the upper ends."""
        return self.shares.value(self.scale.lower), self.shares.value(self.scale.upper)

    @property
    def notes(self) -> tuple[str, ...]:
        """The reasons in words."""
        notes = super().notes
        if self.scale.exact:
            return notes
        low, high = self.bounds
        said = (
            "the value puts everybody in the middle of their bin; the bins alone leave open "
            f"{number_text(low)} to {number_text(high)}, which the interval allows for"
        )
        return (said, *notes)

    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        """A confidence interval of the mean, wherever answers lie inside their bins."""
        return self.shares.between(self.scale.lower, self.scale.upper, level)

    def noise_conf_int(self, level: float = 0.95) -> tuple[float, float]:
        """A confidence interval if everybody were in the middle of their bin: the error of
        sampling and noise alone."""
        return self.shares.interval(self.scale.middle, level)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The mean for programs, as plain JSON values."""
        noise, bounds = self.noise_conf_int(level), self.bounds
        return {
            "kind": "mean",
            **self.source.to_dict(),
            "attribute": self.scale.attribute.name,
            "unit": self.unit,
            "given": as_lists(self.given),
            "mean": plain(self.value),
            "bounds": [plain(end) for end in bounds],
            "noise_lower": plain(noise[0]),
            "noise_upper": plain(noise[1]),
            **self._numbers(level),
        }

    def summary(self, level: float = 0.95) -> str:
        """The mean as a text for a report."""
        unit = f" {self.unit}" if self.unit else ""
        low, high = self.conf_int(level)
        lines = [
            self.title,
            f"{number_text(self.value)}{unit}, std. err. {number_text(self.standard_error, 3)} "
            f"({self.source.method})",
            f"{percent(level)} interval [{number_text(low)}, {number_text(high)}]",
        ]
        if not self.scale.exact:
            low, high = self.noise_conf_int(level)
            ends = f"[{number_text(low)}, {number_text(high)}]"
            lines[-1] += f", of sampling and noise alone {ends}"
        return "\n".join([*lines, *with_warning(self.secure, self.notes)])
