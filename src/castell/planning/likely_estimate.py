"""An earlier estimate as a likely population: the JSON of `castell estimate --json`.

Only its attributes, values and shares are read. Attributes that it does not hold stay uniform.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from castell.errors import OptionError
from castell.linear.operators import Floats
from castell.study.schema import Schema, suggest

_REMEDY = "give what `castell estimate --json` prints for a table of this study's attributes"
# Shares of a table sum to one, as they are printed.
CLOSE = 0.01


@dataclass(frozen=True)
class EstimateDocument:
    """What is read of it; whatever else it holds is left alone."""

    attributes: list[str]
    values: list[list[str]]
    probabilities: list[Any]


@dataclass(frozen=True, eq=False)
class LikelyTable:
    """Shares of the combinations of some attributes, an axis for each."""

    names: tuple[str, ...]
    probabilities: Floats


def decode_estimate(text: bytes | str) -> EstimateDocument:
    """The document; refused where it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise OptionError("this is not JSON", _REMEDY) from None
    document: dict[str, Any] = found if isinstance(found, dict) else {}
    names: Any = document.get("attributes")
    values: Any = document.get("values")
    shares: Any = document.get("probabilities")
    listed = isinstance(values, list) and all(_is_texts(each) for each in values)
    if not _is_texts(names) or not names or not listed or not isinstance(shares, list):
        raise OptionError("this is no estimate of attributes, values and probabilities", _REMEDY)
    return EstimateDocument(names, values, shares)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def likely_table(schema: Schema, document: EstimateDocument) -> LikelyTable:
    """What it says of a study's attributes; refused where it is of others."""
    names = document.attributes
    for name in names:
        if name not in schema.names:
            raise OptionError(
                f"the estimate holds {name[:60]!r}, which the study does not ask",
                suggest(name, schema.names),
            )
        if names.count(name) > 1:
            raise OptionError(f"the estimate holds {name[:60]!r} twice", _REMEDY)
    shape = tuple(schema[name].size for name in names)
    if len(document.values) != len(names):
        raise OptionError(f"the estimate has values of {len(document.values)} attributes", _REMEDY)
    for name, values in zip(names, document.values, strict=True):
        if tuple(values) != tuple(schema[name].values):
            raise OptionError(
                f"the estimate holds other values of {name!r}",
                "give an estimate of the same attributes and values",
            )
    flat = _flat(document.probabilities, shape)
    if flat is None:
        sizes = " x ".join(map(str, shape))
        raise OptionError(f"the estimate's shares are no table of {sizes} numbers", _REMEDY)
    table = np.array(flat)
    if not np.isfinite(table).all() or abs(float(table.sum()) - 1.0) > CLOSE:
        raise OptionError("the estimate's shares do not sum to one", _REMEDY)
    return LikelyTable(tuple(names), table.reshape(shape))


def _flat(listed: object, shape: tuple[int, ...]) -> list[float] | None:
    """Numbers of lists that are nested as a table is; None if they are not."""
    if not shape:
        is_number = isinstance(listed, (int, float)) and not isinstance(listed, bool)
        return [_float(listed)] if is_number else None
    if not isinstance(listed, list) or len(listed) != shape[0]:
        return None
    found: list[float] = []
    for inner in listed:
        part = _flat(inner, shape[1:])
        if part is None:
            return None
        found += part
    return found


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf")
