"""Of the key-value pairs that somebody has, the one that their device reports.

PCKV's padding and sampling: the pairs are filled up to a fixed number with nothing, one of them is
drawn, and its value in [-1, 1] becomes low or high at random, so that its mean stays exact. All of
it happens on the device, before the channel. Whoever has more pairs than that number counts for
less with each of them, as in the paper.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from castell.errors import OptionError
from castell.numbers import is_number, is_whole
from castell.study.schema import Attribute

NONE = "none"
# Values are rounded by a number below this, so by no less than this part of one.
_FINE = 1 << 53


def key_value_attribute(name: str, keys: Sequence[str], question: str = "") -> Attribute:
    """An attribute for key-value pairs: low and high for each key, and for none.

    >>> key_value_attribute("film", ["Metropolis"]).values
    ('Metropolis low', 'Metropolis high', 'none low', 'none high')
    """
    if NONE in keys:
        raise OptionError(f"a key is {NONE!r}", "that is what padding is called; name it otherwise")
    return Attribute(name, [f"{key} {end}" for key in (*keys, NONE) for end in ENDS], question)


ENDS = ("low", "high")


def draw_pair(
    pairs: Mapping[str, float],
    length: int,
    below: Callable[[int], int] = secrets.randbelow,
) -> str:
    """The value of a `key_value_attribute` that somebody with some pairs reports.

    `below` draws a number below another one: the operating system's, unless a test says otherwise.

    >>> draw_pair({"Metropolis": 1.0}, 1), draw_pair({}, 3) in ("none low", "none high")
    ('Metropolis high', True)
    """
    if not is_whole(length, 1):
        raise OptionError(f"pairs are filled up to {length!r}", "give a whole number from 1 up")
    for key, value in pairs.items():
        if not is_number(value, -1.0) or float(value) > 1.0:
            raise OptionError(f"the value of {key!r} is {value!r}", "give a number from -1 to 1")
    listed = [*pairs.items()]
    # Both numbers are drawn whatever the pairs are.
    place, fine = below(max(length, len(listed))), below(_FINE)
    key, value = listed[place] if place < len(listed) else (NONE, 0.0)
    share = (1 + Fraction(float(value))) / 2
    return f"{key} {ENDS[fine < share * _FINE]}"
