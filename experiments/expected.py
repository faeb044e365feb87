"""The paper's model of noise: reports nobody sent, the expected table rounded to whole counts.

In the paper's accuracy tables nobody randomises anything; the only error is that of rounding. It
divides by the number of respondents, although rounded tables need not sum to it, and rounds every
table that a scheme looks at by itself: the one-way tables of RR-Independent, the (w-1)-way tables
of the truncated scheme. So the paper's schemes are written out here; any other method is fitted to
`RoundedCounts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import castell
from castell import Study
from castell.counting.counts import ByBatches
from castell.counting.kernels import Integers
from castell.errors import QueryError
from castell.estimators import clusters
from castell.inference.inversion import Groups, Observed, parts_of, restrict
from castell.inference.joint_or_product import joint_is_better
from castell.linear.operators import Floats
from castell.linear.table import Table, product
from castell.study.design import Axis
from experiments.datasets.population import Population


def report_distribution(study: Study, names: Sequence[str], truth: Floats) -> Floats:
    """How likely each report on some attributes is, with one axis for each in the order asked."""
    question = Observed(study, study.schema.select(names), parts_of(study, names), np.empty(0), 1)
    reports = question.expected_frequencies(truth)
    held = [name for part in question.parts for name in part.names]
    sizes = [axis.size for part in question.parts for axis in part.axes]
    return reports.reshape(sizes).transpose([held.index(name) for name in names])


def observe_rounded(study: Study, people: Population, names: Sequence[str]) -> Observed:
    """What the paper's model has the server see of some attributes."""
    parts = parts_of(study, names)
    held = [name for part in parts for name in part.names]
    table = np.rint(people.n * report_distribution(study, held, people.table(held)))
    return Observed(study, study.schema.select(names), parts, table, people.n)


def estimate(
    study: Study,
    people: Population,
    names: tuple[str, ...],
    method: str,
    options: Mapping[str, Any] | None = None,
) -> Floats:
    """The table a method makes of it."""
    if getattr(study.design, "draw", None):
        raise QueryError("the paper's model has everybody answer everything", "use --noise real")
    alone: Groups = [(name,) for name in names]
    if method == "castell":
        return observe_rounded(study, people, names).invert()
    if method == "truncated":
        return _truncate(study, people, names)
    if method == "independent":
        return _product(study, people, names, alone)
    if method == "hybrid":
        rule = (options or {}).get("rule", "data")
        if rule == "width":
            whole = len(names) <= (options or {})["width"]
        else:
            # The estimator's own rule. It expects the noise of real reports, which is not there.
            whole = joint_is_better(observe_rounded(study, people, names), alone)[0]
        return _product(study, people, names, [names] if whole else alone)
    counts = RoundedCounts(study, people)
    if method == "clusters":
        given = (options or {}).get("clusters")
        own = [block.names for block in study.design.blocks]
        groups = restrict(_clusters(study, people) if given is None else own, names)
        return _product(study, people, names, groups)
    return castell.fit(counts, method, **(options or {})).estimate(names).probabilities


@lru_cache(maxsize=4)
def _clusters(study: Study, people: Population) -> Groups:
    return clusters.find_clusters(RoundedCounts(study, people))


def _product(study: Study, people: Population, names: tuple[str, ...], groups: Groups) -> Floats:
    tables = [Table(tuple(g), observe_rounded(study, people, g).invert()) for g in groups]
    return product(tables, names)


def _truncate(study: Study, people: Population, names: tuple[str, ...]) -> Floats:
    table = np.maximum(observe_rounded(study, people, names).invert(), 0.0)
    for name in names:
        rest = tuple(other for other in names if other != name)
        known = Table(rest, observe_rounded(study, people, rest).invert()) if rest else None
        cut = known.along(names) if known else 1.0
        table = np.minimum(table, cut)
    return table


@dataclass(frozen=True, eq=False)
class RoundedCounts(ByBatches):
    """The same as counts for any estimator, which divides by what they sum to.

    What rounding lost or added is spread over all cells, so that they sum to the respondents.
    """

    study: Study
    people: Population
    secure: bool = False
    backend: str | None = None

    @property
    def n(self) -> int:
        return self.people.n

    def table(self, axes: Sequence[Axis]) -> Integers:
        names = [self._name(axis) for axis in axes]
        reports = report_distribution(self.study, names, self.people.table(names))
        table = np.rint(self.n * reports)
        # Counts are whole numbers to all who ask; these are as near as the model comes.
        return table + (self.n - table.sum()) / table.size  # type: ignore[no-any-return]

    def _name(self, axis: Axis) -> str:
        block = self.study.design.blocks[axis.block]
        return next(name for name in block.names if axis in block.axes(axis.block, [name]))

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        del blocks
        raise _nothing_to_read()


def _nothing_to_read() -> QueryError:
    return QueryError("the paper's model has no reports to go through", "use --noise real")
