"""The pictures of pages that draw: their blocks are run in order, and each `picture` stands below.

A page that draws has the comment `<!-- made by the build: pictures -->`. Its Python blocks share
one namespace, as cells of a notebook do. Any page may also have a picture of what its commands
make, from lines that its readers do not see:

    <!-- picture: what it shows
    picture = ...
    -->
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DRAWS = "<!-- made by the build: pictures -->"
# Where the picture matters more than its lines, they are folded away.
FOLDED = "<!-- the lines are folded -->"
FOLD = "The lines that make it"
FIRST = "The first lines"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_UNSEEN = re.compile(r"^<!-- picture: ([^\n]+)\n(.*?)^-->$", re.MULTILINE | re.DOTALL)
_ALT = re.compile(r"^# picture: (.+)\n", re.MULTILINE)


def _written(picture: Any, path: Path) -> None:
    if isinstance(picture, str):
        path.write_text(picture, encoding="utf-8")
    else:
        # A browser's letters are a little wider than those that the room was measured with.
        picture.properties(padding=24).save(str(path))


def draw(text: str, page: str, folder: Path) -> str:
    """The page with its pictures, written as SVG into the folder.

    A block of a page that draws makes a picture if it begins with a line `# picture: what it
    shows`, which is its description, too, and leaves it in `picture`.
    """
    numbers = iter(range(1, 1000))

    def shown(picture: Any, description: str) -> str:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{page.replace('/', '-')}-{next(numbers):02}.svg"
        _written(picture, path)
        back = "../" * page.count("/")
        return f"![{description}]({back}_build/pictures/{path.name})"

    def unseen(comment: re.Match[str]) -> str:
        names: dict[str, Any] = {}
        _run(comment[2], page, names)
        return shown(names["picture"], comment[1])

    text = _UNSEEN.sub(unseen, text)
    if DRAWS not in text:
        return text
    names: dict[str, Any] = {}

    def folded(code: str, title: str = FOLD) -> str:
        return f":::{{dropdown}} {title}\n{code}\n:::" if FOLDED in text else code

    def seen(block: re.Match[str]) -> str:
        _run(block[1], page, names)
        told = _ALT.search(block[1])
        if told is None:
            return folded(block[0], FIRST)
        return f"{folded(_ALT.sub('', block[0]))}\n\n{shown(names.pop('picture'), told[1])}"

    return _BLOCK.sub(seen, text.replace(DRAWS, ""))


def _run(code: str, page: str, names: dict[str, Any]) -> None:
    exec(compile(code, f"{page}.md", "exec", dont_inherit=True), names)  # noqa: S102
