"""Populations whose truth is known, alike whether they are rows of a file or a network.

`truth_of("fair")` has what a benchmark of estimates and intervals needs: what is asked, the exact
table of any attributes, and as many respondents drawn from it as wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Protocol

import numpy as np

from castell import Schema
from castell.linear.operators import Floats
from castell.study.schema import suggest
from experiments import datasets
from experiments.datasets import health, networks, surveys
from experiments.datasets.population import DataError, Population

# Of the census' 68 attributes: who people are, and what they work and earn. None has more than
# ten values.
CENSUS = (
    "dAge", "iSex", "iMarital", "iCitizen", "iEnglish", "iSchool", "iMilitary", "iClass",
    "dOccup", "dHours", "dIncome1", "dPoverty",
)  # fmt: skip


class Truth(Protocol):
    """A population that people can be drawn from; `note` says what it is, on every output."""

    @property
    def name(self) -> str: ...

    @property
    def schema(self) -> Schema: ...

    @property
    def note(self) -> str: ...

    def table(self, names: Sequence[str]) -> Floats:
        """The exact joint distribution of some attributes in the population."""
        ...

    def select(self, names: Sequence[str]) -> Truth:
        """The same population, some of the questions."""
        ...

    def respondents(self, n: int, generator: np.random.Generator) -> Population:
        """n people drawn from it, independently."""
        ...


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a file as a population: its truth is their table, people are drawn again."""

    people: Population

    @property
    def name(self) -> str:
        return self.people.name

    @property
    def schema(self) -> Schema:
        return self.people.schema

    @property
    def note(self) -> str:
        return self.people.note

    def table(self, names: Sequence[str]) -> Floats:
        """The share of each combination among the rows."""
        return self.people.table([attribute.name for attribute in self.schema.select(names)])

    def select(self, names: Sequence[str]) -> Rows:
        """All rows, some of the questions."""
        return Rows(self.people.select(names))

    def respondents(self, n: int, generator: np.random.Generator) -> Population:
        """Rows drawn with replacement, so that n may be more than the file has."""
        chosen = generator.integers(0, self.people.n, n)
        return self.people.take(chosen, f"{n:,} drawn with replacement from {self.note}")


def census() -> Population:
    """Twelve attributes of the census, of as much of it as is at hand."""
    return datasets.load("census1990").select(CENSUS)


_PEOPLE: dict[str, Callable[[], Population]] = {
    **{name: partial(datasets.load, name) for name in ("adult", "german", "nursery")},
    "census": census,
    "fair": surveys.fair,
    "fair_pt": surveys.fair_pt,
    "anes96": surveys.anes96,
    "randhie": health.randhie,
    "births": health.births,
    "elderly": health.elderly,
}


def names() -> tuple[str, ...]:
    """Every population: the paper's data sets, the surveys, the networks."""
    return (*_PEOPLE, *networks.FILES)


def truth_of(name: str) -> Truth:
    """A population by name; its file is found or obtained, and checked."""
    if name not in names():
        raise DataError(f"there is no population {name!r}", suggest(name, names()))
    return _load(name)


@cache
def _load(name: str) -> Truth:
    return networks.network(name) if name in networks.FILES else Rows(_PEOPLE[name]())
