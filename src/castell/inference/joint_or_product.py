"""Whether the table of all attributes or a product over groups of them is expected to err less."""

from __future__ import annotations

from math import prod, sqrt

from castell.inference.inversion import Groups, Observed
from castell.inference.products import product_table, product_variance


def joint_is_better(
    observed: Observed, groups: Groups, doubt: float = 2.0
) -> tuple[bool, float, float]:
    """Whether inverting the whole table is expected to err less than the product over groups.

    Returns the verdict and both expected squared errors. The whole table errs by its variance.
    The product errs by its own variance and by what it gets wrong however many answer; that bias
    is seen in the difference of the two tables, less the noise of the difference. As in Hausman's
    test, where the groups are independent the product is the better estimate of the same thing,
    and the noise of the difference is the difference of the variances. A bias counts only as far
    as it stands out from that noise by `doubt` of its standard deviations: mistaking noise for an
    association costs all the noise of the whole table.
    """
    whole = float(product_variance(observed, [observed.names], "population").sum())
    split = float(product_variance(observed, groups, "population").sum())
    gap = float(((observed.invert() - product_table(observed, groups)) ** 2).sum())
    sizes = dict(zip(observed.names, observed.shape, strict=True))
    many = prod(sizes.values()) - sum(prod(sizes[a] for a in group) - 1 for group in groups) - 1
    product = product_risk(whole, split, gap, many, doubt)
    return whole <= product, whole, product


def product_risk(whole: float, split: float, gap: float, many: int, doubt: float = 2.0) -> float:
    """The squared error expected of a product: its variance `split`, and its bias.

    `whole` is the variance of the unbiased estimate, `gap` the squared difference of the two,
    summed over cells that have `many` ways to differ.
    """
    # A sum of so many squares of noise, relative to its mean, varies by about sqrt(2 / many).
    noise = max(whole - split, 0.0) * (1.0 + doubt * sqrt(2.0 / max(many, 1)))
    return max(gap - noise, 0.0) + split
