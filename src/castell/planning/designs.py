"""The designs that a plan compares, each made for a schema and an epsilon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations
from math import exp, log, prod
from typing import Any

import numpy as np

from castell.channels.budget import EXACT
from castell.errors import CastellError
from castell.planning.population import Population
from castell.planning.targets import Target
from castell.study.schema import Schema
from castell.study.study import Study

# Attributes that are not asked for keep this share of the budget, together.
UNASKED = 0.1
# How much more of the budget attributes with many values get: none, half of, or in proportion to
# the logarithm of their number.
TILTS = (0.0, 0.5, 1.0)
# Attributes are put together from this association on, Cohen's small one (1988).
ASSOCIATED = 0.1
# Widths of sets that are tried besides one and two.
WIDTHS = (3, 4)
# Drawn sets with more different reports than this are not compared.
MOST_REPORTS = 5_000
_DIGITS = Decimal("0.0001")


@dataclass(frozen=True)
class DesignKind:
    """A design as a study file has it, whatever the epsilon."""

    name: str
    clusters: tuple[tuple[str, ...], ...] = ()
    sample: int | None = None
    weights: tuple[tuple[str, float], ...] = ()  # of the budget, by attribute; none: equal parts

    def study(self, schema: Schema, epsilon: Decimal, name: str, text: Any = None) -> Study:
        """The study with this design. Whoever cannot have it gets a CastellError."""
        design: Any = "independent" if self.sample else (self.clusters or self.name)
        shares = self.shares(schema, epsilon)
        return Study(
            schema,
            None if shares else epsilon,
            design,
            shares=shares,
            sample=self.sample,
            name=name,
            text=text,
        )

    def shares(self, schema: Schema, epsilon: Decimal) -> dict[str, Decimal]:
        """Each attribute's part of the total, in four digits that sum to it; none if equal."""
        if not self.weights:
            return {}
        total = sum(weight for _, weight in self.weights)
        parts = {
            name: (epsilon * Decimal(weight / total)).quantize(_DIGITS)
            for name, weight in self.weights
        }
        most = max(parts, key=lambda name: parts[name])
        others = sum((part for name, part in parts.items() if name != most), Decimal(0))
        parts[most] = EXACT.subtract(epsilon, others)
        return {name: parts[name].normalize() for name in schema.names if name in parts}

    def toml(self, schema: Schema, epsilon: Decimal) -> tuple[dict[str, Any], dict[str, Decimal]]:
        """What a study file says at its top, and the share of each attribute."""
        shares = self.shares(schema, epsilon)
        top: dict[str, Any] = {} if shares else {"epsilon": epsilon}
        if self.sample:
            top["sample"] = self.sample
        elif self.clusters:
            top["clusters"] = [list(cluster) for cluster in self.clusters]
        else:
            top["design"] = self.name
        return top, shares


def design_kinds(
    schema: Schema, population: Population, epsilon: float, targets: Sequence[Target]
) -> list[DesignKind]:
    """All designs to compare, the simplest first; without those that are the same as another."""
    schema = schema.hidden  # public attributes are no part of a design
    kinds = [DesignKind("independent"), DesignKind("joint")]
    if len(schema) == 1:
        return kinds[:1]
    kinds += _tilt_budget(schema, DesignKind("independent"), targets)
    found = proposed_clusters(schema, population, epsilon)
    if found:
        kinds.append(DesignKind("clusters", clusters=found))
    asked = _asked_clusters(schema, targets)
    if asked:
        together = DesignKind("clusters", clusters=asked)
        kinds += [together] * (asked != found) + _tilt_budget(schema, together, targets)
    kinds += [DesignKind("singles"), DesignKind("pairs"), DesignKind("cover")]
    kinds += [DesignKind(f"sample = {k}", sample=k) for k in WIDTHS if k < len(schema)]
    return kinds


def _tilt_budget(schema: Schema, kind: DesignKind, targets: Sequence[Target]) -> list[DesignKind]:
    """The same design with the budget split otherwise than in equal parts."""
    every = set(schema.names)
    asked = {name for target in targets for name in target.names} & every or every
    rest = [name for name in schema.names if name not in asked]
    logs = {name: log(schema[name].size) for name in asked}
    mean = sum(logs.values()) / len(logs)
    found = []
    for tilt in TILTS:
        weights = {name: max(1.0 + tilt * (logs[name] / mean - 1.0), 0.05) for name in asked}
        total = sum(weights.values())
        share = (1.0 - UNASKED) if rest else 1.0
        weights = {name: share * weight / total for name, weight in weights.items()}
        weights |= {name: UNASKED / len(rest) for name in rest}
        if max(weights.values()) - min(weights.values()) > 1e-6:
            listed = tuple((name, weights[name]) for name in schema.names)
            found.append(replace(kind, weights=listed))
    return found


def _asked_clusters(schema: Schema, targets: Sequence[Target]) -> tuple[tuple[str, ...], ...]:
    """The attributes of each question together; of questions that share some, all of them."""
    parts: list[set[str]] = []
    for target in targets:
        asked = set(target.names) & set(schema.names)
        touching = [part for part in parts if part & asked]
        parts = [part for part in parts if not part & asked]
        parts.append(asked.union(*touching))
    order = {name: i for i, name in enumerate(n for t in targets for n in t.names)}
    return tuple(
        tuple(sorted(part, key=lambda name: order[name])) for part in parts if len(part) > 1
    )


def proposed_clusters(
    schema: Schema, population: Population, epsilon: float
) -> tuple[tuple[str, ...], ...]:
    """Attributes that are associated in the population, by Cramer's V; none if it is not known."""
    if not population.known:
        return ()
    pairs = combinations(schema.names, 2)
    association = {pair: cramers_v(population.table(list(pair))) for pair in pairs}
    return strongest_together(schema, association, epsilon)


def strongest_together(
    schema: Schema,
    association: Mapping[tuple[str, str], float],
    epsilon: float,
    least: float = ASSOCIATED,
) -> tuple[tuple[str, ...], ...]:
    """Clusters of two attributes or more from the Cramer's V of all pairs.

    As in RR-Clusters the most associated are put together first, as long as a cluster has no more
    combinations than its part of the budget tells apart.
    """
    names = schema.names
    size = {name: schema[name].size for name in names}
    home: dict[str, tuple[str, ...]] = {name: (name,) for name in names}
    for v, (one, two) in sorted(((v, pair) for pair, v in association.items()), reverse=True):
        if v < least:
            break
        both = tuple(name for name in names if name in home[one] or name in home[two])
        room = exp(epsilon * len(both) / len(names))
        if home[one] != home[two] and prod(size[name] for name in both) <= room:
            for name in both:
                home[name] = both
    return tuple(dict.fromkeys(part for part in home.values() if len(part) > 1))


def cramers_v(table: Any) -> float:
    """Of a table of two attributes."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    apart = np.outer(rows, columns)
    possible = apart > 0.0
    least = min(int((rows > 0).sum()), int((columns > 0).sum())) - 1
    if least < 1:
        return 0.0
    square = float((((table - apart) ** 2)[possible] / apart[possible]).sum())
    return float(np.sqrt(square / least))


def build_all(
    kinds: Sequence[DesignKind], schema: Schema, epsilon: Decimal, study: Study
) -> tuple[list[tuple[DesignKind, Study]], Mapping[str, str]]:
    """The studies of all designs that can be had, and why the others cannot."""
    found: list[tuple[DesignKind, Study]] = []
    refused: dict[str, str] = {}
    seen: set[str] = set()
    for kind in kinds:
        try:
            made = kind.study(schema, epsilon, study.name, study.text)
        except CastellError as error:
            refused[kind.name] = error.problem
            continue
        largest = max(block.channel.outputs for block in made.design.blocks)
        if made.design.is_drawn and largest > MOST_REPORTS:
            refused[kind.name] = (
                f"a set has {largest:,} different reports, far more than epsilon "
                f"{float(epsilon):g} tells apart"
            )
            continue
        if made.digest not in seen:
            seen.add(made.digest)
            found.append((kind, made))
    return found, refused
