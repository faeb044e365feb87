"""Populations whose answers are known, as far as they are at hand."""

from __future__ import annotations

import os
from collections.abc import Sequence

from benchmarks._trials import people_of
from experiments.datasets import truth as populations
from experiments.datasets.population import DataError

GENERATED = "generated"
QUESTIONS = 4  # of theirs that are asked: to see whether a benchmark runs at all, few are enough


def truth_of(name: str) -> populations.Truth:
    """A population by its name, or generated people and few of their answers."""
    if name == GENERATED:
        people = people_of(GENERATED)
        return populations.Rows(people.select(people.schema.names[:QUESTIONS]))
    return populations.truth_of(name)


def at_hand(quick: bool, usual: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """The names of those that can be read, and why the others cannot.

    Those that CASTELL_POPULATIONS names, else the usual ones of a benchmark, else all; with `quick`
    people who do not exist.
    """
    names = [name for name in os.environ.get("CASTELL_POPULATIONS", "").split(",") if name]
    wanted = [GENERATED] if quick else names or list(usual or populations.names())
    have, missing = [], []
    for name in wanted:
        try:
            truth_of(name)
            have.append(name)
        except DataError as error:
            missing.append(f"{name}: {error}")
    return have, missing
