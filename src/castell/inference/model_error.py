"""The error of a model's answer to any question, from its margins and its associations.

A question is a function f of the answers: 1 for those it counts, else 0. Under the product of the
margins m it falls into its mean, main effects and associations (Hoeffding's decomposition), of
variances that add up. What a model says of the main effects errs as the unbiased margins do; what
it says of associations errs by beta^2 for each unit of their norm, with a beta^2 for each pair and
an overall one for all interactions of more attributes, and by kappa^2 relative to f's own
associations (`association_error.py` measures both):

    V(f) = sum_a Var(main effect of a) + sum_ab beta_ab^2 N_ab(f) + beta^2 (N(f) - sum_ab N_ab(f))
           + R(f),
    N(f) = max(Var f under the product, Var f under the model) - sum_a Var_m(main effect of a),

N_ab being the variance of f's association of a and b. For the share s of a product of groups with
margins p_a, shares s_ab of two of the groups and P = prod p_a:

    main effect of a:  (P / p_a) (1[x_a in group] - p_a),
    N = max(P (1 - P), s (1 - s)) - sum_a (P / p_a)^2 p_a (1 - p_a),
    N_ab = (P / (p_a p_b))^2 p_a (1 - p_a) p_b (1 - p_b),
    association of a and b:  A_ab = (P / (p_a p_b)) (s_ab - p_a p_b).

A model that leaves out some of an association leaves out some of others too, so relative errors add
up: R = (sum_ab kappa_ab A_ab)^2 as the model has it, or its mean square by what reports leave
possible, with unbiased s_ab and the variances of these, whichever is larger. Where reports do not
show that the model keeps an association (kappa^2 about 1), its error is so that of the unbiased
share. And where the unbiased share of the very question differs from the model's by more than its
own error does, the model is contradicted: V is at least their squared difference, less the
unbiased variance.

As in Wilson's interval the variance goes along with the truth supposed. The error E of the
associations is taken to change with it as s (1 - s) does, E / N for each unit of that and at least
1 / n, as that of n answers without noise does, but never to fall below what it is at the
estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from castell.inference.association_error import AssociationError
from castell.inference.constants import LEAST_SHARE
from castell.inference.intervals import Normal
from castell.inference.margins import Codes, Margins
from castell.inference.queries import Query, intersection, names_of
from castell.linear.operators import Floats
from castell.linear.table import Table, product


@dataclass(frozen=True, eq=False)
class DirectEstimate:
    """What reports say without a model: unbiased values, and their variances (of the cells of a
    table) or their covariance (of shares)."""

    values: Floats
    variance: Floats


@dataclass(frozen=True, eq=False)
class UnbiasedPairs:
    """Direct estimates next to a model's, of two attributes if some reports hold both: of all
    their cells, and of shares. Where the reports' own answer is known already, it is given."""

    table: Callable[[tuple[str, str], DirectEstimate | None], DirectEstimate | None]
    shares: Callable[[Sequence[Query], DirectEstimate | None], DirectEstimate | None]


NOTHING = UnbiasedPairs(lambda _, known: known, lambda _, known: known)


@dataclass(frozen=True, eq=False)
class ModelError:
    """What the margins of the reports leave open, beta^2 and kappa^2."""

    margins: Margins
    association: AssociationError

    def table(
        self,
        names: Sequence[str],
        table: Floats,
        unbiased: UnbiasedPairs = NOTHING,
        whole: DirectEstimate | None = None,
    ) -> Normal:
        """The spread of every cell of a model's table; `whole` is the unbiased one."""
        if len(names) == 1:
            return self.margins.spread(names[0])
        asked = Table(tuple(names), table)
        each = {name: np.maximum(asked.project([name]).values, LEAST_SHARE) for name in names}
        odds = {name: Table((name,), (1.0 - m) / m).along(names) for name, m in each.items()}
        apart = product((Table((name,), margin) for name, margin in each.items()), names)
        square = apart**2
        if len(names) == 2:
            whole = unbiased.table((names[0], names[1]), whole)
        variance: Floats = np.zeros(table.shape)
        main, pairs, missed, model, shown, unknown = (np.zeros(table.shape) for _ in range(6))
        for name, margin in each.items():
            error = self.margins.variances(name) / margin**2
            variance = variance + square * Table((name,), error).along(names)
            main = main + square * odds[name]
        for one, two in combinations(names, 2):
            rates, both = self.association.of(one, two), (one, two)
            norm = square * odds[one] * odds[two]
            pairs, missed = pairs + norm, missed + rates.absolute * norm
            # All relative to the product of the two margins, as the rest of the cell is.
            expected = np.outer(each[one], each[two])
            of_model = asked.project(both).values / expected - 1.0
            model = model + np.sqrt(rates.relative) * apart * Table(both, of_model).along(names)
            found = whole if len(names) == 2 else unbiased.table(both, None)
            if found is not None:
                seen = Table(both, found.values / expected - 1.0).along(names)
                shown = shown + np.sqrt(rates.relative) * apart * seen
                noise = Table(both, found.variance / expected**2).along(names)
                unknown = unknown + rates.relative * square * noise
        relative = np.maximum(model**2, shown**2 + unknown)
        contradiction = np.zeros(1)
        if whole is not None:
            contradiction = (whole.values - table) ** 2 - whole.variance
        plain = apart * (1.0 - apart)
        return self._normal(
            names, table, variance, plain, main, pairs, missed, relative, contradiction
        )

    def one_over_n(self, names: Sequence[str]) -> float:
        """One over the number of reports behind the margins, of that with the fewest."""
        bends = [np.min(self.margins.spread(name).bend) for name in names]
        return max(0.0, -float(min(bends)))

    def _normal(
        self,
        names: Sequence[str],
        shares: Floats,
        variance: Floats,
        plain: Floats,
        main: Floats,
        pairs: Floats,
        missed: Floats,
        relative: Floats,
        contradiction: Floats,
    ) -> Normal:
        model, overall = shares * (1.0 - shares), self.association.overall.absolute
        norm = np.maximum(np.maximum(plain, model) - main, 0.0)
        # Rounding may leave what no pair misses, in a cell that nobody is in, a hair below zero.
        error = np.maximum(missed, 0.0) + overall * np.maximum(norm - pairs, 0.0)
        # No model tells a share better than as many answers without noise: where all of a few
        # answered alike, nothing else keeps the interval from shrinking to a point.
        rate = np.maximum(error / np.maximum(norm, LEAST_SHARE), self.one_over_n(names))
        every = variance + np.maximum(error + relative, contradiction)
        return Normal(every, rate * (1.0 - 2.0 * shares), -rate, outward=True)

    def shares(
        self,
        queries: Sequence[Query],
        share: Callable[[Query], float],
        unbiased: UnbiasedPairs = NOTHING,
        whole: DirectEstimate | None = None,
    ) -> tuple[Normal, tuple[Floats, ...]]:
        """The spread of each of some shares, and their possible covariances.

        `share` is the model's answer to a query, `whole` are unbiased answers to all of them.
        """
        if all(len(query) == 1 for query in queries):
            return self._of_margins(queries)
        values = np.array([share(query) for query in queries])
        if len(names_of(queries)) == 2 and all(len(query) == 2 for query in queries):
            whole = unbiased.shares(queries, whole)
        margins = [{a: max(share({a: q[a]}), LEAST_SHARE) for a in q} for q in queries]
        apart = np.array([prod(each.values()) for each in margins])
        many = len(queries)
        variance, main, pairs, missed, model, plain = (np.zeros((many, many)) for _ in range(6))
        for i, one in enumerate(queries):
            for k, two in enumerate(queries):
                both = intersection(one, two)
                met = {a: share({a: both[a]}) for a in both} if both else {}
                model[i, k] = (share(both) if both else 0.0) - values[i] * values[k]
                together = prod(met.values()) if both else 0.0
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
                    missed[i, k] += self.association.of(a, b).absolute * norm
        overall = self.association.overall.absolute
        relative = self._relative_errors(queries, share, margins, unbiased, whole)
        covariances = [
            variance + missed + overall * (c - main - pairs) + each
            for c in (plain, model)
            for each in relative
        ]
        contradiction = np.zeros((many, many))
        if whole is not None:
            contradiction = np.outer(whole.values - values, whole.values - values) - whole.variance
            covariances.append(variance + contradiction)
        spread = self._normal(
            names_of(queries),
            values,
            np.maximum(np.diag(variance), 0.0),
            np.diag(plain),
            np.diag(main),
            np.diag(pairs),
            np.diag(missed),
            np.max([np.diag(each) for each in relative], axis=0),
            np.diag(contradiction),
        )
        return spread, tuple(covariances)

    def _relative_errors(
        self,
        queries: Sequence[Query],
        share: Callable[[Query], float],
        margins: Sequence[dict[str, float]],
        unbiased: UnbiasedPairs,
        whole: DirectEstimate | None,
    ) -> tuple[Floats, Floats]:
        """R, as the model has the associations and as reports leave them possible."""
        many = len(queries)
        model, shown, unknown = np.zeros(many), np.zeros(many), np.zeros((many, many))
        for pair in combinations(dict.fromkeys(a for query in queries for a in query), 2):
            of = [k for k, query in enumerate(queries) if set(pair) <= set(query)]
            if not of:
                continue
            own = [{a: queries[k][a] for a in pair} for k in of]
            expected = np.array([prod(margins[k][a] for a in pair) for k in of])
            rest = np.array([prod(m for a, m in margins[k].items() if a not in pair) for k in of])
            kappa = np.sqrt(self.association.of(*pair).relative)
            model[of] += kappa * rest * (np.array([share(query) for query in own]) - expected)
            # Where nothing but the pair is asked, its shares are the questions themselves.
            alone = whole is not None and all(set(query) == set(pair) for query in queries)
            found = whole if alone else unbiased.shares(own, None)
            if found is not None:
                shown[of] += kappa * rest * (found.values - expected)
                unknown[np.ix_(of, of)] += kappa**2 * np.outer(rest, rest) * found.variance
        return np.outer(model, model), np.outer(shown, shown) + unknown

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
