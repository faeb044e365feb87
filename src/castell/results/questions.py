"""Questions to a model: what analyses ask it for, in which values, and the reasons of its answers.

`Model` offers the analyses, which live in files of their own. They ask for `Answering` of it, so
that those files need not import it back; its `Questions` of one kind are a part of it, in a file
each. Values are asked for by label, as the schema writes them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from castell.counting import Counts
from castell.errors import QueryError
from castell.inference.declared_zeros import contradictions
from castell.inference.independent_shares import everybody, independent
from castell.inference.method import Fitted
from castell.inference.queries import Query
from castell.inference.reasons import ABOUT_SEVERAL, Code, Reason, reason
from castell.inference.shares import Shares
from castell.inference.support import Checked, Support
from castell.results.provenance import Labels, Source
from castell.study.schema import Schema
from castell.study.study import Study

# A value, or a collection of values that all count, by attribute.
Values = Mapping[str, Any]


class Answering(Protocol):
    """A fitted model."""

    @property
    def fitted(self) -> Fitted: ...
    @property
    def counts(self) -> Counts: ...
    @property
    def study(self) -> Study: ...
    @property
    def source(self) -> Source: ...

    def support(self, names: Iterable[str] | str) -> Support: ...


class Questions(ABC):
    """A part of a model, by what it is asked."""

    fitted: Fitted

    @property
    @abstractmethod
    def counts(self) -> Counts: ...

    @property
    @abstractmethod
    def study(self) -> Study: ...

    @property
    @abstractmethod
    def source(self) -> Source: ...

    @abstractmethod
    def support(self, names: Iterable[str] | str) -> Support: ...

    def _share_and_group(self, both: Query, among: Query) -> Shares:
        """The share of those asked for in a group, and of the group: everybody, where nothing is
        given."""
        if among:
            return self.fitted.shares([both, among])
        alone = self.fitted.shares([both])
        return independent(alone, everybody()).with_reports_of(alone)


def reasons_of(counts: Counts, made: Sequence[Reason], behind: Support) -> tuple[Reason, ...]:
    """Why an answer is as it is: what speaks against it first, what stands behind it last."""
    against = contradictions(counts, behind.names) if counts.study.schema.impossible.rules else ()
    return (*against, *_reasons_about(made, behind.names), reports_behind(behind))


def _reasons_about(made: Iterable[Reason], names: Sequence[str]) -> tuple[Reason, ...]:
    return tuple(r for r in made if len(names) > 1 or r.code not in ABOUT_SEVERAL)


def reasons_of_part(whole: Sequence[Reason], behind: Support) -> tuple[Reason, ...]:
    """What was said of attributes that the part does not hold is left out; what stands behind the
    part, and that nothing does, is said of it alone."""
    several, kept = len(behind.names) > 1, []
    for each in whole:
        concerns = set(each.names) <= set(behind.names) if each.names else several
        if (
            concerns
            and each.code is not Code.REPORTS
            and (several or each.code not in ABOUT_SEVERAL)
        ):
            kept.append(each)
    if behind.checked is Checked.NOTHING and Code.ASSOCIATION_UNKNOWN not in {r.code for r in kept}:
        kept.append(reason(Code.ASSOCIATION_UNKNOWN, *behind.unknown))
    return (*kept, reports_behind(behind))


def reports_behind(behind: Support) -> Reason:
    """How many reports stand behind an answer."""
    return reason(Code.REPORTS, *behind.names, together=behind.together, n=behind.n)


def labels_of(schema: Schema, asked: Values) -> Labels:
    """The values asked for, as the schema writes them."""
    if not isinstance(asked, Mapping):
        raise QueryError(
            f"{asked!r} names no values", 'give values by attribute, as in {"smokes": "now"}'
        )
    found: dict[str, tuple[str, ...]] = {}
    for attribute in schema.select(asked):
        given = _values_of(asked[attribute.name])
        if not given:
            raise QueryError(f"no value of {attribute.name!r} counts", "name at least one")
        texts = (attribute.values[attribute.code(value)] for value in given)
        found[attribute.name] = tuple(dict.fromkeys(texts))
    return found


def query_of(schema: Schema, labels: Labels) -> Query:
    """The codes of values that count."""
    codes: dict[str, Any] = {}
    for name, texts in labels.items():
        found = sorted(schema[name].code(text) for text in texts)
        codes[name] = np.array(found, dtype=np.intp)
    # Attributes of which every value counts ask for nothing.
    narrow = {a: c for a, c in codes.items() if len(c) < schema[a].size}
    return narrow or codes


def is_everybody(schema: Schema, query: Query) -> bool:
    return all(len(codes) == schema[a].size for a, codes in query.items())


def refuse_both(asked: Query, given: Query) -> None:
    """An attribute is asked for or given, not both."""
    for name in asked:
        if name in given:
            raise QueryError(f"{name!r} is asked for and given", "leave it out of one of them")


def _values_of(asked: Any) -> list[Any]:
    """The values that count: one, or a collection of them."""
    return list(asked) if isinstance(asked, (list, tuple, set, frozenset)) else [asked]
