"""What a model is asked of groups: shares, their differences, shares among others."""

from __future__ import annotations

from typing import Any, overload

from castell.errors import QueryError
from castell.inference.independent_shares import everybody, independent
from castell.inference.queries import Query, names_of
from castell.inference.share_misfit import share_misfit
from castell.inference.shares import Shares
from castell.inference.support import Checked, least_checked
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
        doubts = share_misfit(self.fitted, [asked], found)
        return Probability(
            value=float(found.values[0]),
            standard_error=float(found.spread.errors[0]),
            where=where,
            source=self.source,
            checked=behind.checked,
            spread=found.spread,
            reasons=(*doubts, *reasons_of(self.counts, found.reasons, behind)),
        )

    def difference(self, one: Values, other: Values) -> Difference:
        """How much larger one share is than another: `difference({"a": "yes"}, {"b": "yes"})`."""
        labels = labels_of(self.study.schema, one), labels_of(self.study.schema, other)
        queries = [query_of(self.study.schema, each) for each in labels]
        behind = self.support(names_of(queries))
        if behind.together and not any(is_everybody(self.study.schema, q) for q in queries):
            found = self.fitted.shares(queries)
            told = reasons_of(self.counts, found.reasons, behind)
            return Difference.of(found.because(*told), *labels, self.source, behind.checked)
        # Nobody reported all of it: two questions, answered by different people.
        first, second = (self._share_alone(query) for query in queries)
        checked = least_checked([first[1], second[1]])
        return Difference.of(independent(first[0], second[0]), *labels, self.source, checked)

    def _share_alone(self, query: Query) -> tuple[Shares, Checked]:
        """A share with the reasons for it, and by what it can be checked."""
        if is_everybody(self.study.schema, query):
            return everybody(), Checked.WHOLE
        found, behind = self.fitted.shares([query]), self.support(tuple(query))
        return found.because(*reasons_of(self.counts, found.reasons, behind)), behind.checked

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
        found = [self._both_and_group(query, among) for query in queries]
        asked_of = [q for q in (queries[0], among) if not is_everybody(self.study.schema, q)]
        behind = self.support(names_of(asked_of or queries))
        doubts = [
            share_misfit(self.fitted, [{**query, **among}, among], shares)
            for query, shares in zip(queries, found, strict=True)
            if len(asked_of) > 1
        ]
        return Conditional(
            asked=" and ".join(queries[0]),
            values=labels,
            where=where,
            given=group,
            shares=tuple(found),
            source=self.source,
            checked=behind.checked,
            reasons=(
                *next(filter(None, doubts), ()),
                *reasons_of(self.counts, found[0].reasons, behind),
            ),
            backend=self.counts.backend,
        )

    def _both_and_group(self, query: Query, among: Query) -> Shares:
        """The share of both, and of the group; everybody is in a group of all values, for sure."""
        if is_everybody(self.study.schema, query):
            return independent(everybody(), everybody())
        if is_everybody(self.study.schema, among):
            return self._share_and_group(query, {})
        return self._share_and_group({**query, **among}, among)

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
