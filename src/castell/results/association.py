"""How strongly two attributes are associated, and whether they are: Cramer's V, tests, a trend."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan, sqrt
from typing import Any

import numpy as np

from castell.display.json_values import plain
from castell.inference.association import Independence
from castell.inference.chisquare import p_text
from castell.inference.intervals import quantile
from castell.inference.postprocess import simplex
from castell.inference.reasons import Code
from castell.inference.student_t import student_quantile
from castell.inference.trend import Trend
from castell.linear.operators import Floats
from castell.results.interval_chart import IntervalRow, interval_chart
from castell.results.probability import OneNumber
from castell.results.provenance import Labels, as_lists
from castell.results.summary import number, percent, span, with_warning


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Association(OneNumber):
    """Cramer's V of two attributes without the bias of noise and sampling, and the chi-square test
    of independence that allows for the noise.

    Both are read off the reports themselves, whatever the method. `detectable` is the smallest V
    that the test would have found with 80 % power at 5 %: what does not show may still be there.
    Where no report holds both attributes, or too few do, V is the model's, its interval is [0, 1],
    and there is no test. `standard_error` is half the 95 % interval over 1.96.
    """

    names: tuple[str, str]
    left_out: Labels  # values that are no answer: it is of those who answered both
    detectable: float
    test: Independence | None

    @property
    def title(self) -> str:
        return f"association of {self.names[0]} and {self.names[1]} (Cramer's V)"

    @property
    def statistic(self) -> float:
        """Chi-square; of weighted reports F (Rao and Scott)."""
        return nan if self.test is None else self.test.statistic

    @property
    def freedom(self) -> float:
        """Its degrees of freedom; of an F those above."""
        return 0 if self.test is None else self.test.freedom

    @property
    def freedom_below(self) -> float:
        """Those of an F below; infinite of a chi-square."""
        return inf if self.test is None else self.freedom * self.test.of_design

    @property
    def p_value(self) -> float:
        return nan if self.test is None else self.test.p

    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        """A confidence interval of V, inside [0, 1]."""
        quantile(level)
        return (0.0, 1.0) if self.test is None else self.test.interval(level)

    def summary(self, level: float = 0.95) -> str:
        """The association as a text for a report."""
        lines = [
            self.title,
            f"V = {number(self.value)}, {percent(level)} interval {span(*self.conf_int(level))}",
        ]
        if self.test is None:
            few = any(reason.code is Code.TOO_FEW_FOR_TEST for reason in self.reasons)
            lines.append(f"no test: {'too few reports tell' if few else 'no report tells'} both")
        else:
            if self.left_out:
                told = "; ".join(f"{name}: {', '.join(v)}" for name, v in self.left_out.items())
                lines.append(f"of those who answered both, without {told}")
            lines.append(f"{self._test_line()}, p {p_text(self.p_value)}")
            lines.append(f"an association below V = {self.detectable:.2g} would hardly show")
            lines += [
                f"values of {name} too rare to be told were put together"
                for name in self.test.grouped
            ]
        return "\n".join([*lines, *with_warning(self.secure, self.notes)])

    def _test_line(self) -> str:
        if self.freedom_below < inf:
            return (
                f"F {self.statistic:.2f}, {self.freedom:.2f} and {self.freedom_below:.1f} degrees "
                "of freedom (Rao and Scott)"
            )
        many = f"{self.freedom:.0f} degree{'s' * (self.freedom != 1)}"
        return f"chi-square {self.statistic:.2f}, {many} of freedom"

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The association for programs, as plain JSON values; docs/results.md has the layout."""
        return {
            "kind": "association",
            **self.source.to_dict(),
            "attributes": list(self.names),
            "value": plain(self.value),
            "statistic": plain(self.statistic),
            "freedom": self.freedom,
            "freedom_below": plain(self.freedom_below),
            "p_value": plain(self.p_value),
            "detectable": plain(self.detectable),
            "left_out": as_lists(self.left_out),
            "grouped": list(self.test.grouped) if self.test is not None else [],
            **self._numbers(level),
        }

    def plot(self, *, level: float = 0.95, title: str | None = None) -> Any:
        """V and its interval (extra `plot`)."""
        row = IntervalRow(" x ".join(self.names), self.value, *self.conf_int(level))
        return interval_chart([row], title or self.title, self.source, null=0.0)


def association_error(test: Independence | None) -> float:
    """Half the 95 % interval over 1.96; V itself has no normal error near 0."""
    low, high = (0.0, 1.0) if test is None else test.interval(0.95)
    return (high - low) / (2 * quantile(0.95))


def cramers_v(table: Floats) -> float:
    """Of a table as it stands."""
    shares = simplex(table)
    apart = np.multiply.outer(shares.sum(axis=1), shares.sum(axis=0))
    inside = apart > 0.0
    square = float(((shares - apart)[inside] ** 2 / apart[inside]).sum())
    return sqrt(min(square / (min(table.shape) - 1), 1.0))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TrendTest(OneNumber):
    """The correlation of two ordered attributes' scores, and the test that there is no trend.

    For an answer of two values this is the test of Cochran and Armitage, for more that of
    linear-by-linear association. It is read off the reports themselves, whatever the method.
    """

    names: tuple[str, str]
    scores: tuple[tuple[float, ...], tuple[float, ...]]
    test: Trend

    @property
    def title(self) -> str:
        return f"trend of {self.names[0]} and {self.names[1]} (correlation of scores)"

    @property
    def statistic(self) -> float:
        """The estimate over its error if there is no trend: standard normal then, or, of weighted
        reports, Student's t."""
        return self.test.z

    @property
    def p_value(self) -> float:
        """Two-sided."""
        return self.test.p

    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        """A confidence interval of the correlation, inside [-1, 1]."""
        reach = student_quantile(level, self.test.of_design) * self.standard_error
        low, high = self.value - reach, self.value + reach
        return min(max(low, -1.0), 1.0), max(min(high, 1.0), -1.0)

    def summary(self, level: float = 0.95) -> str:
        """The trend as a text for a report."""
        of = "z" if self.test.of_design == inf else "t"
        lines = [
            self.title,
            f"{number(self.value)}, std. err. {number(self.standard_error)}, {percent(level)} "
            f"interval {span(*self.conf_int(level))}",
            f"{of} = {self.statistic:.2f}, p {p_text(self.p_value)}",
        ]
        return "\n".join([*lines, *with_warning(self.secure, self.notes)])

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The trend for programs, as plain JSON values; docs/results.md has the layout."""
        return {
            "kind": "trend",
            **self.source.to_dict(),
            "attributes": list(self.names),
            "scores": [list(each) for each in self.scores],
            "value": plain(self.value),
            "statistic": plain(self.statistic),
            "p_value": plain(self.p_value),
            **self._numbers(level),
        }

    def plot(self, *, level: float = 0.95, title: str | None = None) -> Any:
        """The correlation and its interval (extra `plot`)."""
        row = IntervalRow(" x ".join(self.names), self.value, *self.conf_int(level))
        return interval_chart([row], title or self.title, self.source, null=0.0)
