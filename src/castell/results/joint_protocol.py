"""What pictures and text read of an estimate.

`JointEstimate` offers `plot()` and `summary()`, which live in files of their own. They ask for this
much of it, so that those files need not import it back.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from castell.inference.goodness_of_fit import Misfit, Verdict
from castell.linear.operators import Floats
from castell.results.provenance import Source
from castell.study.schema import Attribute


class LabelledTable(Protocol):
    """A joint table with its labels, its errors and how it was made."""

    @property
    def attributes(self) -> tuple[Attribute, ...]: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def probabilities(self) -> Floats: ...
    @property
    def unprocessed(self) -> Floats: ...
    @property
    def method(self) -> str: ...
    @property
    def post(self) -> str: ...
    @property
    def n(self) -> int: ...
    @property
    def secure(self) -> bool: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def spent(self) -> float: ...
    @property
    def source(self) -> Source: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def misfit(self) -> Misfit | None: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def impossible(self) -> NDArray[np.bool_]: ...

    def conf_int(self, level: float = 0.95) -> tuple[Floats, Floats]: ...

    def columns(
        self, level: float = 0.95, rows: NDArray[np.intp] | None = None
    ) -> dict[str, Any]: ...
