"""LoPub: synthetic rows from Bloom filters, through a junction tree of dependent attributes.

X. Ren et al., "LoPub: High-Dimensional Crowdsourced Data Publication with Local Differential
Privacy", IEEE TIFS 2018. It reads the design "bloom" and no other.

**Budget.** Every attribute is a block: a Bloom filter of 64 bits and 5 hash functions, the same for
everyone, each bit flipped with probability f / 2. Its epsilon is counted from the filters in use:
the most bits in which two values' filters differ, times ln((2 - f) / f), and never more than the
original's 2 h ln((2 - f) / f). Attributes share the study's total, and the sum over them is what a
respondent spends (the original's 2 d h ln((2 - f) / f)). So f follows from epsilon.

**What is followed.** Joint distributions by Lasso regression of the bits' rates, by EM on the
reports, or by both; pairs whose mutual information is at least min(|A|-1, |B|-1) phi^2 / 2 are
joined; the graph is triangulated, each clique's joint distribution estimated, and rows are sampled
clique by clique. EM ends when no share moves by more than `close` (the paper's delta).

**Where the source is silent, or its letter does not work.**
- Lasso sees the rates of single bits, which hold the margins only; many joint distributions fit
  them equally, and Lasso returns one of few combinations. EM over just these combinations (the
  hybrid to the letter) cannot mend that: 2-way AVD on Adult .118 at epsilon 4 for each attribute,
  where EM over all has .015. So "lasso+em" here takes from Lasso the one-way margins, where it is
  sound, starts EM from their product, and falls back to Lasso's combinations only for cliques too
  large for EM. "em" starts from the uniform table, "lasso" does without EM.
- phi, delta, the Lasso's penalty and the number of rows are not given with the printed numbers.
- What is done where sampling meets values that a clique gives no share: the rest of that clique is
  sampled as if nothing were known.

`variant="published"` is what the authors' public code does where print is silent, and nothing of
the above that differs from it: Lasso with a penalty of 1/2 on counts, with an intercept and signed
coefficients; EM over just the combinations it keeps, until no share moves by .001. phi is .2 to .5
there. In the original f follows from 2 h ln((2 - f) / f) for each attribute, which a design has by
a smaller epsilon (`BloomResponse.original_epsilon`).

`docs/compared-systems.md` has the numbers next to the printed ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from itertools import combinations
from math import prod

import numpy as np

from castell.counting import Counts
from castell.errors import OptionError
from castell.inference.bloom_filters import Filters, Shares
from castell.inference.junction_tree import Clique, cliques, sample
from castell.inference.method import Fitted, Reads
from castell.inference.signed_lasso import PENALTY, candidates
from castell.inference.synthetic_rows import Rows, model, row_count
from castell.linear.cores import one_thread
from castell.linear.operators import Floats
from castell.numbers import is_number, is_whole

READS = Reads(everybody=False, bloom=True)
# It takes seconds: experiments repeat it no more often than this.
REPEATS = 3
# Shown beside it in the figures: what the paper of castell compared with.
VARIANTS = {
    "lopub, as published": {"variant": "published"},
    "lopub, Lasso only": {"joint": "lasso"},
}

JOINTS = ("lasso+em", "em", "lasso")
VARIANT_NAMES = ("ours", "published")
PUBLISHED_CLOSE = 1e-3
# What EM may go through in a step: cells, and cells times reports. Larger cliques get Lasso's
# combinations.
CELLS, WORK = 1 << 12, 1 << 28
# No value starts at exactly zero, or EM could never leave it.
_FLOOR = 0.01


def fit(
    counts: Counts,
    *,
    variant: str = "ours",
    joint: str = "lasso+em",
    phi: float = 0.2,
    penalty: float = 0.0,
    close: float = 1e-4,
    steps: int = 300,
    rows: int | None = None,
) -> Fitted:
    """`phi`, how strong a dependence must be; `close` and `steps`, when EM ends."""
    if variant not in VARIANT_NAMES:
        raise OptionError(f"variant is {variant!r}", f"use one of {', '.join(VARIANT_NAMES)}")
    if variant == "published":
        if (joint, penalty, close) != ("lasso+em", 0.0, 1e-4):
            raise OptionError(
                "variant is 'published' and joint, penalty or close is given",
                "leave them out; they are what was published",
            )
        return _fit(counts, How(variant, PENALTY, PUBLISHED_CLOSE, steps), phi, steps, rows)
    if joint not in JOINTS:
        raise OptionError(f"joint is {joint!r}", f"use one of {', '.join(JOINTS)}")
    for name, value in (("penalty", penalty), ("close", close)):
        if not is_number(value, 0.0):
            raise OptionError(f"{name} is {value!r}", "give a number from 0 up")
    return _fit(counts, How(joint, penalty, close, steps), phi, steps, rows)


@one_thread()  # the last bits of EM depend on how products are cut, and rows on these
def _fit(counts: Counts, how: How, phi: float, steps: int, rows: int | None) -> Fitted:
    if not is_number(phi, 0.0):
        raise OptionError(f"phi is {phi!r}", "give a number from 0 up")
    if not is_whole(steps, 1):
        raise OptionError(f"steps is {steps!r}", "give a whole number from 1 up")
    wanted = row_count(counts, rows)
    filters = Filters.of(counts)
    order = structure(filters, how, phi)
    # Once fitted the reports are not needed again: errors come from resampled reports.
    first = _rows(order, how, wanted, filters, 0)
    return model(counts, partial(_learn, order, how, wanted), first)


@dataclass(frozen=True)
class How:
    """How a joint distribution is estimated."""

    joint: str
    penalty: float
    close: float
    steps: int

    def shares(self, filters: Filters, names: tuple[str, ...]) -> Shares:
        """The joint distribution of some attributes."""
        sizes = [filters.matrices[name].shape[1] for name in names]
        if self.joint == "lasso":
            return filters.lasso(names, self.penalty)
        cells = prod(sizes)
        if self.joint == "published" and cells <= CELLS:
            some = candidates(filters, names, self.penalty)
            return filters.em_of(names, some, self.close, self.steps)
        if cells > CELLS or cells * filters.n > WORK:
            some = filters.lasso(names, self.penalty)
            return filters.em_of(names, some, self.close, self.steps)
        start = np.full(sizes, 1.0 / cells)
        if self.joint == "lasso+em":
            margins = filters.margins(names, self.penalty)
            mixed = [(1.0 - _FLOOR) * m + _FLOOR / len(m) for m in margins]
            start = np.asarray(reduce(np.multiply.outer, mixed))
        return Shares.of(filters.em(names, start, self.close, self.steps))


def structure(filters: Filters, how: How, phi: float) -> list[Clique]:
    """The cliques of attributes that depend on each other, in the order of sampling."""
    names, edges = tuple(filters.matrices), []
    for pair in combinations(names, 2):
        sizes = [filters.matrices[name].shape[1] for name in pair]
        found = mutual_information(how.shares(filters, pair).table(sizes))
        if found >= (min(sizes) - 1) * phi**2 / 2:
            edges.append(pair)
    return cliques(names, edges)


def mutual_information(table: Floats) -> float:
    """In nats.

    >>> round(mutual_information(np.array([[0.5, 0.0], [0.0, 0.5]])), 6)
    0.693147
    """
    alone = np.outer(table.sum(axis=1), table.sum(axis=0))
    seen = table > 0
    return float((table[seen] * np.log(table[seen] / alone[seen])).sum())


def _rows(order: list[Clique], how: How, wanted: int, filters: Filters, replicate: int) -> Rows:
    tables = [how.shares(filters, clique.names) for clique in order]
    return sample(order, tables, wanted, np.random.default_rng([replicate, 2018]))


@one_thread()
def _learn(order: list[Clique], how: How, wanted: int, counts: Counts, replicate: int) -> Rows:
    return _rows(order, how, wanted, Filters.of(counts), replicate)
