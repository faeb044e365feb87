"""Codes as bytes: each column in the smallest unsigned integer that holds it, little-endian.

A row of the store is a few bytes, and a hundred thousand of them become numpy columns without a
loop.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.errors import ReportError
from castell.reports.codes import code_type

_LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}


class Packing:
    """The layout of one study's codes.

    >>> packing = Packing((4, 300))
    >>> packing.pack((3, 299)).hex()
    '032b01'
    >>> [column.tolist() for column in packing.columns([packing.pack((3, 299))])]
    [[3], [299]]
    """

    def __init__(self, widths: Sequence[int]) -> None:
        self.widths = tuple(widths)
        types = [code_type(width).newbyteorder("<") for width in widths]
        self._struct = struct.Struct("<" + "".join(_LETTERS[kind.itemsize] for kind in types))
        self._row = np.dtype([(f"c{i}", kind) for i, kind in enumerate(types)])
        self.size = self._struct.size

    def pack(self, codes: Sequence[int]) -> bytes:
        return self._struct.pack(*codes)

    def unpack(self, row: bytes) -> tuple[int, ...]:
        return self._struct.unpack(row)

    def columns(self, rows: Sequence[bytes]) -> list[NDArray[Any]]:
        """One array per column."""
        if set(map(len, rows)) - {self.size}:
            raise ReportError("a report in the store is cut short", "it is damaged")
        table = np.frombuffer(b"".join(rows), dtype=self._row)
        names = self._row.names or ()
        return [np.ascontiguousarray(table[name]) for name in names]
