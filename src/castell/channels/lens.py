"""How answers look from the server, through a channel or the view of a part of its block."""

from __future__ import annotations

from typing import Protocol

from castell.linear.operators import Operator


class Lens(Protocol):
    """How answers look from the server: a linear map there, one back, and what a guess gains."""

    @property
    def has_forward(self) -> bool:
        """Whether `forward` exists.

        It does not where how some attributes are reported depends on others of their block.
        """
        ...

    @property
    def forward(self) -> Operator:
        """From the distribution of answers to that of reports."""
        ...

    @property
    def inverse(self) -> Operator:
        """From the distribution of reports back to that of answers."""
        ...

    @property
    def best_guess(self) -> float:
        """How often the best guess at a uniform answer is right after seeing its report."""
        ...

    @property
    def worst_guess(self) -> float:
        """The same after the report that gives most away; never less than `best_guess`."""
        ...
