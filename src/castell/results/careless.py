"""How many answered without regard to the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from castell.display.json_values import plain
from castell.errors import QueryError
from castell.inference.careless import CarelessFit, Group, fit_careless, is_told
from castell.inference.support import Checked
from castell.linear.operators import Floats
from castell.numbers import is_number
from castell.results.careless_table import alone_in_block, careless_reports
from castell.results.model import Collected, counts_of
from castell.results.probability import OneNumber
from castell.results.provenance import Source
from castell.results.summary import number
from castell.study.schema import Attribute


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CarelessShare(OneNumber):
    """The share of respondents whose reports have nothing to do with their answers.

    `second` is the share of the second value among the others, where two groups tell it.
    """

    attribute: str
    says: str | None
    fit: CarelessFit

    @property
    def second(self) -> float:
        return self.fit.second

    @property
    def second_error(self) -> float:
        return self.fit.errors[1]

    @property
    def title(self) -> str:
        how = "answer at random" if self.says is None else f"always say {self.says!r}"
        return f"share of those who {how}, by {self.attribute}"

    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        """All shares that a likelihood ratio test does not reject, inside [0, 1]."""
        return self.fit.interval(level)

    def summary(self, level: float = 0.95) -> str:
        text = super().summary(level)
        if isnan(self.second):
            return text
        value = self.source.study.schema[self.attribute].values[1]
        return (
            f"{text}\n{self.attribute} = {value} among the others: {number(self.second)}, "
            f"std. err. {number(self.second_error)}"
        )

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        return {
            "kind": "careless_share",
            **self.source.to_dict(),
            "attribute": self.attribute,
            "says": self.says,
            "value": plain(self.value),
            **self._numbers(level),
            "second": plain(self.second),
            "second_error": plain(self.second_error) if not isnan(self.second) else None,
        }


def careless(
    reports: Collected | tuple[Collected, Collected] | list[Collected],
    name: str,
    *,
    known: Mapping[str, float] | None = None,
    says: str | None = None,
) -> CarelessShare:
    """How many respondents gave reports that have nothing to do with their answers.

    Of an anchor question, whose answers are `known` ({"no": 1.0}), or of two groups that were asked
    the same question by designs with other chances, as in the extended crosswise model. The
    careless give each report equally often, or always the one they `say`.

    >>> from castell import Attribute, Study, import_reports, mechanism
    >>> study = Study([Attribute("moon", ["no", "yes"])], channels={
    ...     "moon": mechanism("crosswise", prevalence=0.2)})
    >>> said = {"moon": ["same"] * 740 + ["different"] * 260}
    >>> round(careless(import_reports(study, said), "moon", known={"no": 1.0}).value, 6)
    0.2
    """
    parts = list(reports) if isinstance(reports, (list, tuple)) else [reports]
    counted = [counts_of(each) for each in parts]
    if not all(counts.n for counts in counted):
        raise QueryError("there are no reports", "collect some first")
    if len(parts) > 2 or (len(parts) == 2) == (known is not None):
        raise QueryError(
            "careless answers show against known answers, or between two groups",
            'give one collection and known={"no": 1.0}, or a list of two groups',
        )
    groups = []
    for counts in counted:
        attribute, block, index = alone_in_block(counts.study, name)
        table = counts.table(block.axes(index, [name])).astype(np.float64)
        matrix = np.array(block.channel.weights(), dtype=np.float64) / block.channel.total
        groups.append(Group(table, matrix, careless_reports(counts.study, block, says)))
    answers = None if known is None else _known_shares(attribute, known)
    if answers is not None and np.abs(answers @ groups[0].matrix - groups[0].careless).max() < 1e-9:
        raise QueryError(
            "careless reports look like those of the known answers", "take another anchor question"
        )
    if answers is None and attribute.size != 2:
        raise QueryError(f"{name!r} has {attribute.size} values", "two groups are for two values")
    if answers is None and not is_told(groups):
        raise QueryError(
            "such careless reports look the same in both groups as answers do",
            "say which report they always give (says=...): with chances p and 1 - p answers at "
            "random leave no trace; an anchor question shows those",
        )
    fit = fit_careless(groups, answers)
    sources = [Source(c.study, "likelihood", c.n, c.secure) for c in counted]
    source = sources[0] if len(sources) == 1 else sources[0].join(sources[1])
    return CarelessShare(
        value=fit.share,
        standard_error=fit.errors[0],
        source=source,
        checked=Checked.WHOLE,
        attribute=name,
        says=says,
        fit=fit,
    )


def _known_shares(attribute: Attribute, known: Mapping[str, float]) -> Floats:
    answers = np.zeros(attribute.size)
    for value, share in known.items():
        if not is_number(share, 0.0) or float(share) > 1.0:
            raise QueryError(f"the known share of {value!r} is {share!r}", "give one from 0 to 1")
        answers[attribute.code(value)] = float(share)
    if abs(answers.sum() - 1.0) > 1e-9:
        raise QueryError(
            f"the known shares of {attribute.name!r} sum to {answers.sum():g}",
            "give those of all values; they sum to 1",
        )
    return answers
