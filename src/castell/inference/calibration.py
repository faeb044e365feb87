"""Raking: weights that give known margins, as near to what they were as can be.

Iterative proportional fitting (Deming and Stephan 1940): all weights of a value are multiplied by
what brings its sum to the known one, attribute by attribute, until all sums are as known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.errors import OptionError
from castell.linear.operators import Floats
from castell.numbers import is_number

# For each attribute the known share, or number of people, of each of its values.
Margins = Mapping[str, Mapping[Any, float]]
Columns = Mapping[str, NDArray[Any]]

CLOSE = 1e-12
MOST_SWEEPS = 1000


def indicators(columns: Columns, margins: Margins) -> Floats:
    """A column of 0 and 1 for each value of each margin."""
    return np.stack(
        [
            np.asarray(_texts(columns[name]) == str(value), dtype=np.float64)
            for name, known in margins.items()
            for value in known
        ],
        axis=1,
    )


def rake_weights(columns: Columns, margins: Margins, weights: Floats) -> Floats:
    """Weights with the known margins, which sum to the same as they did."""
    wanted = {name: _shares(name, known) for name, known in margins.items()}
    places = {name: _places(name, columns[name], list(margins[name])) for name in wanted}
    found, total = np.array(weights, dtype=np.float64), float(weights.sum())
    for name, share in wanted.items():
        sampled = np.bincount(places[name], found, len(share))
        empty = [
            str(v) for v, s, h in zip(margins[name], share, sampled, strict=True) if s and not h
        ]
        if empty:
            raise OptionError(
                f"rake: no report has {name} = {' or '.join(empty)}",
                "put the value together with another, in the reports and in the margin",
            )
    for _ in range(MOST_SWEEPS):
        off = 0.0
        for name, share in wanted.items():
            now = np.bincount(places[name], found, len(share)) / total
            off = max(off, float(np.abs(now - share).max()))
            scale = np.divide(share, now, out=np.zeros_like(share), where=now > 0.0)
            found *= scale[places[name]]
        if off < CLOSE:
            return found
    raise OptionError(
        f"rake: after {MOST_SWEEPS:,} rounds a margin is still off by {off:.2g}",
        "the margins contradict each other in these reports; put rare values together",
    )


def _texts(column: NDArray[Any]) -> NDArray[Any]:
    return np.array([str(entry) for entry in column.tolist()], dtype=object)


def _shares(name: str, known: object) -> Floats:
    if not isinstance(known, Mapping) or len(known) < 2:
        raise OptionError(
            f"rake: {name!r} has no margin", 'give each value its share: {"north": 0.4, ...}'
        )
    for value, share in known.items():
        if not is_number(share, 0.0) or not np.isfinite(float(share)):
            raise OptionError(
                f"rake: {name} = {value} has {share!r}", "give a finite number from 0 up"
            )
    found = np.array([float(share) for share in known.values()])
    if found.sum() <= 0.0:
        raise OptionError(f"rake: the margin of {name!r} sums to 0", "give shares or numbers")
    return np.asarray(found / found.sum())


def _places(name: str, column: NDArray[Any], values: list[Any]) -> NDArray[np.intp]:
    place = {str(value): i for i, value in enumerate(values)}
    texts = _texts(column)
    unknown = sorted({text for text in texts.tolist() if text not in place})
    if unknown:
        raise OptionError(
            f"rake: the margin of {name!r} says nothing of {', '.join(unknown[:5])}",
            "give every value that reports have a share",
        )
    return np.array([place[text] for text in texts.tolist()], dtype=np.intp)
