"""A study with stages: the first, a good second, and what a server that lies would publish."""

from __future__ import annotations

import json
from typing import Any

from castell import KaryResponse, Study
from castell.channels import Channel, PartitionResponse
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


def stage_design(inner: Channel | None = None) -> Design:
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
