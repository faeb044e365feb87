"""Fitted values as plain JSON and arrays, and back, without running anything that a file says.

Numbers, texts, arrays and containers of them, and frozen dataclasses of castell's own mathematics,
field by field. What is read back is made of the same classes with the same fields, or refused: a
file can name no other class, and no function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts

# The rooms whose dataclasses are values.
ROOMS = ("castell.linear.", "castell.channels.", "castell.inference.")
CONTAINERS: dict[str, Any] = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}


class NotPlainError(ValueError):
    """Something that is no plain value."""


class Writer:
    """Values become JSON; arrays are put aside and numbered."""

    def __init__(self, counts: Counts | None = None) -> None:
        self.counts = counts
        self.arrays: list[NDArray[Any]] = []
        self._seen: dict[int, int] = {}

    def write(self, value: Any) -> Any:
        if value is None or (isinstance(value, (bool, int, float, str)) and not _is_numpy(value)):
            return value
        if value is self.counts:
            return {"counts": True}
        if isinstance(value, np.ndarray) or _is_numpy(value):
            return {"array": self._put_aside(value), "scalar": _is_numpy(value)}
        if isinstance(value, Mapping):
            return {"dict": [[self.write(key), self.write(each)] for key, each in value.items()]}
        for name, kind in CONTAINERS.items():
            if type(value) is kind:
                return {name: [self.write(each) for each in _in_order(value)]}
        if is_dataclass(value) and type(value).__module__.startswith(ROOMS):
            named = {each.name: self.write(getattr(value, each.name)) for each in fields(value)}
            return {"class": [type(value).__module__, type(value).__qualname__], "fields": named}
        raise NotPlainError(f"a {type(value).__name__} is no plain value")

    def _put_aside(self, value: Any) -> int:
        if id(value) not in self._seen:
            array = np.asarray(value)
            if array.dtype.hasobject:
                raise NotPlainError("an array of objects is no plain value")
            self._seen[id(value)] = len(self.arrays)
            self.arrays.append(array)
        return self._seen[id(value)]


def read(document: Any, arrays: list[NDArray[Any]], counts: Counts | None = None) -> Any:
    """The values that were written."""
    if not isinstance(document, dict):
        if isinstance(document, list):
            raise NotPlainError("a list without a kind")
        return document
    if "array" in document:
        array = arrays[document["array"]]
        return array[()] if document["scalar"] else array
    if "counts" in document:
        return counts
    if "dict" in document:
        pairs = document["dict"]
        return {read(key, arrays, counts): read(value, arrays, counts) for key, value in pairs}
    if "class" in document:
        found = {name: read(each, arrays, counts) for name, each in document["fields"].items()}
        module, name = document["class"]
        return _make(module, name, found)
    for name, kind in CONTAINERS.items():
        if name in document:
            return kind(read(each, arrays, counts) for each in document[name])
    raise NotPlainError(f"no kind of value: {', '.join(document)}")


def _make(module: str, name: str, values: dict[str, Any]) -> Any:
    """A dataclass with its fields as they were. Its own code is not run."""
    if not module.startswith(ROOMS):
        raise NotPlainError(f"{module} is not among {', '.join(ROOMS)}")
    try:
        kind = getattr(import_module(module), name, None)
    except ImportError:
        kind = None
    known = isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module
    if not known or kind is None or {each.name for each in fields(kind)} != set(values):
        raise NotPlainError(f"{module}.{name} is no such dataclass here")
    made = object.__new__(kind)
    for field, value in values.items():
        object.__setattr__(made, field, value)
    return made


def _is_numpy(value: Any) -> bool:
    return isinstance(value, np.generic)


def _in_order(values: Iterable[Any]) -> Iterable[Any]:
    """Sets have no order of their own; a file is the same each time it is written."""
    return sorted(values, key=repr) if isinstance(values, (set, frozenset)) else values
