"""The share of those who have any of what a key-value question asks about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from castell.results.conditional import Conditional
from castell.results.provenance import describe_values


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Having(Conditional):
    """P(any | answered): one share, with the interval of a conditional share.

    Its partner is the mean, which is of those who have any.
    """

    @property
    def title(self) -> str:
        among = f" given {describe_values(self.given)}" if self.given else ""
        return f"any {self.asked} of those who answered{among}"

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        return {**super().to_dict(level), "kind": "having"}
