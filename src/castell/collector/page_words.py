"""The survey page's own words, a file of JSON for each language, and those that owners add.

The page gets the words of the study's languages with the page itself, the same for everybody:
fetching a language when it is chosen would tell the server which one was.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from castell.errors import CastellError, OptionError
from castell.study.schema import suggest
from castell.study.study import Study
from castell.study.texts import check_language

FOLDER = Path(__file__).parent / "pages" / "survey" / "words"
_FILLED = re.compile(r"\{(\w+)\}")

# What is said of public attributes and of skipping, where there are such questions.
OF_PUBLIC, OF_SKIPPING = {"publicNote", "publicSent"}, {"skipNote", "skipSent"}
OF_EITHER = {"plainLeft", "plainMade", "plainBody", "plainCodes", "plainAnswer"}

_TEMPLATE = "castell words LANGUAGE FILE writes one to begin with"

Words = Mapping[str, Any]  # a text for each key, and one list


@cache
def built_in() -> dict[str, Words]:
    """The languages that castell has, by their tag."""
    return {
        path.stem: json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))
    }


@dataclass(frozen=True)
class OwnWords:
    """An owner's words in one language; the page uses them once none is `missing`."""

    language: str
    words: Words
    missing: tuple[str, ...]


def load_words(path: Path) -> OwnWords:
    """Words that an owner has translated: a file that began as `castell words LANGUAGE`."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OptionError(
            f"the page's words {path} cannot be read ({error!s:.80})",
            _TEMPLATE,
        ) from None
    language, words = str(content.get("language", "")), content.get("words")
    try:
        check_language(language)
        if not isinstance(words, dict) or set(content) != {"language", "words"}:
            raise OptionError("there is more or less than a language and words", _TEMPLATE)
        for key, value in words.items():
            _check(key, value)
    except CastellError as error:
        error.problem = f"{path}: {error.problem}"
        raise
    given = {key: value for key, value in words.items() if value}
    return OwnWords(language, given, tuple(key for key in built_in()["en"] if key not in given))


def _check(key: str, value: object) -> None:
    english = built_in()["en"]
    if key not in english:
        raise OptionError(f"the page has no words {key!r}", suggest(key, list(english)))
    wanted = english[key]
    kind = list if isinstance(wanted, list) else str
    if not isinstance(value, kind):
        raise OptionError(f"the words {key!r} are {value!r:.60}", "write them as in English")
    if isinstance(value, list) and value and len(value) != len(wanted):
        raise OptionError(f"{key!r} has {len(value)} texts", f"write {len(wanted)}")
    # A number that is left out of a sentence about protection would be missed by nobody here.
    if value and _placeholders(value) != _placeholders(wanted):
        raise OptionError(
            f"the words {key!r} fill in {_list_of(value)} and not {_list_of(wanted)}",
            "keep what stands in braces, in any place",
        )


def _placeholders(value: str | list[str]) -> set[str]:
    return set(_FILLED.findall(json.dumps(value, ensure_ascii=False)))


def _list_of(value: Any) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(_placeholders(value))) or "nothing"


def words_for(study: Study, own: tuple[OwnWords, ...] = ()) -> dict[str, Words]:
    """The page's words in the languages of a study: near ones count, English is for the others."""
    known = built_in() | {one.language: one.words for one in own if not one.missing}
    found = {}
    for language in languages_of(study):
        primary = language.split("-")[0].lower()
        near = [tag for tag in known if tag.split("-")[0].lower() == primary]
        tag = language if language in near else next(iter(near), "en")
        found[tag] = known[tag]
    public, skipping = study.schema.public, any(a.may_skip for a in study.schema)
    needless = (set() if public else OF_PUBLIC) | (set() if skipping else OF_SKIPPING)
    needless |= set() if public or skipping else OF_EITHER
    # On a slow line every word costs.
    return {
        tag: {key: text for key, text in words.items() if key not in needless}
        for tag, words in found.items()
    }


def languages_of(study: Study) -> list[str]:
    """The languages that a study's texts are in, its own first."""
    found = [study.text.language or "en", *(tag for tag, _ in study.text.translations)]
    for attribute in study.schema:
        found += [translation.language for translation in attribute.translations]
    return list(dict.fromkeys(found))


def template(language: str) -> str:
    """A file for a translator: every text of the page in English, and room for the other."""
    check_language(language)
    lines = [
        "# The survey page's own words. Translate every text; keep what stands in braces.",
        '# Then name this file in the study file: [page] words = ["..."]',
        f'language = "{language}"',
        "",
        "[words]",
    ]
    for key, text in built_in()["en"].items():
        if isinstance(text, list):
            lines += ["", *(f"# {one}" for one in text), f"{key} = []  # {len(text)} texts"]
        else:
            lines += ["", f"# {text}", f'{key} = ""']
    return "\n".join(lines) + "\n"
