"""The planner: designs compared by how long their intervals will be, and what is missing solved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from castell.channels.budget import MAX_EPSILON, as_decimal
from castell.errors import OptionError
from castell.numbers import is_number, is_whole
from castell.planning.design_comparison import Progress, Task
from castell.planning.forecast import METHODS
from castell.planning.plan import Plan
from castell.planning.plan_facts import PlannedDesign
from castell.planning.plan_text import reason_for
from castell.planning.population import Careless, PartlyKnown, Population, population_of
from castell.planning.power import power_of
from castell.planning.simulation import simulate as simulate_design
from castell.planning.smallest_n_or_epsilon import MOST
from castell.planning.solution import solve
from castell.planning.targets import targets_of
from castell.study.design import check_hides_answers
from castell.study.study import Study

# Who asks for nothing gets a plan for so many.
USUAL_PEOPLE = 3_000


def plan(
    study: Study,
    n: int | None = None,
    *,
    error: float | None = None,
    epsilon: float | Decimal | None = None,
    attributes: Sequence[str] | Sequence[Sequence[str]] | str | None = None,
    where: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    versus: Mapping[str, Any] | None = None,
    given: Mapping[str, Any] | None = None,
    like: Any = None,
    response: float = 1.0,
    careless: float = 0.0,
    simulate: int | None = None,
    method: str = "auto",
    seed: int = 0,
    progress: Progress | None = None,
) -> Plan:
    """What a survey of `n` people will tell, by design; or how many it takes.

    `error` is the half-width of a 95 % interval, as a share: 0.03 is three points. With `error`
    and no `n` the smallest n is found, with `error` and `n` the smallest epsilon, unless one is
    given; with neither it is a plan for 3,000 people, and what others would tell. `attributes`
    name a table that is wanted, or several; `where` a share, `versus` a share it is compared with,
    `given` a group it is a share of. Without any it is all tables of two attributes. `like` is a
    likely population: a frame of answers, which may lack some questions, reports, a model or an
    estimate; uniform without. Of the
    n who are invited a share `response` answers, of these `careless` at random. An n or an epsilon
    that was solved for is checked by simulated collections, and corrected. With `simulate` = R by R
    of them at most, and so many stand beside what is predicted of every design; with 0 by none.

    >>> from castell import Attribute, Schema, Study
    >>> study = Study(Schema([Attribute("sex", ["Female", "Male"])]), epsilon=1.0)
    >>> plan(study, error=0.05).n
    1800
    """
    if not isinstance(study, Study):
        raise OptionError("this is no study", "give a castell.Study, or Study.load(file)")
    _check(n, error, response, careless, simulate, method, seed)
    schema = study.schema
    population = population_of(schema, like, careless, partly=True)
    targets = targets_of(schema, attributes, where, versus, given)
    tell = progress or (lambda _share: None)
    tell(0.0)
    task = Task(study, population, targets, method, careless, response)
    budget, people = _budget(study, epsilon), n or USUAL_PEOPLE
    solved, check = None, None
    if error is not None and (n is None or epsilon is None):
        solved = "n" if n is None else "epsilon"

        def find(cautious: float) -> tuple[int, Decimal]:
            if n is None:
                return task.people_for(error, budget, cautious), budget
            return n, task.epsilon_for(error, n, cautious)

        found = solve(task, error, find, simulate, seed, _part(tell, 0.1, 0.6))
        people, budget, made, check = found.n, found.budget, found.designs, found.check
    else:
        solved = "curve" if n is None else None
        made = task.compare(people, budget, error, _part(tell, 0.1, 0.6))
    times, cautious = (check.times, check.cautious) if check else (1.0, 1.0)
    trade = None
    if solved == "n" and error is not None and epsilon is None:
        trade = task.tradeoff(error, budget, people, cautious)
    if simulate:
        made = _simulate(made, task, people, simulate, seed, _part(tell, 0.6, 0.9))
    best = made[0]
    missed = error is not None and solved is None and best.error > error
    tell(0.9)
    forecast = task.outlook(best.study).at(task.reports(people))
    done = Plan(
        n=people,
        reports=task.reports(people),
        epsilon=float(budget),
        method=method,
        designs=tuple(made),
        refused=task.kinds(budget)[1],
        reason=reason_for(made, targets, task.reports(people), times),
        asked=tuple(target.label for target in targets),
        likely=_likely(population, like),
        response=response,
        careless=careless,
        wanted=error,
        solved=solved,
        power=power_of(forecast, targets),
        exposures=best.study.statement().exposures,
        coarser=task.coarser(best, people, budget),
        tradeoff=trade,
        nearest=task.nearest(error, budget, people) if missed and error is not None else None,
        present=study,
        check=check,
        curve=lambda: task.curve(best, people, budget, times),
    )
    tell(1.0)
    return done


def _part(tell: Progress, start: float, end: float) -> Progress:
    """Progress of a part of the work."""
    return lambda share: tell(start + (end - start) * share)


def _check(
    n: object,
    error: object,
    response: object,
    careless: object,
    simulate: object,
    method: object,
    seed: object,
) -> None:
    if n is not None and not (is_whole(n, 1) and int(n) <= MOST):  # type: ignore[call-overload]
        raise OptionError(f"n is {n!r}", f"give how many people are asked, 1 to {MOST:,}")
    if error is not None and not (is_number(error, 0.0) and 0.0 < float(error) < 0.5):  # type: ignore[arg-type]
        points = is_number(error, 1.0) and float(error) < 50.0  # type: ignore[arg-type]
        meant = f"{error:g} points are {float(error) / 100:g}" if points else "0.03 is three points"  # type: ignore[arg-type]
        raise OptionError(
            f"the error is {error!r}", f"give a half-width between 0 and 0.5: {meant}"
        )
    if not (is_number(response, 0.0) and 0.0 < float(response) <= 1.0):  # type: ignore[arg-type]
        raise OptionError(f"response is {response!r}", "give the share who answer: 0.6 is 60 %")
    if not (is_number(careless, 0.0) and float(careless) < 1.0):  # type: ignore[arg-type]
        raise OptionError(
            f"careless is {careless!r}", "give the share who answer at random, from 0 to below 1"
        )
    if simulate is not None and not is_whole(simulate, 0):
        raise OptionError(f"simulate is {simulate!r}", "give how many collections, from 0 up")
    if not is_whole(seed, 0):
        raise OptionError(f"seed is {seed!r}", "give a whole number, from 0 up")
    if method not in METHODS:
        raise OptionError(f"method is {method!r}", f"plan for {' or '.join(METHODS)}")


def _budget(study: Study, epsilon: float | Decimal | None) -> Decimal:
    """The total as a person writes it: channels spend a hair less than was asked."""
    if epsilon is not None:
        asked = as_decimal(epsilon)
        if asked > MAX_EPSILON:
            raise OptionError(f"epsilon is {asked}", f"give one up to {MAX_EPSILON}")
        return asked
    check_hides_answers(study.design)
    exact = study.design.exact_epsilon
    written = exact.quantize(Decimal("0.000001")).normalize()
    return written if abs(written - exact) < Decimal("1e-7") * len(study.names) else exact


def _likely(population: Population, like: Any) -> str:
    if like is None:
        return "uniform answers, unassociated"
    found = f"a population like {population.people:,.0f} {_kind_of(like, population.people)}"
    people = population.of if isinstance(population, Careless) else population
    if isinstance(people, PartlyKnown):
        found += f" (uniform where it was not asked: {', '.join(people.unknown)})"
    return found


def _kind_of(like: Any, people: float) -> str:
    modelled = type(like).__name__ in ("Reports", "Model", "JointEstimate", "LikelyTable")
    modelled = modelled or hasattr(like, "moments")
    if modelled:
        return "synthetic people from what was estimated"
    return "answer that was given" if people == 1 else "answers that were given"


def _simulate(
    made: Sequence[PlannedDesign], task: Task, n: int, repeats: int, seed: int, tell: Progress
) -> list[PlannedDesign]:
    """The same designs, with what simulated collections gave beside what was predicted."""
    found = []
    for i, row in enumerate(made):
        told = simulate_design(
            row.study,
            task.population,
            task.reports(n),
            task.targets,
            repeats,
            task.method,
            seed,
            task.careless,
        )
        found.append(replace(row, simulated=told))
        tell((i + 1) / len(made))
    return found
