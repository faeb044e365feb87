"""The product over groups of attributes, for any design."""

from __future__ import annotations

from castell.counting import Counts
from castell.inference.drawn_products import drawn_model
from castell.inference.fitted import Fitted
from castell.inference.inversion import Groups
from castell.inference.products import check_target, model
from castell.inference.reasons import Reasons, no_reasons


def product_model(
    counts: Counts, groups: Groups, target: str, reasons: Reasons = no_reasons
) -> Fitted:
    """A model that answers every question with the product over the groups."""
    check_target(target)
    if counts.study.design.draw:
        # Who drew a block is a sample of the respondents, so there is no other target: the methods
        # declare that it is no option here.
        return drawn_model(counts, groups, reasons)
    return model(counts, groups, target, reasons)
