"""What a person writes of an attribute's values: bins, a range, a period; and what it means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from castell.errors import SchemaError
from castell.study.scales import (
    Bins,
    Period,
    Points,
    Scale,
    ascending_texts,
    each_whole_number,
    range_ends,
)

TYPES = ("boolean", "integer", "number", "date")


@dataclass(frozen=True)
class Written:
    """The arguments of an attribute that say where its values come from."""

    bins: Iterable[object] | None = None
    range: Sequence[object] | None = None
    unit: str = ""
    type: str = ""
    period: str = ""
    rounding: str = ""

    def read(self, values: tuple[str, ...]) -> tuple[tuple[str, ...], Scale | None, bool]:
        """The values, their scale if they have one, and whether they have an order.

        `values` beside bins or a period are other words for them.
        """
        self._check()
        if self.type == "boolean":
            if sorted(values) not in ([], ["false", "true"]):
                raise SchemaError("truth values are listed as others", "leave values out")
            return values or ("false", "true"), None, False
        scale = self._scale()
        if isinstance(scale, Period) and values:
            raise SchemaError("there are values and a period", "leave one of them out")
        if scale is not None:
            if values and len(values) != scale.size:
                raise SchemaError(
                    f"there are {len(values)} values for {scale.size} bins",
                    "name each bin, or leave values out; what stands beside them goes in also",
                )
            return values or scale.labels, scale, True
        if self.range is not None:
            if values:
                raise SchemaError("there are values and a range", "leave one of them out")
            return each_whole_number(self.range), None, True
        return values, None, False

    def _scale(self) -> Scale | None:
        if self.period:
            return Period.between(self.period, self.range or ())
        if self.bins is None:
            return None
        if self.rounding:
            ends: tuple[str, ...] = () if self.range is None else range_ends(self.range)
            inner = ascending_texts(self.bins, "the bins", 1)
            every = sorted({*inner, *ends}, key=float)
            found = Points(ascending_texts(every, "the bins", 2), self.unit)
            if ends and (found.points[0], found.points[-1]) != ends:
                raise SchemaError("a bin is outside the range", "widen the range")
            return found
        whole = None if not self.type else self.type == "integer"
        return Bins.cut(self.bins, self.range, whole, self.unit)

    def _check(self) -> None:
        """What does not go together is refused, not ignored."""
        if self.type and self.type not in TYPES:
            raise SchemaError(f"type is {self.type!r}", f"use one of {', '.join(TYPES)}")
        if self.rounding not in ("", "unbiased"):
            raise SchemaError(f"rounding is {self.rounding!r}", 'write "unbiased" or leave it out')
        if not isinstance(self.unit, str):
            raise SchemaError(f"unit is {self.unit!r}", "give a text")
        numbers = self.bins is not None
        if (self.rounding or self.unit) and not numbers:
            raise SchemaError("there is a unit or rounding without bins", "add bins = [...]")
        if (self.type == "date") != bool(self.period):
            if self.type == "date":
                raise SchemaError("a date has no period", 'add period = "month" and a range')
            if self.type or numbers:
                raise SchemaError("there is a period beside bins or another type", "keep one")
        if self.period and (numbers or self.range is None):
            raise SchemaError(
                "a period needs a range of days, and no bins", 'range = ["2024-01", "2024-12"]'
            )
        if self.type in ("integer", "number") and not numbers and self.range is None:
            raise SchemaError(f"an {self.type} has no values", "add bins = [...] or a range")
        if self.type == "number" and not numbers:
            raise SchemaError("a range of numbers has too many values", "add bins = [...]")
        if self.type == "boolean" and (numbers or self.range is not None):
            raise SchemaError("truth values have bins or a range", "leave them out")
