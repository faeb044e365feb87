"""Shares among those with some values: what one such distribution and a table of them share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from castell.display.arrays import array_of
from castell.display.json_values import plain
from castell.linear.operators import Floats
from castell.reports.frames import frame_of
from castell.results.chart_data import ChartData, lines_of
from castell.results.provenance import FromReports


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GroupShares(FromReports):
    """Conditional shares, with intervals and reasons."""

    @property
    @abstractmethod
    def probabilities(self) -> Floats: ...

    @property
    @abstractmethod
    def standard_errors(self) -> Floats: ...

    @abstractmethod
    def conf_int(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends of an interval for every share, inside [0, 1]."""

    @abstractmethod
    def _labels(self) -> dict[str, Sequence[str]]:
        """What each share is of: a column for each attribute."""

    def _numbers(self, level: float = 0.95) -> Floats:
        """Shares, errors and ends of intervals, along a first axis."""
        return np.stack([self.probabilities, self.standard_errors, *self.conf_int(level)])

    def columns(self, level: float = 0.95) -> dict[str, Any]:
        names = ("probability", "standard_error", "lower", "upper")
        labels = {name: np.array(column, dtype=object) for name, column in self._labels().items()}
        numbers = [each.ravel() for each in self._numbers(level)]
        return {**labels, **dict(zip(names, numbers, strict=True))}

    def to_frame(self, backend: str | None = None, *, level: float = 0.95) -> Any:
        """A frame of the kind the answers came in, or 'pandas', 'polars', 'pyarrow'."""
        return frame_of(self.columns(level), backend or self.backend)

    def _document(self, level: float) -> dict[str, Any]:
        """The numbers and what stands behind them, as plain JSON values."""
        shares, errors, low, high = self._numbers(level)
        return {
            "probabilities": plain(shares),
            "standard_errors": plain(errors),
            "lower": plain(low),
            "upper": plain(high),
            **self._how_sure(level),
        }

    def _chart_data(
        self, names: tuple[str, ...], values: tuple[tuple[str, ...], ...], level: float, whom: str
    ) -> ChartData:
        return ChartData(names, values, self._numbers(level), lines_of(self.source), level, whom)

    def __array__(
        self, dtype: DTypeLike | None = None, *, copy: bool | None = None
    ) -> NDArray[Any]:
        return array_of(self.probabilities, dtype, copy)
