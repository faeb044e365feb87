"""The public names for autodoc: signatures and types from the code, words from docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import castell

# What people make themselves; everything else is handed to them, and how it is made is not shown.
MADE_BY_HAND = {"Attribute", "Schema", "Study", "KaryResponse", "MatrixResponse"}
_LISTED = re.compile(r"^<!-- made by the build: library (.+?) -->$", re.MULTILINE)


def names_of(names: list[str]) -> str:
    """Markdown with an autodoc directive for each name."""
    lines: list[str] = []
    for name in names:
        thing = getattr(castell, name)
        if inspect.isclass(thing):
            told = [f".. autoclass:: castell.{name}", "   :members:", "   :undoc-members:"]
            if issubclass(thing, tuple | Exception):
                told = told[:2]
            if hidden := inner_works(thing):
                told.append(f"   :exclude-members: {', '.join(hidden)}")
        else:
            told = [f".. autofunction:: castell.{name}"]
        lines += [f"## `{name}`", "", "```{eval-rst}", *told, "```", ""]
    return "\n".join(lines)


def signature(name: str, arguments: str | None, gives: str | None) -> tuple[str | None, str | None]:
    """How a name is called, as a person would write it.

    >>> signature("castell.f", "(x: TypeAliasForwardRef('Floats') | None)", "~collections.abc.Set")
    ('(x: Floats | None)', 'Set')
    >>> signature("castell.JointEstimate", "(probabilities: Floats)", None)
    ('', None)
    """
    _, _, short = name.rpartition("castell.")
    if inspect.isclass(getattr(castell, short, None)) and short not in MADE_BY_HAND:
        return "", None
    return arguments and _plain(arguments), gives and _plain(gives)


def _plain(text: str) -> str:
    return re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", re.sub(r"~(\w+\.)+", "", text))


def inner_works(thing: type) -> list[str]:
    """The fields of a class that hold functions: how it works, not what it says.

    >>> "why" in inner_works(castell.JointEstimate), "n" in inner_works(castell.JointEstimate)
    (True, False)
    """
    fields = dataclasses.fields(thing) if dataclasses.is_dataclass(thing) else ()
    return [field.name for field in fields if str(field.type).startswith("Callable")]


def listed() -> set[str]:
    """The names that a page of docs/reference/library has."""
    from docs.building.project_files import DOCS

    pages = (DOCS / "reference" / "library").glob("*.md")
    found = [_LISTED.findall(page.read_text(encoding="utf-8")) for page in pages]
    return {name.strip() for lists in found for names in lists for name in names.split(",")}


def other_names() -> str:
    """Public names that no page lists yet."""
    return names_of([name for name in castell.__all__ if name not in listed()])


def _signature(
    _app: Any, _what: str, name: str, _thing: Any, _how: Any, arguments: Any, gives: Any
) -> tuple[str | None, str | None]:
    return signature(name, arguments, gives)


def setup(app: Any) -> None:
    app.connect("autodoc-process-signature", _signature)
