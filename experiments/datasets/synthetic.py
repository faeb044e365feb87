"""The paper's synthetic data: two attributes with Pr ~ 1/a and Cramer's V as asked.

The print lists a = 2..d and calls d the number of values; it draws d = 2 too, which would be one
value. Here d is the number of values, so a runs from 2 to d + 1. The joint distribution is
(1 - v) times independence plus v times equality, for which Cramer's V is exactly v.
"""

from __future__ import annotations

import numpy as np

from castell import Attribute, Schema
from castell.linear.operators import Floats
from experiments.datasets.population import Population


def margin(values: int) -> Floats:
    """Pr(a) = c / a for a = 2, 3, ...

    >>> margin(2).round(3).tolist()
    [0.6, 0.4]
    """
    weights = 1.0 / np.arange(2, values + 2)
    return np.asarray(weights / weights.sum())


def distribution(values: int, v: float) -> Floats:
    """The joint distribution of two attributes with these margins and Cramer's V = v."""
    one = margin(values)
    return (1.0 - v) * np.outer(one, one) + v * np.diag(one)


def population(n: int, values: int, v: float) -> Population:
    """n respondents as near to the distribution as whole people come: largest remainders."""
    exact = distribution(values, v).ravel() * n
    counts = np.floor(exact).astype(np.int64)
    most = np.argsort(counts - exact, kind="stable")[: n - int(counts.sum())]
    counts[most] += 1
    a, b = np.divmod(np.repeat(np.arange(values**2), counts), values)
    labels = [str(i) for i in range(2, values + 2)]
    schema = Schema([Attribute("A", labels), Attribute("B", labels)])
    note = f"synthetic, Pr ~ 1/a, {values} values, V = {v:g}"
    return Population("synthetic", schema, {"A": a, "B": b}, note)
