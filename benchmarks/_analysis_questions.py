"""Questions of an analyst, and what all answers of a population say to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from castell import Attribute, Schema
from castell.inference.regression.design_matrix import design_matrix
from castell.inference.regression.formula import parse
from castell.inference.regression.logit import newton
from castell.linear.operators import Floats
from experiments.datasets.population import Population
from experiments.datasets.truth import Rows, Truth

# A population that is a network is drawn once, as many people as this.
_DRAWN = 100_000
# The least part of the people that a group of values has.
_LEAST = 0.1
# Log odds of one in three thousand. Where a coefficient is larger, hardly anybody is in a cell.
_LARGEST = 8.0
_TRIES = 1000


@dataclass(frozen=True)
class Question:
    """An answer, two groups to compare it in, and three attributes to regress."""

    asked: dict[str, list[str]]
    given: dict[str, list[str]]
    versus: dict[str, list[str]]
    logit: str
    linear: str

    @property
    def names(self) -> tuple[str, str]:
        return next(iter(self.asked)), next(iter(self.given))


@dataclass(frozen=True)
class Truths:
    """What the answers of all people say; `coefficients` are None where they run away."""

    numbers: dict[str, float]
    family: str
    coefficients: Floats | None
    linear: Floats


def with_numbers(truth: Truth) -> Population:
    """People whose answers are the numbers 0, 1, 2, ...: so that every attribute has a mean."""
    people = (
        truth.people
        if isinstance(truth, Rows)
        else truth.respondents(_DRAWN, np.random.default_rng(3))
    )
    schema = Schema(Attribute(a.name, [str(k) for k in range(a.size)]) for a in people.schema)
    return Population(people.name, schema, people.codes, people.note)


def questions(people: Population, many: int) -> Iterator[Question]:
    """Some pairs of attributes at random, each with groups of values at random."""
    generator = np.random.default_rng(5)
    pairs = list(combinations(people.schema.names, 2))
    generator.shuffle(pairs)
    for one, two in pairs:
        first, second = _groups(people, one, 1, generator), _groups(people, two, 2, generator)
        third = [name for name in people.schema.names if name not in (one, two)]
        if not first or not second or not third or many == 0:
            continue
        small = min(third, key=lambda name: people.schema[name].size)
        few, more = sorted((one, two), key=lambda name: people.schema[name].size)
        many -= 1
        yield Question(
            {one: first[0]},
            {two: second[0]},
            {two: second[1]},
            f"`{few}` ~ `{more}` + C(`{small}`)",
            f"`{more}` ~ `{few}` + C(`{small}`)",
        )


def _groups(
    people: Population, name: str, many: int, generator: np.random.Generator
) -> list[list[str]]:
    """Random values for some groups, each of a tenth of the people at least; none if there are no
    such groups."""
    margin, values = people.table([name]), people.schema[name].values
    for _ in range(_TRIES):
        parts = generator.integers(0, many + 1, len(values))
        shares = [margin[parts == k].sum() for k in range(many + 1)]
        if min(shares[:many]) >= _LEAST and (many > 1 or shares[1] >= _LEAST):
            return [[values[i] for i in np.flatnonzero(parts == k)] for k in range(many)]
    return []


def truths(people: Population, question: Question) -> Truths:
    one, two = question.names
    table = people.table([one, two])
    rows = np.isin(people.schema[one].values, question.asked[one])
    first, second = (
        np.isin(people.schema[two].values, group[two])
        for group in (question.given, question.versus)
    )
    p, q = (table[np.ix_(rows, c)].sum() / table[:, c].sum() for c in (first, second))
    margins = table.sum(axis=1), table.sum(axis=0)
    apart = np.multiply.outer(*margins)
    used = apart > 0
    square = float(((table - apart)[used] ** 2 / apart[used]).sum())
    u, v = (_standard(margin) for margin in margins)
    numbers = {
        "share": float(margins[0][rows].sum()),
        "conditional": float(p),
        "difference": float(p - q),
        "relative_risk": float(p / q) if q > 0 else np.inf,
        "odds_ratio": float(p * (1 - q) / ((1 - p) * q)) if q * (1 - p) > 0 else np.inf,
        "mean": float(margins[0] @ np.arange(len(margins[0]))),
        "mean within a group": float(
            np.arange(len(margins[0])) @ table[:, first].sum(axis=1) / table[:, first].sum()
        ),
        "Cramer's V": float(np.sqrt(square / (min(table.shape) - 1))),
        "correlation": float(u @ table @ v),
    }
    family, coefficients = _logit(people, question.logit)
    return Truths(numbers, family, coefficients, _linear(people, question.linear))


def _logit(people: Population, text: str) -> tuple[str, Floats | None]:
    formula = parse(text)
    design = design_matrix(people.schema, formula)
    answers = people.table([*design.covariates, formula.outcome]).reshape(design.cells, -1)
    start = np.zeros((len(design.columns), answers.shape[1] - 1))
    found: Floats = newton(design.matrix, answers, start)[0].T.ravel()
    family = "logistic" if answers.shape[1] == 2 else "multinomial"
    runs_away = not np.isfinite(found).all() or np.abs(found).max() > _LARGEST
    return family, None if runs_away else found


def _linear(people: Population, text: str) -> Floats:
    formula = parse(text)
    design = design_matrix(people.schema, formula)
    table = people.table([*design.covariates, formula.outcome]).reshape(design.cells, -1)
    weights, sums = table.sum(axis=1), table @ np.arange(table.shape[1])
    square = (design.matrix * weights[:, None]).T @ design.matrix
    return np.asarray(np.linalg.solve(square, design.matrix.T @ sums))


def _standard(margin: Floats) -> Floats:
    scores = np.arange(len(margin)) - margin @ np.arange(len(margin))
    return np.asarray(scores / np.sqrt(margin @ scores**2))
