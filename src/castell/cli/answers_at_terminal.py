"""A person's answers at the terminal: asked for one by one, or read from standard input."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import typer

from castell.device.report import code_of
from castell.errors import CastellError, OptionError
from castell.study.scales import Bins, Points
from castell.study.study import Study

_SHOWN = 30


def ask(study: Study, names: Sequence[str]) -> dict[str, object]:
    """Ask for each attribute, its values shown, until there is one of them.

    All of it goes to standard error, so that what is printed for programs stays clean.
    """
    given: dict[str, object] = {}
    for name in names:
        attribute = study.schema[name]
        number = " | or a number" if isinstance(attribute.scale, (Bins, Points)) else ""
        choices = f"[{_list_values(attribute.values)}{number}]"
        sent = "  (public: sent as it is)" * attribute.public
        typer.echo(f"{attribute.question or name}  {choices}{sent}", err=True)
        while name not in given:
            text = str(typer.prompt(name, err=True)).strip()
            try:
                code_of(attribute, text, 0.0)
            except CastellError as error:
                typer.echo(str(error), err=True)
            else:
                given[name] = text
    return given


def _list_values(values: Sequence[str]) -> str:
    """Values as choices; of very many only the first, a wrong one is told what is near it."""
    more = f" | and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return " | ".join(values[:_SHOWN]) + more


def answers_from_text(text: str) -> dict[str, object]:
    """Answers as lines of name=value, or as one JSON object.

    >>> answers_from_text("smokes=now\\n\\nhealth = good\\n")
    {'smokes': 'now', 'health': 'good'}
    >>> answers_from_text('{"smokes": "now"}')
    {'smokes': 'now'}
    """
    if text.lstrip().startswith("{"):
        return _from_json(text)
    pairs: list[tuple[str, object]] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        name, mark, value = (part.strip() for part in line.partition("="))
        if not mark or not name or not value:
            raise OptionError(f"{line!r} is not name=value", "write name=value, as in smokes=now")
        pairs.append((name, value))
    return _each_once(pairs)


def _from_json(text: str) -> dict[str, object]:
    try:
        # The same check for each object in it; but only the outermost is left to look at.
        found: Any = json.loads(text, object_pairs_hook=_each_once)
    except (json.JSONDecodeError, RecursionError) as error:
        raise OptionError(
            f"the answers are not valid JSON ({error})", 'write {"name": "value", ...}'
        ) from None
    for name, value in found.items():
        if not isinstance(value, (str, int, float)):
            raise OptionError(f"the answer to {name!r} is no value", "give one text or number")
    return dict(found)


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    given: dict[str, object] = {}
    for name, value in pairs:
        if name in given:
            raise OptionError(f"{name!r} is answered twice", "answer it once")
        given[name] = value
    return given
