"""A plan of the next stage: what it asks, what that is expected to gain, and why it was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from castell.display.one_line import one_line
from castell.planning.design_share import Tried
from castell.planning.estimands import Wanted
from castell.results.canvas import BLUE, load_altair
from castell.study.design import Block
from castell.study.study import Study

# A plan that is expected to gain less changes the design for nothing.
LEAST_GAIN = 0.01
# Of more respondents so many are simulated: a bound on memory.
MOST_SIMULATED = 1_000_000


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

    Of `planned` a share of the respondents may be asked as before, and `blocks` are what is new.
    `errors` are those of the present and of the planned design in the simulation: the largest
    error of a cell, on average over what is wanted. `expected` is the root of the expected squared
    error before and after the next stage, by the planner's own reckoning, if all is as the model of
    the reports says.
    """

    present: Study
    planned: Study
    blocks: tuple[PlannedBlock, ...]
    n: int
    wanted: Wanted
    expected: tuple[float, float]
    tried: Tried

    @property
    def errors(self) -> tuple[float, float]:
        return self.tried.errors

    @property
    def share(self) -> float:
        """Of the coming respondents, how many would be asked as planned; the others as before."""
        return self.tried.reckoned.share

    @property
    def keeps_design(self) -> bool:
        """Whether the plan is not expected to gain anything worth a change."""
        return self.gain < LEAST_GAIN

    @property
    def study(self) -> Study:
        return self.present if self.keeps_design else self.planned

    @property
    def gain(self) -> float:
        """By how much the plan is expected to lower the error: reckoned and simulated on several
        populations that the reports leave open, weighted by how precise each is."""
        return self.tried.gain

    def words(self) -> list[str]:
        """The plan in sentences."""
        people = min(self.n, MOST_SIMULATED)
        simulated = (
            f"Simulated with {people:,} more people, the error of {self.wanted.words()} is "
            f"{self.errors[0]:.4f} with the present design and {self.errors[1]:.4f} with the plan."
        )
        expected = f"Over populations that the reports leave open it gains about {self.gain:.0%}."
        if self.keeps_design:
            kept = "The present design is kept: no gain is to be expected from the plan."
            return [simulated, kept]
        asked = (
            f"Each of them answers one of {len(self.blocks)} sets of questions and spends epsilon "
            f"= {self.planned.epsilon:.6g}, once. Which sets there are depends on earlier reports, "
            "which are randomised."
        )
        before = f"{1.0 - self.share:.0%} of them are asked as before, in case the plan errs."
        return [simulated, expected, asked, *([before] if self.share < 1.0 else [])]

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
            "gain": self.gain,
            "share_planned": self.share,
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
            lines += [f"{share:6.1%}  {words}" for words, share in self._what_is_asked()]
        return "\n".join(lines).rstrip()

    def _what_is_asked(self) -> list[tuple[str, float]]:
        """What is asked, and of how many."""
        before = [("as before", 1.0 - self.share)] if self.share < 1.0 else []
        return [*before, *((b.words(), b.share) for b in self.blocks)]

    def plot(self, title: str | None = None) -> Any:
        """Who is asked what: a bar for each set of questions."""
        altair = load_altair()
        rows = [{"set": words, "share": share} for words, share in self._what_is_asked()]
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
