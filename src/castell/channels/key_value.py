"""Key-value pairs: whether somebody has a key, and of which sign its value is.

A value in [-1, 1] is rounded to one of the two ends at random, so that its mean stays exact; what a
channel hides is then a key with a sign. PrivKV (Ye, Hu, Meng and Zheng 2019) randomises one drawn
key with half of the budget and, if it is there, the sign with the other half. PCKV (Gu, Li, Cheng,
Xiong and Cao 2020) draws among the pairs that a respondent has, and randomises key and sign as one:
with k-ary response over all pairs (PCKV-GRR), or with a sign or none for every key (PCKV-UE, here
`KeyValueResponse`).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from functools import cached_property
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.budget import EXACT, asked_epsilon, check_hides
from castell.channels.document_entries import entries
from castell.channels.kary import KaryResponse
from castell.channels.matrix import MatrixResponse
from castell.channels.supported import SupportedChannel, check_cells, check_weights
from castell.errors import ChannelError
from castell.linear.operators import Floats
from castell.numbers import is_whole

MOST_KEYS = 8
_SCALE = 1 << 51


@dataclass(frozen=True)
class KeyValueResponse(SupportedChannel):
    """A report says for each key nothing (0), low (1) or high (2), in base 3, the first key first.

    Answers are pairs: key 0 low, key 0 high, key 1 low, and so on. `same[c]` weighs a report that
    says the pair and c other keys, `opposite[c]` one that says its key with the other sign, and
    `silent[c]` one that does not say its key.

    >>> channel = KeyValueResponse.with_epsilon(4, 1.0)  # two keys
    >>> channel.outputs, 1.0 - 1e-6 < channel.epsilon <= 1.0
    (9, True)
    """

    kind: ClassVar[str] = "key-value"
    title: ClassVar[str] = "randomised key-value pair (PCKV-UE)"

    keys: int
    same: tuple[int, ...]
    opposite: tuple[int, ...]
    silent: tuple[int, ...]

    def __post_init__(self) -> None:
        for name in ("same", "opposite", "silent"):
            given = getattr(self, name)
            if not isinstance(given, (list, tuple)):
                raise ChannelError(f"the weights are {given!r}", "list them")
            object.__setattr__(self, name, tuple(given))
        _check_keys(self.keys)
        if {len(self.same), len(self.opposite), len(self.silent)} != {self.keys}:
            raise ChannelError(
                "key-value pairs need weights for each number of other keys that are said",
                "give as many as there are keys",
            )
        check_weights(*self.same, *self.opposite, *self.silent)
        each = zip(self.same, self.opposite, self.silent, strict=True)
        total = sum(comb(self.keys - 1, c) * 2**c * sum(three) for c, three in enumerate(each))
        check_cells(2 * self.keys, 3**self.keys, total)
        check_hides(self.exact_epsilon)
        _ = self.inverse

    @classmethod
    def with_epsilon(cls, size: int, epsilon: object, what: str = "epsilon") -> KeyValueResponse:
        """PCKV-UE: the own key is said with a half, any other with 2 / (e^epsilon + 3), and a sign
        is kept with e^epsilon / (e^epsilon + 1)."""
        asked = asked_epsilon(epsilon, what)
        keys = keys_of(size)
        _check_keys(keys)
        ratio = EXACT.exp(asked)
        said = EXACT.divide(Decimal(2), ratio + 3)
        others = [(said / 2) ** c * (1 - said) ** (keys - 1 - c) for c in range(keys)]
        silent = [max(1, _floor(_SCALE * chance / 2)) for chance in others]
        # A report that says one key of two less weighs as much for the pair whose sign it turns
        # round as for the pair of the key it is silent on, and e^epsilon times that for its own.
        last = max(1, _floor(_SCALE * others[-1] / (2 * (ratio + 1))))
        opposite = [*silent[1:], last]
        same = [_floor(EXACT.multiply(ratio, Decimal(weight))) for weight in opposite]
        return cls(keys, tuple(same), tuple(opposite), tuple(silent))

    @cached_property
    def _symbols(self) -> NDArray[np.int64]:
        """For each key what each report says of it: a row of 0, 1 and 2."""
        reports = np.arange(3**self.keys)
        strides = 3 ** np.arange(self.keys - 1, -1, -1)
        return reports[None, :] // strides[:, None] % 3

    def support(self) -> Floats:
        signs = [symbols == sign for symbols in self._symbols for sign in (1, 2)]
        return np.array(signs, dtype=np.float64)

    def weights(self) -> list[list[int]]:
        said = (self._symbols > 0).sum(axis=0)
        same, opposite = np.array(self.same), np.array(self.opposite)
        silent, rows = np.array(self.silent), []
        for symbols in self._symbols:
            own = symbols > 0
            more = said - own
            for sign in (1, 2):
                spoken = np.where(symbols == sign, same[more], opposite[more])
                rows.append([int(w) for w in np.where(own, spoken, silent[more])])
        return rows

    def document(self) -> dict[str, Any]:
        listed = {name: list(getattr(self, name)) for name in ("same", "opposite", "silent")}
        return {"kind": self.kind, "keys": self.keys, **listed}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> KeyValueResponse:
        return cls(*entries(document, "keys", "same", "opposite", "silent"))


def privkv(size: int, epsilon: object, what: str = "epsilon") -> MatrixResponse:
    """PrivKV for one key: low, high or none, with half of the budget for the key and half for the
    sign; whoever has none and says to have it says either sign.

    Its epsilon is that of the matrix, which is less than the two halves together.

    >>> channel = privkv(3, 2.0)
    >>> 1.37 < channel.epsilon < 1.39  # ln(2 e / (1 + 1/e)), of the 2 that were allowed
    True
    """
    asked = asked_epsilon(epsilon, what)
    if size != 3:
        raise ChannelError(
            f"PrivKV has low, high and none, and there are {size!r} values",
            'write bins = [-1, 1], rounding = "unbiased" and none = "none"',
        )
    odds = EXACT.exp(EXACT.divide(asked, Decimal(2)))
    # Everything in units of half of what says a key that is not there.
    unit = max(2, int(_SCALE / float((odds + 1) ** 2)))
    none = 2 * unit  # says nothing, of somebody who has the key
    high = _floor(EXACT.divide(EXACT.multiply(odds, Decimal(none)), odds + 1))
    low = _floor(EXACT.multiply(odds, Decimal(high)))
    there = low + high
    return MatrixResponse(
        [[low, high, none], [high, low, none], [unit, unit, there + none - 2 * unit]]
    )


def pckv_grr(size: int, epsilon: object, what: str = "epsilon") -> KaryResponse:
    """PCKV-GRR of one pair each: with its authors' best split it is k-ary response over pairs."""
    keys_of(size)
    return KaryResponse.with_epsilon(size, epsilon, what)


def keys_of(size: object) -> int:
    """How many keys there are, with a low and a high value each."""
    if not is_whole(size, 2) or int(size) % 2:  # type: ignore[call-overload]
        raise ChannelError(
            f"key-value pairs with {size!r} values",
            "list two for each key, low and high: 2, 4, 6 ...",
        )
    keys = int(size) // 2  # type: ignore[call-overload]
    return int(keys)


def _check_keys(keys: object) -> None:
    if not is_whole(keys, 1) or int(keys) > MOST_KEYS:  # type: ignore[call-overload]
        raise ChannelError(
            f"key-value pairs of {keys!r} keys",
            f"give from 1 to {MOST_KEYS}; for more use pckv-grr, or draw a key: privkv",
        )


def _floor(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_FLOOR))
