"""What an audit found: bounds, checks, and what to make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from castell.auditing.telling_event import Bound
from castell.display.notebook import html_table
from castell.display.one_line import one_line
from castell.inference.chisquare import p_text
from castell.study.study import Study


@dataclass(frozen=True)
class Check:
    """One thing that was looked at; `p` where chance decides whether it looks wrong."""

    name: str
    told: str
    passed: bool
    p: float | None = None


def by_chance(name: str, p: Sequence[float], alpha: float) -> Check:
    """A check of several tests, of which a right device fails one with chance `alpha` at most.

    Each kind of check has an equal part of what the audit may err, and so has each of its tests.
    """
    least = min(1.0, min(p) * len(p))
    many = f"{len(p)} tests" if len(p) > 1 else "one test"
    return Check(name, f"p {p_text(least)} ({many})", least >= alpha / _KINDS, least)


# Fit, repeats, independence, coupling.
_KINDS = 4


@dataclass(frozen=True, repr=False)
class Audit:
    """`whole` is there where a report has several parts. `n` devices were asked."""

    study: Study
    device: str
    n: int
    confidence: float
    whole: Bound | None
    bounds: tuple[Bound, ...]
    checks: tuple[Check, ...]

    @property
    def epsilon(self) -> float:
        """What the study states."""
        return self.study.epsilon

    @property
    def lower(self) -> float:
        """Epsilon is not below this, whatever the device does."""
        every = [b.lower for b in self.bounds] + ([self.whole.lower] if self.whole else [])
        return max(every)

    @property
    def lower_if_independent(self) -> float:
        """The same if parts of a report are drawn independently, which one check looks at."""
        return max(self.lower, sum(b.lower for b in self.bounds))

    @property
    def passed(self) -> bool:
        """Whether nothing that was looked at speaks against the device."""
        within = all(b.holds for b in (*self.bounds, *((self.whole,) if self.whole else ())))
        return within and all(check.passed for check in self.checks)

    @property
    def failures(self) -> tuple[str, ...]:
        """What speaks against it, in sentences."""
        every = (*self.bounds, *((self.whole,) if self.whole else ()))
        return (
            *(
                f"{b.name} gives away at least {b.lower:.4g}, more than the stated {b.epsilon:.4g}"
                for b in every
                if not b.holds
            ),
            *(f"failed: {check.name} ({check.told})" for check in self.checks if not check.passed),
        )

    def verdict(self) -> str:
        """The audit in one sentence."""
        spent = f"epsilon {self.epsilon:.4g}"
        if not self.passed:
            return f"The device is NOT what the study states ({spent}): {self.failures[0]}."
        return (
            f"Nothing speaks against the device: it gives away at least "
            f"{self.lower_if_independent:.4g} of the stated {spent}, and passes "
            f"{len(self.checks)} checks."
        )

    def to_dict(self) -> dict[str, Any]:
        """The audit for programs, as plain JSON values."""
        return {
            "kind": "audit",
            "study": self.study.name,
            "digest": self.study.digest,
            "device": self.device,
            "n": self.n,
            "confidence": self.confidence,
            "epsilon": self.epsilon,
            "lower": self.lower,
            "lower_if_independent": self.lower_if_independent,
            "passed": self.passed,
            "whole": None if self.whole is None else _bound(self.whole),
            "parts": [_bound(b) for b in self.bounds],
            "checks": [
                {"name": c.name, "told": c.told, "passed": c.passed, "p": c.p} for c in self.checks
            ],
            "failures": list(self.failures),
            "verdict": self.verdict(),
        }

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Each part: what is stated, what was measured, what a right device would show."""
        every = (*self.bounds, *((self.whole,) if self.whole else ()))
        return [(b.name, f"{b.epsilon:.4g}", f"{b.lower:.4g}", f"{b.expected:.4g}") for b in every]

    def summary(self) -> str:
        heads = ("part", "stated", "at least", "if right")
        table = [heads, *self.rows()]
        wide = [max(len(row[i]) for row in table) for i in range(4)]
        lines = [
            "  ".join(
                cell.ljust(w) if i == 0 else cell.rjust(w)
                for i, (cell, w) in enumerate(zip(row, wide, strict=True))
            )
            for row in table
        ]
        found = [
            f"{'ok  ' if check.passed else 'FAIL'}  {check.name}: {check.told}"
            for check in self.checks
        ]
        asked = (
            f"device {self.device!r}, {self.n:,} asked, bounds hold together with confidence "
            f"{self.confidence:g}"
        )
        more = [f"Also: {failure}." for failure in self.failures[1:]]
        return "\n".join([self.verdict(), *more, "", asked, "", *lines, "", *found])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        facts = [
            f"epsilon at least {self.lower_if_independent:.4g} of {self.epsilon:.4g}",
            f"n = {self.n:,}",
            "passed" if self.passed else "FAILED",
        ]
        return one_line("Audit", f"of {self.study.name!r} by {self.device!r}", facts)

    def _repr_html_(self) -> str:
        return html_table(
            self.verdict(),
            ("part", "stated", "at least", "if right"),
            self.rows(),
            notes=[f"{c.name}: {c.told}" for c in self.checks if not c.passed],
        )


def _bound(found: Bound) -> dict[str, Any]:
    return {
        "name": found.name,
        "epsilon": found.epsilon,
        "lower": found.lower,
        "lower_expected": found.expected,
        "hits": found.hits,
        "trials": found.trials,
        "other_hits": found.other_hits,
        "other_trials": found.other_trials,
        "holds": found.holds,
    }
