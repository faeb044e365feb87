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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.channels import Lens
from castell.linear.operators import Floats, Operator, apply, left_inverse
from castell.study.schema import check_cells


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
