"""Three ways to take the Kronecker product of small matrices back out of a table.

They give one answer. `naive` inverts the product, `reduced` multiplies the small inverses into one
large matrix, `castell` takes the matrices off one axis at a time and never holds more than the
table. (The identity is older than the paper: Wang, Wu and Hu 2016; Vinterbo 2018.)

>>> from castell.channels import KaryResponse
>>> channels = [KaryResponse(2, 3, 1), KaryResponse(2, 3, 1)]
>>> castell(np.array([[0.3, 0.1], [0.3, 0.3]]), channels).round(12)
array([[ 0.45, -0.15],
       [ 0.25,  0.45]])
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.channels import Lens
from castell.errors import TableTooLargeError
from castell.linear.operators import Floats, Operator, left_inverse

# Half a gigabyte of float64 for each array of a table.
MAX_CELLS = 1 << 26


def check_cells(what: str, sizes: Sequence[int], limit: int | None) -> int:
    """How many cells a table has, refused before anything is allocated if it is too large."""
    cells, limit = prod(int(size) for size in sizes), MAX_CELLS if limit is None else limit
    if cells > limit:
        raise TableTooLargeError(
            f"the table of {what} has {cells:,} cells, the limit is {limit:,}",
            "ask for fewer attributes, ask for single cells (model.probability(...), or --where on "
            "the command line), or raise max_cells / --max-cells "
            f"(it takes {8 * cells / 2**30:,.1f} GiB for each array)",
        )
    return cells


def naive(table: NDArray[Any], channels: Sequence[Lens], limit: int | None = None) -> Floats:
    """Build the Kronecker product of the channels, invert it, apply it."""
    matrix = _product([channel.forward for channel in channels], limit)
    return _apply(left_inverse(matrix), table, channels)


def reduced(table: NDArray[Any], channels: Sequence[Lens], limit: int | None = None) -> Floats:
    """Invert the small channels, build the Kronecker product of the inverses, apply it."""
    matrix = _product([channel.inverse for channel in channels], limit)
    return _apply(matrix, table, channels)


def castell(table: NDArray[Any], channels: Sequence[Lens], limit: int | None = None) -> Floats:
    """Apply each small inverse along its own axis."""
    check_cells("the answers", [channel.inverse.rows for channel in channels], limit)
    return apply([channel.inverse for channel in channels], table)


def apply(operators: Sequence[Operator], table: NDArray[Any]) -> Floats:
    """One operator for each axis of a table, none of them ever multiplied together."""
    shape = tuple(operator.columns for operator in operators)
    if np.shape(table) != shape:
        raise ValueError(f"a table of shape {np.shape(table)} for operators of shape {shape}")
    result = np.ascontiguousarray(table, dtype=np.float64)
    for operator in operators:
        result = operator.turn(result.reshape(operator.columns, -1))
    return result.reshape([operator.rows for operator in operators])


def _product(operators: list[Operator], limit: int | None) -> Floats:
    sizes = [size for operator in operators for size in (operator.rows, operator.columns)]
    check_cells("the whole matrix", sizes, limit)
    product = np.ones((1, 1))
    for operator in operators:
        product = np.asarray(np.kron(product, operator.dense()), dtype=np.float64)
    return product


def _apply(matrix: Floats, table: NDArray[Any], channels: Sequence[Lens]) -> Floats:
    flat = np.asarray(table, dtype=np.float64).ravel()
    return (matrix @ flat).reshape([channel.inverse.rows for channel in channels])
