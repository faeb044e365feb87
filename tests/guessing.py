"""What somebody who sees a report can make of it, by counting: nothing here uses castell's guesses.

Every answer is as likely as any other beforehand. A guess is the likeliest value, given the report.
"""

from __future__ import annotations

import numpy as np

from castell.linear.operators import Floats
from castell.study.design import Block


def chances(block: Block, name: str | None = None) -> Floats:
    """How likely each value of one attribute, or of all, goes with each report."""
    matrix = np.array(block.channel.weights(), dtype=np.float64)
    joint: Floats = matrix / matrix.sum()
    if name is None:
        return joint
    at = block.names.index(name)
    table = joint.reshape(*block.sizes, -1)
    return np.asarray(table.sum(axis=tuple(i for i in range(len(block.sizes)) if i != at)))


def best_guess(block: Block, name: str | None = None) -> float:
    """How often the guess is right."""
    return float(chances(block, name).max(axis=0).sum())


def worst_guess(block: Block, name: str | None = None) -> float:
    """How often it is right after the worst report."""
    seen = chances(block, name)
    return float((seen.max(axis=0) / seen.sum(axis=0)).max())
