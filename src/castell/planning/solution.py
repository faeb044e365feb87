"""The least n or epsilon that reaches an error: predicted, simulated there, and corrected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from math import comb, isfinite

from castell.counting import sample_studies
from castell.planning.close_simulation import FEWEST, Collections
from castell.planning.design_comparison import Progress, Task
from castell.planning.plan_facts import PlannedDesign
from castell.planning.solution_check import SolutionCheck
from castell.study.study import Study

# Collections are simulated until half-widths are known to so much.
CLOSE = 0.01
# The most that a model is fitted to. A fit's time goes with the tables of pairs that it reads: of
# wide studies there are fewer, so that a plan takes seconds.
MOST, MOST_TABLES = 64, 3_000
# More answers than these are not drawn: with so many people predictions are right by themselves.
MOST_ANSWERS = 20_000_000
# A solution that moved by less than this was simulated near enough; how often it may move.
NEAR, TURNS = 0.1, 3

Point = tuple[int, Decimal]


@dataclass(frozen=True)
class Solution:
    """So many people at such an epsilon, the designs there, and what simulation says of them."""

    n: int
    budget: Decimal
    designs: list[PlannedDesign]
    check: SolutionCheck | None


def solve(
    task: Task,
    error: float,
    find: Callable[[float], Point],
    repeats: int | None,
    seed: int,
    tell: Progress,
) -> Solution:
    """The least n or epsilon that reaches an error.

    `find` gives people and epsilon if intervals are so many times longer than predicted; `repeats`
    is to how many simulated collections a model is fitted at most.
    """
    point, check = find(1.0), None
    made = task.compare(*point, error)
    for turn in range(TURNS):
        found = _simulate(task, made[0], point, repeats, seed + 10**6 * turn, tell)
        if found is None:
            break
        before, point, check = point, find(found.cautious), found
        kind, made = made[0].kind, task.compare(*point, error / found.cautious)
        if made[0].kind == kind and _is_near(before, point):
            break
    return Solution(*point, made, check)


def _is_near(one: Point, two: Point) -> bool:
    return max(abs(two[0] / one[0] - 1.0), abs(float(two[1] / one[1]) - 1.0)) <= NEAR


def _simulate(
    task: Task, best: PlannedDesign, point: Point, repeats: int | None, seed: int, tell: Progress
) -> SolutionCheck | None:
    """Collections with the recommended design; None where too few can be had."""
    n, budget = point
    reports = task.reports(n)
    most = _most(best.study) if repeats is None else max(repeats, FEWEST * (repeats > 0))
    drawable = reports * len(best.study.names) <= MOST_ANSWERS
    if most < FEWEST or not drawable or not (isfinite(best.error) and best.error):
        return None
    drawn = Collections(
        best.study, task.population, reports, task.questions, task.method, task.careless
    )
    found = drawn.simulate(most, CLOSE, seed, tell)
    if not (isfinite(found.half_width) and found.half_width > 0.0):
        return None
    return SolutionCheck(best.name, n, float(budget), predicted=best.error, **vars(found))


def _most(study: Study) -> int:
    """How many collections are fitted at most."""
    tables = sum(comb(len(sample.names), 2) for sample in sample_studies(study))
    return min(MOST, MOST_TABLES // max(tables, 1))
