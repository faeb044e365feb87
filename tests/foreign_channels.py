"""A channel that castell did not write, and others like it that do not keep their word."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from castell.extend import Dense, WeightedChannel, entries, log_ratio


@dataclass(frozen=True)
class Neighbours(WeightedChannel):
    """For ordered values: the nearer a report is to the answer, the more it weighs."""

    kind: ClassVar[str] = "neighbours"

    size: int
    base: int
    scale: int = 1

    def weights(self) -> list[list[int]]:
        rows = []
        for x in range(self.size):
            row = [self.scale * self.base ** (self.size - 1 - abs(x - y)) for y in range(self.size)]
            most = self.scale * self.base ** (self.size - 1) * self.size
            rows.append([*row, most - sum(row) + self.scale])  # the rest: no answer at all
        return rows

    def document(self) -> dict[str, Any]:
        return {"kind": self.kind, "size": self.size, "base": self.base, "scale": self.scale}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Neighbours:
        return cls(*entries(document, "size", "base", "scale"))


class Weak(Neighbours):
    """States half of what it costs."""

    @property
    def exact_epsilon(self) -> Decimal:
        return super().exact_epsilon / 2


class Rounded(Neighbours):
    """States a float."""

    @property
    def exact_epsilon(self) -> Any:
        return float(super().exact_epsilon)


class Truthful(Neighbours):
    """Says the truth, whatever its weights say."""

    def respond(self, codes: Any, numbers: Any) -> Any:  # noqa: ARG002
        return codes


class Shifted(Neighbours):
    """One number in all is dealt to another report."""

    def respond(self, codes: Any, numbers: Any) -> Any:
        reports = super().respond(codes, numbers)
        return np.where((numbers == 0) & (codes == 1), self.outputs - 1, reports)


class Random(Neighbours):
    """Has randomness of its own."""

    def respond(self, codes: Any, numbers: Any) -> Any:
        own = np.random.default_rng().integers(0, self.total, len(numbers), dtype=np.uint64)
        return super().respond(codes, own)


class Greedy(Neighbours):
    """Writes to the numbers it is given."""

    def respond(self, codes: Any, numbers: Any) -> Any:
        reports = super().respond(codes, numbers)
        numbers[:] = 0
        return reports


class Outside(Neighbours):
    def respond(self, codes: Any, numbers: Any) -> Any:
        return super().respond(codes, numbers) + 1


class Halves(Neighbours):
    def respond(self, codes: Any, numbers: Any) -> Any:
        return super().respond(codes, numbers) / 2


class Uneven(Neighbours):
    def weights(self) -> list[list[int]]:
        rows = super().weights()
        rows[1][0] += 1
        return rows


class Fractions(Neighbours):
    def weights(self) -> list[list[Any]]:
        return [[float(w) for w in row] for row in super().weights()]

    @property
    def total(self) -> int:
        return int(super().total)


class Certain(Neighbours):
    def weights(self) -> list[list[int]]:
        rows = super().weights()
        rows[0][1], rows[0][2] = 0, rows[0][1] + rows[0][2]
        return rows

    @property
    def exact_epsilon(self) -> Decimal:
        return log_ratio(Fraction(4))


class Short(Neighbours):
    @property
    def outputs(self) -> int:
        return super().outputs + 1


class Text(Neighbours):
    @property
    def total(self) -> Any:
        return str(super().total)


class Huge(Neighbours):
    @property
    def total(self) -> int:
        return 2**53 + 1


class Digits(Neighbours):
    has_digits: ClassVar[bool] = True


class Labels(Neighbours):
    reports_answers = True


class Dice(Neighbours):
    draws: ClassVar[int] = 2


class Backwards(Neighbours):
    @property
    def forward(self) -> Dense:
        return Dense(super().forward.dense()[::-1])


class Stuck(Neighbours):
    @property
    def inverse(self) -> Dense:
        return Dense(super().forward.dense().T)


class Modest(Neighbours):
    @property
    def best_guess(self) -> float:
        return 0.34


class Surprising(Neighbours):
    @property
    def worst_guess(self) -> float:
        return 0.4


class Blind(Neighbours):
    def project(self, sizes: Any, keep: Any) -> Any:  # noqa: ARG002
        return None


class Public(Neighbours):
    """Would be outside epsilon."""

    is_public: ClassVar[bool] = True


class Shrunk(Neighbours):
    """Says that all of a report is noise, which a shuffle would believe."""

    @property
    def blanket(self) -> float:
        return 1.0


class Untitled(Neighbours):
    title: Any = None


class Nameless(Neighbours):
    kind: ClassVar[str] = ""


class Impostor(Neighbours):
    kind: ClassVar[str] = "kary"


class Unwritten(Neighbours):
    def document(self) -> dict[str, Any]:
        return {"kind": self.kind, "size": {3}}


class Renamed(Neighbours):
    def document(self) -> dict[str, Any]:
        return {**super().document(), "kind": "other"}


class Forgetful(Neighbours):
    """Reads another channel from what it published."""

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Neighbours:
        return cls(document["size"], document["base"] + 1, document["scale"])
