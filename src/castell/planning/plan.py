"""A plan of the next stage: what it asks, what that is expected to gain, and why it was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.display.one_line import one_line
from castell.errors import OptionError
from castell.inference.latent.structural_zero_mixture import Answers
from castell.results.canvas import BLUE, load_altair
from castell.study.design import Block
from castell.study.schema import Schema
from castell.study.study import Study

Codes = NDArray[np.intp]
Members = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Wanted:
    """What the analyst wants most: tables by the places of attributes, and shares.

    Neither stands for all tables of two attributes.
    """

    tables: tuple[tuple[int, ...], ...]
    shares: tuple[Mapping[int, Codes], ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(
        cls,
        schema: Schema,
        tables: Sequence[Sequence[str]] | None,
        shares: Sequence[Mapping[str, Any]] | None,
    ) -> Wanted:
        place = {name: i for i, name in enumerate(schema.names)}
        wide = []
        for names in tables or ():
            if isinstance(names, str):
                raise OptionError(f"the table {names!r} is a name", "give a list of names for each")
            wide.append(tuple(place[a.name] for a in schema.select(list(names))))
        asked = []
        for share in shares or ():
            if not share:
                raise OptionError("a wanted share names no attribute", "write {attribute: value}")
            asked.append({place[schema[a].name]: _codes(schema, a, v) for a, v in share.items()})
        return cls(tuple(wide), tuple(asked), tuple(schema.sizes))

    @property
    def is_usual(self) -> bool:
        return not self.tables and not self.shares

    def indicators(self, people: Sequence[Codes]) -> list[Members] | None:
        """Who is counted by each share that is wanted; None for all cells of pairs."""
        if self.is_usual:
            return None
        found: list[Members] = []
        for places in self.tables:
            key = np.zeros(len(people[0]), dtype=np.intp)
            for place in places:
                key = key * self.sizes[place] + people[place]
            found += [key == cell for cell in np.unique(key)]
        for share in self.shares:
            inside = [np.isin(people[place], codes) for place, codes in share.items()]
            found.append(np.logical_and.reduce(inside))
        return found

    @property
    def _listed(self) -> tuple[tuple[int, ...], ...]:
        if not self.is_usual:
            return self.tables
        return tuple(combinations(range(len(self.sizes)), 2)) or ((0,),)

    @property
    def many(self) -> int:
        """How many tables and shares are wanted."""
        return len(self._listed) + len(self.shares)

    def error(self, fitted: Answers, truth: Answers) -> float:
        """The largest error of a cell, on average over what is wanted."""
        errors = [float(np.abs(fitted.table(t) - truth.table(t)).max()) for t in self._listed]
        errors += [abs(fitted.share(s) - truth.share(s)) for s in self.shares]
        return float(np.mean(errors))

    def words(self) -> str:
        if self.is_usual:
            return "all tables of two attributes"
        parts = [_counted(len(self.tables), "table")] * bool(self.tables)
        parts += [_counted(len(self.shares), "share")] * bool(self.shares)
        return " and ".join(parts)


def _counted(many: int, what: str) -> str:
    return f"the {what} asked for" if many == 1 else f"the {many} {what}s asked for"


def _codes(schema: Schema, name: str, values: Any) -> Codes:
    listed = values if isinstance(values, (list, tuple, set, frozenset)) else [values]
    return np.array(sorted(schema[name].code(value) for value in listed), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class PlannedBlock:
    """A block, how many groups of answers it tells apart, and the share of people it is for."""

    block: Block
    groups: int
    share: float

    def words(self) -> str:
        names = ", ".join(self.block.names)
        coarse = " of answers" if self.block.is_coarse else ", every answer by itself"
        return f"{names}: {self.groups} groups{coarse}"


@dataclass(frozen=True, eq=False, repr=False)
class NextStage:
    """`study` is what to collect with next: the plan, or the present study if it does no better.

    `errors` are those of the present and of the planned design in the simulation: the largest
    error of a cell, on average over what is wanted. `expected` is the root of the expected squared
    error before and after the next stage, by the planner's own reckoning.
    """

    present: Study
    planned: Study
    blocks: tuple[PlannedBlock, ...]
    n: int
    wanted: Wanted
    expected: tuple[float, float]
    errors: tuple[float, float]

    @property
    def keeps_design(self) -> bool:
        """Whether the present design did as well in the simulation."""
        return self.errors[1] >= self.errors[0]

    @property
    def study(self) -> Study:
        return self.present if self.keeps_design else self.planned

    @property
    def gain(self) -> float:
        """By how much the plan lowers the error of the present design, simulated."""
        return 1.0 - self.errors[1] / self.errors[0] if self.errors[0] else 0.0

    def words(self) -> list[str]:
        """The plan in sentences."""
        simulated = (
            f"Simulated with {self.n:,} more people, the error of {self.wanted.words()} is "
            f"{self.errors[0]:.4f} with the present design and {self.errors[1]:.4f} with the plan."
        )
        if self.keeps_design:
            return [simulated, "The present design is kept: the plan would not do better."]
        return [
            simulated,
            f"Each of them answers one of {len(self.blocks)} sets of questions and spends epsilon "
            f"= {self.planned.epsilon:.6g}, once. Which sets there are depends on earlier reports, "
            "which are randomised.",
        ]

    def to_dict(self) -> dict[str, Any]:
        """The plan for programs, as plain JSON values."""
        return {
            "kind": "next stage",
            "n": self.n,
            "keeps_design": self.keeps_design,
            "digest": self.study.digest,
            "epsilon": self.study.epsilon,
            "error_present": self.errors[0],
            "error_planned": self.errors[1],
            "blocks": [
                {
                    "attributes": list(b.block.names),
                    "groups": b.groups,
                    "coarse": b.block.is_coarse,
                    "share": b.share,
                }
                for b in self.blocks
            ],
            "words": self.words(),
        }

    def __repr__(self) -> str:
        kept = "present design kept" if self.keeps_design else f"{len(self.blocks)} blocks"
        return one_line("NextStage", kept, [f"n {self.n}", f"gain {self.gain:.0%}"])

    def __str__(self) -> str:
        lines = [*self.words(), ""]
        if not self.keeps_design:
            lines += [f"{b.share:6.1%}  {b.words()}" for b in self.blocks]
        return "\n".join(lines).rstrip()

    def plot(self, title: str | None = None) -> Any:
        """Who is asked what: a bar for each set of questions."""
        altair = load_altair()
        rows = [{"set": b.words(), "share": b.share} for b in self.blocks]
        head = title or f"The next {self.n:,} respondents"
        return (
            altair.Chart(altair.Data(values=rows), title=head)
            .mark_bar(color=BLUE)
            .encode(
                x=altair.X("share:Q", title="share of respondents", axis=altair.Axis(format="%")),
                y=altair.Y("set:N", sort="-x", title=None, axis=altair.Axis(labelLimit=420)),
            )
            .properties(width=420)
        )
