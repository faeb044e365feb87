"""Collections that did not take place: real noise on answers sampled from a likely population."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from math import inf, isfinite

import numpy as np

from castell.counting import MemoryCounts
from castell.device.random_words import seeded_words
from castell.device.respond import draw_samples, report_columns
from castell.errors import CastellError
from castell.planning.population import Population
from castell.planning.targets import Target, usual_tables
from castell.reports.reports import Reports
from castell.results.model import Model, fit
from castell.study.study import Study


def collect(study: Study, population: Population, n: int, seed: int) -> Reports:
    """The reports of n people sampled from a population. Nobody's answers: the seed is no risk."""
    codes = population.sample(n, np.random.default_rng([seed, 1]))
    words = seeded_words(seed)
    drawn = draw_samples(study.design, n, words)
    made = report_columns(study.design, codes, drawn, lambda _: words)
    return Reports(study, made, secure=False)


def simulate(
    study: Study,
    population: Population,
    n: int,
    targets: Sequence[Target],
    repeats: int,
    method: str,
    seed: int,
    careless: float = 0.0,
    widths: Sequence[int] = (1, 2, 3),
) -> dict[str, float]:
    """Half-widths on average over some collections: by width of table, and of each question."""
    asked: dict[str, Sequence[Target]] = {t.label: [t] for t in targets}
    for width in widths:
        tables = usual_tables(study.schema, width)
        if tables:
            asked[f"{width}-way"] = tables
    told = list(islice(collections(study, population, n, asked, method, seed, careless), repeats))
    means = {label: sum(each[label] for each in told) / repeats for label in asked}
    return {label: mean for label, mean in means.items() if isfinite(mean)}


def collections(
    study: Study,
    population: Population,
    n: int,
    asked: Mapping[str, Sequence[Target]],
    method: str,
    seed: int,
    careless: float = 0.0,
) -> Iterator[dict[str, float]]:
    """Of one collection after the other the mean half-width of what is asked, by its label."""
    for turn in count(seed):
        model = fit(MemoryCounts(collect(study, population, n, turn)), method)
        yield {label: _mean(several, model, careless) for label, several in asked.items()}


def _mean(targets: Sequence[Target], model: Model, careless: float) -> float:
    each = sum(_ask(target, model) for target in targets) / len(targets)
    return min(0.5, each / (1.0 - careless)) if careless and isfinite(each) else each


def _ask(target: Target, model: Model) -> float:
    try:
        return target.ask(model)
    except CastellError:
        return inf
