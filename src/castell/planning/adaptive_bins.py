"""Where bins should be, told by the randomised reports of the first respondents.

They are asked with many bins. What is learned of the whole puts neighbours together for everybody
who comes after, so that the few bins they choose from are where people are. Bins follow from
reports that are randomised already: that costs nobody anything more.

The next respondents can be asked in two ways. `attribute` has the new bins as values: a study of
its own. `next_study` keeps the values and reports which of the new bins an answer is in, so that
both studies are estimated together: the many say how many are in each bin, the first where in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from castell.channels import KaryResponse, PartitionResponse
from castell.display.json_values import plain
from castell.display.one_line import one_line
from castell.errors import OptionError, QueryError
from castell.inference.postprocess import simplex
from castell.linear.operators import Floats
from castell.numbers import is_whole
from castell.results.model import Collected, Model, fit
from castell.study.design import Block, Design
from castell.study.scales import Bins
from castell.study.schema import Attribute
from castell.study.study import Study

# What is made small: the chance that two people share a bin, or how wide a person's bin is.
CRITERIA = ("shares", "width")

Cost = Callable[[int, int], float]  # of putting bins i to k - 1 together


@dataclass(frozen=True, eq=False)
class BinPlan:
    """The bins to ask with, and the share of the first respondents that is expected in each."""

    before: Attribute
    attribute: Attribute  # to ask the next respondents with
    shares: tuple[float, ...]
    standard_errors: tuple[float, ...]
    n: int
    by: str
    study: Study  # of the first respondents

    @property
    def bins(self) -> tuple[str, ...]:
        """Where each bin begins, but for an open first one: what a study file lists."""
        edges = _scale(self.attribute).edges
        return tuple(edge for edge in edges[:-1] if edge is not None)

    @property
    def toml(self) -> str:
        """The lines of a study file."""
        scale = _scale(self.attribute)
        low, high = scale.edges[0], scale.edges[-1]
        cuts = self.bins if low is None else self.bins[1:]
        lines = [f"bins = [{', '.join(cuts)}]"]
        if low is not None and high is not None:
            lines.append(f"range = [{low}, {high}]")
        if not scale.whole and all("." not in cut for cut in self.bins):
            lines.append('type = "number"')
        return "\n".join(lines)

    def next_study(self, epsilon: object = None) -> Study:
        """The same question for others, who report a new bin: `castell.fit([first, then])` reads
        both. Epsilon is that of the first study, unless another is given."""
        if len(self.study.names) > 1 or self.before.public:
            raise QueryError(
                "only a study of one randomised attribute is asked again in coarser bins",
                "ask with the new bins, or plan a stage of all attributes: castell.plan_next",
            )
        if self.before.may_skip:
            raise QueryError(
                f"who skips {self.before.name!r} is seen to", "ask with the new bins instead"
            )
        size, first = self.before.size, _scale(self.before)
        starts = [first.edges.index(edge) for edge in _scale(self.attribute).edges[:-1]]
        ends = [*starts[1:], first.size]
        beside = [(code,) for code in range(first.size, size)]
        groups = [*(tuple(range(*ends)) for ends in zip(starts, ends, strict=True)), *beside]
        amount = self.study.epsilon if epsilon is None else epsilon
        hides = KaryResponse.with_epsilon(len(groups), amount)
        coarse = PartitionResponse((size,), tuple((group,) for group in groups), hides)
        design = Design((Block((self.before.name,), (size,), coarse),))
        return Study(self.study.schema, design=design, name=self.study.name)

    def summary(self) -> str:
        width = max(len(label) for label in self.attribute.answers)
        pairs = zip(self.attribute.answers, self.shares, self.standard_errors, strict=True)
        rows = [f"{label:<{width}}  {share:7.1%}  ± {error:.1%}" for label, share, error in pairs]
        many = len(self.before.answers)
        return "\n".join(
            [
                f"{self.before.name}: {len(rows)} of {many} bins, by {self.n:,} reports",
                *rows,
                "",
                self.toml,
            ]
        )

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        facts = [f"{len(self.shares)} bins", f"n = {self.n:,}", f"by {self.by}"]
        return one_line("BinPlan", f"of {self.before.name!r}", facts)

    def to_dict(self) -> dict[str, Any]:
        """The plan for programs, as plain JSON values."""
        return {
            "kind": "bins",
            "attribute": self.before.name,
            "n": self.n,
            "by": self.by,
            "bins": list(self.bins),
            "values": list(self.attribute.values),
            "shares": [plain(share) for share in self.shares],
            "standard_errors": [plain(error) for error in self.standard_errors],
            "toml": self.toml,
        }


def plan_bins(
    reports: Collected | Sequence[Collected], name: str, bins: int = 6, *, by: str = "shares"
) -> BinPlan:
    """The bins to ask the next respondents with, from reports of a study with many bins.

    `by="shares"` makes the bins as full as one another, for tables. `by="width"` makes the bin that
    a person is in narrow, on average, for means, whose bounds are as wide, and for quantiles. It
    needs a `range`. Edges are some of those that were asked with.

    >>> from castell import Attribute, Study
    >>> study = Study([Attribute("age", bins=range(20, 90, 10), range=[18, 99])], epsilon=3.0)
    >>> first = study.randomize({"age": [19, 22, 23, 25, 31, 48, 52, 77] * 500}, seed=1)
    >>> plan_bins(first, "age", 3).bins
    ('18', '30', '50')
    """
    model = fit(reports, "castell")
    (attribute,) = model.study.schema.select(name)
    scale = attribute.scale
    if not isinstance(scale, Bins):
        raise QueryError(
            f"{name!r} has no bins that could be put together",
            "ask the first respondents with many bins: bins = [...] in the study file",
        )
    if not is_whole(bins, 2) or bins >= scale.size:
        raise OptionError(
            f"bins is {bins!r} of {scale.size}",
            f"give how many to keep, from 2 to {scale.size - 1}",
        )
    if by not in CRITERIA:
        raise OptionError(f"by is {by!r}", f"use one of {', '.join(CRITERIA)}")
    if by == "width" and not np.isfinite(scale.limits).all():
        raise OptionError(
            f"by is 'width', and {name!r} is open at its ends",
            "give its study a range, or take by='shares'",
        )
    table = model.estimate(name).probabilities[: scale.size]
    known = simplex(table / table.sum()) if table.sum() > 0.0 else np.full(scale.size, 1.0)
    ends = _best_ends(scale.size, bins, partial(_cost, by, known, scale.limits))
    return _plan_of(model, attribute, scale, ends, by)


def _plan_of(model: Model, attribute: Attribute, scale: Bins, ends: list[int], by: str) -> BinPlan:
    starts = [0, *ends[:-1]]
    edges = (*(scale.edges[start] for start in starts), scale.edges[-1])
    made = Bins(edges, scale.whole, scale.unit)
    beside = list(attribute.values[scale.size :])
    none = beside.pop(0) if attribute.may_have_none else None
    kept = beside[: len(beside) - attribute.may_skip]
    closed = edges[0] is not None
    asked = Attribute(
        attribute.name,
        question=attribute.question,
        bins=list(edges[1:-1]),
        range=[edges[0], edges[-1]] if closed else None,
        unit=scale.unit,
        type="" if made.whole else "number",
        also=kept,
        missing=attribute.missing,
        public=attribute.public,
        none=none,
    )
    found = [
        model.probability({attribute.name: list(attribute.values[start:end])})
        for start, end in zip(starts, ends, strict=True)
    ]
    return BinPlan(
        attribute,
        asked,
        tuple(float(share.value) for share in found),
        tuple(float(share.standard_error) for share in found),
        model.counts.n,
        by,
        model.study,
    )


def _scale(attribute: Attribute) -> Bins:
    if not isinstance(attribute.scale, Bins):
        raise QueryError(f"{attribute.name!r} has no bins", "plan them for one that has")
    return attribute.scale


def _cost(by: str, shares: Floats, limits: Floats, start: int, end: int) -> float:
    share = float(shares[start:end].sum())
    return share**2 if by == "shares" else share * float(limits[end] - limits[start])


def _best_ends(size: int, groups: int, cost: Cost) -> list[int]:
    """Where each of so many groups of neighbours ends, with the smallest sum of costs.

    >>> _best_ends(4, 2, lambda i, k: float((k - i) ** 2))
    [2, 4]
    """
    best = [cost(0, end) if end else 0.0 for end in range(size + 1)]
    cut: list[list[int]] = []
    for group in range(2, groups + 1):
        found, where = [np.inf] * (size + 1), [0] * (size + 1)
        for end in range(group, size + 1):
            tries = [best[k] + cost(k, end) for k in range(group - 1, end)]
            place = int(np.argmin(tries))
            found[end], where[end] = tries[place], group - 1 + place
        best = found
        cut.append(where)
    ends = [size]
    for where in reversed(cut):
        ends.insert(0, where[ends[0]])
    return ends
