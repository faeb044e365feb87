"""Models: what people ask. Frozen; any set of attributes, any group of values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from castell.counting import Counts
from castell.errors import QueryError
from castell.inference.fitted import Fitted
from castell.inference.inversion import Query, names_of
from castell.inference.misfit import Misfit, misfit
from castell.inference.postprocess import step
from castell.inference.reasons import Code, Reason, reason
from castell.inference.support import Support
from castell.linear.operators import Floats
from castell.results.conditional import Conditional, described, values_of
from castell.results.joint import JointEstimate
from castell.results.probability import Difference, Probability
from castell.study.study import Study

Values = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Model:
    """What a method fitted to the reports of a study; `method` is the name of the estimator."""

    fitted: Fitted
    method: str

    @property
    def counts(self) -> Counts:
        return self.fitted.counts

    @property
    def study(self) -> Study:
        return self.counts.study

    def __repr__(self) -> str:
        return f"<Model {self.method!r} of {self.study.name!r}, n = {self.counts.n:,}>"

    def support(self, names: Iterable[str] | str) -> Support:
        """How many reports stand behind a question about some attributes."""
        return self.fitted.support(tuple(a.name for a in self.study.schema.select(names)))

    def estimate(
        self, names: Iterable[str] | str, *, post: str = "raw", max_cells: int | None = None
    ) -> JointEstimate:
        """The joint table of some attributes, one axis for each in the order asked."""
        finish = step(post)
        attributes = self.study.schema.select(names)
        order = tuple(a.name for a in attributes)
        solution = self.fitted.joint(order, max_cells)
        behind = self.support(order)
        return JointEstimate(
            attributes=attributes,
            probabilities=finish(solution.probabilities),
            unprocessed=solution.probabilities,
            spread=solution.spread,
            method=self.method,
            post=post,
            study=self.study,
            n=self.counts.n,
            secure=self.counts.secure,
            checked=behind.checked,
            test=partial(self._test, order, solution.probabilities),
            reasons=(*solution.reasons, _behind(behind)),
            backend=self.counts.backend,
        )

    def _test(self, names: tuple[str, ...], table: Floats, kept: tuple[str, ...]) -> Misfit | None:
        if self.fitted.unbiased:
            return None
        return misfit(self.counts, names, table, kept)

    def probability(self, query: Values | None = None, /, **values: Any) -> Probability:
        """The share of respondents with some values, over any number of attributes, no table.

        A value, or a collection of values that all count: `probability(sex="Male", age=["20",
        "30"])`. Names that are no identifiers go in a mapping.
        """
        asked = self._query(query, values)
        if self._is_everybody(asked):
            return Probability.certain(self.counts.secure)
        found = self.fitted.shares([asked])
        behind = self.support(tuple(asked))
        return Probability(
            float(found.values[0]),
            float(found.spread.errors[0]),
            self.counts.secure,
            behind.checked,
            found.spread,
            (*found.reasons, _behind(behind)),
        )

    def difference(self, one: Values, other: Values) -> Difference:
        """How much larger one share is than another: `difference({"a": "yes"}, {"b": "yes"})`."""
        queries = [self._query(one, {}), self._query(other, {})]
        found = self.fitted.shares(queries)
        behind = self.support(names_of(queries))
        return Difference(
            found, self.counts.secure, behind.checked, (*found.reasons, _behind(behind))
        )

    def conditional(self, asked: Values | str, *, given: Values) -> Conditional:
        """The shares of some values among those with others.

        `conditional("health", given={"smokes": "now"})` is the distribution of an attribute,
        `conditional({"health": ["poor", "fair"]}, given=...)` a single share.
        """
        among = self._query(given, {})
        if isinstance(asked, str):
            (attribute,) = self.study.schema.select(asked)
            wanted: list[Values] = [{attribute.name: value} for value in attribute.values]
            labels = tuple(attribute.values)
        else:
            wanted, labels = [asked], (described(asked, " and "),)
        queries = [self._query(each, {}) for each in wanted]
        for name in queries[0]:
            if name in among:
                raise QueryError(f"{name!r} is asked for and given", "leave it out of one of them")
        found = [self.fitted.shares([{**query, **among}, among]) for query in queries]
        behind = self.support((*queries[0], *among))
        what = asked if isinstance(asked, str) else " and ".join(asked)
        return Conditional(
            what,
            labels,
            tuple(found),
            dict(given),
            self.method,
            self.counts.secure,
            behind.checked,
            (*found[0].reasons, _behind(behind)),
        )

    def _query(self, query: Values | None, values: Values) -> Query:
        """The codes of the values asked for."""
        asked = {**(query or {}), **values}
        if query and set(query) & set(values):
            raise QueryError("an attribute was asked for twice", "name each once")
        codes: dict[str, Any] = {}
        for attribute in self.study.schema.select(asked):
            listed = values_of(asked[attribute.name])
            if not listed:
                raise QueryError(f"no value of {attribute.name!r} counts", "name at least one")
            found = sorted({attribute.code(value) for value in listed})
            codes[attribute.name] = np.array(found, dtype=np.intp)
        # Attributes of which every value counts ask for nothing.
        narrow = {a: c for a, c in codes.items() if len(c) < self.study.schema[a].size}
        return narrow or codes

    def _is_everybody(self, query: Query) -> bool:
        return all(len(codes) == self.study.schema[a].size for a, codes in query.items())


def _behind(found: Support) -> Reason:
    return reason(Code.REPORTS, *found.names, together=found.together, n=found.n)
