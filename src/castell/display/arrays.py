"""NumPy's protocol: `numpy.asarray(result)` for results that are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from castell.errors import OptionError


def array_of(values: NDArray[Any], dtype: DTypeLike | None, copy: bool | None) -> NDArray[Any]:
    """What `__array__(dtype, copy)` returns: the values themselves where no copy is asked for.

    >>> array_of(np.array([0.25, 0.75]), "float32", None)
    array([0.25, 0.75], dtype=float32)
    """
    found = np.asarray(values, dtype=dtype)
    if found is values:
        return found.copy() if copy else found
    if copy is False:
        raise OptionError(
            f"numbers of type {values.dtype} as {found.dtype} are a copy",
            "leave copy=False out, or ask for the type they have",
        )
    return found
