"""What every channel is: weights, a way to sample them, and a lens to look back through."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Operator

Words = NDArray[np.uint64]

# Every weight and total stays an integer that JSON and JavaScript hold exactly.
MAX_TOTAL = 2**53


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


class Channel(Lens, Protocol):
    """What a block of attributes passes through on the device.

    `castell.extend.WeightedChannel` works all of this out from the weights alone.
    """

    @property
    def kind(self) -> str:
        """The name under which it is published, and its reader found."""
        ...

    @property
    def title(self) -> str:
        """Its name for people, as the literature has it."""
        ...

    @property
    def inputs(self) -> int:
        """How many answers there are."""
        ...

    @property
    def outputs(self) -> int:
        """How many reports there are."""
        ...

    @property
    def total(self) -> int:
        """What the weights of one answer sum to."""
        ...

    @property
    def draws(self) -> int:
        """How many numbers below `total` one answer takes, whatever it is."""
        ...

    @property
    def reports_answers(self) -> bool:
        """Whether a report is one of the answers, and so has a label."""
        ...

    @property
    def has_digits(self) -> bool:
        """Whether each attribute's digit of a report can be looked at alone, as in k-ary response.

        Where it cannot, only the whole report of a block says something.
        """
        ...

    @property
    def has_matrix(self) -> bool:
        """Whether there are `weights`, `forward` and `inverse`; Bloom filters are read as bits."""
        ...

    @property
    def exact_epsilon(self) -> Decimal:
        """The privacy loss of one report, from the weights alone."""
        ...

    def weights(self) -> list[list[int]]:
        """The whole matrix; small channels only."""
        ...

    def respond(self, codes: NDArray[Any], numbers: Words) -> NDArray[Any]:
        """The reports of some answers, given numbers drawn uniformly below `total`."""
        ...

    def project(self, sizes: Sequence[int], keep: Sequence[int]) -> Lens | None:
        """The lens on some of the attributes of a block alone, or None if there is none.

        `sizes` are the attributes' domain sizes and `keep` which of them are looked at.
        """
        ...

    def document(self) -> dict[str, Any]:
        """The channel as published."""
        ...
