"""What is left of a table if a share of its reports is forged.

A table of honest people x that holds a share of forged reports is (1 - share) x + share z, where z
is what the forged ones alone would be estimated to be: anything between the least and the most that
a report can add. So each cell of x has bounds that hold whatever was forged. Between them lies an
estimate like that of LDPRecover (Sun et al. 2024): the forged reports are taken to be those that
speak most for `targets` or, if nobody knows what they speak for, to add alike to the cells above
zero; what they add is taken out, and the rest made a distribution.

The share is somebody's guess. If it is wrong the estimate is, and with no forged reports it is a
little worse than without; the bounds are right as long as the share is not above it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from castell.counting import Counts
from castell.display.arrays import array_of
from castell.display.json_values import plain
from castell.display.notebook import heading, html_table
from castell.display.one_line import one_line
from castell.errors import OptionError, QueryError
from castell.inference.postprocess import simplex
from castell.linear.operators import Floats
from castell.numbers import is_number
from castell.results.joint import JointEstimate
from castell.results.model import Collected, counts_of, fit
from castell.results.notebook_table import MOST_ROWS
from castell.results.summary import number, span
from castell.results.trust.influence import contributions
from castell.results.trust.raw_tables import Sight, sights

# With more forged reports than that nothing is left to tell from them.
MOST_FORGED = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class Recovered:
    """A table without a share of forged reports: an estimate, and bounds whatever was forged."""

    names: tuple[str, ...]
    share: float
    probabilities: Floats
    lower: Floats  # the honest table is above this and
    upper: Floats  # below this: 95 % intervals, widened by what the forged reports can add
    unbiased: JointEstimate

    def to_dict(self) -> dict[str, Any]:
        """The table for programs, as plain JSON values; docs/results.md has the layout."""
        return {
            "kind": "recovered",
            **self.unbiased.source.to_dict(),
            "attributes": list(self.names),
            "values": [list(attribute.values) for attribute in self.unbiased.attributes],
            "share": self.share,
            "probabilities": plain(self.probabilities),
            "lower": plain(self.lower),
            "upper": plain(self.upper),
        }

    def __array__(
        self, dtype: DTypeLike | None = None, *, copy: bool | None = None
    ) -> NDArray[Any]:
        return array_of(self.probabilities, dtype, copy)

    def _repr_html_(self) -> str:
        cells = np.argsort(-self.probabilities, axis=None, kind="stable")[:MOST_ROWS]
        places = np.unravel_index(cells, self.probabilities.shape)
        labels = [
            [a.values[code] for a, code in zip(self.unbiased.attributes, row, strict=True)]
            for row in zip(*places, strict=True)
        ]
        tables = (self.probabilities, self.lower, self.upper)
        numbers = zip(*(table.ravel()[cells] for table in tables), strict=True)
        return html_table(
            heading(str(self), *self.unbiased.source.facts()),
            [*self.names, "estimate", "between"],
            [
                [*label, number(share), span(low, high)]
                for label, (share, low, high) in zip(labels, numbers, strict=True)
            ],
            labels=len(self.names),
        )

    def __repr__(self) -> str:
        facts = [f"{self.share:.1%} forged", *self.unbiased.source.facts()]
        return one_line("Recovered", " x ".join(self.names), facts)

    def __str__(self) -> str:
        widest = float((self.upper - self.lower).max())
        return (
            f"{' x '.join(self.names)} if {self.share:.1%} of {self.unbiased.n:,} reports are "
            f"forged: cells known to within {100 * widest:.1f} points at worst"
        )


def recover(
    reports: Collected,
    names: str | Sequence[str],
    share: float,
    *,
    targets: Mapping[str, str] | None = None,
) -> Recovered:
    """The table of some attributes, where at most a `share` of the reports is forged.

    `targets` names a value of each attribute that the forged reports are thought to speak for.
    """
    if not is_number(share, 0.0) or float(share) >= MOST_FORGED:
        raise OptionError(
            f"the share of forged reports is {share!r}", "give one from 0 to below a half, as 0.05"
        )
    counts = counts_of(reports)
    joint = fit(reports, "castell").estimate(names)
    table, sight = joint.unprocessed, _sight(counts, joint.names)
    forged = _even_forgery(table) if targets is None else _targeted_forgery(sight, joint, targets)
    honest = simplex((table - share * forged) / (1.0 - share))
    low, high = joint.spread(joint.names).plain(table, 0.95)
    least, most = _bounds(sight, counts.n, float(share), low, high)
    return Recovered(joint.names, float(share), honest, least, most, joint)


def _sight(counts: Counts, names: tuple[str, ...]) -> Sight:
    seen = sights(counts, names)
    if len(seen) != 1:
        raise QueryError(
            f"no block tells {', '.join(names)} as a table of its own",
            "ask for attributes that one block holds",
        )
    return seen[0]


def _even_forgery(table: Floats) -> Floats:
    """What forged reports of nobody knows what add up to: alike in the cells above zero."""
    spoken = table > 0.0
    return np.asarray(spoken / spoken.sum())


def _targeted_forgery(sight: Sight, joint: JointEstimate, targets: Mapping[str, str]) -> Floats:
    """What the reports add that speak most for a cell: more than one there, less than none in
    others."""
    if set(targets) != set(joint.names):
        raise OptionError(
            "the targets are not of these attributes", "give a value for each of them"
        )
    codes = {a.name: a.code(targets[a.name]) for a in joint.attributes}
    total = np.zeros(joint.unprocessed.shape)
    for weight, observed in sight.views:
        added: Floats = np.ones(())
        for part in observed.parts:
            gains = part.lens.inverse.dense()
            row = int(np.ravel_multi_index([codes[name] for name in part.names], part.sizes))
            most = gains[row] > gains[row].max() - 1e-9
            added = np.multiply.outer(added, gains[:, most].mean(axis=1))
        total += weight * observed.in_order_asked(added)
    return total


def _bounds(sight: Sight, n: int, share: float, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """All forged reports in the block that counts most, each adding the most, or the least.

    A block of n_b reports with weight w takes in all of share n: it is then k = share n w / n_b of
    the table f = (1 - k) x + k c.
    """
    least: Floats = np.clip(low, 0.0, 1.0)
    most: Floats = np.clip(high, 0.0, 1.0)
    for weight, observed in sight.views:
        part = share * n * weight / observed.n
        if part >= 1.0:
            return np.zeros_like(low), np.ones_like(high)
        smallest, largest = contributions(observed)
        least = np.minimum(least, np.clip((low - part * largest) / (1.0 - part), 0.0, 1.0))
        most = np.maximum(most, np.clip((high - part * smallest) / (1.0 - part), 0.0, 1.0))
    return least, most
