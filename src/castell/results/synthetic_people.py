"""Synthetic respondents, sampled from what a method fitted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from castell.errors import MethodError, OptionError, TableTooLargeError
from castell.inference.method import Fitted
from castell.inference.postprocess import simplex
from castell.linear.operators import Floats
from castell.numbers import is_whole

Codes = list[NDArray[np.intp]]

# So many people at a time: a sample has a number for each of them and each value of an attribute.
_STEP = 1 << 16
# So many numbers are two gigabytes, and as much again with labels.
_MOST_NUMBERS = 1 << 28
# A model of which fewer than one of so many can be is none to sample from.
_MOST_TRIES = 1000


def sample_codes(
    fitted: Fitted, method: str, names: tuple[str, ...], people: int, seed: int | None
) -> Codes:
    """A column of codes for each attribute: from the model, or from its table if it has none."""
    if not is_whole(people, 1):
        raise OptionError(f"{people!r} people cannot be sampled", "give a whole number from 1 up")
    most = _MOST_NUMBERS // len(names)
    if people > most:
        raise OptionError(
            f"{people:,} people with {len(names)} attributes are too many to hold",
            f"sample {most:,} at a time, with other seeds, or name fewer attributes",
        )
    generator = _generator(seed)
    if fitted.sample is None:
        return _from_table(_distribution(fitted, method, names), int(people), generator)
    zeros = fitted.counts.study.schema.impossible
    parts: list[Codes] = []
    tried = kept = 0
    while kept < people:
        step = min(_STEP, int(people) - kept)
        columns = list(fitted.sample(names, step, generator))
        tried += step
        # A method need not know of what is impossible: whoever cannot be is replaced.
        able = zeros.are_possible(dict(zip(names, columns, strict=True)))
        parts.append([column[able] for column in columns])
        kept += int(able.sum())
        if kept < tried / _MOST_TRIES:
            raise MethodError(
                f"{method} samples next to nobody who can be: {kept:,} of {tried:,} people",
                "sample from 'auto' or 'latent', which heed what the study declares impossible",
            )
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _generator(seed: int | None) -> np.random.Generator:
    if seed is not None and not is_whole(seed, 0):
        raise OptionError(f"the seed is {seed!r}", "give a whole number from 0 up, or none")
    return np.random.default_rng(seed)


def _distribution(fitted: Fitted, method: str, names: tuple[str, ...]) -> Floats:
    """The table of some attributes, made a distribution."""
    try:
        solution = fitted.joint(names, None)
    except TableTooLargeError as error:
        raise TableTooLargeError(
            f"{method} samples from the whole table: {error.problem}",
            "name fewer attributes, model.sample(n, ['a', 'b']), or fit method 'latent', which "
            "samples any number of them",
        ) from None
    table = np.zeros(solution.probabilities.shape)
    possible = ~fitted.counts.study.schema.impossible_cells(names)
    table[possible] = simplex(solution.probabilities[possible])
    return table


def _from_table(table: Floats, people: int, generator: np.random.Generator) -> Codes:
    cells = generator.choice(table.size, size=people, p=table.ravel())
    return [column.astype(np.intp) for column in np.unravel_index(cells, table.shape)]
