"""Numbers that survey programs write for a missing answer: 9, 99, -99 and the like.

As numbers they would go into bins, means and quantiles. Whether one means that nobody answered only
the survey's owner knows, so they are pointed out and left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from castell.study.number_texts import number_in_file

_NINES = re.compile(r"-?9+(\.0+)?")
# A code stands apart from what people answer: in the tens where these are single digits, and so on.
_APART = 5


def missing_codes(texts: Collection[str]) -> list[str]:
    """The texts of a column that look like codes for a missing answer.

    Nines are such codes if they stand among words, below zero alone, beside a scale of whole
    numbers that ends before them, or far above every other number.

    >>> missing_codes(["1", "2", "3", "4", "5", "9"]), missing_codes(["18", "35", "89", "99"])
    (['9'], [])
    >>> missing_codes(["never", "daily", "99"]), missing_codes(["0", "1200", "-99"])
    (['99'], ['-99'])
    """
    nines = {text: number_in_file(text) for text in texts if _NINES.fullmatch(text)}
    others = [number_in_file(text) for text in texts if text not in nines]
    numbers = sorted(number for number in others if number == number)
    return sorted(text for text, code in nines.items() if others and _is_code(code, numbers))


def _is_code(code: float, others: list[float]) -> bool:
    if not others:
        return True
    least, largest = others[0], others[-1]
    if code < 0:
        return least >= 0
    scale = least in (0.0, 1.0) and others == [least + k for k in range(len(others))]
    return (scale and len(others) > 1 and code > largest + 1) or code > _APART * largest > 0
