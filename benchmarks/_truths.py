"""Populations whose answers are known, as far as they are at hand."""

from __future__ import annotations

import os

from benchmarks._trials import people_of
from experiments.datasets import truth as populations
from experiments.datasets.population import DataError

GENERATED = "generated"


def truth_of(name: str) -> populations.Truth:
    """A population by its name, or generated people."""
    if name == GENERATED:
        return populations.Rows(people_of(GENERATED))
    return populations.truth_of(name)


def at_hand(quick: bool) -> tuple[list[str], list[str]]:
    """The names of those that can be read, and why the others cannot.

    All of them, those that CASTELL_POPULATIONS names, or with `quick` people who do not exist.
    """
    names = [name for name in os.environ.get("CASTELL_POPULATIONS", "").split(",") if name]
    wanted = [GENERATED] if quick else names or list(populations.names())
    have, missing = [], []
    for name in wanted:
        try:
            truth_of(name)
            have.append(name)
        except DataError as error:
            missing.append(f"{name}: {error}")
    return have, missing
