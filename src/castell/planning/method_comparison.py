"""Every method and design on answers that are known: real noise, and how far each is off.

For a register, a pilot or an earlier survey asked openly: what would this have told, had everybody
been randomised? The error is that of the worst cell of a table, against what the people answered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import combinations
from math import inf, isnan, nan, prod
from typing import Any

import numpy as np

from castell.errors import CastellError
from castell.estimators import methods_for
from castell.evaluation.metrics import avd
from castell.linear.operators import Floats
from castell.planning.population import People, population_of
from castell.reports.reports import Reports
from castell.results.canvas import INK, MUTED, load_altair
from castell.results.model import fit
from castell.results.summary import align
from castell.study.schema import Schema
from castell.study.study import Study

DESIGNS = ("independent", "joint", "singles", "pairs", "cover", "bloom")
OWN = "the study's own"
WIDTHS = (1, 2, 3)
# Of each width so many tables at random, none with more cells; reports as a whole up to as many.
TABLES, CELLS = 10, 1 << 16
REPEATS = 3

Progress = Callable[[float], None]
Sets = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Tried:
    """The mean error of the worst cell by width of table, and its standard error.

    None stands for tables that this design leaves this method without an answer to.
    """

    method: str
    design: str
    errors: tuple[float | None, ...]
    spread: tuple[float | None, ...]


@dataclass(frozen=True)
class MethodComparison:
    """What was tried, the best on the widest tables first; `nothing` is the uniform table's error,
    `sample` that of as many people drawn anew and asked openly."""

    n: int
    epsilon: float
    repeats: int
    widths: tuple[int, ...]
    tried: tuple[Tried, ...]
    nothing: tuple[float, ...]
    sample: tuple[float, ...]

    def summary(self) -> str:
        """A line for each, in words."""
        said = f"{self.n:,} people, epsilon {self.epsilon:g} in all, {self.repeats} collections"
        titles = ["method", "design", *(f"{w}-way" for w in self.widths)]
        rows = [[t.method, t.design, *map(_error_text, t.errors, t.spread)] for t in self.tried]
        rows += [
            ["(asked openly)", "another sample", *(f"{e:.4f}" for e in self.sample)],
            ["(knowing nothing)", "", *(f"{e:.4f}" for e in self.nothing)],
        ]
        lines = align([titles, *rows], words=len(titles))
        return "\n".join([f"{said}: how far the worst cell of a table is off", "", *lines])

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def plot(self) -> Any:
        """A dot for each method, design and width, the best at the top."""
        alt = load_altair()
        errors = {f"{t.method}, {t.design}": t.errors for t in self.tried}
        # No report is behind these: what can be had at best, and what there is without asking.
        errors |= {"(asked openly)": self.sample, "(knowing nothing)": self.nothing}
        rows = [
            {"name": name, "error": error, "attributes": str(w)}
            for name, each in errors.items()
            for w, error in zip(self.widths, each, strict=True)
            if error
        ]
        seen = [error for each in errors.values() for error in each if error]
        across = alt.Scale(type="log", domain=[min(seen) / 1.2, max(seen) * 1.2], nice=False)
        shape = alt.Shape("attributes:N", legend=alt.Legend(title="attributes of a table"))
        return (
            alt.Chart(alt.Data(values=rows))
            .mark_point(size=70, filled=True, opacity=0.85)
            .encode(
                x=alt.X("error:Q", title="error of the worst cell", scale=across),
                y=alt.Y(
                    "name:N",
                    sort=list(errors),
                    title=None,
                    axis=alt.Axis(grid=True, labelLimit=260),
                ),
                color=alt.Color("attributes:N", legend=alt.Legend(title="attributes of a table")),
                shape=shape,
            )
            .properties(
                title=alt.TitleParams(
                    "Every method and design on your answers",
                    subtitle=f"{self.n:,} people, epsilon {self.epsilon:g} in all, "
                    f"{self.repeats} collections with real noise",
                    anchor="start",
                    color=INK,
                    subtitleColor=MUTED,
                ),
                width=420,
            )
        )


def compare_methods(
    study: Study,
    answers: Any,
    *,
    repeats: int = REPEATS,
    seed: int | None = None,
    progress: Progress | None = None,
) -> MethodComparison:
    """Randomise the answers by every design at the study's total, and try every method on them."""
    people = population_of(study.schema, answers, called="answers")
    n = int(people.people)
    by_width = {w: _sets(study.schema, w) for w in WIDTHS if w <= len(study.schema)}
    by_width = {w: sets for w, sets in by_width.items() if sets}
    truth = {names: people.table(names) for sets in by_width.values() for names in sets}
    work = [
        (label, made, method) for label, made in _studies(study) for method in methods_for(made)
    ]
    errors: dict[tuple[str, str], list[list[float]]] = {}
    for k in range(repeats):
        reports: dict[str, Any] = {}
        for done, (label, made, method) in enumerate(work):
            if label not in reports:
                own = None if seed is None else seed + k
                reports = {label: made.randomize(answers, seed=own)}
            found = _errors(reports[label], method, by_width, truth)
            errors.setdefault((method, label), []).append(found)
            if progress is not None:
                progress((k + (done + 1) / len(work)) / repeats)
    other = People(study.schema, people.sample(n, np.random.default_rng(seed)))
    tried = [_mean_and_spread(*key, np.array(found)) for key, found in errors.items()]
    return MethodComparison(
        n,
        float(study.epsilon),
        repeats,
        tuple(by_width),
        tuple(sorted(tried, key=lambda t: [inf if e is None else e for e in t.errors[::-1]])),
        _means(by_width, lambda s: avd(truth[s], np.full_like(truth[s], 1.0 / truth[s].size))),
        _means(by_width, lambda s: avd(truth[s], other.table(s))),
    )


def _studies(study: Study) -> list[tuple[str, Study]]:
    """The study by every design it can have, and by its own if that is none of them."""
    cells = prod(attribute.size for attribute in study.schema)
    found = []
    for design in DESIGNS:
        if design == "joint" and cells > CELLS:
            continue
        try:
            found.append((design, Study(study.schema, study.design.exact_epsilon, design)))
        except CastellError:
            continue  # there are too few attributes, or too many values
    same = _parts_of_design(study) in [_parts_of_design(made) for _, made in found]
    return found if same else [*found, (OWN, study)]


def _parts_of_design(study: Study) -> Any:
    """What tells one design from another; budgets to the digits that whole weights keep."""
    design = study.design
    blocks = [
        (b.names, type(b.channel), round(float(b.channel.exact_epsilon), 3)) for b in design.blocks
    ]
    return blocks, design.samples, design.weights


def _sets(schema: Schema, width: int) -> Sets:
    sizes = {attribute.name: attribute.size for attribute in schema}
    every = [
        names
        for names in combinations(schema.names, width)
        if prod(sizes[name] for name in names) <= CELLS
    ]
    some = np.random.default_rng(width).permutation(len(every))[:TABLES]
    return tuple(every[k] for k in sorted(some))


def _errors(
    reports: Reports, method: str, by_width: dict[int, Sets], truth: dict[tuple[str, ...], Floats]
) -> list[float]:
    """By width of table, the error of the worst cell; not a number where there is no answer."""
    found = []
    try:
        model = fit(reports, method)
    except CastellError:
        return [nan] * len(by_width)
    for sets in by_width.values():
        try:
            each = [avd(truth[s], model.estimate(s).probabilities) for s in sets]
        except CastellError:
            each = [nan]
        found.append(sum(each) / len(each))
    return found


def _mean_and_spread(method: str, design: str, found: Floats) -> Tried:
    several = len(found) > 1
    spread = found.std(axis=0, ddof=1) / len(found) ** 0.5 if several else 0.0 * found[0]
    return Tried(method, design, _none_if_unknown(found.mean(axis=0)), _none_if_unknown(spread))


def _none_if_unknown(numbers: Floats) -> tuple[float | None, ...]:
    return tuple(None if isnan(x) else float(x) for x in numbers)


def _means(
    by_width: dict[int, Sets], error: Callable[[tuple[str, ...]], float]
) -> tuple[float, ...]:
    return tuple(sum(map(error, sets)) / len(sets) for sets in by_width.values())


def _error_text(error: float | None, spread: float | None) -> str:
    return "-" if error is None or spread is None else f"{error:.4f} ± {spread:.4f}"
