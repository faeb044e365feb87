"""What a plan of a survey holds: designs, what they tell, and what was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite
from typing import Any

from castell.channels.budget import as_decimal
from castell.planning.coarser_domains import Coarser
from castell.planning.designs import DesignKind
from castell.planning.epsilon_guide import near
from castell.planning.power import Power
from castell.planning.shuffled import Shuffled, shuffled
from castell.planning.solution_check import SolutionCheck
from castell.reports.frames import frame_of
from castell.study.exposure import Exposure
from castell.study.study import Study

WIDTHS = (1, 2, 3)


@dataclass(frozen=True, eq=False)
class PlannedDesign:
    """One design, and what it will tell. Half-widths are those of 95 % intervals, as shares.

    `half_widths` are of tables of one, two and three attributes, averaged over cells and tables;
    `asked` of each question that was named; `error` is what designs are compared by: the largest
    of those asked, or that of the tables of two attributes.
    """

    kind: DesignKind | None
    study: Study
    half_widths: Mapping[int, float]
    asked: Mapping[str, float]
    error: float
    tells_associations: bool
    best_guess: float
    forged: float  # how far 1 % forged reports can move a share
    simulated: Mapping[str, float] = field(default_factory=dict)  # by width, or by question

    @property
    def name(self) -> str:
        if self.kind is None:
            return "as written"
        return self.kind.name + (", own shares" if self.kind.weights else "")

    def to_dict(self) -> dict[str, Any]:
        return {
            "design": self.name,
            "clusters": [list(c) for c in self.kind.clusters] if self.kind else [],
            "epsilon": self.study.epsilon,
            "half_widths": {str(k): number(v) for k, v in self.half_widths.items()},
            "asked": {k: number(v) for k, v in self.asked.items()},
            "error": number(self.error),
            "tells_associations": self.tells_associations,
            "best_guess": self.best_guess,
            "forged_1_percent": self.forged,
            "simulated": dict(self.simulated),
        }


def number(value: float) -> float | None:
    """For JSON, which has no infinity."""
    return value if isfinite(value) else None


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """The respondents that an error needs at each epsilon; None where none are enough."""

    error: float
    points: tuple[tuple[float, int | None], ...]


@dataclass(frozen=True)
class Nearest:
    """The people, at the same epsilon, and the epsilon, with as many people, that would reach an
    error which is not; None where none would."""

    n: int | None
    epsilon: float | None


@dataclass(frozen=True, eq=False, repr=False)
class PlanFacts:
    """What n respondents will tell at an epsilon, by design; the recommended one first.

    `n` is how many to invite and `reports` how many of them are expected to answer. `solved` is
    what was looked for: "n", "epsilon", "curve" (what other numbers and epsilons would give) or
    nothing. `check` is what simulation says of an n or an epsilon that was solved for. `study` has
    the recommended design.
    """

    n: int
    reports: int
    epsilon: float
    method: str
    designs: tuple[PlannedDesign, ...]
    refused: Mapping[str, str]
    reason: str
    asked: tuple[str, ...]
    likely: str
    response: float
    careless: float
    wanted: float | None
    solved: str | None
    power: Power | None
    exposures: tuple[Exposure, ...]
    coarser: tuple[Coarser, ...]
    tradeoff: Tradeoff | None
    nearest: Nearest | None
    check: SolutionCheck | None
    present: Study
    # Half-widths of the recommended design by n and epsilon, for the picture.
    curve: Any = field(repr=False, default=None)

    @property
    def best(self) -> PlannedDesign:
        return self.designs[0]

    @property
    def study(self) -> Study:
        return self.best.study

    @property
    def design(self) -> str:
        """The recommended design by its name, such as 'cover'; `study.design` is the design."""
        return "as written" if self.best.kind is None else self.best.kind.name

    @property
    def design_name(self) -> str:
        """The same, and whether attributes have shares of their own."""
        return self.best.name

    @property
    def error(self) -> float:
        """The half-width to expect of what was asked for, or of tables of two attributes: as
        predicted, and corrected by what simulation says of a solution."""
        return self.best.error * (self.check.times if self.check else 1.0)

    @property
    def shares(self) -> dict[str, float]:
        """What each attribute spends of the total, where everybody reports everything."""
        if self.best.kind is None or not self.best.kind.weights:
            return {}
        found = self.best.kind.shares(self.study.schema, as_decimal(self.epsilon))
        return {name: float(share) for name, share in found.items()}

    @cached_property
    def points(self) -> tuple[dict[str, float], ...]:
        """What the picture shows: n, epsilon and the half-width of the recommended design."""
        return tuple(self.curve()) if self.curve is not None else ()

    def columns(self) -> dict[str, list[Any]]:
        """A row for each design."""
        rows = self.designs
        found: dict[str, list[Any]] = {
            "design": [row.name for row in rows],
            "recommended": [row is self.best for row in rows],
            **{f"{k}-way": [row.half_widths.get(k, inf) for row in rows] for k in self._widths},
            **{label: [row.asked[label] for row in rows] for label in self.asked},
        }
        if any(row.simulated for row in rows):
            keys = dict.fromkeys(key for row in rows for key in row.simulated)
            found |= {
                f"{key} simulated": [row.simulated.get(key, inf) for row in rows] for key in keys
            }
        found["error"] = [row.error for row in rows]
        found["epsilon"] = [row.study.epsilon for row in rows]
        found["best_guess"] = [row.best_guess for row in rows]
        found["forged_1_percent"] = [row.forged for row in rows]
        return found

    @property
    def unasked(self) -> tuple[str, ...]:
        """Attributes that keep next to nothing of the budget, because nobody asked for them."""
        shares = self.shares
        if not self.asked or not shares:
            return ()
        most = max(shares.values())
        return tuple(name for name, share in shares.items() if share < most / 4)

    @property
    def _widths(self) -> list[int]:
        return [k for k in WIDTHS if any(k in row.half_widths for row in self.designs)]

    def to_frame(self, backend: str | None = None) -> Any:
        """A frame with a row for each design: 'pandas' (if it is there), 'polars', 'pyarrow'."""
        return frame_of(self.columns(), backend)

    @cached_property
    def shuffled(self) -> Shuffled:
        """What a report costs against somebody who sees only the set of those expected."""
        return shuffled(self.study, max(self.reports, 1))

    def to_dict(self) -> dict[str, Any]:
        """The plan for programs, as plain JSON values."""
        return {
            "kind": "plan",
            "n": self.n,
            "reports": self.reports,
            "epsilon": self.epsilon,
            "design": self.design,
            "method": self.method,
            "error": number(self.error),
            "reason": self.reason,
            "wanted": self.wanted,
            "solved": self.solved,
            "asked": list(self.asked),
            "likely": self.likely,
            "response": self.response,
            "careless": self.careless,
            "digest": self.study.digest,
            "shares": self.shares,
            "designs": [row.to_dict() for row in self.designs],
            "refused": dict(self.refused),
            "power": self.power.to_dict() if self.power else None,
            "risk": [
                {
                    "name": e.name,
                    "by_chance": e.chance,
                    "best_guess": e.best_guess,
                    "worst_guess": e.worst_guess,
                    "chance_drawn": e.chance_drawn,
                }
                for e in self.exposures
            ],
            "shuffled": self.shuffled.to_dict(),
            "published_epsilons": [each.to_dict() for each in near(self.epsilon)],
            "curve": list(self.points) if self.solved == "curve" else None,
            "coarser": [each.to_dict() for each in self.coarser],
            "nearest": None if self.nearest is None else dict(vars(self.nearest)),
            "check": None if self.check is None else dict(vars(self.check)),
            "tradeoff": None
            if self.tradeoff is None
            else [{"epsilon": e, "n": n} for e, n in self.tradeoff.points],
        }
