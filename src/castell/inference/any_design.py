"""The product over groups of attributes, for any design."""

from __future__ import annotations

from castell.counting import Counts, samples_of
from castell.inference.fitted import Fitted
from castell.inference.inversion import Groups
from castell.inference.pooled_products import pooled_model
from castell.inference.products import check_target, model
from castell.inference.reasons import Reasons, no_reasons


def product_model(
    counts: Counts, groups: Groups, target: str, reasons: Reasons = no_reasons
) -> Fitted:
    """A model that answers every question with the product over the groups."""
    check_target(target)
    if len(samples_of(counts)) == 1:
        return model(samples_of(counts)[0], groups, target, reasons)
    # Each sample is one of the respondents, so there is no other target: the methods declare that
    # it is no option here.
    return pooled_model(counts, groups, reasons)
