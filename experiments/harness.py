"""How far every scheme is off: populations in, errors by attribute set and repeat out.

A scheme is a method of castell on a design. A new estimator file is a new scheme everywhere; if it
needs a design of its own it says so with a module constant `DESIGN`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, prod
from typing import Any

import numpy as np

import castell
from castell import CastellError, Study
from castell.estimators import estimator
from castell.metrics import METRICS, attribute_sets
from castell.operators import Floats
from castell.progress import progress_bar
from experiments import expected
from experiments.datasets.population import Population
from experiments.settings import Settings

# With more attributes than this each attribute set is asked on its own: a study of 68 questions
# says no more about two of them than a study of the two with the same epsilon for each.
WHOLE = 16
FLOOR, UNIFORM, PRODUCT = "sampling floor", "uniform table", "independent truth"
REFERENCES = (FLOOR, UNIFORM, PRODUCT)

Sets = Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Scheme:
    """`alone`: only the attributes of a set are randomised, with their share of the budget."""

    label: str
    method: str
    design: str = "independent"
    alone: bool = False
    finish: Callable[[Floats], Floats] | None = None


JOINT = Scheme("RR-Joint", "castell", "joint", alone=True)


def schemes() -> tuple[Scheme, ...]:
    """Every method there is, and RR-Joint, which is castell on one joint block."""
    found = [
        Scheme(m, m, getattr(estimator(m), "DESIGN", "independent")) for m in castell.methods()
    ]
    return (*found, JOINT)


def named(*labels: str) -> tuple[Scheme, ...]:
    """Some of the schemes."""
    return tuple(scheme for scheme in schemes() if scheme.label in labels)


Answer = Callable[[tuple[str, ...]], Floats]


def ask(people: Population, each: float, scheme: Scheme, noise: str, seed: int) -> Answer:
    """A study of a population, its reports, and what a scheme answers from them."""
    study = study_of(people, each, scheme)
    if noise == "rounding":

        def answer(names: tuple[str, ...]) -> Floats:
            return expected.estimate(study, people, names, scheme.method)
    else:
        reports = study.randomize(people.frame(), seed=seed)
        model = castell.fit(reports, scheme.method)

        def answer(names: tuple[str, ...]) -> Floats:
            return model.estimate(names).probabilities

    finish = scheme.finish
    return answer if finish is None else lambda names: finish(answer(names))


def study_of(people: Population, each: float, scheme: Scheme) -> Study:
    """The study of a scheme: so much for each attribute, whatever the design makes of it."""
    total = each * len(people.schema)
    return Study(people.schema, epsilon=total, design=scheme.design, name=people.name)


def draw_sets(
    people: Population, width: int, most: int | None, *, cells: int = 1 << 20, seed: int = 0
) -> list[tuple[str, ...]]:
    """Attribute sets of some width with no more than so many cells: all, or `most` at random."""
    names, sizes = people.schema.names, people.schema.sizes
    generator = np.random.default_rng([seed, width])
    if comb(len(names), width) <= 5000:
        found = attribute_sets(names, width)
        index = dict(zip(names, sizes, strict=True))
        found = [s for s in found if prod(index[name] for name in s) <= cells]
        if most is None or len(found) <= most:
            return found
        return [found[i] for i in sorted(generator.choice(len(found), most, replace=False))]
    drawn: set[tuple[int, ...]] = set()
    for _ in range(100 * (most or 50)):
        chosen = tuple(sorted(generator.choice(len(names), width, replace=False).tolist()))
        if prod(sizes[i] for i in chosen) <= cells:
            drawn.add(chosen)
        if len(drawn) == (most or 50):
            break
    return [tuple(names[i] for i in chosen) for chosen in sorted(drawn)]


def evaluate(
    people: Population,
    each: float,
    sets: Sets,
    settings: Settings,
    repeats: int,
    *,
    metric: str = "avd",
    chosen: Sequence[Scheme] | None = None,
) -> dict[str, Floats]:
    """The error of each scheme on each set in each repeat, and of floor and ceilings.

    A set that a scheme cannot answer is NaN.
    """
    chosen = schemes() if chosen is None else chosen
    errors = {s.label: np.full((repeats, len(sets)), np.nan) for s in chosen}
    errors |= {label: np.full((repeats, len(sets)), np.nan) for label in REFERENCES}
    far = METRICS[metric]
    with progress_bar(f"{people.name}, epsilon {each:g} each") as tell:
        for repeat in range(repeats):
            seed = _seed(settings.seed, repeat, people.name)
            answers = _answers(people, each, chosen, settings.noise, seed)
            again = people.take(np.random.default_rng(seed).integers(0, people.n, people.n))
            for k, names in enumerate(sets):
                truth, some = people.table(names), people.select(names)
                guesses = references(truth, again.table(names))
                for scheme in chosen:
                    try:
                        answer = (
                            answers[scheme.label]
                            if scheme.label in answers
                            else ask(some, each, scheme, settings.noise, seed + k)
                        )
                        guesses[scheme.label] = answer(names) if answer else None
                    except CastellError:
                        guesses[scheme.label] = None
                for label, guess in guesses.items():
                    if guess is not None:
                        errors[label][repeat, k] = far(truth, guess)
                tell((repeat * len(sets) + k + 1) / (repeats * len(sets)))
    return errors


def references(truth: Floats, again: Floats) -> dict[str, Floats | None]:
    """What no noise at all would give, and what knowing little would."""
    product = np.ones(())
    for axis in range(truth.ndim):
        product = np.multiply.outer(product, truth.sum(axis=_others(truth.ndim, axis)))
    return {FLOOR: again, UNIFORM: np.full(truth.shape, 1 / truth.size), PRODUCT: product}


def _others(count: int, axis: int) -> tuple[int, ...]:
    return tuple(i for i in range(count) if i != axis)


def _seed(seed: int, repeat: int, name: str) -> int:
    # Repeats and data sets differ, runs do not.
    return (zlib.crc32(name.encode()) + 1_000_003 * repeat + 7_919 * seed) % 2**32


def _answers(
    people: Population, each: float, chosen: Sequence[Scheme], noise: str, seed: int
) -> dict[str, Answer | None]:
    """What answers for the whole study, where all of it is asked at once."""
    if len(people.schema) > WHOLE:
        return {}
    found: dict[str, Answer | None] = {}
    for scheme in chosen:
        if not scheme.alone:
            try:
                found[scheme.label] = ask(people, each, scheme, noise, seed)
            except CastellError:
                found[scheme.label] = None
    return found


def summarise(values: Floats) -> dict[str, Any]:
    """Errors by repeat and set as numbers for people.

    `mean` over both, `error` its standard error over repeats, `sigma` the spread over sets. None
    stands for what is not known: a scheme that failed, or a single repeat.
    """
    if np.isnan(values).any():
        return {"mean": None, "error": None, "sigma": None}
    means = values.mean(axis=1)
    error = float(means.std(ddof=1) / np.sqrt(len(means))) if len(means) > 1 else None
    if error is not None and error < 1e-9 * means.mean():
        error = None  # nothing random in it
    sigma = float(values.std()) if values.shape[1] > 1 else 0.0
    return {"mean": float(means.mean()), "error": error, "sigma": sigma}
