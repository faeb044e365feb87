"""What one check of a table says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from castell.display.json_values import plain
from castell.errors import CastellError

State = Literal["fine", "look", "unknown"]


@dataclass(frozen=True)
class Signal:
    """What one check says: in a word, in a sentence, by which method, and in numbers."""

    key: str
    title: str
    state: State
    value: str
    text: str
    method: str
    numbers: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The signal for programs."""
        return {
            "key": self.key,
            "title": self.title,
            "state": self.state,
            "value": self.value,
            "text": self.text,
            "method": self.method,
            "numbers": {name: plain(number) for name, number in self.numbers.items()},
        }


def unknown_signal(key: str, title: str, why: str) -> Signal:
    """A check that could not be made, and why."""
    return Signal(key, title, "unknown", "not known", why, "none")


def where_possible(key: str, title: str, check: Callable[[], Signal]) -> Signal:
    """A check, or why it cannot be made: reports may be estimated that cannot be inverted."""
    try:
        return check()
    except CastellError as error:
        return unknown_signal(key, title, f"{error.problem[:1].upper()}{error.problem[1:]}.")


def points(share: float) -> str:
    """A difference of shares, in percentage points.

    >>> points(0.0123)
    '1.2 points'
    """
    digits = 1 if share >= 0.001 else 3
    return f"{100 * share:.{digits}f} points"
