"""What a run is asked for: the noise, the budget, how often, how thoroughly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from castell.errors import OptionError
from experiments.datasets.population import Population

NOISES = {
    "real": "real noise: every respondent is randomised",
    "rounding": "the paper's model: the expected table of reports, rounded to whole counts",
}
PER = ("attribute", "total")


@dataclass(frozen=True)
class Settings:
    """`epsilon` is read as `per` says; None leaves it, and `repeats`, to the experiment."""

    noise: str = "real"
    epsilon: tuple[float, ...] | None = None
    per: str = "attribute"
    repeats: int | None = None
    quick: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.noise not in NOISES:
            raise OptionError(f"the noise is {self.noise!r}", f"use one of {', '.join(NOISES)}")
        if self.per not in PER:
            raise OptionError(f"epsilon is per {self.per!r}", f"use one of {', '.join(PER)}")
        if self.repeats is not None and self.repeats < 1:
            raise OptionError(f"{self.repeats} repeats", "give one or more")

    def each(self, attributes: int, default: Sequence[float]) -> list[float]:
        """The epsilon of one attribute, for each budget asked for."""
        if self.epsilon is None:
            return list(default)
        share = attributes if self.per == "total" else 1
        return [epsilon / share for epsilon in self.epsilon]

    def one_each(self, attributes: int, default: float) -> float:
        """The same where an experiment has room for one budget only."""
        found = self.each(attributes, [default])
        if len(found) != 1:
            raise OptionError("several epsilons were given", "this experiment takes one")
        return found[0]

    def times(self, full: int, quick: int) -> int:
        """How often to repeat; without chance once is enough."""
        if self.noise == "rounding":
            return 1
        return self.repeats or (quick if self.quick else full)

    def most(self, full: int | None, quick: int) -> int | None:
        """How many of something, thoroughly or quickly."""
        return quick if self.quick else full


def budgets(settings: Settings, attributes: Sequence[int], default: float) -> dict[str, Any]:
    """One budget on several data sets: what one attribute costs, and what all of them do."""
    each = [settings.one_each(count, default) for count in attributes]
    total = [e * count for e, count in zip(each, attributes, strict=True)]
    return {"each": each[0] if len(set(each)) == 1 else each, "total": total}


def describe(settings: Settings, **facts: Any) -> dict[str, Any]:
    """What every output names; an experiment adds n, epsilon, repeats and the data's note."""
    return {"noise": settings.noise, "quick": settings.quick, "seed": settings.seed, **facts}


def describe_people(
    settings: Settings, people: Population, each: float, repeats: int, **facts: Any
) -> dict[str, Any]:
    """The same for one population that spends the same on each of its attributes."""
    total = each * len(people.schema)
    budget = {"data": people.note, "n": people.n, "each": each, "total": total}
    return describe(settings, **budget, repeats=repeats, **facts)


def line(about: dict[str, Any]) -> str:
    """The same as a line for people."""
    parts = [NOISES[about["noise"]]] if about.get("noise") else []
    if "data" in about:
        parts.append(str(about["data"]))
    if "n" in about:
        parts.append(f"n = {format_numbers(about['n'], ',')}")
    if "each" in about:
        each = format_numbers(about["each"], ".4g")
        parts.append(
            f"epsilon {each} per attribute, {format_numbers(about['total'], '.4g')} in all"
        )
    if "sets" in about:
        parts.append(str(about["sets"]))
    if "repeats" in about:
        repeats = about["repeats"]
        parts.append(f"{repeats} repeats, ± their standard error" if repeats > 1 else "one run")
    parts += about.get("left out", [])
    return "; ".join(parts)


def format_numbers(values: Any, form: str) -> str:
    """One number, or several with commas."""
    values = values if isinstance(values, (list, tuple)) else [values]
    return ", ".join(format(value, form) for value in values)
