"""What a method answers on a few made-up people: whether it still gives what it gave.

Code may be moved and tidied without any number of the page changing. A probe is a tiny run with a
fixed seed, kept with every line of a result as a few sums over its estimates. Where it agrees, the
line is of this code, however the code is written; intervals play no part in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import numpy as np

from castell import Attribute, CastellError, Schema
from castell.evaluation.metrics import METRICS
from castell.linear.operators import Floats
from experiments.datasets.population import Population
from experiments.harness import Scheme, ask
from experiments.questions import Asked, Task, errors_of
from experiments.systems import system

# Far below the last digit of the page, and above what another order of summation changes.
CLOSE = 1e-6
EACH, SEED = 0.5, 11
SETS = (("a", "b"), ("c", "a", "b"))
Probe = list[float]


@cache
def people() -> Population:
    """Six hundred people with three answers each, the first two associated."""
    generator = np.random.default_rng(3)
    a = generator.choice(2, 600, p=[0.7, 0.3])
    b = np.where(generator.random(600) < 0.6, a, generator.choice(3, 600, p=[0.5, 0.3, 0.2]))
    c = generator.choice(2, 600, p=[0.4, 0.6])
    sizes = {"a": 2, "b": 3, "c": 2}
    schema = Schema([Attribute(name, range(size)) for name, size in sizes.items()])
    return Population("probe", schema, {"a": a, "b": b, "c": c}, "made up")


def summed(values: Iterable[float] | Floats) -> Probe:
    """Three weighted sums: no change of a value leaves all of them as they are."""
    found = np.asarray(list(values), dtype=np.float64)
    places = np.arange(1, found.size + 1)
    return [round(float(found @ np.cos(k * places)), 9) for k in (1.0, 2.0**0.5, 5.0**0.5)]


@cache
def _of_scheme(scheme: Scheme, noise: str) -> tuple[float, ...]:
    whole = None
    try:
        if not scheme.alone:
            whole = ask(people(), EACH, scheme, noise, SEED)
        tables = [
            (whole or ask(people().select(names), EACH, scheme, noise, SEED))(names)
            for names in SETS
        ]
    except CastellError:
        return ()  # it has no answer, which is an answer too
    return tuple(summed(np.concatenate([table.ravel() for table in tables])))


def of_scheme(scheme: Scheme, noise: str) -> Probe:
    """Of one scheme; of a system there is none unless it says so, and its own code counts."""
    if scheme.system and not getattr(system(scheme.method), "PROBED", False):
        return []
    return list(_of_scheme(scheme, noise))


@cache
def _of_references() -> tuple[float, ...]:
    asked = tuple(Asked(0, place, names) for place, names in enumerate(SETS))
    tasks = [Task(people(), EACH, asked, 0, SEED, "real", metric) for metric in sorted(METRICS)]
    found: list[Mapping[str, Sequence[float]]] = [errors_of(task) for task in tasks]
    return tuple(summed([x for errors in found for line in errors.values() for x in line]))


def of_references() -> Probe:
    """Of floor and ceilings, and of every kind of error that there is."""
    return list(_of_references())


def agree(one: Sequence[float], two: Sequence[float]) -> bool:
    return len(one) == len(two) and all(
        abs(a - b) <= CLOSE * max(1.0, abs(a)) for a, b in zip(one, two, strict=True)
    )


def forget() -> None:
    """Run them anew: the code was changed."""
    _of_scheme.cache_clear()
    _of_references.cache_clear()
