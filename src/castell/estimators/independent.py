"""RR-Independent: the product of the estimated one-way margins.

Little noise at any width, but every association between attributes is lost: its intervals tell
the noise, not that error. Paper: Algorithm 2.
"""

from __future__ import annotations

from castell.capabilities import EVERYBODY, SETS, Reads
from castell.counting import Counts
from castell.model import Model
from castell.product import product_model
from castell.study import Study

READS = Reads(drawn=True, across=True, sets=True, options={"target": (EVERYBODY, SETS)})
NOTE = "attributes are taken as independent; the intervals do not hold the error of that"


def fit(study: Study, counts: Counts, *, target: str = "population") -> Model:
    return product_model(counts, [(name,) for name in study.names], target, [NOTE])
