"""One way to write a value: what a file, a frame and a study say is compared as text.

A data frame says 1.0 and True where a file says "1" and "true", or "1.0" and "True". All of them
are one value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal

import numpy as np

from castell.errors import SchemaError

# A number with a point, or with a comma where that cannot part thousands.
_POINT = re.compile(
    r"(-?[0-9]+)(?:\.([0-9]*?)0*|,((?<=^0,)[0-9]+|(?<=^-0,)[0-9]+|(?![0-9]{3}$)[0-9]+))", re.ASCII
)
_TRUTH = {"true": "true", "True": "true", "TRUE": "true"}
_TRUTH |= {"false": "false", "False": "false", "FALSE": "false"}
_MIDNIGHT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]00:00(:00(\.0+)?)?", re.ASCII)


def text_of(name: str, value: object) -> str:
    """A value as people write it: 1.0 is '1', True is 'true', a day is 2026-11-17."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating, Decimal)):
        # As text first: a short float of a frame is the number its digits say.
        number = float(str(value))
        if number != number:
            raise _empty(name)
        value = int(number) if number.is_integer() else number
    if isinstance(value, (date, datetime)):
        return one_text(str(value))
    text = str(value)
    if value is None or not text.strip():
        raise _empty(name)
    return text


def _empty(name: str) -> SchemaError:
    return SchemaError(
        f"attribute {name!r} has an empty value", "write it out, for example 'no answer'"
    )


def one_text(text: str) -> str:
    """The one way in which a text of a file is compared.

    Only what every reader takes for the same: "01" and "1" stay two texts, and "1,500" as it is.

    >>> [one_text(text) for text in ("1.0", "2.50", "2,5", "0,125", "True", "01")]
    ['1', '2.5', '2.5', '0.125', 'true', '01']
    """
    if (found := _POINT.fullmatch(text)) is not None:
        whole, rest = found[1], found[2] or (found[3] or "").rstrip("0")
        text = f"{whole}.{rest}" if rest else whole
        return "0" if text == "-0" else text
    if (found := _MIDNIGHT.fullmatch(text)) is not None:
        return found[1]
    return _TRUTH.get(text, text)


def codes_by_text(values: Iterable[str]) -> dict[str, int]:
    """The code of each value by its one text, where that is of one value only.

    0 and 1 stand for false and true where those are the values: frames write them so.

    >>> codes_by_text(["1.0", "2"]), codes_by_text(["True", "true"])
    ({'1': 0, '2': 1}, {})
    """
    values = list(values)
    texts = [one_text(value) for value in values]
    times = Counter(texts)
    found = {text: k for k, text in enumerate(texts) if times[text] == 1}
    truths = [text for text in texts if text in ("false", "true")]
    if sorted(truths) == ["false", "true"] and not {"0", "1"} & set(texts):
        found |= {"0": found["false"], "1": found["true"]}
    return found
