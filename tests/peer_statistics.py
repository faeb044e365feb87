"""What statsmodels says of answers without noise: the other side of comparisons."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from typing import Any


@cache
def statsmodels(module: str = "api") -> Any:
    """One of its modules; importing it warns of what it uses of pandas, not ours to mend."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module(f"statsmodels.{module}")
