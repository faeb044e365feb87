"""The largest cells of a table that is too large to build: a search over prefixes.

A prefix is a cell of the first attributes. The share of a cell is at most that of each of its
prefixes, so the largest cells are looked for by lengthening the largest prefixes, one step after
the other (beam search). Where a method's tables are distributions that agree, no cell
that was left out can be larger than the largest prefix that was left out, which is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts, samples_of
from castell.counting.counts import add_reports
from castell.counting.prefix_sums import PrefixSum
from castell.errors import QueryError
from castell.inference.inversion import Groups, Part, observe, parts_of, restrict
from castell.linear.operators import Floats

Codes = NDArray[np.intp]
# Children that are looked at in one step.
MOST_CHILDREN = 1 << 22


@dataclass(frozen=True, eq=False)
class Prefixes:
    """How a method tells the shares of prefixes.

    `steps` are the attributes in the order in which they are taken, one or several at a time.
    `children(step, codes)` gives for some prefixes, codes of all attributes of earlier steps in
    rows, the share of each together with each combination of the step's attributes, a column each.
    """

    steps: tuple[tuple[str, ...], ...]
    children: Callable[[int, Codes], Floats]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for step in self.steps for name in step)


PrefixesOf = Callable[[tuple[str, ...]], Prefixes]


@dataclass(frozen=True, eq=False)
class Found:
    """Cells in the order of the attributes asked for, the largest first.

    `beyond` is the largest estimate of a prefix that was left out; 0 if none was.
    """

    codes: Codes
    values: Floats
    beyond: float


def search(prefixes: Prefixes, sizes: dict[str, int], k: int, beam: int) -> Found:
    """The k largest cells, by lengthening at most `beam` prefixes at each step."""
    found, beyond = np.zeros((1, 0), dtype=np.intp), 0.0
    values: Floats = np.ones(1)
    for step, names in enumerate(prefixes.steps):
        shape = [sizes[name] for name in names]
        wide = prod(shape)
        room = max(1, MOST_CHILDREN // wide)
        if len(found) > room:
            beyond = max(beyond, float(values[room]))
            found = found[:room]
        children = prefixes.children(step, found)
        last = step == len(prefixes.steps) - 1
        keep = min(children.size, k if last else max(beam, k))
        order = np.argsort(-children, axis=None, kind="stable")
        values = children.ravel()[order[:keep]]
        if not last and len(order) > keep:
            beyond = max(beyond, float(children.ravel()[order[keep]]))
        parent, child = np.divmod(order[:keep], wide)
        found = np.column_stack([found[parent], *np.unravel_index(child, shape)])
    return Found(found, values, beyond)


def unbiased_prefixes(counts: Counts, groups: Groups, names: tuple[str, ...]) -> Prefixes:
    """Prefixes of a product over groups: of all attributes together, or of each by itself."""
    asked = restrict(groups, names)
    if all(len(group) == 1 for group in asked):
        margins = {name: _margin(counts, name) for name in names}
        return Prefixes(tuple((name,) for name in names), partial(_of_margins, names, margins))
    if len(asked) > 1 or len(samples_of(counts)) > 1:
        raise QueryError(
            "the largest cells of a product of several tables, or of several samples of "
            "respondents, are not looked for",
            "ask for fewer attributes, or use the method auto",
        )
    parts = parts_of(counts.study, names)
    return Prefixes(tuple(part.names for part in parts), partial(_of_reports, counts, parts))


def _margin(counts: Counts, name: str) -> Floats:
    return observe(counts, [name]).invert()


def _of_margins(
    names: Sequence[str], margins: dict[str, Floats], step: int, codes: Codes
) -> Floats:
    before = np.ones(len(codes))
    for name, column in zip(names, codes.T, strict=False):
        before = before * margins[name][column]
    return np.asarray(before[:, None] * margins[names[step]])


def _of_reports(counts: Counts, parts: Sequence[Part], step: int, codes: Codes) -> Floats:
    """Unbiased: the weighted histogram of the step's reports, with its channel taken back out."""
    entries, start = [], 0
    for part in parts[:step]:
        mine = codes[:, start : start + len(part.names)]
        start += len(part.names)
        rows, which = np.unique(
            np.ravel_multi_index(tuple(mine.T), part.sizes), return_inverse=True
        )
        inverse = np.array([part.lens.inverse.combine(np.array([row])) for row in rows])
        entries.append((part.axes, inverse, which.ravel()))
    total = PrefixSum(entries, parts[step].axes)
    add_reports(counts, total)
    return parts[step].lens.inverse.apply_last(total.result() / max(counts.n, 1))
