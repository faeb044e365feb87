"""The error of a model's answer to any question, from its margins and its associations.

A question is a function f of the answers: 1 for those it counts, else 0. Under the product of the
margins m it falls into its mean, main effects and associations (Hoeffding's decomposition), of
variances that add up. What a model says of the main effects errs as the unbiased margins do; what
it says of associations errs by beta^2 for each unit of their norm, with a beta^2 for each pair and
an overall one for all interactions of more attributes:

    V(f) = sum_a Var(main effect of a) + sum_ab beta_ab^2 N_ab(f) + beta^2 (N(f) - sum_ab N_ab(f)),
    N(f) = max(Var f under the product, Var f under the model) - sum_a Var_m(main effect of a),

N_ab being the variance of f's association of a and b. For the share s of a product of groups with
margins p_a and P = prod p_a:

    main effect of a:  (P / p_a) (1[x_a in group] - p_a),
    N = max(P (1 - P), s (1 - s)) - sum_a (P / p_a)^2 p_a (1 - p_a),
    N_ab = (P / (p_a p_b))^2 p_a (1 - p_a) p_b (1 - p_b).

As in Wilson's interval the variance goes along with the truth supposed. The error E of the
associations is taken to change with it as s (1 - s) does, E / N for each unit of that, but never to
fall below what it is at the estimate.

beta^2 comes from reports that the model has not seen. For a pair of attributes with margins m and
groups A, B of their values, let

    h(x, y) = u(x) v(y),   u = (1_A - m(A)) / sqrt(m(A) (1 - m(A))),   v likewise,

an association of unit norm. The model fitted without fold k says E_k h; the reports of fold k say
an unbiased mean of h, independent of it, with a variance v_k that is computed under the model.
Their difference r_k has mean square beta^2 + v_k, where beta^2 is the model's mean squared error
for a unit of association. Over all pairs that reports hold, and some random groups of each, the
composite likelihood

    sum of w log N(r_k; 0, beta^2 + v_k)

with an exponential prior on beta^2 gives its posterior. What a model misses is not spread evenly:
each pair has a beta^2 of its own, with the overall one as the mean of its prior, so that it is the
overall one where the reports of the pair say little. Interactions of three and more attributes are
taken to err as much for each unit of norm as pairs do overall.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from castell.inference.intervals import Normal
from castell.inference.inversion import Observed, Query, intersection
from castell.inference.margins import Codes, Margins
from castell.linear.operators import Floats
from castell.linear.table import Table, product

# Groups of values tried for each pair.
GROUPS = 40
# Groups that hold less than this are tried only if there are no others: their standardised
# indicator is nearly all noise.
RAREST = 0.05
TRIES = 30
# Before any report: associations of survey answers are of this size, root mean square (Cohen's
# small is .1 and medium .3), and what a model misses is at most all of them.
PRIOR = 0.2
# What is allowed for is not the posterior mean but so many standard deviations more: an interval
# that holds too little costs more than one that holds too much.
POSTERIOR_SDS = 0.5
_GRID = np.geomspace(1e-6, 4.0, 160)


@dataclass(frozen=True, eq=False)
class Residuals:
    """What reports not seen say of some associations, less what the model says, and the variance
    of the former; each counts as much as its `weight`."""

    differences: Floats
    variances: Floats
    weights: Floats


def groups_of(margin: Floats, generator: np.random.Generator) -> Floats:
    """Random groups of values as functions with mean 0 and variance 1, a row each."""
    size = len(margin)
    rows = []
    for _ in range(GROUPS):
        inside = generator.random((TRIES, size)) < generator.uniform(0.2, 0.8, (TRIES, 1))
        share = inside @ margin
        proper = inside.any(axis=1) & ~inside.all(axis=1)
        # The first that is large enough, or the one nearest to a half.
        wanted = proper & (np.abs(share - 0.5) <= 0.5 - RAREST)
        nearest = np.where(proper, np.abs(share - 0.5), np.inf)
        k = int(np.argmax(wanted)) if wanted.any() else int(np.argmin(nearest))
        scale = np.sqrt(max(share[k] * (1.0 - share[k]), 1e-12))
        rows.append((inside[k] - share[k]) / scale)
    return np.array(rows)


def residuals(
    unseen: Sequence[Observed],
    tables: Sequence[Floats],
    reports: Floats,
    one: Floats,
    two: Floats,
) -> Residuals | None:
    """Of one pair: the reports of each fold, the model's table without it, and how it expects
    `reports` to be distributed.

    The variance is that expected under the model: with few reports in a fold, what they show of it
    is as uncertain as the difference itself.
    """
    differences, variances = [], []
    for view, model in zip(unseen, tables, strict=True):
        if not view.n:
            continue
        gains = _gains(view, one, two)
        if gains is None:
            return None
        expected = np.einsum("ka,ab,kb->k", one, model, two)
        mean = _mean(gains, view.frequencies())
        square = _mean([gain**2 for gain in gains], reports)
        differences.append(mean - expected)
        variances.append(np.maximum(square - expected**2, 1e-12) / view.n)
    if not differences:
        return None
    # Groups of few values repeat one another, and folds share the model's error.
    ways = (tables[0].shape[0] - 1) * (tables[0].shape[1] - 1)
    weight = min(1.0, ways / GROUPS) / len(differences)
    found = np.concatenate(differences)
    return Residuals(found, np.concatenate(variances), np.full(found.shape, weight))


def _gains(view: Observed, one: Floats, two: Floats) -> list[Floats] | None:
    """What each report adds to every association, as factors: one for each part of the report."""
    if not view.has_small_inverses:
        return None
    inverses = [part.lens.inverse for part in view.parts]
    functions = dict(zip(view.names, (one, two), strict=True))
    if len(view.parts) == 2:
        return [
            functions[part.names[0]] @ inverse.dense()
            for part, inverse in zip(view.parts, inverses, strict=True)
        ]
    first, second = (functions[name] for name in view.parts[0].names)
    both = (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
    return [both @ inverses[0].dense()]


def _mean(gains: Sequence[Floats], shares: Floats) -> Floats:
    if len(gains) == 1:
        return np.asarray(gains[0] @ shares.ravel())
    return np.asarray(np.einsum("ka,ab,kb->k", gains[0], shares, gains[1]))


Pair = frozenset[str]


@dataclass(frozen=True, eq=False)
class AssociationError:
    """beta^2 overall, and of the pairs that reports hold."""

    overall: float
    pairs: Mapping[Pair, float]

    def of(self, one: str, two: str) -> float:
        return self.pairs.get(frozenset((one, two)), self.overall)


def association_error(found: Mapping[Pair, Sequence[Residuals]]) -> AssociationError:
    """beta^2 from the residuals of each pair."""
    overall = squared_error([each for several in found.values() for each in several], PRIOR**2)
    pairs = {pair: squared_error(several, overall) for pair, several in found.items()}
    return AssociationError(overall, pairs)


def squared_error(every: Sequence[Residuals], prior: float) -> float:
    """beta^2, with some caution: the posterior mean and half a standard deviation.

    Without any reports it is what the prior, of the given mean, says.
    """
    log = -_GRID / prior
    if every:
        square = np.concatenate([each.differences**2 for each in every])
        noise = np.concatenate([each.variances for each in every])
        weights = np.concatenate([each.weights for each in every])
        for k, beta in enumerate(_GRID):
            total = beta + noise
            log[k] -= 0.5 * float((weights * (np.log(total) + square / total)).sum())
    # The grid is even in the logarithm.
    chance = np.exp(log - log.max()) * _GRID
    chance /= chance.sum()
    mean = float(chance @ _GRID)
    deviation = float(np.sqrt(max(chance @ _GRID**2 - mean**2, 0.0)))
    return mean + POSTERIOR_SDS * deviation


_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class ModelError:
    """What the margins of the reports leave open, and beta^2."""

    margins: Margins
    association: AssociationError

    def table(self, names: Sequence[str], table: Floats) -> Normal:
        """The spread of every cell of a model's table."""
        if len(names) == 1:
            return self.margins.spread(names[0])
        whole = Table(tuple(names), table)
        each = {name: np.maximum(whole.project([name]).values, _LEAST) for name in names}
        odds = {name: Table((name,), (1.0 - m) / m).along(names) for name, m in each.items()}
        apart = product((Table((name,), margin) for name, margin in each.items()), names)
        square = apart**2
        variance: Floats = np.zeros(table.shape)
        main, pairs, missed = (np.zeros(table.shape) for _ in range(3))
        for name, margin in each.items():
            error = self.margins.variances(name) / margin**2
            variance = variance + square * Table((name,), error).along(names)
            main = main + square * odds[name]
        for one, two in combinations(names, 2):
            norm = square * odds[one] * odds[two]
            pairs, missed = pairs + norm, missed + self.association.of(one, two) * norm
        plain = apart * (1.0 - apart)
        return self._normal(table, variance, plain, main, pairs, missed)

    def _normal(
        self,
        shares: Floats,
        variance: Floats,
        plain: Floats,
        main: Floats,
        pairs: Floats,
        missed: Floats,
    ) -> Normal:
        model, overall = shares * (1.0 - shares), self.association.overall
        norm = np.maximum(np.maximum(plain, model) - main, 0.0)
        # Rounding may leave what no pair misses, in a cell that nobody is in, a hair below zero.
        error = np.maximum(missed, 0.0) + overall * np.maximum(norm - pairs, 0.0)
        rate = error / np.maximum(norm, _LEAST)
        return Normal(variance + error, rate * (1.0 - 2.0 * shares), -rate, outward=True)

    def shares(
        self, queries: Sequence[Query], share: Callable[[Query], float]
    ) -> tuple[Normal, tuple[Floats, ...]]:
        """The spread of each of some shares, and their possible covariances.

        `share` is the model's answer to a query.
        """
        if all(len(query) == 1 for query in queries):
            return self._of_margins(queries)
        values = np.array([share(query) for query in queries])
        margins = [{a: max(share({a: q[a]}), _LEAST) for a in q} for q in queries]
        apart = np.array([np.prod(list(each.values())) for each in margins])
        many = len(queries)
        variance, main, pairs, missed, model, plain = (np.zeros((many, many)) for _ in range(6))
        for i, one in enumerate(queries):
            for k, two in enumerate(queries):
                both = intersection(one, two)
                met = {a: share({a: both[a]}) for a in both} if both else {}
                model[i, k] = (share(both) if both else 0.0) - values[i] * values[k]
                together = float(np.prod(list(met.values()))) if both else 0.0
                plain[i, k] = together - apart[i] * apart[k]
                scale = apart[i] * apart[k]
                common = [a for a in one if a in two]
                # How the indicators of an attribute vary together, over their means.
                ratio = {
                    a: _overlap(share, a, one[a], two[a]) / (margins[i][a] * margins[k][a]) - 1.0
                    for a in common
                }
                for a in common:
                    error = self.margins.covariance(a, one[a], two[a])
                    variance[i, k] += scale * error / (margins[i][a] * margins[k][a])
                    main[i, k] += scale * ratio[a]
                for a, b in combinations(common, 2):
                    norm = scale * ratio[a] * ratio[b]
                    pairs[i, k] += norm
                    missed[i, k] += self.association.of(a, b) * norm
        overall = self.association.overall
        covariances = tuple(
            variance + missed + overall * (c - main - pairs) for c in (plain, model)
        )
        diagonals = (np.diag(each) for each in (plain, main, pairs, missed))
        noise = np.maximum(np.diag(variance), 0.0)
        return self._normal(values, noise, *diagonals), covariances

    def _of_margins(self, queries: Sequence[Query]) -> tuple[Normal, tuple[Floats, ...]]:
        """Shares of single attributes: the margins' own errors."""
        asked = [next(iter(query.items())) for query in queries]
        found = [self.margins.group_spread(name, group) for name, group in asked]
        spread = Normal(
            np.array([float(each.variance) for each in found]),
            np.array([float(np.asarray(each.slope)) for each in found]),
            np.array([float(np.asarray(each.bend)) for each in found]),
        )
        covariance = np.array(
            [
                [self.margins.covariance(a, g, h) if a == b else 0.0 for b, h in asked]
                for a, g in asked
            ]
        )
        return spread, (covariance,)


def _overlap(share: Callable[[Query], float], name: str, one: Codes, two: Codes) -> float:
    shared = np.intersect1d(one, two)
    return share({name: shared}) if shared.size else 0.0
