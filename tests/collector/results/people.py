"""A survey with numbers, an order, an open bin, and people who do not answer."""

from __future__ import annotations

import numpy as np

TEXT = """
name = "numbers"
title = "Age, pay and health"
epsilon = 12.0

[[attribute]]
name = "age"
question = "How old are you?"
bins = [30, 45, 60]
range = [16, 90]
unit = "years"
missing = "category"

[[attribute]]
name = "income"
question = "What do you earn?"
bins = [1000, 2000, 4000]
unit = "euros"

[[attribute]]
name = "health"
values = ["poor", "fair", "good"]
ordered = true

[[attribute]]
name = "children"
range = [0, 4]

[[attribute]]
name = "region"
question = "Which region?"
values = ["north", "south"]
"""


def people(n: int, seed: int = 4) -> dict[str, list[object]]:
    """Older people answer less often, live in the south, and have more children."""
    chance = np.random.default_rng(seed)
    age = np.clip(chance.normal(46, 17, n), 16, 90).astype(int)
    silent = chance.random(n) < 0.05 + 0.15 * (age > 60)
    south = chance.random(n) < np.where(age > 50, 0.7, 0.3)
    return {
        "age": [None if no else int(a) for no, a in zip(silent, age, strict=True)],
        "income": np.round(chance.lognormal(7.6, 0.6, n)).astype(int).tolist(),
        "health": np.array(["poor", "fair", "good"])[chance.integers(0, 3, n)].tolist(),
        "children": np.minimum(chance.poisson(age / 40), 4).tolist(),
        "region": np.where(south, "south", "north").tolist(),
    }
