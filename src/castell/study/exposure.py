"""What one report gives away of each attribute, and what one forged report can do to it.

Everything here follows from the integer weights. A guess is judged as if every value were equally
likely beforehand. Where one block is drawn, the report says which: whoever sees it knows what was
asked, so the risk of a respondent is that of the block drawn, not the average over all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from castell.channels import BloomResponse
from castell.channels.budget import rounded_up
from castell.channels.predicted_variance import predicted_variance, shares
from castell.study.design import Design, lens_on
from castell.study.schema import Attribute, Schema


@dataclass(frozen=True)
class Exposure:
    """One attribute. The best guess at it is the likeliest value, given a report."""

    name: str
    size: int
    epsilon: float  # of the block that holds it
    block: tuple[str, ...]
    guesses: tuple[float, ...]  # how often the best is right, for each block that holds it
    worst_guess: float  # the same after the report that gives most away
    draws: int  # of how many blocks one is drawn; 1 if all are reported
    influence: float  # how many honest reports one forged report can count like
    exact: bool = True  # if not, the best guess is right at most as often

    @property
    def chance(self) -> float:
        """How often a guess without the report is right."""
        return 1.0 / self.size

    @property
    def best_guess(self) -> float:
        """How often the best guess is right if the attribute is asked, in the worst of blocks."""
        return max(self.guesses)

    @property
    def least_guess(self) -> float:
        """The same in the block that gives away least."""
        return min(self.guesses)

    @property
    def best_guess_over_draw(self) -> float:
        """How often it is right on average over the draw, if a blind guess fills in."""
        total = (self.draws - len(self.guesses)) * self.chance
        for guess in self.guesses:  # one by one, as any client can: sum() does it more exactly
            total += guess
        return total / self.draws

    @property
    def chance_drawn(self) -> float:
        """How likely a respondent is asked."""
        return len(self.guesses) / self.draws


def exposure(design: Design, attribute: Attribute) -> Exposure:
    """What a study's reports give away of one attribute.

    A forger claims to have drawn the block that counts most. There are as many reports of all
    blocks as times one is expected of each.
    """
    blocks = [design.blocks[i] for i in design.holders(attribute.name)]
    first = blocks[0].channel
    if isinstance(first, BloomResponse):  # the only channel without a matrix
        return _bloom_exposure(first, attribute)
    lenses = [lens_on(block, [attribute.name]) for block in blocks]
    draws = len(design.samples)
    weights = shares([predicted_variance(lens) for lens in lenses], [1.0] * len(lenses))
    return Exposure(
        attribute.name,
        attribute.size,
        rounded_up(max(block.channel.exact_epsilon for block in blocks)),
        blocks[0].names if len(blocks) == 1 else (attribute.name,),
        tuple(lens.best_guess for lens in lenses),
        max(lens.worst_guess for lens in lenses),
        draws,
        max(
            float(draws * w) * lens.inverse.extreme()
            for w, lens in zip(weights, lenses, strict=True)
        ),
    )


def _bloom_exposure(channel: BloomResponse, attribute: Attribute) -> Exposure:
    """What a filter tells; it has no inverse to read that from."""
    return Exposure(
        attribute.name,
        attribute.size,
        rounded_up(channel.exact_epsilon),
        (attribute.name,),
        (channel.best_guess,),
        channel.worst_guess,
        1,
        channel.influence,
        channel.guess_is_exact,
    )


@dataclass(frozen=True)
class Together:
    """All answers at once: how often the best guess at them is right, and without a report."""

    names: tuple[str, ...]  # the block of a draw that gives away most, or everything
    guess: float  # at the answers to these
    chance: float
    guess_over_draw: float  # at all answers of a respondent, what was not asked by chance
    chance_of_all: float


def together(design: Design, attributes: Schema) -> Together:
    """What a study's reports give away of all answers at once."""
    channels = [block.channel for block in design.blocks]
    blind = prod(1.0 / attribute.size for attribute in attributes)
    if len(design.samples) == 1:
        guess = prod(channel.best_guess for channel in channels)
        return Together(attributes.names, guess, blind, guess, blind)
    total = 0.0
    for channel in channels:
        total += channel.best_guess * channel.inputs * blind
    most = max(design.blocks, key=lambda block: block.channel.best_guess)
    chance = 1.0 / most.channel.inputs
    return Together(most.names, most.channel.best_guess, chance, total / len(channels), blind)
