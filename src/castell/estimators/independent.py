"""RR-Independent: the product of the estimated one-way margins.

Little noise at any width, but every association between attributes is lost: its intervals tell
the noise, not that error. Paper: Algorithm 2.
"""

from __future__ import annotations

from collections.abc import Sequence

from castell.counting import Counts
from castell.inference.capabilities import EVERYBODY, SETS, WHOLE, Reads
from castell.inference.fitted import Fitted
from castell.inference.products import product_model
from castell.inference.reasons import Code, Reason, reason

READS = Reads(
    drawn=True, across=True, sets=True, whole=True, options={"target": (EVERYBODY, SETS, WHOLE)}
)
ASSUMED = reason(Code.INDEPENDENCE_ASSUMED)


def assumed(names: Sequence[str]) -> tuple[Reason, ...]:
    """That two or more attributes are independent."""
    return (ASSUMED,) if len(names) > 1 else ()


def fit(counts: Counts, *, target: str = "population") -> Fitted:
    return product_model(counts, [(name,) for name in counts.study.names], target, assumed)
