"""What one report gives away of each attribute, and what one forged report can do to it.

Everything here follows from the integer weights. A guess is judged as if every value were equally
likely beforehand. Where one block is drawn, the report says which: whoever sees it knows what was
asked, so the risk of a respondent is that of the block drawn, not the average over all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from castell.channels import BloomResponse, Lens
from castell.channels.budget import rounded_up
from castell.channels.protocol import precision_weights, predicted_variance
from castell.study.design import Block, Design, lens_on
from castell.study.schema import Attribute, Schema


@dataclass(frozen=True)
class Exposure:
    """One attribute. The best guess at it is the likeliest value, given a report."""

    name: str
    size: int
    epsilon: float  # of the block that holds it
    block: tuple[str, ...]
    guesses: tuple[float, ...]  # how often the best is right, for each block that holds it
    weights: tuple[int, ...]  # with which each of these is drawn
    worst_guess: float  # the same after the report that gives most away
    draws: int  # the weights of all blocks; 1 if all are reported
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
        total = (self.draws - self.asked) * self.chance
        # One by one, as any client can: sum() does it more exactly.
        for guess, weight in zip(self.guesses, self.weights, strict=True):
            total += weight * guess
        return total / self.draws

    @property
    def asked(self) -> int:
        """The weights of the blocks that hold it."""
        return sum(self.weights)

    @property
    def chance_drawn(self) -> float:
        """How likely a respondent is asked."""
        return self.asked / self.draws


def exposure(design: Design, attribute: Attribute) -> Exposure:
    """What a study's reports give away of one attribute.

    A forger claims to have drawn the block that counts most. There are as many reports of each
    block as its weight says. A table that is taken back out rests on the blocks that do not ask
    coarsely, if there are any; otherwise it is that of a block's groups.
    """
    blocks = [design.blocks[i] for i in design.holders(attribute.name)]
    first = blocks[0].channel
    if isinstance(first, BloomResponse):  # the only channel without a matrix
        return _bloom_exposure(first, attribute)
    lenses = [lens_on(block, [attribute.name]) for block in blocks]
    drawn = tuple(design.block_weights[i] for i in design.holders(attribute.name))
    return Exposure(
        attribute.name,
        _choices(attribute),
        rounded_up(max(block.channel.exact_epsilon for block in blocks)),
        blocks[0].names if len(blocks) == 1 else (attribute.name,),
        tuple(lens.best_guess for lens in lenses),
        drawn,
        max(lens.worst_guess for lens in lenses),
        design.total_weight,
        _influence(attribute.name, blocks, lenses, drawn, design.total_weight),
    )


def _choices(attribute: Attribute) -> int:
    """How many values those choose from who answer: skipping shows and is no guess."""
    return attribute.size - attribute.may_skip


def _influence(
    name: str,
    blocks: Sequence[Block],
    lenses: Sequence[Lens],
    drawn: Sequence[int],
    draws: int,
) -> float:
    """How many honest reports one forged report counts like in a table that is taken back out."""
    every = [block.channel.coarse for block in blocks]
    coarse = [found for found in every if found is not None]
    if len(coarse) == len(blocks):
        # Groups of two blocks are no one table: each rests on the reports of its block alone.
        alone = zip(coarse, drawn, strict=True)
        return max(draws / often * found.inner.inverse.extreme() for found, often in alone)
    fine = [i for i, block in enumerate(blocks) if block.tells([name])]
    variances = [predicted_variance(lenses[i]) for i in fine]
    weights = precision_weights(variances, [drawn[i] for i in fine])
    return max(
        float(draws * weight) / drawn[i] * lenses[i].inverse.extreme()
        for i, weight in zip(fine, weights, strict=True)
    )


def _bloom_exposure(channel: BloomResponse, attribute: Attribute) -> Exposure:
    """What a filter tells; it has no inverse to read that from."""
    return Exposure(
        attribute.name,
        attribute.size,
        rounded_up(channel.exact_epsilon),
        (attribute.name,),
        (channel.best_guess,),
        (1,),
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
    drawn: bool  # whether a respondent is asked some of it, drawn at random, or everything


def together(design: Design, attributes: Schema) -> Together:
    """What a study's reports give away of all answers at once."""
    attributes = attributes.hidden
    blind = prod(1.0 / _choices(attribute) for attribute in attributes)
    asked = [[design.hidden[place] for place in sample] for sample in design.hidden_samples]
    guesses = [prod(block.channel.best_guess for block in blocks) for blocks in asked]
    chances = [prod(1.0 / b.channel.if_answered.inputs for b in blocks) for blocks in asked]
    over_draw = 0.0
    for guess, chance, weight in zip(guesses, chances, design.weights, strict=True):
        over_draw += weight * (guess * (blind / chance))
    most = guesses.index(max(guesses))
    names = {name for block in asked[most] for name in block.names}
    return Together(
        tuple(name for name in attributes.names if name in names),
        guesses[most],
        chances[most],
        over_draw / design.total_weight,
        blind,
        len(asked) > 1,
    )
