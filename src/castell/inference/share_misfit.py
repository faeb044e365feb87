"""Whether the reports contradict a share that a method tells by an assumption (independence, say).

The unbiased share of the same reports has an interval of level .999; a share outside it is
doubtful. Methods whose own intervals allow for that are not tested: they know the unbiased share.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from castell.inference.constants import ALARM
from castell.inference.goodness_of_fit import can_be_inverted
from castell.inference.method import Fitted
from castell.inference.products import product_model
from castell.inference.queries import Query, names_of
from castell.inference.reasons import Code, Reason, reason
from castell.inference.shares import Shares


def share_misfit(fitted: Fitted, queries: Sequence[Query], found: Shares) -> tuple[Reason, ...]:
    """That a share is contradicted, or, of two, the first among those of the second."""
    names = names_of(queries)
    if len(names) == 1 or not _is_testable(fitted, names, found):
        return ()
    direct = product_model(fitted.counts, [names], "population").shares(queries)
    if len(queries) == 1:
        value, unbiased = float(found.values[0]), float(direct.values[0])
        ends = direct.spread.interval(direct.values, 1.0 - ALARM)
        low, high = float(ends[0][0]), float(ends[1][0])
    else:
        value, unbiased = _ratio(found), _ratio(direct)
        low, high = direct.ratio_interval(1.0 - ALARM)
    # An estimate below 0 or above 1 is as far from the interval as the bound is.
    if not np.isfinite([value, unbiased]).all() or low <= min(max(value, 0.0), 1.0) <= high:
        return ()
    return (reason(Code.SHARE_CONTRADICTED, *names, unbiased=unbiased, low=low, high=high),)


def _is_testable(fitted: Fitted, names: Sequence[str], found: Shares) -> bool:
    if fitted.unbiased or fitted.sampling is not None or found.unbiased is not None:
        return False
    return can_be_inverted(fitted.counts) and bool(fitted.support(names).together)


def _ratio(shares: Shares) -> float:
    return float(shares.values[0] / shares.values[1]) if shares.values[1] > 0.0 else float("nan")
