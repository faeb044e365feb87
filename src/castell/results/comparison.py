"""An answer in two groups, or in two studies: difference, relative risk and odds ratio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import log, nan
from typing import Any

from castell.display.json_values import plain
from castell.display.notebook import heading, html_table
from castell.display.one_line import one_line
from castell.inference.chisquare import p_text
from castell.inference.effect_measures import DIFFERENCE, ODDS_RATIO, RELATIVE_RISK, EffectMeasure
from castell.inference.shares import Shares
from castell.results.interval_chart import IntervalRow, interval_chart
from castell.results.probability import OneNumber
from castell.results.provenance import FromReports, Labels, as_lists, describe_values
from castell.results.summary import align, number, percent, span, with_warning


class Kind(StrEnum):
    """How two shares are compared."""

    DIFFERENCE = "difference"
    RELATIVE_RISK = "relative_risk"
    ODDS_RATIO = "odds_ratio"


_QUOTIENTS: Mapping[Kind, EffectMeasure] = {
    Kind.DIFFERENCE: DIFFERENCE,
    Kind.RELATIVE_RISK: RELATIVE_RISK,
    Kind.ODDS_RATIO: ODDS_RATIO,
}


@dataclass(frozen=True, eq=False)
class Group:
    """Respondents that are compared: those with some values, perhaps of a study among others."""

    where: Labels
    study: str | None = None  # its name, where two studies are compared

    def __str__(self) -> str:
        words = [describe_values(self.where)] if self.where else []
        words += [f"in {self.study}"] if self.study is not None else []
        return " ".join(words)

    def to_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {"where": as_lists(self.where)}
        return told if self.study is None else {**told, "study": self.study}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Contrast(OneNumber):
    """One number that compares an answer in two groups, with its interval and its test.

    The interval is by the delta method, of the logarithm for a ratio, and Fieller's where a share
    that is divided by may be 0; an end may then be infinite. `p_value` is two-sided, of the
    hypothesis that the groups do not differ. Error and p-value are not numbers where too few are in
    a group to tell.
    """

    kind: Kind
    asked: Labels
    one: Group
    other: Group
    shares: Shares
    told: bool  # whether enough are in both groups to tell

    @property
    def title(self) -> str:
        name = self.kind.value.replace("_", " ")
        return f"{name} of {describe_values(self.asked)}, {self.one} against {self.other}"

    @property
    def log_value(self) -> float:
        """The logarithm of a ratio."""
        return log(self.value) if self.kind is not Kind.DIFFERENCE and self.value > 0 else nan

    @property
    def log_standard_error(self) -> float:
        """The standard error of the logarithm of a ratio."""
        if self.kind is Kind.DIFFERENCE:
            return nan
        return self.standard_error / self.value if self.value > 0.0 else nan

    @cached_property
    def p_value(self) -> float:
        return _QUOTIENTS[self.kind].p_value(self.shares) if self.told else nan

    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        """A confidence interval; the upper end of a ratio may be infinite."""
        return _QUOTIENTS[self.kind].interval(self.shares, level)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The number for programs, as plain JSON values; an infinite end is null."""
        return {
            "kind": self.kind.value,
            **self.source.to_dict(),
            "asked": as_lists(self.asked),
            "one": self.one.to_dict(),
            "other": self.other.to_dict(),
            "value": plain(self.value),
            "p_value": plain(self.p_value),
            **self._numbers(level),
        }

    def plot(self, *, level: float = 0.95, title: str | None = None) -> Any:
        """The number and its interval beside no difference (extra `plot`)."""
        row = IntervalRow(self.kind.value.replace("_", " "), self.value, *self.conf_int(level))
        null = 0.0 if self.kind is Kind.DIFFERENCE else 1.0
        return interval_chart(
            [row], title or self.title, self.source, null=null, log=self.kind is not Kind.DIFFERENCE
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(FromReports):
    """An answer in two groups: its share in each, and three numbers that compare them."""

    asked: Labels
    one: Group
    other: Group
    shares: Shares  # with the answer in the one, the one; with the answer in the other, the other
    each: tuple[Shares, Shares]

    @property
    def title(self) -> str:
        return f"{describe_values(self.asked)}: {self.one} against {self.other}"

    @cached_property
    def difference(self) -> Contrast:
        """The one share less the other."""
        return self._contrast(Kind.DIFFERENCE)

    @cached_property
    def relative_risk(self) -> Contrast:
        """The one share over the other."""
        return self._contrast(Kind.RELATIVE_RISK)

    @cached_property
    def odds_ratio(self) -> Contrast:
        """The odds in the one over the odds in the other."""
        return self._contrast(Kind.ODDS_RATIO)

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        return self.difference, self.relative_risk, self.odds_ratio

    def _contrast(self, kind: Kind) -> Contrast:
        quotient = _QUOTIENTS[kind]
        told = all(error == error for error in self.standard_errors)
        return Contrast(
            value=quotient.value(self.shares),
            standard_error=quotient.standard_error(self.shares) if told else nan,
            source=self.source,
            checked=self.checked,
            reasons=self.reasons,
            kind=kind,
            asked=self.asked,
            one=self.one,
            other=self.other,
            shares=self.shares,
            told=told,
        )

    @property
    def probabilities(self) -> tuple[float, float]:
        """The share in each group; not a number where a group is estimated to be empty."""
        one, other = self.each
        return one.ratio, other.ratio

    @property
    def standard_errors(self) -> tuple[float, float]:
        """Not a number where too few are in the group to tell."""
        one, other = self.each
        return one.ratio_error(), other.ratio_error()

    def _rows(self, level: float) -> list[tuple[str, float, float, float, float, float | None]]:
        """A name, the estimate, its standard error, the ends of its interval, and a p-value."""
        pairs = zip((self.one, self.other), self.each, strict=True)
        ends = [s.ratio_interval(level) for _, s in pairs]
        rows: list[tuple[str, float, float, float, float, float | None]] = [
            (f"share {'with ' if g.where else ''}{g}", p, e, low, high, None)
            for g, p, e, (low, high) in zip(
                (self.one, self.other), self.probabilities, self.standard_errors, ends, strict=True
            )
        ]
        for c in self.contrasts:
            name = c.kind.value.replace("_", " ")
            rows.append((name, c.value, c.standard_error, *c.conf_int(level), c.p_value))
        return rows

    def columns(self, level: float = 0.95) -> dict[str, Any]:
        """Both shares and what compares them, as columns of a table."""
        names = ("of", "value", "standard_error", "lower", "upper", "p_value")
        return dict(zip(names, map(list, zip(*self._rows(level), strict=True)), strict=True))

    def summary(self, level: float = 0.95) -> str:
        """The comparison as a text for a report."""
        head = ["", "estimate", "std. err.", f"{percent(level)} interval", "p"]
        rows = [
            [name, number(x), number(e), span(low, high), _p(p)]
            for name, x, e, low, high, p in self._rows(level)
        ]
        lines = [f"{self.title} ({self.source.method})", *align([head, *rows])]
        return "\n".join([*lines, *with_warning(self.secure, self.notes)])

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The comparison for programs, as plain JSON values; docs/results.md has the layout."""
        found = {
            name: {
                "value": plain(x),
                "standard_error": plain(e),
                "lower": plain(low),
                "upper": plain(high),
                **({} if p is None else {"p_value": plain(p)}),
            }
            for name, (_, x, e, low, high, p) in zip(
                ("share", "other_share", *(kind.value for kind in Kind)),
                self._rows(level),
                strict=True,
            )
        }
        return {
            "kind": "comparison",
            **self.source.to_dict(),
            "asked": as_lists(self.asked),
            "one": self.one.to_dict(),
            "other": self.other.to_dict(),
            **found,
            **self._how_sure(level),
        }

    def plot(self, *, level: float = 0.95, title: str | None = None) -> Any:
        """The two shares with their intervals (extra `plot`)."""
        rows = [
            IntervalRow(name, x, low, high) for name, x, _, low, high, _ in self._rows(level)[:2]
        ]
        return interval_chart(rows, title or self.title, self.source, shares=True)

    def __repr__(self) -> str:
        return one_line("Comparison", self.title, self.source.facts())

    def _repr_html_(self) -> str:
        rows = [
            [name, number(x), number(e), span(low, high), _p(p)]
            for name, x, e, low, high, p in self._rows(0.95)
        ]
        return html_table(
            heading(self.title, *self.source.facts()),
            ["", "estimate", "std. err.", "95% interval", "p"],
            rows,
            notes=with_warning(self.secure, self.notes),
        )


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return p_text(value).removeprefix("= ") if value == value else "not known"
