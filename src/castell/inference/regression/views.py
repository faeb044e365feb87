"""The reports of each sample as the likelihood of a regression sees them.

A sample may hold some of the regression's attributes only, and its block may hold others besides.
Where how the block's attributes are reported depends on those others, they are part of the view,
with a distribution of their own given the regression's attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from castell.counting import Counts, samples_of, studies_of
from castell.errors import MethodError, QueryError, ReportError
from castell.inference.inversion import Observed, observe
from castell.inference.likelihood import Likelihood
from castell.linear.operators import Floats, apply
from castell.linear.table import Table


@dataclass(frozen=True, eq=False)
class View:
    """One sample: its reports over the regression's attributes it holds, then over others."""

    shown: tuple[str, ...]
    observed: Observed
    likelihood: Likelihood

    @property
    def n(self) -> int:
        return self.observed.n

    @property
    def others(self) -> tuple[int, ...]:
        """The axes of attributes that are not in the regression."""
        return tuple(range(len(self.shown), len(self.observed.names)))

    def even(self) -> Floats:
        """Others as if all were equally likely, whatever the regression's attributes."""
        shape = self.observed.shape
        return np.full(shape, 1.0 / prod(shape[len(self.shown) :]))

    def forward(self, table: Floats) -> Floats:
        """How reports are distributed, from a table over all of the view's attributes."""
        return apply(self.likelihood.forward, self.observed.in_block_order(table))

    def backward(self, reports: Floats) -> Floats:
        """The sum over reports of a number for each, times its chance, for every answer."""
        return self.observed.in_order_asked(apply(self.likelihood.backward, reports))

    def whole(self, table: Floats, names: Sequence[str]) -> Floats:
        """A table over all of the regression's attributes as one over those of the view."""
        own = Table(tuple(names), table).project(self.shown).values
        return own.reshape(own.shape + (1,) * len(self.others))

    def spread(self, numbers: Floats, names: Sequence[str]) -> Floats:
        """Numbers over the attributes shown, with axes for all of the regression's attributes."""
        return Table(self.shown, numbers).along(names)


def views_of(counts: Counts, names: Sequence[str]) -> list[View]:
    """The samples that hold some of the attributes."""
    blocks = [block for study in studies_of(counts) for block in study.design.blocks]
    if not all(block.channel.has_matrix for block in blocks):
        raise MethodError(
            "Bloom filters have no likelihood of single answers", "use another design to regress"
        )
    found = []
    for sample in samples_of(counts):
        shown = tuple(name for name in names if name in sample.study.names)
        if shown and sample.n:
            observed = observe(sample, _names_needed(sample, shown))
            found.append(View(shown, observed, Likelihood.of(observed)))
    seen = {name for view in found for name in view.shown}
    missing = [name for name in names if name not in seen]
    if not found or missing:
        raise ReportError(f"nobody reported {', '.join(missing)} yet", "collect some more")
    alone = [
        name
        for name in names[:-1]
        if not any(name in view.shown and names[-1] in view.shown for view in found)
    ]
    if alone:
        raise QueryError(
            f"no respondent reported {names[-1]} and {' or '.join(alone)} together",
            "leave it out of the formula, or use a design whose blocks hold both",
        )
    return found


def _names_needed(sample: Counts, shown: tuple[str, ...]) -> tuple[str, ...]:
    """The attributes shown, and all others of blocks that are not to be looked at in part."""
    more: list[str] = []
    for block in sample.study.design.blocks:
        mine = [name for name in block.names if name in shown]
        if mine and len(mine) < len(block.names):
            keep = [i for i, name in enumerate(block.names) if name in shown]
            lens = block.channel.project(block.sizes, keep)
            if lens is None or not lens.has_forward:
                more += [name for name in block.names if name not in shown]
    return (*shown, *more)
