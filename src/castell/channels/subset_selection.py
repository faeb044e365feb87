"""Subset selection: some of the answers are sent, the own one likely among them.

Every set of `chosen` answers is a report; those that hold the own answer weigh `same`, the others
`other` (Wang et al. 2016; Ye and Barg 2018). For one attribute it is the best there is in the order
of its error. Sets are numbered in the order of `itertools.combinations`. Set-valued response
(`cyclic`) does the same with far fewer reports, which is why designs use that one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, exp
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.budget import asked_epsilon
from castell.channels.document_entries import entries
from castell.channels.supported import check_cells
from castell.channels.two_weights import TwoWeights, two_weights
from castell.errors import ChannelError
from castell.numbers import is_whole


@dataclass(frozen=True)
class SubsetResponse(TwoWeights):
    """
    >>> SubsetResponse(4, 2, 3, 1).weights()[0]
    [3, 3, 3, 1, 1, 1]
    """

    kind: ClassVar[str] = "subset"
    title: ClassVar[str] = "subset selection"

    size: int
    chosen: int
    same: int
    other: int

    def __post_init__(self) -> None:
        if not is_whole(self.size, 2) or not is_whole(self.chosen, 1) or self.chosen >= self.size:
            raise ChannelError(
                f"sets of {self.chosen!r} of {self.size!r} answers", "take some, and not all"
            )
        check_cells(self.size, self.size, 0)  # no fewer sets, and far too many to count them
        self.check()

    @classmethod
    def with_epsilon(cls, size: int, epsilon: object, what: str = "epsilon") -> SubsetResponse:
        """With about one in e^epsilon + 1 of the answers, which is the best number of them."""
        if not is_whole(size, 2):
            raise ChannelError(f"{size!r} answers", "give two or more")
        check_cells(size, size, 0)
        chosen = max(1, round(size / (exp(float(asked_epsilon(epsilon, what))) + 1.0)))
        return cls(size, chosen, *two_weights(epsilon, comb(size, chosen), what))

    @property
    def answers_and_reports(self) -> tuple[int, int]:
        return self.size, comb(self.size, self.chosen)

    def speaks(self) -> NDArray[np.bool_]:
        found = np.zeros((self.size, comb(self.size, self.chosen)), dtype=np.bool_)
        for report, inside in enumerate(combinations(range(self.size), self.chosen)):
            found[list(inside), report] = True
        return found

    def document(self) -> dict[str, Any]:
        sizes = {"size": self.size, "chosen": self.chosen}
        return {"kind": self.kind, **sizes, "same": self.same, "other": self.other}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> SubsetResponse:
        return cls(*entries(document, "size", "chosen", "same", "other"))
