"""What a page shows beside the bare questions: titles, the same texts in other languages, and when.

Texts are part of the published study, so the digest covers what respondents were told. They are
published only where there are any. Codes never depend on the language.

>>> StudyText.of({"title": "Health", "translations": {"de": {"title": "Gesundheit"}}}).document()
{'title': 'Health', 'translations': {'de': {'title': 'Gesundheit'}}}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from castell.errors import SchemaError

# Whether a respondent sees the drawn report after it was sent, or before. docs/browser.md says why
# "after" is the default: whoever may leave on seeing the report biases the results.
REVIEWS = ("after", "before")

# What a study says to a person, and where it sends one who presses a link. Both may be translated.
SAID = ("title", "description", "consent", "thanks")
LINKS = ("imprint", "privacy", "completion")

# An https address, or a path. One that goes on with a slash of either kind is another host's.
_LINK = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?([/?#][!-~]*)?|/(?![/\\])[!-~]*", re.ASCII)

# What a browser takes as a language: de, de-AT, zh-Hant.
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}", re.ASCII)


@dataclass(frozen=True)
class Translation:
    """One question in another language; what is empty stays as the study has it."""

    language: str
    question: str = ""
    values: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        return _without_empty({"question": self.question, "values": list(self.values)})


@dataclass(frozen=True)
class StudyText:
    """What the owner of a study says; `language` is the one its texts are written in.

    `consent` is agreed to before sending, `thanks` is said afterwards. `imprint` and `privacy` are
    addresses of pages, `completion` one to go on to when done: https, or a path on the collector's
    own host. Nothing is added to them. `review` says when a respondent sees the drawn report:
    "after" it was sent, or "before".
    """

    title: str = ""
    description: str = ""
    language: str = ""
    translations: tuple[tuple[str, StudyText], ...] = ()
    review: str = "after"
    consent: str = ""
    thanks: str = ""
    imprint: str = ""
    privacy: str = ""
    completion: str = ""

    def __post_init__(self) -> None:
        for key in LINKS:
            check_link(getattr(self, key), key)
        if self.review not in REVIEWS:
            raise SchemaError(
                f"review is {self.review!r}",
                'write review = "before" to show reports before they are sent, or leave it out',
            )

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> StudyText:
        """The texts among the entries of a study file or of a published study."""
        texts = {
            key: text(content.get(key, ""), f"the study's {key}")
            for key in (*SAID, *LINKS, "language")
        }
        if texts["language"]:
            check_language(texts["language"])
        what = "the study's translation"
        translations = []
        for language, entries in _by_language(content.get("translations"), what):
            told: dict[str, Any] = {**_texts(entries, {*SAID, *LINKS}, what)}
            translations.append((language, cls(**told)))
        review = text(content.get("review", "after"), "the study's review")
        return cls(translations=tuple(translations), review=review, **texts)

    def document(self) -> dict[str, Any]:
        plain = {
            **{key: getattr(self, key) for key in (*SAID, *LINKS, "language")},
            "translations": {language: text.document() for language, text in self.translations},
            "review": self.review if self.review != "after" else "",
        }
        return _without_empty(plain)


def translations_of(name: str, size: int, given: object) -> tuple[Translation, ...]:
    """The translations of an attribute with so many values."""
    what = f"a translation of {name!r}"
    found = []
    for language, entries in _by_language(given, what):
        values = entries.get("values", ())
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise SchemaError(f"{what} has no list of values", "give a list of texts")
        listed = tuple(text(value, f"a value in {what}") for value in values)
        if "values" in entries and (len(listed) != size or len(set(listed)) != size):
            raise SchemaError(
                f"{what} ({language}) has {len(set(listed))} different values for {size}",
                "translate every value, in the same order, each differently",
            )
        if not all(value.strip() for value in listed):
            raise SchemaError(f"{what} ({language}) has an empty value", "write it out")
        rest = {key: value for key, value in entries.items() if key != "values"}
        found.append(Translation(language, **_texts(rest, {"question"}, what), values=listed))
    return tuple(found)


def text(value: object, what: str) -> str:
    """A text as given; anything else is a mistake in the file."""
    if not isinstance(value, str):
        raise SchemaError(f"{what} is {value!r}", "give a text, in quotes")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise SchemaError(
            f"{what} holds half a character ({value!r})", "write it in valid Unicode"
        ) from None
    return value


def check_link(link: str, what: str) -> None:
    """Refuse an address that a page must not lead to: a person would follow it unprotected.

    >>> check_link("https://university.example/privacy", "privacy")
    >>> check_link("/thanks.html", "completion")
    """
    if link and not _LINK.fullmatch(link):
        raise SchemaError(
            f"the link {what} is {link!r}",
            "give an address that begins with https://, or a path such as /thanks.html",
        )


def check_language(language: object) -> None:
    if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
        raise SchemaError(f"{language!r} is not a language", "use a tag such as de or pt-BR")


def _by_language(given: object, what: str) -> list[tuple[str, Mapping[str, Any]]]:
    if given is None:
        return []
    if not isinstance(given, Mapping) or not given:
        raise SchemaError(f"{what} is {given!r}", "give a table for each language")
    for language, entries in given.items():
        check_language(language)
        if not isinstance(entries, Mapping) or not entries:
            raise SchemaError(f"{what} ({language}) is empty", "write it or leave it out")
    return sorted(given.items())


def _texts(entries: Mapping[str, Any], known: set[str], what: str) -> dict[str, str]:
    for key in entries:
        if key not in known:
            raise SchemaError(
                f"{what} has an unknown entry {key!r}", f"known are {', '.join(sorted(known))}"
            )
        if not text(entries[key], f"{key} of {what}").strip():
            raise SchemaError(f"{what} has an empty {key}", "write it or leave it out")
    return dict(entries)


def _without_empty(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value}
