"""Questions of which several answers may apply: a yes or no for each option.

Such a question is written as one and asked as many: each option is an attribute of its own, named
"sports: run", that is randomised, counted and estimated like any other. So its share of the budget
is split over the options, and any two options have a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from castell.channels.budget import EXACT, as_decimal
from castell.errors import AnswerError, SchemaError
from castell.study.attribute import Attribute, suggest
from castell.study.value_texts import text_of

NOT_CHOSEN, CHOSEN = "no", "yes"
_BETWEEN = ": "
# What questionnaires write between the options that one person chose.
SEPARATORS = (";", "|", ",")


def option_name(name: str, option: str) -> str:
    """What the attribute of an option is called.

    >>> option_name("sports", "run")
    'sports: run'
    """
    return f"{name}{_BETWEEN}{option}"


def questions_before(attribute: str) -> Iterator[str]:
    """What the question of an option's attribute may be called.

    >>> list(questions_before("sports: run: far"))
    ['sports', 'sports: run']
    """
    parts = attribute.split(_BETWEEN)
    return (_BETWEEN.join(parts[:k]) for k in range(1, len(parts)))


def picks_of(text: str, options: Sequence[str]) -> list[str] | None:
    """The options that a text lists, by whatever separator; None if it lists something else.

    >>> picks_of("run, swim", ["run", "swim"]), picks_of("", ["run"]), picks_of("walk", ["run"])
    (['run', 'swim'], [], None)
    """
    for separator in SEPARATORS:
        picked = _picks(text, separator)
        if set(picked) <= set(options):
            return list(picked)
    # An option that holds a separator itself.
    return [text.strip()] if text.strip() in options else None


def choose_all(
    name: str, options: Iterable[object], question: str = "", **more: Any
) -> tuple[Attribute, ...]:
    """A question of which several answers may apply, as an attribute for each option.

    `more` is what each of them has besides: `also` or `missing`.

    >>> [attribute.name for attribute in choose_all("sports", ["run", "swim"], "Which do you do?")]
    ['sports: run', 'sports: swim']
    """
    listed = options_of(name, options)
    for key in more:
        if key not in ("also", "missing"):
            raise SchemaError(
                f"{name!r} has {key!r} beside what is chosen from",
                "each option is a yes or no; it may have also and missing",
            )
    return tuple(
        Attribute(
            option_name(name, option),
            [NOT_CHOSEN, CHOSEN],
            f"{question} {option}?" if question else "",
            **more,
        )
        for option in listed
    )


def split_epsilon(epsilon: object, options: int, name: str) -> Decimal:
    """The share of each option of a question."""
    return EXACT.divide(as_decimal(epsilon, f"the share of {name!r}"), Decimal(options))


def chosen(
    name: str, options: Iterable[object], column: Iterable[Any], separator: str = ";"
) -> dict[str, list[str | None]]:
    """Columns of answers, one for each option, from a column that lists what each person chose.

    A text with a separator between options, or a list of them; an empty one chose nothing, None
    did not answer.

    >>> chosen("sports", ["run", "swim"], ["run; swim", "", ["swim"]])
    {'sports: run': ['yes', 'no', 'no'], 'sports: swim': ['yes', 'no', 'yes']}
    """
    listed = options_of(name, options)
    found: dict[str, list[str | None]] = {option_name(name, option): [] for option in listed}
    for row, said in enumerate(column, 1):
        # A missing answer of a frame is NaN, which differs from itself.
        missing = said is None or said != said
        picked = () if missing else _picks(said, separator)
        for one in picked:
            if one not in listed:
                raise AnswerError(
                    f"row {row}: {one!r} is no option of {name!r}", suggest(one, listed)
                )
        for option, cells in zip(listed, found.values(), strict=True):
            cells.append(None if missing else CHOSEN if option in picked else NOT_CHOSEN)
    return found


def _picks(said: Any, separator: str) -> Sequence[str]:
    parts = said.split(separator) if isinstance(said, str) else [str(each) for each in said]
    return [part.strip() for part in parts if part.strip()]


def options_of(name: object, options: object) -> tuple[str, ...]:
    """What there is to choose from, as texts, each once."""
    if not isinstance(name, str):
        raise SchemaError(f"{name!r} is not a name for a question", "give it a text")
    if isinstance(options, (str, bytes)) or not isinstance(options, Iterable):
        raise SchemaError(f"{name!r} has no list of options", "give a list to choose from")
    listed = tuple(text_of(name, option) for option in options)
    if not listed or len(set(listed)) < len(listed):
        raise SchemaError(
            f"{name!r} has no options, or one of them twice", "list what there is to choose once"
        )
    return listed
