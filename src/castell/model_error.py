"""The error of a model's answer to any question, from its margins and its associations.

A question is a function f of the answers: 1 for those it counts, else 0. Under the product of the
margins m it falls into its mean, main effects and associations (Hoeffding's decomposition), of
variances that add up. What a model says of the main effects errs as the unbiased margins do; what
it says of associations errs by beta^2 for each unit of their norm (`association_error`):

    V(f) = sum_a Var(main effect of a) + beta^2 N(f),
    N(f) = max(Var f under the product, Var f under the model) - sum_a Var_m(main effect of a).

For the share s of a product of groups with margins p_a and P = prod p_a:

    main effect of a:  (P / p_a) (1[x_a in group] - p_a),
    N = max(P (1 - P), s (1 - s)) - sum_a (P / p_a)^2 p_a (1 - p_a).

As in Wilson's interval the variance is that at the truth supposed, s (1 - s) for every s an
interval may end at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from castell.inversion import Query, intersection
from castell.marginal import expand, summed
from castell.margins import Margins
from castell.operators import Floats
from castell.spread import Normal

_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class ModelError:
    """What the margins of the reports leave open, and beta^2."""

    margins: Margins
    association: float

    def table(self, names: Sequence[str], table: Floats) -> Normal:
        """The spread of every cell of a model's table."""
        if len(names) == 1:
            return self.margins.spread(names[0])
        apart: Floats = np.ones([1] * len(names))
        each = {name: np.maximum(summed(table, names, [name]), _LEAST) for name in names}
        for name, margin in each.items():
            apart = apart * expand(margin, [name], names)
        variance: Floats = np.zeros(table.shape)
        norm: Floats = np.zeros(table.shape)
        for name, margin in each.items():
            spread = expand(self.margins.variances(name) / margin**2, [name], names)
            variance = variance + apart**2 * spread
            norm = norm + apart**2 * expand((1.0 - margin) / margin, [name], names)
        return self._normal(table, variance, apart * (1.0 - apart), norm)

    def _normal(self, shares: Floats, variance: Floats, apart: Floats, norm: Floats) -> Normal:
        model = shares * (1.0 - shares)
        believed = np.maximum(np.maximum(apart, model) - norm, 0.0)
        # The variance grows with the share supposed only where the model's is the larger one.
        grows = model >= apart
        return Normal(
            variance + self.association * believed,
            np.where(grows, self.association * (1.0 - 2.0 * shares), 0.0),
            np.where(grows, -self.association, 0.0),
            outward=True,
        )

    def shares(
        self, queries: Sequence[Query], share: Callable[[Query], float]
    ) -> tuple[Normal, tuple[Floats, ...]]:
        """The spread of each of some shares, and their possible covariances.

        `share` is the model's answer to a query.
        """
        values = np.array([share(query) for query in queries])
        margins = [{a: max(share({a: q[a]}), _LEAST) for a in q} for q in queries]
        apart = np.array([np.prod(list(each.values())) for each in margins])
        many = len(queries)
        variance, norm, model, plain = (np.zeros((many, many)) for _ in range(4))
        for i, one in enumerate(queries):
            for k, two in enumerate(queries):
                both = intersection(one, two)
                met = {a: max(share({a: both[a]}), 0.0) for a in both} if both else {}
                model[i, k] = (share(both) if both else 0.0) - values[i] * values[k]
                together = float(np.prod(list(met.values()))) if both else 0.0
                plain[i, k] = together - apart[i] * apart[k]
                for a in set(one) & set(two):
                    p, q = margins[i][a], margins[k][a]
                    scale = apart[i] / p * apart[k] / q
                    variance[i, k] += scale * self.margins.covariance(a, one[a], two[a])
                    shared = np.intersect1d(one[a], two[a])
                    overlap = share({a: shared}) if shared.size else 0.0
                    norm[i, k] += scale * (overlap - p * q)
        covariances = tuple(variance + self.association * (c - norm) for c in (plain, model))
        if all(len(query) == 1 for query in queries):
            return self._of_margins(queries), (variance,)
        spread = self._normal(values, np.diag(variance), np.diag(plain), np.diag(norm))
        return spread, covariances

    def _of_margins(self, queries: Sequence[Query]) -> Normal:
        found = [self.margins.group_spread(*next(iter(query.items()))) for query in queries]
        return Normal(
            np.array([float(each.variance) for each in found]),
            np.array([float(np.asarray(each.slope)) for each in found]),
            np.array([float(np.asarray(each.bend)) for each in found]),
        )
