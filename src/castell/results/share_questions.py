"""What a model is asked of groups: shares, their differences, shares among others."""

from __future__ import annotations

from typing import Any, overload

from castell.errors import QueryError
from castell.inference.queries import names_of
from castell.results.conditional import Conditional
from castell.results.conditional_table import ConditionalTable
from castell.results.probability import Difference, Probability
from castell.results.provenance import describe_values
from castell.results.questions import (
    Questions,
    Values,
    is_everybody,
    labels_of,
    query_of,
    reasons_of,
    refuse_both,
)


class ShareQuestions(Questions):
    """The part of a model that answers them."""

    def probability(self, query: Values | None = None, /, **values: Any) -> Probability:
        """The share of respondents with some values, over any number of attributes, no table.

        A value, or a collection of values that all count: `probability(sex="Male", age=["20",
        "30"])`. Names that are no identifiers go in a mapping.
        """
        if query and set(query) & set(values):
            raise QueryError("an attribute was asked for twice", "name each once")
        where = labels_of(self.study.schema, {**(query or {}), **values})
        asked = query_of(self.study.schema, where)
        if is_everybody(self.study.schema, asked):
            return Probability.certain(where, self.source)
        found = self.fitted.shares([asked])
        behind = self.support(tuple(asked))
        return Probability(
            value=float(found.values[0]),
            standard_error=float(found.spread.errors[0]),
            where=where,
            source=self.source,
            checked=behind.checked,
            spread=found.spread,
            reasons=reasons_of(self.counts, found.reasons, behind),
        )

    def difference(self, one: Values, other: Values) -> Difference:
        """How much larger one share is than another: `difference({"a": "yes"}, {"b": "yes"})`."""
        labels = labels_of(self.study.schema, one), labels_of(self.study.schema, other)
        queries = [query_of(self.study.schema, each) for each in labels]
        found = self.fitted.shares(queries)
        behind = self.support(names_of(queries))
        told = found.because(*reasons_of(self.counts, found.reasons, behind))
        return Difference.of(told, *labels, self.source, behind.checked)

    @overload
    def conditional(self, asked: str, *, given: str) -> ConditionalTable: ...

    @overload
    def conditional(self, asked: Values | str, *, given: Values) -> Conditional: ...

    def conditional(
        self, asked: Values | str, *, given: Values | str
    ) -> Conditional | ConditionalTable:
        """The shares of some values among those with others.

        `conditional("health", given={"smokes": "now"})` is the distribution of an attribute,
        `conditional({"health": ["poor", "fair"]}, given=...)` a single share, and
        `conditional("health", given="smokes")` a table of row percentages: the distribution of
        health among those with each value of smokes.
        """
        if isinstance(given, str):
            return self._rows(asked, given)
        group = labels_of(self.study.schema, given)
        among = query_of(self.study.schema, group)
        where = None if isinstance(asked, str) else labels_of(self.study.schema, asked)
        if isinstance(asked, str) or where is None:
            (attribute,) = self.study.schema.select(asked)
            labels = attribute.values
            queries = [query_of(self.study.schema, {attribute.name: (value,)}) for value in labels]
        else:
            labels = (describe_values(where),)
            queries = [query_of(self.study.schema, where)]
        refuse_both(queries[0], among)
        found = [self.fitted.shares([{**query, **among}, among]) for query in queries]
        behind = self.support((*queries[0], *among))
        return Conditional(
            asked=" and ".join(queries[0]),
            values=labels,
            where=where,
            given=group,
            shares=tuple(found),
            source=self.source,
            checked=behind.checked,
            reasons=reasons_of(self.counts, found[0].reasons, behind),
            backend=self.counts.backend,
        )

    def _rows(self, asked: Values | str, given: str) -> ConditionalTable:
        if not isinstance(asked, str):
            raise QueryError("a table is of two attributes", 'ask for one, as in "health"')
        column, row = self.study.schema.select(asked)[0], self.study.schema.select(given)[0]
        rows = tuple(self.conditional(asked, given={given: value}) for value in row.values)
        return ConditionalTable(
            asked=column,
            given=row,
            rows=rows,
            source=self.source,
            checked=rows[0].checked,
            reasons=rows[0].reasons,
            backend=self.counts.backend,
        )
