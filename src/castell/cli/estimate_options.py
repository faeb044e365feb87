"""Options of `castell estimate` for single numbers, and for tables in other formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from castell.errors import OptionError
from castell.results.comparison import Comparison
from castell.results.conditional import Conditional
from castell.results.every_association import Associations
from castell.results.group_shares import GroupShares
from castell.results.joint import JointEstimate
from castell.results.mean import Mean
from castell.results.model import Model
from castell.results.quantile import Quantile
from castell.results.regression import Regression
from castell.results.smooth_shares import SmoothShares

FORMATS = ("csv", "md", "latex", "excel")


@dataclass(frozen=True)
class NumberAsked:
    """A mean, a quantile, the shares of those who answered or have any, or smoothed ones."""

    option: str
    name: str
    q: float = 0.5
    within: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        mean: str | None,
        within: str | None,
        quantile: str | None,
        answered: str | None,
        smooth: str | None,
        having: str | None = None,
    ) -> NumberAsked | None:
        asked = {
            "--mean": mean,
            "--quantile": quantile,
            "--answered": answered,
            "--smooth": smooth,
            "--having": having,
        }
        given = {option: name for option, name in asked.items() if name is not None}
        if len(given) > 1:
            raise OptionError(f"{' and '.join(given)} were asked", "ask for one of them")
        if within is not None and mean is None:
            raise OptionError("--within is for --mean", "leave it out")
        if not given:
            return None
        ((option, name),) = given.items()
        if option == "--quantile" and "=" in name:
            name, _, share = name.rpartition("=")
            try:
                return cls(option, name, float(share))
            except ValueError:
                raise OptionError(
                    f"--quantile asks for {share!r}", "write name=0.9, or the name for the median"
                ) from None
        return cls(option, name, within=tuple(within.split(",")) if within else ())

    def check(
        self,
        names: list[str],
        where: list[str] | None,
        plot: Path | None,
        post: str,
    ) -> None:
        """What is for tables is refused, not ignored."""
        if names or where:
            raise OptionError(f"a table and {self.option} were asked", "ask for one of them")
        if plot or post != "raw":
            raise OptionError(
                f"{self.option} asks for one attribute",
                "leave out --plot and --post: those are for tables",
            )

    def ask(
        self, model: Model, given: Mapping[str, Any] | None
    ) -> Mean | Quantile | Conditional | SmoothShares:
        if self.option == "--smooth":
            if given:
                raise OptionError("--smooth has no --given", "leave it out")
            return model.smooth(self.name)
        if self.option == "--having":
            return model.having(self.name, given=given)
        if self.option == "--answered":
            return model.answered(self.name, given=given)
        if self.option == "--quantile":
            return model.quantile(self.name, self.q, given=given)
        return model.mean(self.name, given=given, range=self.within or None)


def check_format(to: str | None, output: Path | None, as_json: bool) -> None:
    if to is None:
        return
    if to not in FORMATS:
        raise OptionError(f"--to is {to!r}", f"use one of {', '.join(FORMATS)}")
    if as_json:
        raise OptionError("--to and --json print two things", "leave one of them out")
    if to == "excel" and (output is None or output.suffix != ".xlsx"):
        raise OptionError("an Excel file is not printed", "add --output table.xlsx")


def columns_of(found: Any, level: float) -> dict[str, Any]:
    """The columns of a result: a row for each cell, or one for a single number."""
    if isinstance(found, (JointEstimate, GroupShares, Regression, Comparison, Associations)):
        return found.columns(level)
    low, high = found.conf_int(level)
    one = {
        "of": [found.title],
        "value": [found.value],
        "standard_error": [found.standard_error],
        "lower": [low],
        "upper": [high],
    }
    return one | ({"p_value": [found.p_value]} if hasattr(found, "p_value") else {})
