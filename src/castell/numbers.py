"""Whether what somebody passed is a number at all: types say so, callers need not.

A bool is none here. Python takes True for 1, so that a slip like `rows=True` would go unnoticed.
"""

from __future__ import annotations

from math import inf

import numpy as np


def is_whole(value: object, least: int) -> bool:
    """Whether it is a whole number, not below `least`.

    >>> is_whole(3, 1), is_whole(0, 1), is_whole(True, 1), is_whole(3.0, 1)
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        return False
    return int(value) >= least


def is_number(value: object, least: float) -> bool:
    """Whether it is a finite number, not below `least`.

    >>> is_number(0.5, 0.0), is_number(-1, 0.0), is_number("1", 0.0), is_number(inf, 0.0)
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    return least <= float(value) < inf
