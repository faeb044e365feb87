"""Whether a model's table agrees with the unbiased table of the same reports.

A model that assumes something is wrong where that does not hold, however small its standard errors.
The unbiased table assumes nothing. The test is on associations alone: with m_a the margins of the
model's table, each interaction of two or more attributes is a function

    f(x) = prod_a (1[x_a in group] - m_a(group)),    r = mean over reports of g_f - E_model f,

where g_f is f through the transposed inverse channels, so that r has mean 0 if the model is right.
Margins that are a little off change r to second order only (Neyman's orthogonality), so they need
not be the true ones. With C the covariance of r under the model, r' C^- r is chi-square with
rank(C) degrees of freedom. A model that was fitted to the same associations agrees more closely
than that: in simulations it raises fewer false alarms, which for shrunk fits is not proved. In a
drawn design r is pooled over the blocks that hold the attributes. Values too rare for the normal
approximation are put together, and so are the rarest of a pair that has too many. A table of one
attribute has no associations: there the same is done with its main effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts, studies_of
from castell.inference.chisquare import noncentrality, tail
from castell.inference.constants import ALARM, LEAST_EXPECTED
from castell.inference.inversion import Observed
from castell.inference.pooled_table import views
from castell.inference.postprocess import simplex
from castell.inference.support import support
from castell.linear.operators import Floats
from castell.linear.table import Table

Members = NDArray[np.bool_]

# The most interactions tested at once.
MOST_INTERACTIONS = 400


class Verdict(StrEnum):
    """What the test says of a table."""

    FITS = "fits"
    DOUBTFUL = "doubtful"
    UNKNOWN = "unknown"  # nothing to compare with


@dataclass(frozen=True)
class Misfit:
    """The worst of some chi-square tests; p is for all of them together (Bonferroni)."""

    names: tuple[str, ...] = ()
    statistic: float = 0.0
    freedom: int = 0
    p: float = 1.0
    tests: int = 0

    @property
    def verdict(self) -> Verdict:
        if not self.tests:
            return Verdict.UNKNOWN
        return Verdict.DOUBTFUL if self.p < ALARM else Verdict.FITS


def can_be_inverted(counts: Counts) -> bool:
    """Whether there are unbiased tables to compare with: Bloom filters have none."""
    blocks = [block for study in studies_of(counts) for block in study.design.blocks]
    return all(block.channel.has_matrix for block in blocks)


def misfit(
    counts: Counts,
    names: Sequence[str],
    table: Floats,
    kept: Sequence[str],
) -> Misfit:
    """Test a model's table over `names`, as far as it concerns the attributes `kept`.

    Every pair of attributes that was reported together is tested, and the table of all, if it is
    not too large: an omnibus test of many interactions hardly sees a single strong one.
    """
    if not can_be_inverted(counts):
        return Misfit()
    found: list[Misfit] = []
    for some in _sets(kept):
        if support(counts, some).together:
            one = _test(views(counts, some), some, Table(tuple(names), table).project(some).values)
            found += [one] if one is not None else []
    if not found:
        return Misfit()
    worst = min(found, key=lambda one: (one.p, -one.statistic))
    p = min(1.0, worst.p * len(found))
    return Misfit(worst.names, worst.statistic, worst.freedom, p, len(found))


def _sets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    yield from combinations(names, 2)
    if len(names) != 2:
        yield tuple(names)


def _test(
    seen: Sequence[tuple[float, Observed]], names: tuple[str, ...], table: Floats
) -> Misfit | None:
    reports = sum(view.n for _, view in seen)
    possible = simplex(table)
    whole, least = Table(tuple(names), possible), np.array(sqrt(LEAST_EXPECTED / reports))
    contrasts = tested_contrasts(
        {name: whole.project([name]).values for name in names}, dict.fromkeys(names, least)
    )
    # Of several attributes their margins are not in question, of one nothing else is.
    fewest = min(2, len(names))
    free = sum(len(c) for c in contrasts.values()) if fewest > 1 else 0
    ways = prod(len(c) + 1 for c in contrasts.values()) - free
    if not 1 < ways <= MOST_INTERACTIONS + 1:
        return None
    residual, covariance = np.zeros(ways - 1), np.zeros((ways - 1, ways - 1))
    for weight, view in seen:
        if not view.has_small_inverses:
            return None
        gains = interactions(view, contrasts, fewest=fewest)
        expected = expected_reports(view, possible)
        # The model's expectation of each interaction.
        told = interactions(view, contrasts, identity=True, fewest=fewest) @ _in_parts(view, table)
        mean = gains @ expected
        residual += weight * (gains @ view.frequencies().ravel() - told)
        covariance += weight**2 * ((gains * expected) @ gains.T - np.outer(mean, mean)) / view.n
    statistic, rank = wald(residual, covariance)
    if not rank:
        return None
    return Misfit(names, statistic, rank, tail(statistic, rank), 1)


def tested_contrasts(
    margins: Mapping[str, Floats], least: Mapping[str, Floats]
) -> dict[str, Floats]:
    """Centred indicators of groups of each attribute's values, of all groups but one.

    Values are groups by themselves, those rarer than `least` put together. A pair of attributes
    with too many values has its rarest put together until it can be tested; it is judged by margins
    alone, so the test stays what it is.
    """
    groups = {name: _groups(margin, least[name]) for name, margin in margins.items()}
    while len(groups) == 2 and prod(len(each) - 1 for each in groups.values()) > MOST_INTERACTIONS:
        widest = max(groups, key=lambda name: len(groups[name]))
        *larger, one, two = sorted(groups[widest], key=lambda g: -margins[widest][g].sum())
        groups[widest] = [*larger, one | two]
    return {name: _centre_groups(each, margins[name]) for name, each in groups.items()}


def _groups(margin: Floats, least: Floats) -> list[Members]:
    least = np.broadcast_to(least, margin.shape)
    large = np.flatnonzero(margin >= least)
    groups: list[Members] = [np.arange(len(margin)) == value for value in large]
    rest = margin < least
    if rest.any():
        if margin[rest].sum() >= least[rest].max():
            groups.append(rest)
        elif groups:
            smallest = int(np.argmin(margin[large]))
            groups[smallest] = groups[smallest] | rest
    return groups


def _centre_groups(groups: Sequence[Members], margin: Floats) -> Floats:
    if len(groups) < 2:
        return np.zeros((0, len(margin)))
    return np.array([group - margin[group].sum() for group in groups[:-1]], dtype=np.float64)


def _in_parts(view: Observed, table: Floats) -> Floats:
    """A table as the parts of a report have it, flat."""
    return view.in_block_order(table).ravel()


def expected_reports(view: Observed, table: Floats) -> Floats:
    """How reports are distributed under a model.

    Where how some attributes are reported depends on others of their block, which the model's table
    does not hold, the reports themselves tell, smoothed.
    """
    if not all(part.lens.has_forward for part in view.parts):
        return view.smoothed().frequencies().ravel()
    return np.maximum(view.expected_frequencies(table).ravel(), 0.0)


def interactions(
    view: Observed, contrasts: Mapping[str, Floats], *, identity: bool = False, fewest: int = 2
) -> Floats:
    """What each report adds to every interaction of two or more attributes, a row each; of one or
    more, main effects too, if these are the `fewest`.

    A row is a product over attributes; through a channel of several it is one over their product.
    With `identity` it is what each answer adds.
    """
    present = [name for part in view.parts for name in part.names]
    inverses = [
        np.eye(part.lens.inverse.rows) if identity else part.lens.inverse.dense()
        for part in view.parts
    ]
    rows = []
    for many in range(fewest, len(present) + 1):
        for some in combinations(contrasts, many):
            if all(len(contrasts[name]) for name in some):
                each = [
                    _kronecker(
                        contrasts[name] if name in some else np.ones((1, size))
                        for name, size in zip(part.names, part.sizes, strict=True)
                    )
                    @ inverse
                    for part, inverse in zip(view.parts, inverses, strict=True)
                ]
                rows.append(_in_order(_kronecker(each), some, present, contrasts))
    return np.concatenate(rows)


def _in_order(
    rows: Floats, some: Sequence[str], every: Sequence[str], contrasts: Mapping[str, Floats]
) -> Floats:
    """Products of contrasts in the order of some names, not in that of the blocks: blocks that hold
    the same attributes may have them in any order."""
    present = [name for name in every if name in some]
    by_name = rows.reshape([len(contrasts[name]) for name in present] + [-1])
    order = [present.index(name) for name in some]
    return by_name.transpose([*order, len(present)]).reshape(rows.shape)


def _kronecker(factors: Iterable[Floats]) -> Floats:
    product: Floats = np.ones((1, 1))
    for factor in factors:
        product = np.asarray(np.kron(product, factor), dtype=np.float64)
    return product


def wald(residual: Floats, covariance: Floats) -> tuple[float, int]:
    """r' C^-1 r, and the rank of C: directions that cannot vary tell nothing."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    sure = values > 1e-9 * max(float(values.max()), 1e-300)
    along = vectors[:, sure].T @ (residual / scale)
    return float((along**2 / values[sure]).sum()), int(sure.sum())


def detectable(counts: Counts, names: tuple[str, str], margins: Sequence[Floats]) -> float:
    """The smallest association, as Cramer's V, that the test finds with 80 % power at 5 %.

    Associations of one size may lie in any direction; this is for the average over them, between
    the groups of values that are tested. 1 means that none would show.
    """
    seen = views(counts, names)
    reports = sum(view.n for _, view in seen)
    least = np.array(sqrt(LEAST_EXPECTED / reports))
    by_name = dict(zip(names, margins, strict=True))
    plain = tested_contrasts(by_name, dict.fromkeys(names, least))
    contrasts = {name: orthonormal(each, by_name[name]) for name, each in plain.items()}
    ways = prod(len(c) for c in contrasts.values())
    small = all(view.has_small_inverses for _, view in seen)
    if not ways or not small:
        return 1.0
    covariance = np.zeros((ways, ways))
    apart = np.multiply.outer(margins[0], margins[1])
    for weight, view in seen:
        gains = interactions(view, contrasts)
        expected = expected_reports(view, apart)
        covariance += weight**2 * ((gains * expected) @ gains.T) / view.n
    return smallest_detected(covariance, min(len(c) for c in contrasts.values()))


def smallest_detected(covariance: Floats, fewest: int) -> float:
    """The V that interactions with some covariance under independence show with 80 % power, on
    average over directions; `fewest` contrasts of one attribute."""
    ways = len(covariance)
    precision = float((1.0 / np.maximum(np.linalg.eigvalsh(covariance), 1e-300)).sum())
    square = noncentrality(ways) * ways / precision
    return min(1.0, sqrt(square / fewest))


def orthonormal(contrasts: Floats, margin: Floats) -> Floats:
    """Contrasts with variance 1 and no covariance under a margin."""
    if not len(contrasts):
        return contrasts
    values, vectors = np.linalg.eigh((contrasts * margin) @ contrasts.T)
    return np.asarray((vectors / np.sqrt(np.maximum(values, 1e-300))).T @ contrasts)
