"""The error of a model's answer to any question, from its margins and its associations.

A question is a function f of the answers: 1 for those it counts, else 0. Under the product of the
margins m it falls into its mean, main effects and associations (Hoeffding's decomposition), of
variances that add up. What a model says of the main effects errs as the unbiased margins do; what
it says of associations errs by beta^2 for each unit of their norm, with a beta^2 for each pair and
an overall one for all interactions of more attributes, and by kappa^2 relative to the association A
of f itself (`association_error.py` measures both):

    V(f) = sum_a Var(main effect of a) + sum_ab beta_ab^2 N_ab(f) + beta^2 (N(f) - sum_ab N_ab(f))
           + kappa^2 A(f)^2,
    N(f) = max(Var f under the product, Var f under the model) - sum_a Var_m(main effect of a),

N_ab being the variance of f's association of a and b. For the share s of a product of groups with
margins p_a and P = prod p_a:

    main effect of a:  (P / p_a) (1[x_a in group] - p_a),
    N = max(P (1 - P), s (1 - s)) - sum_a (P / p_a)^2 p_a (1 - p_a),
    N_ab = (P / (p_a p_b))^2 p_a (1 - p_a) p_b (1 - p_b).

A(f)^2 is what the model says, (share - P)^2, or the mean square of what the reports leave possible,
(unbiased share - P)^2 and its variance, whichever is larger. So where reports do not show that the
model keeps associations (kappa^2 about 1) the error is that of the unbiased share.

As in Wilson's interval the variance goes along with the truth supposed. The error E of the
associations is taken to change with it as s (1 - s) does, E / N for each unit of that, but never to
fall below what it is at the estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from castell.inference.association_error import AssociationError
from castell.inference.intervals import Normal
from castell.inference.inversion import Query, intersection
from castell.inference.margins import Codes, Margins
from castell.linear.operators import Floats
from castell.linear.table import Table, product

_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class Evidence:
    """What reports say of some shares without a model: unbiased values, and their variances (of
    cells) or covariance (of shares)."""

    values: Floats
    variance: Floats


@dataclass(frozen=True, eq=False)
class ModelError:
    """What the margins of the reports leave open, beta^2 and kappa^2."""

    margins: Margins
    association: AssociationError

    def table(
        self, names: Sequence[str], table: Floats, evidence: Evidence | None = None
    ) -> Normal:
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
        association = (table - apart) ** 2
        if evidence is not None:
            possible = (evidence.values - apart) ** 2 + evidence.variance
            association = np.maximum(association, possible)
        return self._normal(table, variance, plain, main, pairs, missed, association)

    def _normal(
        self,
        shares: Floats,
        variance: Floats,
        plain: Floats,
        main: Floats,
        pairs: Floats,
        missed: Floats,
        association: Floats,
    ) -> Normal:
        model, overall = shares * (1.0 - shares), self.association.overall
        norm = np.maximum(np.maximum(plain, model) - main, 0.0)
        # Rounding may leave what no pair misses, in a cell that nobody is in, a hair below zero.
        error = np.maximum(missed, 0.0) + overall * np.maximum(norm - pairs, 0.0)
        rate = error / np.maximum(norm, _LEAST)
        every = variance + error + self.association.relative * association
        return Normal(every, rate * (1.0 - 2.0 * shares), -rate, outward=True)

    def shares(
        self,
        queries: Sequence[Query],
        share: Callable[[Query], float],
        evidence: Evidence | None = None,
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
        # Relative errors of associations are taken to be one error, of which each has its share.
        associations = [np.outer(values - apart, values - apart)]
        if evidence is not None:
            shown = evidence.values - apart
            associations.append(np.outer(shown, shown) + evidence.variance)
        overall, relative = self.association.overall, self.association.relative
        covariances = tuple(
            variance + missed + overall * (c - main - pairs) + relative * association
            for c in (plain, model)
            for association in associations
        )
        diagonals = (np.diag(each) for each in (plain, main, pairs, missed))
        largest = np.max([np.diag(each) for each in associations], axis=0)
        noise = np.maximum(np.diag(variance), 0.0)
        return self._normal(values, noise, *diagonals, largest), covariances

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
