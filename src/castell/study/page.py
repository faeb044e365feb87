"""How the survey page looks and behaves: the [page] table of a study file.

It is not published with the study and not in the digest. The digest stands for what is asked and
how it is hidden; a logo, a colour, the page's own words and the place where it is shown are
neither, so they may change in the middle of a collection without making it another study.

>>> Page.of({"accent": "#0a5a63", "kiosk": True}).kiosk
True
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from castell.errors import StudyError
from castell.study.schema import suggest

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_KNOWN = ("logo", "logo_alt", "accent", "kiosk", "words")


@dataclass(frozen=True)
class Page:
    """`logo` and `words` are files, from the study file's folder; `accent` is a colour (#rrggbb).

    `logo_alt` is what the logo says, for who does not see it. A page in `kiosk` mode starts anew
    with each person. `words` are the page's own words in languages that castell does not have.
    """

    logo: str = ""
    logo_alt: str = ""
    accent: str = ""
    kiosk: bool = False
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: object) -> Page:
        """The page that a [page] table describes."""
        if not isinstance(table, Mapping):
            raise StudyError(f"page is {table!r}", "write [page] above its entries")
        for key in table:
            if key not in _KNOWN:
                raise StudyError(
                    f"the page has an unknown entry {key!r}", suggest(str(key), _KNOWN)
                )
        texts = {key: _text(table, key) for key in ("logo", "logo_alt", "accent")}
        if texts["accent"] and not _COLOUR.fullmatch(texts["accent"]):
            raise StudyError(
                f"the page's accent is {texts['accent']!r}", 'write a colour as accent = "#0a5a63"'
            )
        kiosk = table.get("kiosk", False)
        if not isinstance(kiosk, bool):
            raise StudyError(f"kiosk is {kiosk!r}", "write kiosk = true or leave it out")
        words = table.get("words", [])
        if not isinstance(words, list) or not all(isinstance(w, str) and w for w in words):
            raise StudyError(f"the page's words are {words!r}", 'write words = ["words-ar.toml"]')
        return cls(**texts, kiosk=kiosk, words=tuple(words))

    @classmethod
    def load(cls, path: str | Path) -> Page:
        """The page of a study file that can be read; a published study has none."""
        path = Path(path)
        if path.suffix == ".json":
            return cls()
        return cls.of(tomllib.loads(path.read_text(encoding="utf-8")).get("page", {}))


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str) or (key in table and not value.strip()):
        raise StudyError(f"the page's {key} is {value!r}", "give a text, in quotes")
    return value
