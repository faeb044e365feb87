"""The public names for autodoc: signatures and types from the code, words from docstrings."""

from __future__ import annotations

import inspect
import re

import castell

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
        else:
            told = [f".. autofunction:: castell.{name}"]
        lines += [f"## `{name}`", "", "```{eval-rst}", *told, "```", ""]
    return "\n".join(lines)


def listed() -> set[str]:
    """The names that a page of docs/reference/library has."""
    from docs.building.project_files import DOCS

    pages = (DOCS / "reference" / "library").glob("*.md")
    found = [_LISTED.findall(page.read_text(encoding="utf-8")) for page in pages]
    return {name.strip() for lists in found for names in lists for name in names.split(",")}


def other_names() -> str:
    """Public names that no page lists yet."""
    return names_of([name for name in castell.__all__ if name not in listed()])
