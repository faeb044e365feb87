"""Questions about several things of which people have some or none: key-value pairs.

Such a question is written as one and asked as many: each key is an attribute of its own, named
"hours: chat", whose answer is a number or `none`. It is randomised, counted and estimated like any
other, so the question's share of the budget is split over the keys. In a design in which each
respondent reports one attribute ("singles") the key is drawn by the device and has the whole
budget: that is PrivKV's sampling (Ye, Hu, Meng and Zheng 2019).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from castell.errors import AnswerError, SchemaError
from castell.study.attribute import Attribute, suggest
from castell.study.choices import option_name, options_of
from castell.study.number_texts import number_of

NONE = "none"
# What a question may say of the number that goes with each key.
OF_A_NUMBER = ("bins", "range", "unit", "type", "rounding", "none", "also", "missing", "values")


def key_values(
    name: str, keys: Iterable[object], question: str = "", **number: Any
) -> tuple[Attribute, ...]:
    """A question about several keys, as an attribute for each of them.

    `number` is what each number is: `range`, `bins`, `rounding`, `unit`; `none` is what those
    answer who do not have the key ("none" unless said otherwise). A range without bins is rounded
    to its ends at random, so that means are exact.

    >>> use = key_values("hours", ["mail", "chat"], range=[0, 12])
    >>> use[0].name, use[0].values
    ('hours: mail', ('0', '12', 'none'))
    """
    listed = options_of(name, keys)
    for key in number:
        if key not in OF_A_NUMBER:
            raise SchemaError(
                f"{name!r} has {key!r} beside its keys",
                f"each key has a number or none; it may have {', '.join(OF_A_NUMBER)}",
            )
    if not {"bins", "range", "values"} & set(number):
        raise SchemaError(f"{name!r} has keys and no numbers", "add range = [least, largest]")
    if "range" in number and not {"bins", "type"} & set(number):
        number = {"rounding": "unbiased", **number, "bins": number["range"]}
    number = {"none": NONE, **number}
    return tuple(
        Attribute(
            option_name(name, key),
            question=f"{question} {key}?" if question else "",
            **number,
        )
        for key in listed
    )


def key_value_columns(
    name: str, keys: Iterable[object], column: Iterable[Any], none: str = NONE
) -> dict[str, list[str | None]]:
    """Columns of answers, one for each key, from a column that lists what each person has.

    A mapping, or a text of JSON or of "key=number" with semicolons between them. Who has nothing
    gives an empty one; None did not answer.

    >>> key_value_columns("hours", ["mail", "chat"], [{"chat": 2.5}, "mail=1; chat=3", ""])
    {'hours: mail': ['none', '1', 'none'], 'hours: chat': ['2.5', '3', 'none']}
    """
    listed = options_of(name, keys)
    found: dict[str, list[str | None]] = {option_name(name, key): [] for key in listed}
    for row, said in enumerate(column, 1):
        # A missing answer of a frame is NaN, which differs from itself.
        missing = said is None or said != said
        pairs = {} if missing else pairs_of(said, f"row {row}: ")
        for key in pairs:
            if key not in listed:
                raise AnswerError(f"row {row}: {key!r} is no key of {name!r}", suggest(key, listed))
        for key, cells in zip(listed, found.values(), strict=True):
            cells.append(None if missing else pairs.get(key, none))
    return found


def pairs_of(said: Any, where: str = "") -> dict[str, str]:
    """What one person has, as texts; `where` begins what is said of a mistake."""
    listed: Sequence[tuple[Any, Any]]
    if isinstance(said, Mapping):
        listed = list(said.items())
    elif isinstance(said, str) and said.lstrip().startswith("{"):
        try:
            listed = list(json.loads(said).items())
        except ValueError:
            raise AnswerError(f"{where}{said!r} is no JSON", 'write {"key": number}') from None
    elif isinstance(said, str):
        parts = (part.partition("=") for part in said.split(";") if part.strip())
        listed = [(key.strip(), number.strip()) for key, _, number in parts]
    else:
        raise AnswerError(
            f"{where}{said!r} lists no pairs", 'give a mapping, or a text "key=number; ..."'
        )
    pairs: dict[str, str] = {}
    for key, number in listed:
        text = str(number)
        if isinstance(number, bool) or number_of(text) != number_of(text):
            raise AnswerError(f"{where}{key!r} goes with {number!r}", "give a number")
        if str(key) in pairs:
            raise AnswerError(f"{where}{key!r} is listed twice", "list each key once")
        pairs[str(key)] = text
    return pairs
