"""Local hashing: a hash function drawn at random, and the answer's hash by k-ary response.

A report is a function and a value (Wang, Blocki, Li and Jha 2017). Functions are the p (p - 1) of
x -> ((a x + b) mod p) mod g, a prime p that is no smaller than the answers are many (Carter and
Wegman 1979), so a device needs a multiplication, and the server knows exactly how often two answers
collide. With g = 2 it is binary local hashing; the optimised g is e^epsilon + 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.budget import asked_epsilon
from castell.channels.document_entries import entries
from castell.channels.supported import check_cells
from castell.channels.two_weights import TwoWeights, two_weights
from castell.errors import ChannelError
from castell.numbers import is_whole

# So few functions at least: with fewer, some answers collide more often than others.
_FEWEST = 11


@dataclass(frozen=True)
class HashingResponse(TwoWeights):
    """
    >>> HashingResponse(3, 3, 2, 3, 1).outputs  # six functions with two values each
    12
    """

    kind: ClassVar[str] = "hashing"
    title: ClassVar[str] = "local hashing"

    size: int
    prime: int
    values: int
    same: int
    other: int

    def __post_init__(self) -> None:
        whole = is_whole(self.size, 2) and is_whole(self.prime, 2) and is_whole(self.values, 2)
        if not whole or self.values > self.prime or self.prime < self.size:
            raise ChannelError(
                f"{self.size!r} answers hashed to {self.values!r} values modulo {self.prime!r}",
                "take a prime that is no smaller than either",
            )
        if self.prime > 2**20 or not _is_prime(self.prime):
            raise ChannelError(f"{self.prime} is no prime below 2^20", "take one")
        self.check()

    @classmethod
    def with_epsilon(cls, size: int, epsilon: object, what: str = "epsilon") -> HashingResponse:
        """Optimised local hashing: e^epsilon + 1 values, or as many as there are answers."""
        if not is_whole(size, 2):
            raise ChannelError(f"{size!r} answers", "give two or more")
        check_cells(size, size, 0)  # there are more functions than answers
        values = max(2, min(size, round(exp(float(asked_epsilon(epsilon, what))) + 1.0)))
        prime = max(size, values, _FEWEST)
        while not _is_prime(prime):
            prime += 1
        outputs = prime * (prime - 1) * values
        return cls(size, prime, values, *two_weights(epsilon, outputs, what))

    @property
    def answers_and_reports(self) -> tuple[int, int]:
        return self.size, self.prime * (self.prime - 1) * self.values

    def speaks(self) -> NDArray[np.bool_]:
        factors = np.repeat(np.arange(1, self.prime), self.prime)
        shifts = np.tile(np.arange(self.prime), self.prime - 1)
        answers = np.arange(self.size)[:, None]
        hashed = (factors * answers + shifts) % self.prime % self.values
        found: NDArray[np.bool_] = hashed[:, :, None] == np.arange(self.values)
        return found.reshape(self.size, -1)

    def document(self) -> dict[str, Any]:
        sizes = {"size": self.size, "prime": self.prime, "values": self.values}
        return {"kind": self.kind, **sizes, "same": self.same, "other": self.other}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> HashingResponse:
        return cls(*entries(document, "size", "prime", "values", "same", "other"))


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % d for d in range(2, isqrt(number) + 1))
