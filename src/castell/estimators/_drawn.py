"""`auto` where each respondent reports one block: the model, and the blocks' own unbiased table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import sqrt

import numpy as np

from castell.belief import share_of
from castell.bootstrap import summed
from castell.drawn import expected_variance
from castell.errors import CastellError
from castell.estimators._held import Blend, Held, by_model
from castell.operators import Floats
from castell.postprocess import simplex
from castell.spread import Spread, SpreadOf


def drawn(held: Held, names: tuple[str, ...]) -> Blend:
    latent = held.latent
    model = latent.table(names)
    try:
        whole = held.direct.joint(names, None)
    except CastellError:
        return _unheld(held, names)
    # With few reports a table's own variance is as uncertain as the table; what is expected is not.
    variance = np.maximum(whole.spread(names).variance, expected_variance(held.blocks, names)).sum()
    believed = share_of(whole.probabilities, model, float(variance))
    gap = float(((whole.probabilities - model) ** 2).sum())
    if believed == 0.0:
        blend = by_model(held, names, "the blocks' own table differs from the model by noise only")
        unseen = max(0.0, gap - variance * (1.0 - 2.0 * sqrt(2.0 / max(model.size - 1, 1))))
        return replace(
            blend, spread=partial(_missed, latent.spread, whole.spread, model, names, unseen)
        )
    table = believed * simplex(whole.probabilities) + (1.0 - believed) * model
    note = (
        f"auto: {believed:.0%} the blocks' unbiased table, {1.0 - believed:.0%} the latent-class "
        "model, because they differ by more than noise"
    )

    def spread(kept: tuple[str, ...]) -> Spread:
        direct, model = whole.spread(kept).variance, latent.spread(kept).variance
        # They come from the same reports: errors that go along add up, not their squares.
        both = believed * np.sqrt(direct) + (1.0 - believed) * np.sqrt(model)
        return Spread(both**2)

    return Blend(table, spread, (note,))


def _unheld(held: Held, names: tuple[str, ...]) -> Blend:
    """The model's table, where no block holds all attributes.

    A cell of it is known as the pairs are that it is made of: their relative errors add up. What
    may be wrong with the model's table of a pair, as far as blocks can tell, is wrong with it too.
    """
    blend = by_model(held, names, "no block holds them all")

    def spread(kept: tuple[str, ...]) -> Spread:
        cells = held.latent.table(kept)
        relative = np.zeros(cells.shape)
        for piece in pieces(kept, [block.study.names for block in held.blocks if block.n]):
            part = drawn(held, piece)
            error = part.spread(piece).variance / np.maximum(part.table, 1e-12) ** 2
            # In the order asked, as pieces are; an axis of one for each attribute of another piece.
            shape = [n if name in piece else 1 for name, n in zip(kept, cells.shape, strict=True)]
            relative = relative + error.reshape(shape)
        return Spread(np.maximum(blend.spread(kept).variance, cells**2 * relative))

    return replace(blend, spread=spread)


def pieces(names: Sequence[str], sets: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """All pairs that lie within a set, and whatever is in none of them.

    >>> pieces("abcde", ["ab", "bcd", "cf"])
    [('a', 'b'), ('b', 'c'), ('b', 'd'), ('c', 'd')]
    >>> pieces("ace", ["ab", "c"])
    [('a',), ('c',)]
    """
    pairs = [pair for pair in combinations(names, 2) if any(set(pair) <= set(s) for s in sets)]
    paired = {name for pair in pairs for name in pair}
    alone = [(n,) for n in names if n not in paired and any(n in s for s in sets)]
    return [*pairs, *alone]


def _missed(
    noise: SpreadOf,
    direct: SpreadOf,
    table: Floats,
    every: tuple[str, ...],
    error: float,
    names: tuple[str, ...],
) -> Spread:
    """Noise, or the model's error where that may be larger: as much as may hide in the difference
    between the model and the blocks' table, shared out by size, and never more than the latter's.
    """
    hidden = error * summed(table, every, names)
    variance = np.minimum(hidden, direct(names).variance)
    return Spread(np.maximum(noise(names).variance, variance))
