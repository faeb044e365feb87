"""One attribute drawn and randomised, the others made up: which one was drawn stays hidden.

RS+FD (Arcolezi, Couchot, Al Bouna and Xiao 2021) makes the others up uniformly, RS+RFD (2022) from
given shares, which may be wrong. A report is a value for every attribute, and its chance is a sum
of one term for each attribute that may have been drawn:

    P(y | x) = (1/d) sum_j G_j(x_j, y_j) prod_{l != j} f_l(y_l).

So nothing in it tells how two attributes go together: single attributes can be taken back out,
no table of two. What two people with different answers to everything tell is the epsilon of one
G_j, not less: hiding the draw protects a change of one answer (`one_answer_epsilon`), which is what
the papers' amplified epsilon is, and not a change of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import lcm, prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.budget import EXACT, asked_epsilon, check_hides, log_ratio, rounded_up
from castell.channels.document_entries import entries
from castell.channels.fake_data_lenses import FakeDataMargin, FakeDataTable, no_table
from castell.channels.fake_data_weights import Shapes, fake_weights
from castell.channels.protocol import MAX_TOTAL, Lens, Traits, Words
from castell.channels.supported import MOST_CELLS
from castell.errors import ChannelError
from castell.linear.operators import Dense, Operator
from castell.numbers import is_whole

# Every number is drawn below the same total, a multiple of the attributes and, where that is
# possible, of their values; so large that rounding costs next to nothing.
_TOTAL = 1 << 50


@dataclass(frozen=True)
class FakeDataResponse(Traits):
    """`fakes[l]` weighs the made-up values of attribute l. If it is drawn each value that is not
    its true one weighs `other[l]`, and that one the rest of `total`.

    >>> channel = FakeDataResponse(((2, 2), (1, 3)), (1, 1))
    >>> channel.weights()[0]  # answers 0 and 0, as any of the four
    [18, 22, 14, 10]
    >>> round(channel.epsilon, 6), round(channel.one_answer_epsilon, 6)  # ln 3 and ln(7/3)
    (1.098612, 0.847298)
    """

    kind: ClassVar[str] = "fake-data"
    title: ClassVar[str] = (
        "one attribute of several, drawn and hidden among made-up ones (RS+FD, RS+RFD)"
    )
    reports_answers: ClassVar[bool] = True
    has_digits: ClassVar[bool] = True
    has_matrix: ClassVar[bool] = True
    has_forward: ClassVar[bool] = True

    fakes: tuple[tuple[int, ...], ...]
    other: tuple[int, ...]

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "fakes", tuple(tuple(row) for row in self.fakes))
            object.__setattr__(self, "other", tuple(self.other))
        except TypeError:
            raise ChannelError("the weights are no lists of numbers", "list them") from None
        if len(self.fakes) < 2 or len(self.other) != len(self.fakes):
            raise ChannelError(
                "made-up answers hide a draw among two attributes or more",
                "give each its weights, and the weight of its other values",
            )
        every = [weight for row in (*self.fakes, self.other) for weight in row]
        if not all(is_whole(weight, 1) for weight in every) or min(self.sizes) < 2:
            raise ChannelError(
                "made-up answers need a weight for each of two values or more",
                "give whole numbers from 1 up",
            )
        if {sum(row) for row in self.fakes} != {self.total} or self.total % len(self.fakes):
            raise ChannelError(
                "the weights of made-up answers have different totals, or no equal chance to be "
                "drawn",
                "let each attribute's sum to one multiple of how many there are",
            )
        if self.total > MAX_TOTAL or self.outputs > MAX_TOTAL:
            raise ChannelError("weights or reports are too many", "keep both below 2^53")
        if min(same - other for same, other in self._pairs) <= 0:
            raise ChannelError(
                "an attribute that is drawn says its value no more often than others",
                "let its other values weigh less",
            )
        check_hides(self.exact_epsilon)

    @classmethod
    def with_epsilon(
        cls,
        sizes: Sequence[int],
        epsilon: object,
        what: str = "epsilon",
        fakes: Shapes | None = None,
    ) -> FakeDataResponse:
        """Each attribute by k-ary response with all of epsilon; `fakes` are shares of made-up
        values, equal ones if they are left out."""
        asked = asked_epsilon(epsilon, what)
        if len(sizes) < 2 or not all(is_whole(size, 2) for size in sizes):
            raise ChannelError(
                f"made-up answers for attributes with {list(sizes)} values",
                "the draw hides among two attributes or more; list how many values each has",
            )
        step = lcm(len(sizes), *sizes)
        if step > 1 << 40:
            step = len(sizes)
        total = _TOTAL // step * step
        ratio = EXACT.exp(asked)
        other = tuple(
            int((Decimal(total) / (ratio + size - 1)).to_integral_value(ROUND_CEILING))
            for size in sizes
        )
        return cls(fake_weights(sizes, total, fakes), other)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(row) for row in self.fakes)

    def tells(self, many: int) -> bool:
        return many < 2  # of two attributes at least one is made up

    def fits(self, sizes: Sequence[int]) -> bool:
        return self.sizes == tuple(sizes)

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        """For each attribute the weight of its true value, and of each other, if it is drawn."""
        counted = zip(self.sizes, self.other, strict=True)
        return [(self.total - (size - 1) * other, other) for size, other in counted]

    @property
    def inputs(self) -> int:
        return prod(self.sizes)

    @property
    def outputs(self) -> int:
        return self.inputs

    @property
    def total(self) -> int:
        return sum(self.fakes[0])

    @property
    def draws(self) -> int:
        """Which attribute it is, and then a number for each of them."""
        return len(self.fakes) + 1

    @cached_property
    def exact_epsilon(self) -> Decimal:
        # Divided by prod f, reports are sums over attributes of a weight times 1 / f_l(y_l).
        return log_ratio(self._largest_ratio([Fraction(other) for other in self.other]))

    def _largest_ratio(self, below: Sequence[Fraction]) -> Fraction:
        """The largest (sum_l same_l c_l) / (sum_l below_l c_l), where c_l = 1 / f_l of any value.

        At the largest ratio r each c_l is the one that favours same_l - r below_l (Dinkelbach).
        """
        ratio = Fraction(0)
        while True:
            above = under = Fraction(0)
            for (same, _), less, row in zip(self._pairs, below, self.fakes, strict=True):
                chosen = Fraction(1, min(row) if same > ratio * less else max(row))
                above, under = above + same * chosen, under + less * chosen
            if above / under <= ratio:
                return ratio
            ratio = above / under

    @property
    def epsilon(self) -> float:
        return rounded_up(self.exact_epsilon)

    @property
    def one_answer_epsilon(self) -> float:
        """What two people tell who differ in one answer: the other attributes add to both."""
        found = []
        for j, ((same, other), row) in enumerate(zip(self._pairs, self.fakes, strict=True)):
            rest = sum(
                (Fraction(self.other[k], max(f)) for k, f in enumerate(self.fakes) if k != j),
                start=Fraction(0),
            )
            found.append((Fraction(same, min(row)) + rest) / (Fraction(other, min(row)) + rest))
        return rounded_up(log_ratio(max(found)))

    @property
    def blanket(self) -> float:
        """The part of a report that is the same whatever the answers are."""
        each = zip(self.sizes, self.other, strict=True)
        return sum(size * other for size, other in each) / (len(self.sizes) * self.total)

    @property
    def best_guess(self) -> float:
        each = sum(size * same for size, (same, _) in zip(self.sizes, self._pairs, strict=True))
        return each / (len(self.sizes) * self.total) / self.inputs

    @property
    def worst_guess(self) -> float:
        return float(self._largest_ratio([Fraction(self.total, k) for k in self.sizes])) / (
            self.inputs
        )

    def weights(self) -> list[list[int]]:
        if self.inputs**2 > MOST_CELLS:
            raise ChannelError(
                f"a block of {self.inputs:,} combinations is too large to be written out",
                "look at single attributes of it",
            )
        cells = list(product(*map(range, self.sizes)))
        return [[self._weight(x, y) for y in cells] for x in cells]

    def _weight(self, x: Sequence[int], y: Sequence[int]) -> int:
        made_up = [row[value] for row, value in zip(self.fakes, y, strict=True)]
        drawn = [
            same if true == said else other
            for (same, other), true, said in zip(self._pairs, x, y, strict=True)
        ]
        every = prod(made_up)
        share = self.total // len(self.sizes)
        return share * sum(w * every // fake for w, fake in zip(drawn, made_up, strict=True))

    @property
    def forward(self) -> Dense:
        rows = np.array(self.weights(), dtype=np.float64)
        return Dense((rows / rows.sum(axis=1, keepdims=True)).T)

    @property
    def inverse(self) -> Operator:
        raise no_table()

    def respond(self, codes: NDArray[Any], numbers: Words) -> NDArray[Any]:
        # Both arms are computed for every attribute of everyone; then one is taken.
        drawn = numbers.reshape(len(codes), self.draws)
        which = drawn[:, 0] // np.uint64(self.total // len(self.sizes))
        strides = np.array([prod(self.sizes[i + 1 :]) for i in range(len(self.sizes))])
        report = np.zeros(len(codes), dtype=np.int64)
        answers = codes.astype(np.int64)
        for i, (size, row, other) in enumerate(
            zip(self.sizes, self.fakes, self.other, strict=True)
        ):
            number, true = drawn[:, i + 1], answers // strides[i] % size
            ends = np.cumsum(np.array(row, dtype=np.uint64))
            fake = np.searchsorted(ends, number, side="right")
            # One of `size` slices of `other` says its value, what is above them the true one.
            told = (number // np.uint64(other)).astype(np.int64)
            told = np.where(told < size, told, true)
            report += np.where(which == i, told, fake) * strides[i]
        return report

    def project(self, sizes: Sequence[int], keep: Sequence[int]) -> Lens:
        if len(keep) > 1 or len(sizes) != len(self.sizes):
            return FakeDataTable()
        (place,) = keep
        rest = sum(
            (
                Fraction(self.total, len(row) * max(row))
                for k, row in enumerate(self.fakes)
                if k != place
            ),
            start=Fraction(0),
        )
        return FakeDataMargin(len(sizes), self.fakes[place], *self._pairs[place], rest)

    def document(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "fakes": [list(row) for row in self.fakes],
            "other": list(self.other),
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> FakeDataResponse:
        return cls(*entries(document, "fakes", "other"))
