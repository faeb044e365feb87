"""The Sphinx extension of this site: puts what is made at build time into the pages.

A page says where with a comment, which a code host does not show:

    <!-- made by the build: command line -->
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from docs.building import (
    accessible,
    command_line,
    demo,
    errors,
    http_interface,
    library,
    llms,
    mathml,
)
from docs.building.gallery import draw
from docs.building.notebook import notebook
from docs.building.project_files import DOCS, project_file, within_the_site
from docs.building.study_file import study_file

_PLACE = re.compile(r"^<!-- made by the build: (.+?) -->$", re.MULTILINE)

_PERHAPS = re.compile(r"^([a-z-]+\*)\n", re.MULTILINE)

MADE: dict[str, Callable[[], str]] = {
    "command line": command_line.command_line,
    "HTTP interface": http_interface.http_interface,
    "errors": errors.errors,
    "study file": study_file,
    "other names": library.other_names,
    "notebook": notebook,
}


def made(what: str) -> str:
    """What stands in the place of a comment: `library NAME, NAME`, `file README.md`, or a name."""
    kind, _, rest = what.partition(" ")
    if kind == "library":
        return library.names_of([name.strip() for name in rest.split(",")])
    if kind == "file":
        return project_file(rest)
    return MADE[what]()


def _pages_there(text: str) -> str:
    """The page without lines of its lists, such as `weights*`, for pages that are not there yet."""

    def kept(line: re.Match[str]) -> str:
        return line[0] if any(DOCS.glob(f"{line[1]}.md")) else ""

    return _PERHAPS.sub(kept, text)


def _as_rst(_app: Any, _what: str, _name: str, _thing: Any, _how: Any, lines: list[str]) -> None:
    """Docstrings as they are written: only backticks mean something, and examples stay."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = line.split("`")
            parts[::2] = [re.sub(r"([*|\\]|(?<=\w)_(?!\w))", r"\\\1", part) for part in parts[::2]]
            lines[i] = "`".join(parts)


def _read(_app: Any, docname: str, source: list[str]) -> None:
    text = draw(source[0], docname, DOCS / "_build" / "pictures")
    text = _PLACE.sub(lambda place: made(place[1]), text)
    source[0] = within_the_site(_pages_there(text), docname)


def setup(app: Any) -> dict[str, Any]:
    app.connect("source-read", _read)
    app.connect("autodoc-process-docstring", _as_rst)
    library.setup(app)
    mathml.setup(app)
    llms.setup(app)
    accessible.setup(app)
    demo.setup(app)
    return {"version": "1", "parallel_read_safe": False}
