"""The pictures of pages that draw: their blocks are run in order, and each `picture` stands below.

A page that draws has the comment `<!-- made by the build: pictures -->`. Its Python blocks share
one namespace, as cells of a notebook do.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DRAWS = "<!-- made by the build: pictures -->"
# Where the picture matters more than its lines, they are folded away.
FOLDED = "<!-- the lines are folded -->"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ALT = re.compile(r"^# picture: (.+)\n", re.MULTILINE)


def _written(picture: Any, path: Path) -> None:
    if isinstance(picture, str):
        path.write_text(picture, encoding="utf-8")
    else:
        # A browser's letters are a little wider than those that the room was measured with.
        picture.properties(padding=24).save(str(path))


def draw(text: str, page: str, folder: Path) -> str:
    """The page with a picture below each block that makes one, written as SVG into the folder.

    A block makes a picture if it begins with a line `# picture: what it shows`, which is its
    description, too, and leaves it in `picture`.
    """
    if DRAWS not in text:
        return text
    folder.mkdir(parents=True, exist_ok=True)
    names: dict[str, Any] = {}
    numbers = iter(range(1, 1000))

    def folded(code: str) -> str:
        return f":::{{dropdown}} The lines\n{code}\n:::" if FOLDED in text else code

    def run(block: re.Match[str]) -> str:
        exec(compile(block[1], f"{page}.md", "exec", dont_inherit=True), names)  # noqa: S102
        shown = _ALT.search(block[1])
        if shown is None:
            return folded(block[0])
        path = folder / f"{page.replace('/', '-')}-{next(numbers):02}.svg"
        _written(names.pop("picture"), path)
        back = "../" * page.count("/")
        code = folded(_ALT.sub("", block[0]))
        return f"{code}\n\n![{shown[1]}]({back}_build/pictures/{path.name})"

    return _BLOCK.sub(run, text.replace(DRAWS, ""))
