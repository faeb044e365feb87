"""Shares of a group for programs: the entries that all results of several of them have."""

from __future__ import annotations

from typing import Any, Protocol

from castell.display.json_values import plain
from castell.inference.reasons import Reason
from castell.inference.support import Checked
from castell.linear.operators import Floats


class SharesOfGroups(Protocol):
    """Some shares, with intervals and reasons."""

    @property
    def probabilities(self) -> Floats: ...
    @property
    def standard_errors(self) -> Floats: ...
    @property
    def checked(self) -> Checked: ...
    @property
    def reasons(self) -> tuple[Reason, ...]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...

    def conf_int(self, level: float = 0.95) -> tuple[Floats, Floats]: ...


def shares_document(found: SharesOfGroups, level: float) -> dict[str, Any]:
    """The numbers and what stands behind them, as plain JSON values."""
    low, high = found.conf_int(level)
    return {
        "probabilities": plain(found.probabilities),
        "standard_errors": plain(found.standard_errors),
        "lower": plain(low),
        "upper": plain(high),
        "level": level,
        "checked": found.checked.value,
        "reasons": [each.to_dict() for each in found.reasons],
        "notes": list(found.notes),
    }
