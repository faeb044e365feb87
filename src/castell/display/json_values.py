"""Numbers as JSON has them. What is not known, or not finite, is null: JSON has no other word."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """A number or an array of numbers as Python numbers and nested lists.

    >>> plain(np.array([[0.5, np.nan]])), plain(np.int64(3)), plain(float("inf"))
    ([[0.5, None]], 3, None)
    """
    if isinstance(value, np.ndarray):
        if np.isfinite(value).all():
            return value.tolist()
        numbers = value.astype(object)
        numbers[~np.isfinite(value)] = None
        return numbers.tolist()
    number = value.item() if isinstance(value, np.generic) else value
    return number if isfinite(number) else None
