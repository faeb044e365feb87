"""Whether 95 % intervals of analyses hold the truth 95 % of the time, over many collections.

Respondents are drawn anew each time, with replacement, from a population whose answers are known;
the truth is what the same analysis says of all its answers. Groups of values are random, of a tenth
of the people at least. Conditional shares, differences, relative risks, odds ratios, two waves,
Cramer's V, correlations of scores, and coefficients: those that a fit to the answers would have.
`false alarms` is how often independence, made true by shuffling, is rejected at 5 %.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

import castell
from benchmarks._text import grid
from castell import CastellError, Study
from castell.device.encode import encode
from castell.inference.regression.complete_cases import CompleteCases
from castell.inference.regression.design_matrix import design_matrix
from castell.inference.regression.formula import parse
from castell.inference.regression.logit import newton
from castell.linear.operators import Floats
from castell.population import SCHEMA, health_survey
from experiments.datasets.population import DataError, Population

LEVEL = 0.95
Interval = tuple[float, float]
Found = Iterator[tuple[str, float, Interval]]


@dataclass(frozen=True)
class Question:
    """An answer, two groups to compare it in, and three attributes to regress."""

    asked: dict[str, list[str]]
    given: dict[str, list[str]]
    versus: dict[str, list[str]]
    formula: str

    @property
    def names(self) -> tuple[str, str]:
        return next(iter(self.asked)), next(iter(self.given))


def run(quick: bool) -> dict[str, Any]:
    repeats, few, n = (2, 1, 400) if quick else (200, 40, 3000)
    people, missing = _populations(quick)
    rows = []
    for one in people:
        asked = list(_questions(one, 1 if quick else 6))
        for design, epsilon in (("independent", 2.0), ("independent", 5.0), ("cover", 4.0)):
            total = epsilon * len(one.schema.names) if design == "independent" else epsilon
            study = Study(one.schema, total, design, name=one.name)
            for method, many in (("castell", repeats), ("auto", few)):
                hits = _covered(one, study, method, asked, n, many)
                rows += [
                    {
                        "data": one.name,
                        "design": design,
                        "epsilon": epsilon,
                        "method": method,
                        "n": n,
                        "repeats": many,
                        "analysis": analysis,
                        "mean": float(np.mean(covered)),
                        "lowest": float(min(np.mean(c) for c in _by_question(covered, asked))),
                        "intervals": len(covered),
                    }
                    for analysis, covered in hits.items()
                ]
    return {"rows": rows, "missing": missing}


def _by_question(covered: list[bool], asked: list[Question]) -> list[list[bool]]:
    """Analyses of one collection after another, in the order of the questions."""
    size = max(len(covered) // max(len(asked), 1), 1)
    return [covered[k : k + size] for k in range(0, len(covered), size)]


def _populations(quick: bool) -> tuple[list[Population], str]:
    answers = health_survey(5_000 if quick else 200_000, seed=11)
    found = [Population("generated", SCHEMA, encode(SCHEMA, answers), "generated people")]
    if quick:
        return found, ""
    from experiments.datasets import adult, surveys

    try:
        found += [surveys.fair(), surveys.anes96(), adult.load()]
    except DataError as error:
        return found, str(error)
    return found, ""


def _questions(people: Population, many: int) -> Iterator[Question]:
    generator = np.random.default_rng(5)
    pairs = list(combinations(people.schema.names, 2))
    generator.shuffle(pairs)
    for one, two in pairs[:many]:
        first = _groups(people, one, 1, generator)
        second = _groups(people, two, 2, generator)
        third = [name for name in people.schema.names if name not in (one, two)]
        small = min(third, key=lambda name: people.schema[name].size)
        outcome, other = sorted((one, two), key=lambda name: people.schema[name].size)
        yield Question(
            {one: first[0]},
            {two: second[0]},
            {two: second[1]},
            f"`{outcome}` ~ score(`{other}`) + `{small}`",
        )


def _groups(
    people: Population, name: str, many: int, generator: np.random.Generator
) -> list[list[str]]:
    """Random values for some groups, each of a tenth of the people at least."""
    margin, values = people.table([name]), people.schema[name].values
    while True:
        parts = generator.integers(0, many + 1, len(values))
        shares = [margin[parts == k].sum() for k in range(many + 1)]
        if min(shares[:many]) >= 0.1 and (many > 1 or shares[1] >= 0.1):
            return [[values[i] for i in np.flatnonzero(parts == k)] for k in range(many)]


def _covered(
    people: Population, study: Study, method: str, asked: list[Question], n: int, repeats: int
) -> dict[str, list[bool]]:
    hits: dict[str, dict[int, list[bool]]] = {}
    generator = np.random.default_rng(1)
    truths = [_truths(people, question) for question in asked]
    for _ in range(repeats):
        models = []
        for _ in range(2):
            rows = generator.integers(0, people.n, n)
            reports = study.randomize(
                people.take(rows).frame(), seed=int(generator.integers(2**31))
            )
            models.append((castell.fit(reports, method), reports))
        for k, (question, truth) in enumerate(zip(asked, truths, strict=True)):
            for name, true, (low, high) in _intervals(models, question, truth, method):
                hits.setdefault(name, {}).setdefault(k, []).append(
                    bool(low - 1e-9 <= true <= high + 1e-9)
                )
        apart, labels = _shuffled(people, study, n, generator), asked[0].names
        if method == "castell":
            p = castell.fit(apart, "castell").association(*labels).p_value
            hits.setdefault("false alarms", {}).setdefault(0, []).append(p < 0.05)
    return {name: [hit for mine in found.values() for hit in mine] for name, found in hits.items()}


def _shuffled(people: Population, study: Study, n: int, generator: np.random.Generator) -> Any:
    codes = {
        name: column[generator.integers(0, people.n, n)] for name, column in people.codes.items()
    }
    apart = Population(people.name, people.schema, codes, "")
    return study.randomize(apart.frame(), seed=int(generator.integers(2**31)))


def _intervals(models: Any, question: Question, truth: dict[str, Any], method: str) -> Found:
    (model, reports), (second, _) = models
    try:
        found = model.compare(question.asked, given=question.given, versus=question.versus)
    except CastellError:
        return  # the design holds no such pair, and the method answers none
    among = model.conditional(question.asked, given=question.given)
    low, high = among.conf_int(LEVEL)
    yield "conditional", truth["conditional"], (float(low[0]), float(high[0]))
    for contrast in found.contrasts:
        yield contrast.kind.value, truth[contrast.kind.value], contrast.conf_int(LEVEL)
    waves = castell.compare(model, second, question.asked, given=question.given)
    yield "two waves", 0.0, waves.difference.conf_int(LEVEL)
    if method != "castell":
        return  # the rest does not depend on the method
    yield "Cramer's V", truth["v"], model.association(*question.names).conf_int(LEVEL)
    yield "correlation", truth["correlation"], model.trend(*question.names).conf_int(LEVEL)
    for way in (None, "likelihood", "corrected"):
        try:
            fit = castell.regress(question.formula, reports, method=way, family=truth["family"])
        except CastellError:
            continue
        for true, low, high in zip(truth["params"], *fit.conf_int(LEVEL), strict=True):
            yield f"coefficients, {way or 'default'}", float(true), (float(low), float(high))


def _truths(people: Population, question: Question) -> dict[str, Any]:
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
    formula = parse(question.formula)
    design = design_matrix(people.schema, formula)
    names = [*design.covariates, formula.outcome]
    complete = CompleteCases.of(people.schema, names)
    answers = complete.part(people.table(names)).reshape(design.cells, -1)
    start = np.zeros((len(design.columns), answers.shape[1] - 1))
    params = newton(design.matrix, answers, start)[0].T.ravel()
    return {
        "conditional": p,
        "difference": p - q,
        "relative_risk": p / q,
        "odds_ratio": p / (1 - p) / (q / (1 - q)),
        "v": float(np.sqrt(square / (min(table.shape) - 1))),
        "correlation": float(u @ table @ v),
        "params": params,
        "family": "logistic" if answers.shape[1] == 2 else "multinomial",
    }


def _standard(margin: Floats) -> Floats:
    scores = np.arange(len(margin)) - margin @ np.arange(len(margin))
    return np.asarray(scores / np.sqrt(margin @ scores**2))


def show(result: dict[str, Any]) -> str:
    titles = ["data", "design", "eps", "method", "analysis", "intervals", "covered", "lowest"]
    rows = [
        [
            row["data"],
            row["design"],
            f"{row['epsilon']:g}",
            row["method"],
            row["analysis"],
            f"{row['intervals']:,}",
            f"{row['mean']:.3f}",
            f"{row['lowest']:.3f}",
        ]
        for row in result["rows"]
    ]
    text = grid(titles, rows)
    return f"{text}\n\nleft out: {result['missing']}" if result["missing"] else text
