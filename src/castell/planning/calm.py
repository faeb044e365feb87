"""CALM's choice of marginals: how many attributes a respondent reports together, in which sets.

After Zhang, Wang, Li, He and Chen (2018). Sets of l attributes, each drawn by as many respondents,
cover all pairs. The noise of a pair's table is what is left of that of the set that holds it,

    noise(l) = (cells of a set) x (variance of a cell for one report) x (sets for each pair) / n,

and wider sets tell more of what no pair holds. So l is the widest whose noise is below a target,
and the least noisy one where none is. It is here to be compared with; `design = "cover"` chooses
sets by what one report can tell, whatever n is. docs/mechanisms.md has both, measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import prod

from castell.channels import best_channel
from castell.channels.protocol import predicted_variance
from castell.errors import OptionError
from castell.numbers import is_number, is_whole
from castell.study.schema import Schema
from castell.study.study import Study

TARGET = 1e-3
# Wider sets than this are never cheaper, and there are ever more of them.
WIDEST = 6


@dataclass(frozen=True)
class Marginals:
    """Sets of attributes to draw from, and the noise that is expected in the table of a pair."""

    sets: tuple[tuple[str, ...], ...]
    noise: float


def calm_marginals(
    schema: Schema, epsilon: float, n: int, target: float = TARGET
) -> tuple[Marginals, ...]:
    """What CALM chooses among, for each width, the chosen one first."""
    if not is_whole(n, 1):
        raise OptionError(f"n is {n!r}", "give how many respondents are expected")
    if not is_number(target, 0.0) or target == 0.0:
        raise OptionError(f"the target is {target!r}", "give a mean squared error above 0")
    if len(schema.names) < 2:
        raise OptionError("there is one attribute", "CALM is for tables of two or more")
    widest = min(WIDEST, len(schema.names))
    found = [_of_width(schema, epsilon, n, width) for width in range(2, widest + 1)]
    quiet = [one for one in found if one.noise <= target]
    chosen = quiet[-1] if quiet else min(found, key=lambda one: one.noise)
    return (chosen, *(one for one in found if one is not chosen))


def calm_study(schema: Schema, epsilon: float, n: int, target: float = TARGET) -> Study:
    """A study with CALM's marginals; in a file they are `clusters` with `draw = true`."""
    chosen, *_ = calm_marginals(schema, epsilon, n, target)
    return Study(schema, epsilon, chosen.sets, draw=True, name="calm")


def _of_width(schema: Schema, epsilon: float, n: int, width: int) -> Marginals:
    sets = _cover_pairs(schema.names, width)
    cells = [prod(schema[name].size for name in one) for one in sets]
    variance = {size: predicted_variance(best_channel(size, epsilon)) for size in set(cells)}
    each = sum(size * variance[size] for size in cells) / len(sets)
    pairs = len(schema.names) * (len(schema.names) - 1) / 2
    holding = len(sets) * (width * (width - 1) / 2) / pairs  # sets for each pair, on average
    return Marginals(tuple(sets), each * len(sets) / (n * holding))


def _cover_pairs(names: tuple[str, ...], width: int) -> list[tuple[str, ...]]:
    """Sets of a width that hold every pair: each begins with a pair that none has yet, and takes in
    what brings most such pairs."""
    order = {name: i for i, name in enumerate(names)}
    left = {frozenset(pair) for pair in combinations(names, 2)}
    sets: list[tuple[str, ...]] = []
    while left:
        one = list(
            min(
                (sorted(pair, key=order.__getitem__) for pair in left),
                key=lambda p: [order[x] for x in p],
            )
        )
        while len(one) < width:
            rest = [name for name in names if name not in one]
            one.append(
                max(rest, key=lambda name: sum(frozenset((name, chosen)) in left for chosen in one))
            )
        left -= {frozenset(pair) for pair in combinations(one, 2)}
        sets.append(tuple(sorted(one, key=order.__getitem__)))
    return sets
