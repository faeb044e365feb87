"""How far every scheme is off: questions in, errors by attribute set and repeat out.

Work is cut into tasks that need nothing of each other and know their own seed: a scheme fitted once
for all that is asked of the same people, or some attribute sets where each is asked by itself.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import prod

import numpy as np

from castell import CastellError
from castell.evaluation.metrics import METRICS
from castell.linear.operators import Floats
from experiments import costs, memory, pool
from experiments.costs import Timed
from experiments.datasets.population import Population
from experiments.harness import REFERENCES, WHOLE, Scheme, Sets, ask, references, schemes
from experiments.settings import Settings

# What is asked set by set is cut into tasks of about so many cells.
PIECE = 1 << 15
# Systems that train one network on all attributes; of others a set says as much as of methods.
TRAINED = ("dpfedwae",)


@dataclass(frozen=True, eq=False)
class Question:
    """Tables of some people, each of whom spends so much on each attribute."""

    people: Population
    each: float
    sets: Sets


@dataclass(frozen=True)
class Asked:
    """An attribute set, and which one of which question it is."""

    question: int
    place: int
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Task:
    """Some sets, asked of one scheme in one repeat; of no scheme: floor and ceilings."""

    people: Population
    each: float
    asked: tuple[Asked, ...]
    repeat: int
    seed: int
    noise: str
    metric: str
    scheme: Scheme | None = None
    whole: bool = True  # all attributes are asked at once, not each set by itself


_lines: frozenset[str] | None = None


@contextmanager
def only(lines: Iterable[str] | None) -> Iterator[None]:
    """Until the end of this, no other schemes are asked; None: all. References go together."""
    global _lines
    before = _lines
    some = None if lines is None else frozenset(lines)
    _lines = some | frozenset(REFERENCES) if some and some & set(REFERENCES) else some
    try:
        yield
    finally:
        _lines = before


def _wanted(label: str) -> bool:
    return _lines is None or label in _lines


def evaluate(
    questions: Sequence[Question],
    settings: Settings,
    repeats: int,
    *,
    metric: str = "avd",
    chosen: Sequence[Scheme] | None = None,
    least: int = 1,
) -> list[dict[str, Floats]]:
    """For each question the error of each scheme on each set in each repeat, and of references.

    A set that a scheme cannot answer is NaN, and so is a repeat it took no part in. What takes long
    is repeated less often, but `least` times where it can be; `left_out` says all that.
    """
    chosen = tuple(s for s in (schemes() if chosen is None else chosen) if _wanted(s.label))
    tasks = list(_tasks(questions, settings, repeats, metric, chosen, least))
    # What takes long goes first, so that no process has to wait for it at the end.
    tasks.sort(key=_cost, reverse=True)
    labels = [*(scheme.label for scheme in chosen), *filter(_wanted, REFERENCES)]
    found = [
        {label: np.full((repeats, len(q.sets)), np.nan) for label in labels} for q in questions
    ]
    names = ", ".join(dict.fromkeys(q.people.name for q in questions))
    what = f"{names}, {settings.noise} noise"
    for task, done in memory.recall(tasks, partial(_work, what), _identity):
        errors = done.made
        for label in errors:
            costs.add(label, done.seconds / len(errors))
        for label, values in errors.items():
            for asked, value in zip(task.asked, values, strict=True):
                found[asked.question][label][task.repeat, asked.place] = value
    return found


def _work(what: str, tasks: Sequence[Task]) -> Iterator[tuple[Task, Timed[memory.Errors]]]:
    for place, done in pool.work_in_any_order(errors_of, tasks, what, _cost):
        yield tasks[place], done


def _identity(task: Task) -> str:
    """All that the errors of a task depend on: who is asked what, how, and by which code."""
    from experiments.freshness import identity
    from experiments.probes import of_references

    scheme, people = task.scheme, task.people
    own = identity(scheme, task.noise) if scheme else repr(of_references())
    facts = (
        scheme and (scheme.label, scheme.method, scheme.design, scheme.alone, scheme.options),
        own, task.each, [one.names for one in task.asked], task.seed, task.noise, task.metric,
        task.whole, [one.place for one in task.asked], people.name, people.schema.sizes,
        [memory.digest(people.codes[name]) for name in people.schema.names],
    )  # fmt: skip
    return repr(facts)


def left_out(
    questions: Sequence[Question],
    settings: Settings,
    repeats: int,
    *,
    chosen: Sequence[Scheme] | None = None,
    least: int = 1,
) -> list[str]:
    """What was asked less often than the rest, in words."""
    said: dict[str, list[str]] = {}
    for scheme in schemes() if chosen is None else chosen:
        if scheme.system and settings.noise == "rounding":
            continue  # a gap, not a choice
        several = _several(questions)
        few = {often(scheme, settings, repeats, q.people, least, several) for q in questions}
        if min(few) < repeats:
            times = " or ".join(map(str, sorted(few)))
            said.setdefault(f"{times} of {repeats} repeats", []).append(scheme.label)
    return [f"{', '.join(who)}: {what}" for what, who in said.items()]


def often(
    scheme: Scheme,
    settings: Settings,
    repeats: int,
    people: Population,
    least: int = 1,
    several: bool = False,
) -> int:
    """How often a scheme is repeated.

    What takes long once, if quick, of many attributes, or of several data sets: there the question
    is what they have in common, and each line is asked at many points. A system is never asked
    more often than it says.
    """
    if scheme.repeats is None:
        return repeats
    few = 1 if settings.quick or several or _wide(people) else scheme.repeats
    if scheme.system:
        return min(repeats, few if settings.quick else min(scheme.repeats, max(least, few)))
    return min(repeats, max(least, few))


def _several(questions: Sequence[Question]) -> bool:
    return len({question.people.name for question in questions}) > 1


def _wide(people: Population) -> bool:
    return len(people.schema) > WHOLE


def _at_once(scheme: Scheme, people: Population) -> bool:
    """Whether all of a study is asked; what trains one network is always asked all."""
    trained = scheme.system and scheme.method in TRAINED
    return trained or not (scheme.alone or _wide(people))


def _cells(people: Population, names: Sequence[str]) -> int:
    return prod(people.schema[name].size for name in names)


def _tasks(
    questions: Sequence[Question],
    settings: Settings,
    repeats: int,
    metric: str,
    chosen: Sequence[Scheme],
    least: int,
) -> Iterator[Task]:
    groups: dict[tuple[int, float], list[int]] = {}
    several = _several(questions)
    for k, question in enumerate(questions):
        groups.setdefault((id(question.people), question.each), []).append(k)
    for (_, each), members in groups.items():
        people = questions[members[0]].people
        asked = [Asked(m, k, names) for m in members for k, names in enumerate(questions[m].sets)]
        for repeat in range(repeats):
            seed = seed_of(settings.seed, repeat, people.name)
            task = Task(people, each, tuple(asked), repeat, seed, settings.noise, metric)
            if all(map(_wanted, REFERENCES)):
                yield replace(task, people=_only(people, asked))
            for scheme in chosen:
                if repeat >= often(scheme, settings, repeats, people, least, several):
                    continue
                whole = _at_once(scheme, people)
                # The paper's model has nothing to fit: tables are made one by one.
                once = whole and settings.noise == "real"
                for piece in [asked] if once else _pieces(people, asked):
                    whom = people if whole else _only(people, piece)
                    part = replace(task, people=whom, asked=tuple(piece))
                    yield replace(part, scheme=scheme, whole=whole)


def _pieces(people: Population, asked: Sequence[Asked]) -> list[list[Asked]]:
    """Some sets at a time, with no more than so many cells in all unless it is one set."""
    pieces: list[list[Asked]] = []
    room = 0
    for one in asked:
        cells = _cells(people, one.names)
        if cells > room:
            pieces.append([])
            room = PIECE
        pieces[-1].append(one)
        room -= cells
    return pieces


def _only(people: Population, asked: Sequence[Asked]) -> Population:
    """The people with what they are asked: no more is sent to another process."""
    wanted = {name for one in asked for name in one.names}
    return people.select([name for name in people.schema.names if name in wanted])


def seed_of(seed: int, repeat: int, name: str) -> int:
    """The seed of one repeat on one data set: these differ, runs do not."""
    return (zlib.crc32(name.encode()) + 1_000_003 * repeat + 7_919 * seed) % 2**32


def _cost(task: Task) -> float:
    """Roughly how many seconds a task takes."""
    if task.scheme is None or task.scheme.repeats is None:
        return 0.02
    return 1.0 + 2e-5 * sum(_cells(task.people, one.names) for one in task.asked)


def errors_of(task: Task) -> Mapping[str, list[float]]:
    """The errors on the sets of a task, by label."""
    far, people = METRICS[task.metric], task.people
    if task.scheme is None:
        again = people.take(np.random.default_rng(task.seed).integers(0, people.n, people.n))
        found: dict[str, list[float]] = {label: [] for label in REFERENCES}
        for one in task.asked:
            truth = people.table(one.names)
            for label, guess in references(truth, again.table(one.names)).items():
                found[label].append(far(truth, guess))
        return found
    return {task.scheme.label: list(_errors_by_set(task, task.scheme))}


def _errors_by_set(task: Task, scheme: Scheme) -> Iterator[float]:
    """The error on each set; NaN where there is no answer."""
    answer = None
    if task.whole:
        try:
            answer = ask(task.people, task.each, scheme, task.noise, task.seed)
        except CastellError:
            yield from [np.nan] * len(task.asked)
            return
    for one in task.asked:
        try:
            own = answer or ask(
                task.people.select(one.names),
                task.each,
                scheme,
                task.noise,
                task.seed + one.place,
                part=not scheme.alone,
            )
            guess = own(one.names)
        except CastellError:
            yield np.nan
        else:
            yield METRICS[task.metric](task.people.table(one.names), guess)
