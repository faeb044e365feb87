"""Every scheme there is, and what it answers when it is asked about a population.

A scheme is a method of castell on a design, or a system that collects for itself. A new estimator
file, or a new file in `systems/`, is a new scheme everywhere. Module constants say what it needs:

- `READS`, the reports it reads, and so the design it is shown on (estimators only);
- `REPEATS`, how often an experiment repeats it at most, if it takes long;
- `VARIANTS`, options under which it is shown besides, by label (estimators only).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, prod
from typing import Any

import numpy as np

import castell
from castell import Study
from castell.errors import QueryError
from castell.estimators import estimator, reads
from castell.evaluation.metrics import attribute_sets
from castell.inference.method import BLOOM, DRAWN, EVERYBODY
from castell.linear.operators import Floats
from experiments import expected
from experiments.datasets.population import Population
from experiments.datasets.truth import Truth
from experiments.systems import Answer, system, systems

# With more attributes than this each attribute set is asked on its own: a study of 68 questions
# says no more about two of them than a study of the two with the same epsilon for each.
WHOLE = 16
FLOOR, UNIFORM, PRODUCT = "sampling floor", "uniform table", "independent truth"
REFERENCES = (FLOOR, UNIFORM, PRODUCT)
# Methods that take seconds for a study or a table: how often they are repeated at most, where
# their files do not say.
SLOW = {"auto": 3, "em": 3, "latent": 3}

# A method is shown on the first of these that it reads.
DESIGNS = {EVERYBODY: "independent", DRAWN: "cover", BLOOM: "bloom"}

Sets = Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Scheme:
    """`alone`: only the attributes of a set are randomised, with their share of the budget."""

    label: str
    method: str
    design: str = "independent"
    alone: bool = False
    finish: Callable[[Floats], Floats] | None = None
    options: tuple[tuple[str, Any], ...] = ()
    repeats: int | None = None  # at most
    system: bool = False  # a file in systems/, not an estimator


JOINT = Scheme("RR-Joint", "castell", "joint", alone=True)
# Clusters are proposed from the reports of some respondents, each attribute by itself, and the
# others report cluster by cluster; everybody spends the whole budget once.
CLUSTERS = Scheme("RR-Clusters", "clusters", "clusters")
PILOT = 0.1
# The paper's hybrid is castell up to a number of attributes that depends on the data: its crossover
# points. Ours decides from the reports, table by table.
HYBRID_WIDTHS = {"adult": 4, "census1990": 8, "census1990 (stand-in)": 8, "german": 3, "nursery": 4}
HYBRID_WIDTH = 4
SHOWN_AS: dict[str, dict[str, dict[str, Any]]] = {
    "clusters": {"product over clusters": {}},
    "hybrid": {"hybrid": {"rule": "width"}, "hybrid, by the reports": {}},
}


def schemes() -> tuple[Scheme, ...]:
    """Every method there is, RR-Joint, which is castell on one joint block, and every system."""
    found: list[Scheme] = []
    for method in castell.methods():
        module = estimator(method)
        design = next((DESIGNS[k] for k in reads(method).kinds if k in DESIGNS), "independent")
        most = getattr(module, "REPEATS", SLOW.get(method))
        shown = {**SHOWN_AS.get(method, {method: {}}), **getattr(module, "VARIANTS", {})}
        for label, options in shown.items():
            chosen = tuple(options.items())
            found.append(Scheme(label, method, design, options=chosen, repeats=most))
    found += [CLUSTERS] * ("clusters" in castell.methods()) + [JOINT]
    for name in systems():
        module = system(name)
        most, label = getattr(module, "REPEATS", None), getattr(module, "LABEL", name)
        found.append(Scheme(label, name, repeats=most, system=True))
    return tuple(found)


def schemes_named(*labels: str) -> tuple[Scheme, ...]:
    """Some of the schemes."""
    return tuple(scheme for scheme in schemes() if scheme.label in labels)


def ask(
    people: Population, each: float, scheme: Scheme, noise: str, seed: int, *, part: bool = False
) -> Answer:
    """A study of a population, its reports, and what a scheme answers from them.

    `part` says that these are some of the questions of a study, asked as if they were all.
    """
    if scheme.system:
        if noise == "rounding":
            raise QueryError(f"{scheme.label} collects for itself", "use --noise real")
        total, own = each * len(people.schema), dict(scheme.options)
        answer: Answer = system(scheme.method).answers(people, total, seed, **own)
        return answer
    if scheme == CLUSTERS:
        return _clustered(people, each, noise, seed)
    study, options = study_of(people, each, scheme), options_for(people, scheme)
    if part and getattr(study.design, "draw", None):
        # With fewer questions every respondent would answer each of them more often.
        raise QueryError("a drawn design cannot be asked in part", "ask all of it")
    if noise == "rounding":

        def answer(names: tuple[str, ...]) -> Floats:
            return expected.estimate(study, people, names, scheme.method, options)
    else:
        reports = study.randomize(people.frame(), seed=seed)
        model = castell.fit(reports, scheme.method, **options)

        def answer(names: tuple[str, ...]) -> Floats:
            return model.estimate(names).probabilities

    finish = scheme.finish
    return answer if finish is None else lambda names: finish(answer(names))


def _clustered(people: Population, each: float, noise: str, seed: int) -> Answer:
    """RR-Clusters: a pilot proposes the clusters; in the paper's model the truth does."""
    total, schema = each * len(people.schema), people.schema
    order = np.random.default_rng([seed, 4]).permutation(people.n)
    few = max(1, round(PILOT * people.n))
    if few == people.n:
        raise QueryError("there is nobody but the pilot", "ask more people")
    if noise == "rounding":
        known = people.frame()
    else:
        pilot = people.take(order[:few])
        known = Study(schema, epsilon=total).randomize(pilot.frame(), seed=seed)
    proposed = castell.propose_clusters(schema, total, known)
    study = Study(schema, epsilon=total, design=proposed.design, name=people.name)
    options = {"clusters": proposed.clusters}
    if noise == "rounding":
        return lambda names: expected.estimate(study, people, names, CLUSTERS.method, options)
    rest = people.take(order[few:])
    model = castell.fit(study.randomize(rest.frame(), seed=seed + 1), CLUSTERS.method, **options)
    return lambda names: model.estimate(names).probabilities


def options_for(people: Population, scheme: Scheme) -> dict[str, Any]:
    """The options of a scheme; up to which width hybrid is castell goes by the data."""
    options = dict(scheme.options)
    if options.get("rule") == "width":
        options["width"] = HYBRID_WIDTHS.get(people.name, HYBRID_WIDTH)
    return options


def study_of(people: Population, each: float, scheme: Scheme) -> Study:
    """The study of a scheme: so much for each attribute, whatever the design makes of it."""
    total = each * len(people.schema)
    return Study(people.schema, epsilon=total, design=scheme.design, name=people.name)


def draw_sets(
    people: Population | Truth,
    width: int,
    most: int | None,
    *,
    cells: int = 1 << 20,
    seed: int = 0,
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


def references(truth: Floats, again: Floats) -> dict[str, Floats]:
    """What no noise at all would give, and what knowing little would."""
    product = np.ones(())
    for axis in range(truth.ndim):
        product = np.multiply.outer(product, truth.sum(axis=_others(truth.ndim, axis)))
    return {FLOOR: again, UNIFORM: np.full(truth.shape, 1 / truth.size), PRODUCT: product}


def _others(count: int, axis: int) -> tuple[int, ...]:
    return tuple(i for i in range(count) if i != axis)


def summarise(values: Floats) -> dict[str, Any]:
    """Errors by repeat and set as numbers for people.

    `mean` over both, `error` its standard error over repeats, `sigma` the spread over sets. None
    stands for what is not known: a scheme that failed, or a single repeat. Repeats that a scheme
    took no part in do not count.
    """
    asked = values[~np.isnan(values).all(axis=1)]
    values = asked if len(asked) else values
    if np.isnan(values).any():
        return {"mean": None, "error": None, "sigma": None}
    means = values.mean(axis=1)
    error = float(means.std(ddof=1) / np.sqrt(len(means))) if len(means) > 1 else None
    if error is not None and error < 1e-9 * means.mean():
        error = None  # nothing random in it
    sigma = float(values.std()) if values.shape[1] > 1 else 0.0
    return {"mean": float(means.mean()), "error": error, "sigma": sigma}
