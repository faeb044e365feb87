"""A likely population: what answers are expected, before a single one is collected.

Uniform and independent unless something is known: a frame of answers, earlier reports, a model of
them, or an estimate of some attributes. Careless respondents answer at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from castell.device.answer_columns import column_names
from castell.device.encode import encode
from castell.errors import AnswerError, OptionError
from castell.inference.postprocess import simplex
from castell.linear.operators import Floats
from castell.linear.table import Table
from castell.planning.likely_estimate import LikelyTable
from castell.reports.reports import Reports
from castell.results.joint import JointEstimate
from castell.results.model import Model, fit
from castell.study.schema import Schema, check_cells

Codes = NDArray[np.intp]

# Synthetic people that stand for a model or an estimate.
PEOPLE = 200_000
# People who are tried to find some that keep the rules on combinations that cannot occur.
TRIED = 400_000


class Population(Protocol):
    """What a plan needs to know of the people who will answer."""

    @property
    def schema(self) -> Schema: ...

    @property
    def known(self) -> bool:
        """Whether anything is known of them."""
        ...

    @property
    def people(self) -> float:
        """How many people it rests on: of few, associations look stronger than they are."""
        ...

    def table(self, names: Sequence[str]) -> Floats:
        """The joint distribution of some attributes."""
        ...

    def sample(self, n: int, generator: np.random.Generator) -> dict[str, Codes]:
        """The codes of n people sampled from it."""
        ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, eq=False)
class Uniform:
    """Every value equally likely, all attributes unassociated."""

    schema: Schema
    known: bool = False
    people: float = float("inf")

    def table(self, names: Sequence[str]) -> Floats:
        shape = [attribute.size for attribute in self.schema.select(names)]
        check_cells(" x ".join(names), shape, None)
        return np.full(shape, 1.0 / prod(shape))

    def sample(self, n: int, generator: np.random.Generator) -> dict[str, Codes]:
        return {a.name: generator.integers(0, a.size, n) for a in self.schema}


@dataclass(frozen=True, eq=False)
class People:
    """Rows of codes: each of them stands for as many people."""

    schema: Schema
    codes: Mapping[str, Codes]
    known: bool = True

    @cached_property
    def people(self) -> float:
        return float(len(self.codes[self.schema.names[0]]))

    @cached_property
    def _count_of(self) -> Any:
        return lru_cache(maxsize=4096)(self._count)

    def table(self, names: Sequence[str]) -> Floats:
        found: Floats = self._count_of(tuple(names))
        return found

    def _count(self, names: tuple[str, ...]) -> Floats:
        shape = [attribute.size for attribute in self.schema.select(names)]
        check_cells(" x ".join(names), shape, None)
        keys = np.ravel_multi_index([self.codes[name] for name in names], shape)
        counts = np.bincount(keys, minlength=prod(shape))
        return np.asarray(counts / len(keys)).reshape(shape)

    def sample(self, n: int, generator: np.random.Generator) -> dict[str, Codes]:
        chosen = generator.integers(0, int(self.people), n)
        return {name: self.codes[name][chosen] for name in self.schema.names}


@dataclass(frozen=True, eq=False)
class Careless:
    """A population of which a share answers at random."""

    of: Population
    share: float

    @property
    def schema(self) -> Schema:
        return self.of.schema

    @property
    def known(self) -> bool:
        return self.of.known

    @property
    def people(self) -> float:
        return self.of.people

    def table(self, names: Sequence[str]) -> Floats:
        honest = self.of.table(names)
        return (1.0 - self.share) * honest + self.share / honest.size

    def sample(self, n: int, generator: np.random.Generator) -> dict[str, Codes]:
        honest = self.of.sample(n, generator)
        random = Uniform(self.schema).sample(n, generator)
        careless = generator.random(n) < self.share
        return {name: np.where(careless, random[name], honest[name]) for name in honest}


@dataclass(frozen=True, eq=False)
class PartlyKnown:
    """A population of whom some attributes are known; the others uniform, unassociated."""

    schema: Schema
    of: Population
    known: bool = True

    @property
    def people(self) -> float:
        return self.of.people

    @property
    def unknown(self) -> tuple[str, ...]:
        return tuple(name for name in self.schema.names if name not in self.of.schema.names)

    def table(self, names: Sequence[str]) -> Floats:
        shape = [attribute.size for attribute in self.schema.select(names)]
        check_cells(" x ".join(names), shape, None)
        kept = tuple(name for name in names if name not in self.unknown)
        told = Table(kept, self.of.table(kept)).along(names) if kept else np.ones(1)
        others = prod(self.schema[name].size for name in names if name in self.unknown)
        return np.broadcast_to(told / others, shape)

    def sample(self, n: int, generator: np.random.Generator) -> dict[str, Codes]:
        return {**Uniform(self.schema).sample(n, generator), **self.of.sample(n, generator)}


def population_of(
    schema: Schema,
    like: Any = None,
    careless: float = 0.0,
    *,
    partly: bool = False,
    called: str = "like",
) -> Population:
    """The population that `like` stands for: a frame, reports, a model or an estimate.

    With `partly` a frame may lack the answers to some questions; `called` is what the caller calls
    it, for what is said of a wrong one.
    """
    found = _likely(schema, like, partly, called)
    return Careless(found, careless) if careless else found


def _likely(schema: Schema, like: Any, partly: bool, called: str) -> Population:
    if like is None:
        return _uniform(schema)
    if isinstance(like, (Uniform, People, PartlyKnown, Careless)):
        return like
    if isinstance(like, Reports) or hasattr(like, "moments"):
        like = fit(like)
    if isinstance(like, Model):
        if like.study.schema.sizes != schema.sizes or like.study.names != schema.names:
            raise OptionError(
                "like is a model of other attributes", "give one of the same attributes and values"
            )
        return People(schema, encode(schema, like.sample(PEOPLE, seed=0, backend="pyarrow")))
    if isinstance(like, JointEstimate):
        return _of_estimate(schema, like)
    if isinstance(like, LikelyTable):
        return _of_table(schema, like)
    columns = set(column_names(like)) if partly else set()
    asked = [attribute for attribute in schema if attribute.name in columns]
    if asked and len(asked) < len(schema):
        return PartlyKnown(schema, _people(Schema(asked), like, called))
    return _people(schema, like, called)


def _people(schema: Schema, answers: Any, called: str) -> People:
    try:
        codes = encode(schema, answers)
    except AnswerError as error:
        error.problem = f"{called}: {error.problem}"
        raise
    if not len(codes[schema.names[0]]):
        raise OptionError(f"{called}: there are no answers", "give at least one row")
    return People(schema, codes)


def _uniform(schema: Schema) -> Population:
    """All combinations that can occur, equally likely."""
    if not schema.impossible:
        return Uniform(schema)
    generator = np.random.default_rng(0)
    codes = Uniform(schema).sample(TRIED, generator)
    possible = np.ones(TRIED, dtype=np.bool_)
    for rule in schema.impossible:
        caught = [np.isin(codes[name], values) for name, values in rule.codes]
        possible &= ~np.logical_and.reduce(caught)
    if not possible.any():
        return Uniform(schema)
    return People(schema, {name: column[possible] for name, column in codes.items()}, known=False)


def _of_estimate(schema: Schema, joint: JointEstimate) -> Population:
    """The attributes of a table as estimated, all others uniform."""
    for attribute in joint.attributes:
        if schema[attribute.name].values != attribute.values:
            raise OptionError(
                f"like holds other values of {attribute.name!r}",
                "give an estimate of the same attributes and values",
            )
    return _of_table(schema, LikelyTable(joint.names, joint.probabilities))


def _of_table(schema: Schema, likely: LikelyTable) -> Population:
    generator = np.random.default_rng(0)
    codes = Uniform(schema).sample(PEOPLE, generator)
    table = simplex(likely.probabilities)
    cells = generator.choice(table.size, PEOPLE, p=table.ravel() / table.sum())
    for name, column in zip(likely.names, np.unravel_index(cells, table.shape), strict=True):
        codes[name] = np.asarray(column)
    return People(schema, codes)
