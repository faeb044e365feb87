"""Combinations of answers that cannot occur: structural zeros, declared with the schema.

A rule names two or more attributes and, for each, the values that never come together with those of
the others. Rules say what is known of everybody before anybody answers, so they cost no privacy,
and a device does nothing with them. They are used where tables are estimated.

    impossible = [{relationship = "Husband", sex = "Female"}, {smokes = "never", brand = "!none"}]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from castell.errors import QueryError, SchemaError
from castell.linear.elimination import Factor, eliminate, elimination_order, multiply

Mask = NDArray[np.bool_]
# Codes that count, by attribute: as models are asked.
Codes = Mapping[str, NDArray[np.intp]]

MOST_RULES = 1000
# Combinations of attributes that rules connect, to be looked at at once, in every class of a
# mixture: half a megabyte for each of some hundred classes.
MOST_RULED_CELLS = 1 << 16


class Asked(Protocol):
    """What a rule needs to know of an attribute."""

    @property
    def name(self) -> str: ...
    @property
    def values(self) -> tuple[str, ...]: ...
    def code(self, value: object) -> int: ...


@dataclass(frozen=True)
class Rule:
    """Values of some attributes, by their codes, of which no respondent has one of each."""

    codes: tuple[tuple[str, tuple[int, ...]], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.codes)

    @property
    def query(self) -> dict[str, NDArray[np.intp]]:
        """The combinations as a question to a model."""
        return {name: np.array(codes, dtype=np.intp) for name, codes in self.codes}

    def document(self) -> dict[str, list[int]]:
        """The rule as published. By codes: words may be corrected, and the rule is the same."""
        return {name: list(codes) for name, codes in self.codes}


@dataclass(frozen=True)
class StructuralZeros:
    """The rules of a schema, and what follows from all of them."""

    rules: tuple[Rule, ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()  # of the attributes that rules name

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    @cached_property
    def size_of(self) -> dict[str, int]:
        return dict(self.sizes)

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """Tables of 0 and 1: 0 for what is impossible. One for each set of attributes."""
        masks: dict[tuple[str, ...], Any] = {}
        for rule in self.rules:
            names = tuple(sorted(rule.names))
            mask = masks.setdefault(names, np.ones([1, *(self.size_of[name] for name in names)]))
            mask[0][np.ix_(*(rule.query[name] for name in names))] = 0.0
        return tuple(Factor(names, mask) for names, mask in masks.items())

    @cached_property
    def components(self) -> tuple[frozenset[str], ...]:
        """The attributes that rules connect, directly or by way of others."""
        found: list[frozenset[str]] = []
        for rule in self.rules:
            met = [one for one in found if one & set(rule.names)]
            found = [one for one in found if one not in met]
            found.append(frozenset(rule.names).union(*met))
        return tuple(found)

    def rules_about(self, names: Iterable[str]) -> tuple[Rule, ...]:
        """The rules that matter for some attributes: those of the components they are in."""
        asked = set(names)
        connected = frozenset[str]().union(*(one for one in self.components if one & asked))
        return tuple(rule for rule in self.rules if set(rule.names) <= connected)

    def possible(self, names: Sequence[str]) -> Mask:
        """Which cells of the table of some attributes, all with a rule, somebody can be in.

        What rules say by way of attributes outside the table is said too: if of b only 1 goes with
        a = 1 and only 2 with c = 1, nobody has a = 1 and c = 1.
        """
        kept = set(names)
        factors = [factor for factor in self.factors if kept & self._component_of(factor)]
        sizes = self.size_of
        gone, _ = elimination_order([factor.names for factor in factors], sizes, kept)
        left = eliminate(factors, gone, any_of=True).left
        found = multiply(left, names)[0] > 0.0
        return np.broadcast_to(found, [sizes[name] for name in names])

    def _component_of(self, factor: Factor) -> frozenset[str]:
        return next(one for one in self.components if set(factor.names) <= one)

    def impossible_cells(self, names: Sequence[str], shape: Sequence[int]) -> Mask:
        """Which cells of a table of any attributes nobody can be in."""
        ruled = [name for name in names if name in self.size_of]
        found = ~self.possible(ruled) if ruled else np.zeros((), dtype=np.bool_)
        sizes = [size if name in ruled else 1 for name, size in zip(names, shape, strict=True)]
        return np.broadcast_to(found.reshape(sizes), tuple(shape))

    def empty_cells_in(self, names: Iterable[str]) -> bool:
        """Whether nobody can be in some cell of the table of some attributes.

        In tables too large to look through, what follows by way of attributes outside is not seen.
        """
        asked = set(names)
        if any(set(rule.names) <= asked for rule in self.rules):
            return True
        ruled = sorted(asked & set(self.size_of))
        if not ruled or prod(self.size_of[name] for name in ruled) > MOST_RULED_CELLS:
            return False
        return not bool(self.possible(ruled).all())

    def are_possible(self, rows: Codes) -> Mask:
        """Which of some people, a column of codes for each attribute, break no rule they show."""
        (people,) = {len(column) for column in rows.values()}
        able = np.ones(people, dtype=np.bool_)
        for rule in self.rules:
            if set(rule.names) <= set(rows):
                able &= ~np.logical_and.reduce(
                    [np.isin(rows[name], codes) for name, codes in rule.codes]
                )
        return able

    def is_impossible(self, query: Codes) -> bool:
        """Whether nobody can have these values."""
        ruled = [name for name in query if name in self.size_of]
        if not ruled:
            return False
        chosen: list[Factor] = list(self.factors)
        for name in ruled:
            inside = np.zeros((1, self.size_of[name]))
            inside[0, query[name]] = 1.0
            chosen.append(Factor((name,), inside))
        order, _ = elimination_order([factor.names for factor in chosen], self.size_of)
        return not bool(eliminate(chosen, order, any_of=True).total()[0])

    def document(self) -> list[dict[str, list[int]]]:
        return [rule.document() for rule in self.rules]


def structural_zeros(
    given: Iterable[Mapping[str, object]], attribute: Callable[[str], Asked]
) -> StructuralZeros:
    """Rules as people write them, checked; `attribute` gives one by its name, or a QueryError."""
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        raise SchemaError(
            "impossible is no list of rules", 'write impossible = [{a = "x", b = "y"}]'
        )
    rules: list[Rule] = []
    sizes: dict[str, int] = {}
    for number, entry in enumerate(given, 1):
        rule = _rule(number, entry, attribute)
        if rule in rules:
            twice = rules.index(rule) + 1
            raise SchemaError(
                f"rules {twice} and {number} of impossible are the same", "leave one of them out"
            )
        rules.append(rule)
        sizes |= {name: len(attribute(name).values) for name in rule.names}
    if len(rules) > MOST_RULES:
        raise SchemaError(
            f"impossible has {len(rules):,} rules, the limit is {MOST_RULES:,}",
            "put values together in lists, or declare the most important ones",
        )
    zeros = StructuralZeros(tuple(rules), tuple(sorted(sizes.items())))
    _check_together(zeros, attribute)
    return zeros


def _rule(number: int, entry: object, attribute: Callable[[str], Asked]) -> Rule:
    what = f"rule {number} of impossible"
    if not isinstance(entry, Mapping):
        raise SchemaError(f"{what} is {entry!r}", 'write it as {a = "x", b = "y"}')
    if len(entry) < 2:
        named = ", ".join(map(repr, entry)) or "nothing"
        raise SchemaError(
            f"{what} is about {named} alone",
            "a rule names two attributes or more; a value that nobody has is left out of the list",
        )
    codes = {}
    for name, value in entry.items():
        try:
            asked = attribute(name)
            found = _codes(asked, value)
        except QueryError as error:
            raise SchemaError(f"{what}: {error.problem}", error.remedy) from None
        if len(found) in (0, len(asked.values)):
            many = "every value" if found else "no value"
            raise SchemaError(f"{what} names {many} of {name!r}", "leave the attribute out of it")
        codes[name] = found
    return Rule(tuple(sorted(codes.items())))


def _codes(asked: Asked, value: object) -> tuple[int, ...]:
    """A value, a list of values, or "!value": all but that one, unless a value is written so."""
    if isinstance(value, str) and value.startswith("!") and value not in asked.values:
        but = asked.code(value[1:])
        return tuple(code for code in range(len(asked.values)) if code != but)
    several = isinstance(value, (list, tuple, set, frozenset))
    return tuple(sorted({asked.code(each) for each in (value if several else [value])}))  # type: ignore[attr-defined]


def _check_together(zeros: StructuralZeros, attribute: Callable[[str], Asked]) -> None:
    """Refuse rules that leave a value, or everything, impossible, or that connect too much."""
    if not zeros.rules:
        return
    names, cells = elimination_order([rule.names for rule in zeros], zeros.size_of)
    if cells > MOST_RULED_CELLS:
        raise SchemaError(
            f"the rules of impossible connect attributes with {cells:,} combinations, the "
            f"limit is {MOST_RULED_CELLS:,}",
            "declare rules of fewer attributes, or of attributes with fewer values",
        )
    for name in sorted(names):
        never = np.flatnonzero(~zeros.possible([name]))
        if len(never) == zeros.size_of[name]:
            raise SchemaError(
                "the rules of impossible leave no combination of answers possible",
                "leave some of them out",
            )
        if len(never):
            value = attribute(name).values[never[0]]
            raise SchemaError(
                f"the rules of impossible leave nobody with {name} = {value!r}",
                "leave a rule out, or take the value out of the attribute's list",
            )
