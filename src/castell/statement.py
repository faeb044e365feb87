"""What a study costs its respondents, in numbers and in plain words.

Everything here follows from the integer weights. A guess is judged as if every value were equally
likely beforehand; whoever knows more to begin with guesses better, with or without the report, but
no report moves the odds between two answers by more than a factor of e^epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, prod
from statistics import mean
from typing import Any

from castell.budget import rounded_up
from castell.channel import BloomResponse
from castell.design import Design, lens_on
from castell.pooling import predicted, shares
from castell.schema import Attribute
from castell.study import Study


@dataclass(frozen=True)
class Exposure:
    """What one report tells about one attribute, and what one forged report can do to it."""

    name: str
    size: int
    epsilon: float  # of the block that holds it
    block: tuple[str, ...]
    chance: float
    best_guess: float
    influence: float


@dataclass(frozen=True)
class Statement:
    """The exposure of every attribute and of all of them together."""

    study: Study
    exposures: tuple[Exposure, ...]

    @property
    def all_by_chance(self) -> float:
        return prod(e.chance for e in self.exposures)

    @property
    def all_guessed(self) -> float:
        """How often the best guess at all answers of a uniform respondent is right."""
        design = self.study.design
        if not design.draw:
            return prod(block.channel.best_guess for block in design.blocks)
        # What was not reported can only be guessed by chance.
        return mean(
            b.channel.best_guess * b.channel.inputs * self.all_by_chance for b in design.blocks
        )

    def words(self) -> list[str]:
        """The statement for people, a sentence or two each."""
        total = self.study.epsilon
        worst = max(self.exposures, key=lambda e: e.best_guess - e.chance)
        lines = [
            f"One respondent spends epsilon = {total:.6g} in all: whatever is sent, it changes the "
            f"odds between any two possible sets of answers by a factor of at most "
            f"{_times(exp(min(total, 700.0)))}.",
            f"Most is learned about {worst.name!r}: the best guess at it is right "
            f"{worst.best_guess:.1%} of the time instead of {worst.chance:.1%} by chance.",
            f"All {len(self.exposures)} answers at once are guessed right "
            f"{_odds(self.all_guessed)} instead of {_odds(self.all_by_chance)}.",
        ]
        if total > 8.0:
            lines.append(
                "This is weak protection. Below a total of 4 a respondent can deny any answer "
                "with good reason."
            )
        heavy = max(self.exposures, key=lambda e: e.influence)
        joint = "in a joint table these numbers multiply"
        if self.study.design.draw:
            # It may rest on the reports of one block alone, whatever the margins rest on.
            joint = "a joint table has fewer reports to it, and there it can count for more"
        lines.append(
            f"One forged report can count like {heavy.influence:.1f} honest ones in the table of "
            f"{heavy.name!r}; {joint}."
        )
        return lines

    def document(self) -> dict[str, Any]:
        """The statement for programs."""
        return {
            "name": self.study.name,
            "digest": self.study.digest,
            "epsilon": self.study.epsilon,
            "cells": prod(e.size for e in self.exposures),
            "all_guessed": self.all_guessed,
            "all_by_chance": self.all_by_chance,
            "attributes": [
                {
                    "name": e.name,
                    "size": e.size,
                    "epsilon": e.epsilon,
                    "block": list(e.block),
                    "best_guess": e.best_guess,
                    "by_chance": e.chance,
                    "influence": e.influence,
                }
                for e in self.exposures
            ],
            "statement": self.words(),
        }


def state(study: Study) -> Statement:
    """The statement of a study.

    >>> from castell import Attribute, Schema
    >>> study = Study(Schema([Attribute("sex", ["Female", "Male"])]), epsilon=1.0)
    >>> [round(x, 3) for x in (state(study).all_guessed, state(study).exposures[0].influence)]
    [0.731, 1.582]
    """
    return Statement(study, tuple(_exposure(study.design, attribute) for attribute in study.schema))


def _exposure(design: Design, attribute: Attribute) -> Exposure:
    """What one report tells of an attribute: on average over the blocks that may be drawn.

    The rest is the worst case: the budget, and a forger who claims to have drawn the block that
    counts most. There are as many reports of all blocks as times one is expected of each.
    """
    chance = 1.0 / attribute.size
    blocks = [design.blocks[i] for i in design.holders(attribute.name)]
    if isinstance(blocks[0].channel, BloomResponse):
        return _filtered(blocks[0].channel, attribute)
    lenses = [lens_on(block, [attribute.name]) for block in blocks]
    drawn = len(design.blocks) if design.draw else 1
    missed = drawn - len(blocks)
    weights = shares([predicted(lens) for lens in lenses], [1.0] * len(lenses))
    return Exposure(
        attribute.name,
        attribute.size,
        rounded_up(max(block.channel.exact_epsilon for block in blocks)),
        blocks[0].names if len(blocks) == 1 else (attribute.name,),
        chance,
        (sum(lens.best_guess for lens in lenses) + missed * chance) / drawn,
        max(
            float(drawn * w) * lens.inverse.extreme()
            for w, lens in zip(weights, lenses, strict=True)
        ),
    )


def _filtered(channel: BloomResponse, attribute: Attribute) -> Exposure:
    """What a filter tells; it has no inverse to read that from."""
    epsilon, alone = rounded_up(channel.exact_epsilon), (attribute.name,)
    chance = 1.0 / attribute.size
    return Exposure(
        attribute.name,
        attribute.size,
        epsilon,
        alone,
        chance,
        channel.best_guess,
        channel.influence,
    )


def _times(factor: float) -> str:
    """A factor in a few digits, upwards: what is stated as "at most" must be.

    >>> _times(4.4817), _times(403.4)
    ('4.49', '404')
    """
    if factor < 100:
        return f"{ceil(factor * 100) / 100:.2f}"
    return f"{ceil(factor):,}" if factor < 1e6 else f"{factor * 1.05:.1e}"


def _odds(share: float) -> str:
    """A share in the words people use for it.

    >>> _odds(0.25), _odds(1 / 1814400)
    ('25.0% of the time', 'once in 1,814,400')
    """
    if share >= 0.01:
        return f"{share:.1%} of the time"
    return f"once in {1 / share:,.0f}" if share > 1e-12 else f"once in {1 / share:.1e}"
