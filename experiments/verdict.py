"""What is made of a claim: a verdict, the number it rests on, and more numbers to look up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from experiments.text import Result

# Results of experiments by name and noise.
Results = Mapping[str, Mapping[str, Result]]
HOLDS, MODEL, NOT = "holds", "in the rounding model only", "does not hold"


@dataclass(frozen=True)
class Verdict:
    verdict: str
    number: str
    details: str = ""


def how(noise: str) -> str:
    """A kind of noise in words."""
    return "rounding model" if noise == "rounding" else "real noise"
