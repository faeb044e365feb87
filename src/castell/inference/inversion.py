"""From a table of reports to a table of probabilities, and how far it may be off.

This is the paper's castell with what it leaves out: blocks of several attributes, marginals of
them, and variances. Everything here is linear, so marginalising and inverting commute, and the
variance is the same calculation with the squared inverse. Single cells of any width, without a
table, are in `queries`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from castell.channels import Lens
from castell.counting import Counts
from castell.counting.counts import count_once
from castell.errors import ReportError
from castell.inference.intervals import Normal
from castell.linear.operators import Dense, Floats, Operator, apply
from castell.study.design import Axis, lens_on
from castell.study.schema import Attribute, check_cells
from castell.study.study import Study

# Inverses of parts with more entries than this are never written out.
MOST_ENTRIES = 1 << 22
# Cells at a time: what is worked out of so many on the way stays in the cache.
_CELLS = 1 << 14

# Attributes asked for, in groups that are taken as independent of each other.
Groups = Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Part:
    """What one block contributes to a table: some of its attributes, and the lens on them."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    axes: tuple[Axis, ...]
    lens: Lens


# Only a sample of respondents who reported the same blocks has a table of its own.
_REMEDY = "use a method that reads drawn blocks (castell.methods_for(study) names them)"


def parts_of(study: Study, names: Sequence[str]) -> tuple[Part, ...]:
    """The blocks that hold some attributes, each seen only as far as they are asked for."""
    study.design.refuse_draw(_REMEDY)
    wanted, parts = set(names), []
    for i, block in enumerate(study.design.blocks):
        present = tuple(name for name in block.names if name in wanted)
        if present:
            sizes = tuple(study.schema[name].size for name in present)
            parts.append(Part(present, sizes, block.axes(i, present), lens_on(block, present)))
    return tuple(parts)


def _axes(parts: Iterable[Part]) -> list[Axis]:
    return [axis for part in parts for axis in part.axes]


@dataclass(frozen=True, eq=False)
class Observed:
    """The reports' table over some attributes, in the order of the blocks, and its inverse."""

    study: Study
    attributes: tuple[Attribute, ...]  # in the order asked
    parts: tuple[Part, ...]
    table: NDArray[np.float64]  # one axis for each of the parts' axes, in their order
    n: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.attributes)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(a.size for a in self.attributes)

    @property
    def has_small_inverses(self) -> bool:
        """Whether the inverse of every part can be written out as a matrix."""
        inverses = (part.lens.inverse for part in self.parts)
        return all(inverse.rows * inverse.columns <= MOST_ENTRIES for inverse in inverses)

    @property
    def _present(self) -> list[str]:
        return [name for part in self.parts for name in part.names]

    def replace(self, table: Floats) -> Observed:
        """The same question to other reports; for simulations."""
        return Observed(self.study, self.attributes, self.parts, table, round(table.sum()))

    def project(self, names: Sequence[str]) -> Observed:
        """The table of some of the attributes."""
        if tuple(names) == self.names:
            return self
        parts = parts_of(self.study, names)
        kept = _axes(parts)
        gone = tuple(i for i, axis in enumerate(_axes(self.parts)) if axis not in kept)
        table = self.table.sum(axis=gone) if gone else self.table
        chosen = self.study.schema.select(names)
        return Observed(self.study, chosen, parts, table, self.n)

    def in_order_asked(self, table: Floats) -> Floats:
        """A table over the parts as one over the attributes in the order asked."""
        present = self._present
        sizes = [self.study.schema[name].size for name in present]
        return table.reshape(sizes).transpose([present.index(name) for name in self.names])

    def in_block_order(self, table: Floats) -> Floats:
        """The way back: one axis for each part."""
        order = [self.names.index(name) for name in self._present]
        return table.transpose(order).reshape([prod(part.sizes) for part in self.parts])

    def frequencies(self) -> Floats:
        """The share of each report, one axis for each part."""
        shape = [prod(axis.size for axis in part.axes) for part in self.parts]
        return self.table.reshape(shape) / self.n

    def smoothed(self) -> Observed:
        """As many reports with the minimax estimate of their distribution (Trybula 1958), to read
        variances from: as if sqrt(n) more had come, spread evenly. A few show too little variance.
        What is public stays as it was reported: it is known who has it.
        """
        more = sqrt(self.n)
        table = (self.table + more * self._evenly()) * (self.n / (self.n + more))
        return Observed(self.study, self.attributes, self.parts, table, self.n)

    def _evenly(self) -> Floats:
        """All kinds of reports equally likely, within each combination of public values."""
        blocks = self.study.design.blocks
        public = [blocks[axis.block].is_public for axis in _axes(self.parts)]
        gone = tuple(i for i, shown in enumerate(public) if not shown)
        margin = self.table.sum(axis=gone, keepdims=True)
        return np.asarray(margin / margin.sum() * (margin.size / self.table.size))

    def invert(self) -> Floats:
        """The unbiased estimate."""
        inverses = [part.lens.inverse for part in self.parts]
        return self.in_order_asked(apply(inverses, self.frequencies()))

    def second_moment(self) -> Floats:
        """The mean over reports of what each adds to a cell, squared."""
        squares = [part.lens.inverse.power(2) for part in self.parts]
        return self.in_order_asked(apply(squares, self.frequencies()))

    def moment_slope(self) -> Floats:
        """The slope of each cell's mean square on its estimate, from the blocks' own margins."""
        shape = [prod(axis.size for axis in part.axes) for part in self.parts]
        shares = [margin + 1.0 for margin in margins_of(self.table.reshape(shape))]
        means = [
            [
                part.lens.inverse.power(power).turn(share[:, None] / share.sum())[0]
                for part, share in zip(self.parts, shares, strict=True)
            ]
            for power in (1, 2, 3)
        ]
        return self.in_order_asked(product_moment_slopes(means, self.n))

    def expected_frequencies(self, probabilities: Floats) -> Floats:
        """The distribution of reports that a distribution of answers leads to."""
        forwards = [part.lens.forward for part in self.parts]
        return apply(forwards, self.in_block_order(probabilities))


def observe(counts: Counts, names: Sequence[str], max_cells: int | None = None) -> Observed:
    """Count the reports over some attributes; too large a table is refused first."""
    study = counts.study
    study.design.refuse_draw(_REMEDY)
    attributes = study.schema.select(names)
    what = " x ".join(a.name for a in attributes)
    check_cells(what, [a.size for a in attributes], max_cells)
    parts = parts_of(study, [a.name for a in attributes])
    # A channel may have many more reports than answers; their table must fit too.
    check_cells(f"reports of {what}", [axis.size for axis in _axes(parts)], max_cells)
    table = count_once(counts, _axes(parts)).astype(np.float64)
    return Observed(study, attributes, parts, table, require_reports(round(float(table.sum()))))


def cross_moment(observed: Observed, one: tuple[str, ...], two: tuple[str, ...]) -> Floats:
    """The mean over reports of what each adds to two tables, in the order one + two.

    For groups in different blocks it is the table of both. Groups that share a block each look
    at their own digits of its code through their own lens.
    """
    first, second = parts_of(observed.study, one), parts_of(observed.study, two)
    both = observed.project(one + two)
    seen = [(part.names, part.axes, part.lens.inverse) for part in first]
    for names, axes, inverse in [(part.names, part.axes, part.lens.inverse) for part in second]:
        shared = next((i for i, (_, mine, _) in enumerate(seen) if mine == axes), None)
        if shared is None:
            seen.append((names, axes, inverse))
        else:
            # Reports without digits: both groups look at the same code.
            mine, _, other = seen[shared]
            seen[shared] = (mine + names, axes, _rows_of_both(other, inverse))
    order = [_axes(both.parts).index(axis) for _, axes, _ in seen for axis in axes]
    shape = [prod(axis.size for axis in axes) for _, axes, _ in seen]
    frequencies = both.table.transpose(order).reshape(shape) / observed.n
    table = apply([inverse for _, _, inverse in seen], frequencies)
    present = [name for names, _, _ in seen for name in names]
    sizes = [observed.study.schema[name].size for name in present]
    return table.reshape(sizes).transpose([present.index(name) for name in one + two])


def _rows_of_both(one: Operator, two: Operator) -> Operator:
    """What a report adds to every two cells, one of each table: all products of two rows."""
    left, right = one.dense(), two.dense()
    return Dense((left[:, None, :] * right[None, :, :]).reshape(-1, left.shape[1]))


def require_reports(n: int) -> int:
    if n == 0:
        raise ReportError("there are no reports", "collect some before estimating")
    return n


def restrict(groups: Groups, names: Sequence[str]) -> Groups:
    """The groups as far as they hold some names; names in no group stand alone."""
    within = [tuple(name for name in names if name in group) for group in groups]
    rest = [(name,) for name in names if not any(name in group for group in groups)]
    return [group for group in within if group] + rest


# -- how the variance of an estimate goes along with it --------------------------------------------


def moment_slope(powers: Sequence[Floats], n: int) -> Floats:
    """How the variance of an estimate goes along with the estimate itself, times n.

    `powers` are the means of g, g^2 and g^3, where g is what a report adds. The mean of g and the
    mean of g^2 over the same reports covary; this is the slope of the second on the first,
    cov(g^2, g) / var(g). It is a correction of first order. Where noise is so large that it would
    move a 95 % interval by half its reach or more, rare reports decide and it is left out.
    """
    one, two, three = powers
    # A report that cannot vary has no slope.
    variance = np.maximum(two - one**2, 1e-300)
    slope = (three - one * two) / variance
    noisy = (variance > 1.0) & (1.96 * np.abs(slope - 2.0 * one) > np.sqrt(n * variance))
    return np.where(noisy, 2.0 * one, slope)


def margins_of(table: Floats) -> list[Floats]:
    """The sums over all axes but one, for each. The table itself is read twice."""
    if table.ndim == 1:
        return [table]
    front, back = table.shape[: table.ndim // 2], table.shape[table.ndim // 2 :]
    halves = table.reshape(prod(front), prod(back))
    first, last = halves.sum(axis=1).reshape(front), halves.sum(axis=0).reshape(back)
    return margins_of(first) + margins_of(last)


def product_moment_slopes(means: Sequence[Sequence[Floats]], n: int) -> Floats:
    """`moment_slope` of every cell, whose powers are products of means, one for each part.

    Cells are flat, the last part fastest. Neither the powers nor what is made of them are ever kept
    for the whole table.
    """
    sizes = [len(mean) for mean in means[0]]
    cut = next(k for k in range(len(sizes)) if k == len(sizes) - 1 or prod(sizes[k:]) <= _CELLS)
    front = [reduce(_multiply_out, own[:cut], np.ones(1)) for own in means]
    back = [reduce(_multiply_out, own[cut:], np.ones(1)) for own in means]
    result = np.empty((len(front[0]), len(back[0])))
    step = max(1, _CELLS // len(back[0]))
    for start in range(0, len(result), step):
        some = slice(start, start + step)
        powers = [np.multiply.outer(f[some], b) for f, b in zip(front, back, strict=True)]
        result[some] = moment_slope(powers, n)
    return result.reshape(-1)


def _multiply_out(one: Floats, two: Floats) -> Floats:
    return np.multiply.outer(one, two).ravel()


def wilson(pi: Floats, variance: Floats, slope: Floats, n: int, target: str) -> Normal:
    """The spread of an inverted cell: variance E g^2 - pi^2 for the population's table, E g^2 - pi
    for the respondents' own, with its slope in pi."""
    if target == "population":
        return Normal(variance, (slope - 2.0 * pi) / n, -1.0 / n)
    return Normal(variance, (slope - 1.0) / n)
