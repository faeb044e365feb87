"""Whether `auto` loses to any method, on the same attribute sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks._trials import MEASURES
from experiments.harness import REFERENCES
from experiments.text import number

Case = dict[str, Any]

# So many standard errors of the difference and this share of the error make a clear loss.
CLEAR, SHARE = 2.0, 0.02


@dataclass(frozen=True)
class Duel:
    """`auto` against another method on the same attribute sets at one width."""

    case: Case
    rival: str
    width: int
    measure: str
    auto: float
    other: float
    error: float | None

    @property
    def lost(self) -> bool:
        gap = self.auto - self.other
        return gap > SHARE * self.other and gap > CLEAR * (self.error or 0.0)

    @property
    def won(self) -> bool:
        return self.auto <= self.other

    def __str__(self) -> str:
        return (
            f"{self.case['data']}, {self.case['design']}, epsilon {self.case['total']:g} in all, "
            f"w = {self.width}, {self.measure.upper()}: auto {number(self.auto)}, {self.rival} "
            f"{number(self.other)} (difference {number(self.auto - self.other, self.error)})"
        )


def duels(cases: Sequence[Case]) -> Iterator[Duel]:
    """Every comparison there is: on the same reports, and with independence on design singles."""
    plain = {(c["data"], c["total"]): c for c in cases if c["design"] == "singles"}
    for case in cases:
        ours = {x["width"]: x for x in case["lines"] if x["method"] == "auto"}
        for line in case["lines"]:
            if line["method"] in (*REFERENCES, "auto") or line["width"] not in ours:
                continue
            same = line["same"] or ours[line["width"]]
            yield from _compare(case, line["method"], line["width"], same, line, paired=True)
        singles = plain.get((case["data"], case["total"]))
        if singles is None or singles is case:
            continue
        for line in singles["lines"]:
            w = line["width"]
            alike = singles["sets"].get(str(w)) == case["sets"].get(str(w))
            if line["method"] == "independent" and w in ours and alike:
                rival = "independent on design singles"
                yield from _compare(case, rival, w, ours[w], line, paired=False)


def _compare(
    case: Case, rival: str, width: int, ours: Case, theirs: Case, *, paired: bool
) -> Iterator[Duel]:
    for measure in MEASURES:
        a, b = np.array(ours[measure]), np.array(theirs[measure])
        error = None
        if paired and len(a) > 1:
            error = float(np.std(a - b, ddof=1) / np.sqrt(len(a)))
        elif min(len(a), len(b)) > 1:
            error = float(np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)))
        yield Duel(case, rival, width, measure, float(a.mean()), float(b.mean()), error)


def verdict(cases: Sequence[Case]) -> list[str]:
    """Whether `auto` ever loses, in words and with the numbers."""
    found = list(duels(cases))
    if not found:
        return []
    won, lost = [d for d in found if d.won], [d for d in found if d.lost]
    first = (
        f"auto is at or below the other method in {len(won)} of {len(found)} comparisons (a case, "
        f"a width, AVD or TVD, a rival on the same sets). It loses clearly, by more than {CLEAR:g} "
        f"standard errors of the difference and more than {SHARE:.0%} of the error, in {len(lost)}"
    )
    return [first + (":" if lost else "."), *(f"- {duel}" for duel in lost)]
