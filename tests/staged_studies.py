"""A study with stages: the first, a good second, and what a server that lies would publish."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from castell import KaryResponse, Study
from castell.channels import PartitionResponse
from castell.study.canonical import canonical, digest_of
from castell.study.design import Block, Design
from castell.study.later_stages import next_stage

STAGED = """
name = "staged"
epsilon = 2.0
design = "pairs"
stages = true

[[attribute]]
name = "os"
values = ["linux", "mac", "windows"]

[[attribute]]
name = "crashes"
values = ["none", "some", "many"]

[[attribute]]
name = "paid"
values = ["no", "yes"]
"""
FIRST = Study.from_toml(STAGED)
ANSWERS = {"os": "mac", "crashes": "some", "paid": "no"}


def stage_design(inner: KaryResponse | None = None) -> Design:
    """Coarse and fine blocks with unequal draws, as a plan has them."""
    inner = inner or KaryResponse.with_epsilon(3, 2.0)
    leaves = (((0, 1), (0, 1, 2)), ((2,), (0,)), ((2,), (1, 2)))
    coarse = Block(("os", "crashes"), (3, 3), PartitionResponse((3, 3), leaves, inner))
    fine = Block(("paid",), (2,), KaryResponse.with_epsilon(2, 2.0))
    return Design((coarse, fine), draw=True, weights=(3, 1))


SECOND = next_stage(FIRST, stage_design())


def forged(**changes: Any) -> str:
    """A published second stage with something else in it, and a digest that fits."""
    content = {**json.loads(SECOND.to_json()), **changes}
    del content["digest"]
    return canonical({**content, "digest": digest_of(content)})


def worse(epsilon: float = 2.1) -> str:
    """A second stage whose coarse block tells more than was promised of every stage."""
    blocks = json.loads(SECOND.to_json())["blocks"]
    blocks[0]["channel"]["channel"] = KaryResponse.with_epsilon(3, epsilon).document()
    return forged(blocks=blocks)


# Everybody answers all with little of the budget each: any plan does much better, in a few seconds.
PLANNED = """
name = "planned"
title = "Three questions"
epsilon = 1.0
stages = [300, 3000]

[[attribute]]
name = "a"
question = "First?"
values = ["v0", "v1", "v2", "v3", "v4", "v5"]

[[attribute]]
name = "b"
question = "Second?"
values = ["v0", "v1", "v2", "v3", "v4", "v5"]

[[attribute]]
name = "c"
question = "Third?"
values = ["w0", "w1"]
"""
PLANNED_STUDY = Study.from_toml(PLANNED)


def people(n: int, seed: int) -> dict[str, list[str]]:
    """Answers that go together, most of them common ones."""
    generator = np.random.default_rng(seed)
    a = generator.choice(6, n, p=[0.5, 0.3, 0.1, 0.05, 0.03, 0.02])
    b = np.where(generator.random(n) < 0.8, a, generator.choice(6, n))
    c = np.where(generator.random(n) < 0.7, (a + b) % 2, generator.choice(2, n))
    columns = {"a": (a, "v"), "b": (b, "v"), "c": (c, "w")}
    return {name: [f"{mark}{code}" for code in codes] for name, (codes, mark) in columns.items()}


def rows_of(study: Study, n: int, seed: int) -> list[tuple[int, ...]]:
    """The codes of so many reports of a stage."""
    made = study.randomize(people(n, seed))
    return list(zip(*(column.tolist() for column in made.columns), strict=True))
