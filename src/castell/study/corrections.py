"""Words that were corrected while reports came in: a typing error, a dead link, a translation more.

A study's digest covers its words: a question with other words is another question, and whoever runs
a study must not be able to change it unseen. So a corrected study has another digest. But it holds,
for each correction, the words that stood there before (`was`). Whoever knows the earlier digest can
put them back and see by the digest that all else is the same: the channels, the design, the codes,
and every word that is not listed. A device that has sent its report is then not asked again, and
one that has not is shown what changed.

What may be corrected are texts that a page shows. Not the texts that people agreed to (`consent`).
Not names, by which programs know an attribute. A value may be written in another way, but not take
another's place: reports hold its place in the list, so exchanging two would exchange all answers.

These functions work on what is published, as plain JSON values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from castell.errors import StudyError
from castell.study.canonical import digest_of
from castell.study.texts import LINKS

Content = dict[str, Any]

OF_THE_STUDY = ("title", "description", "thanks", *LINKS, "language", "translations")
OF_AN_ATTRIBUTE = ("question", "values", "translations")
MOST = 50
_DATE = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", re.ASCII)


@dataclass(frozen=True)
class Correction:
    """`of` is the digest before it, `on` the day it was made, `was` the texts before it.

    In `was` a text that was not there is None, and texts of an attribute are under "attributes"
    and its name.
    """

    of: str
    on: str
    was: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        return {"of": self.of, "on": self.on, "was": self.was}


class Change(NamedTuple):
    """One text before and after; empty where it was not there, or is not any more."""

    where: str
    was: str
    now: str

    def __str__(self) -> str:
        return f"{self.where}: {self.was!r} -> {self.now!r}"


def corrections_of(given: object) -> tuple[Correction, ...]:
    """The corrections of a published study; whether they fit it, the study finds out."""
    if not isinstance(given, list) or not 1 <= len(given) <= MOST:
        raise StudyError(
            "the corrections are no list, or too long", f"at most {MOST}; then make a new study"
        )
    found = []
    for entry in given:
        if not isinstance(entry, dict) or set(entry) != {"of", "on", "was"}:
            raise StudyError("a correction has not exactly of, on and was", "take the study again")
        if not isinstance(entry["on"], str) or not _DATE.fullmatch(entry["on"]):
            raise StudyError("a correction has no date", "write it as 2026-11-16")
        if not isinstance(entry["of"], str) or not _is_of_texts(entry["was"]):
            raise StudyError("a correction does not say what was there", "take the study again")
        found.append(Correction(entry["of"], entry["on"], entry["was"]))
    return tuple(found)


def before(content: Content) -> Content:
    """The study as it was before its last correction."""
    *others, last = content["corrections"]
    was = {key: value for key, value in last["was"].items() if key != "attributes"}
    earlier = _with(content, was)
    del earlier["corrections"]
    if others:
        earlier["corrections"] = others
    inside = last["was"].get("attributes", {})
    earlier["attributes"] = [
        _with(attribute, inside.get(attribute["name"], {})) for attribute in content["attributes"]
    ]
    return earlier


def correction(old: Content, new: Content, on: str) -> Correction:
    """What the step from one published study to another corrects.

    Refused if it does anything else, or nothing.
    """
    wrong = sorted(
        key
        for key in (old.keys() | new.keys()) - {*OF_THE_STUDY, "attributes", "corrections"}
        if old.get(key) != new.get(key)
    )
    if wrong:
        raise _beyond(", ".join(wrong))
    was: dict[str, Any] = _changed_entries(old, new, OF_THE_STUDY)
    _check_consent(old.get("translations", {}), new.get("translations", {}))
    names = [attribute["name"] for attribute in old["attributes"]]
    if [attribute["name"] for attribute in new["attributes"]] != names:
        raise _beyond("the names or the order of attributes")
    inside = {}
    for one, other in zip(old["attributes"], new["attributes"], strict=True):
        _check_values(one, other)
        for key in (one.keys() | other.keys()) - set(OF_AN_ATTRIBUTE):
            if one.get(key) != other.get(key):
                raise _beyond(f"{key} of {one['name']!r}")
        if changed := _changed_entries(one, other, OF_AN_ATTRIBUTE):
            inside[one["name"]] = changed
    if inside:
        was["attributes"] = inside
    if not was:
        raise StudyError("no words were changed", "there is nothing to correct")
    return Correction(digest_of(old), on, was)


def changes(old: Content, new: Content) -> Iterator[Change]:
    """The texts that differ, one by one."""
    texts = [dict(_texts("", _texts_by_place(content))) for content in (old, new)]
    for where in dict.fromkeys([*texts[0], *texts[1]]):
        was, now = (found.get(where, "") for found in texts)
        if was != now:
            yield Change(where, was, now)


def corrected_words(content: Content, earlier: int) -> list[Change]:
    """What was corrected in a published study since it had so many corrections."""
    old = content
    while len(old.get("corrections", ())) > earlier:
        old = before(old)
    return list(changes(old, content))


def _texts(where: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield where, value
    items = value.items() if isinstance(value, Mapping) else ()
    if isinstance(value, list):
        items = {str(number): item for number, item in enumerate(value, 1)}.items()
    for key, item in items:
        yield from _texts(f"{where} {key}".strip(), item)


def _texts_by_place(content: Content) -> Content:
    """The texts of a study by where they stand: its own, then each attribute's."""
    inside = {
        attribute["name"]: {key: attribute.get(key) for key in OF_AN_ATTRIBUTE}
        for attribute in content["attributes"]
    }
    return {**{key: content.get(key) for key in OF_THE_STUDY}, **inside}


def _is_of_texts(was: object) -> bool:
    """Whether it has a place for each entry; what stands there is read as a study's is."""
    if not isinstance(was, dict) or was.keys() - {*OF_THE_STUDY, "attributes"}:
        return False
    inside = was.get("attributes", {})
    return isinstance(inside, dict) and all(
        isinstance(texts, dict)
        and not texts.keys() - set(OF_AN_ATTRIBUTE)
        and None not in (texts.get("question", ""), texts.get("values", ""))
        for texts in inside.values()
    )


def _with(entries: Content, was: Mapping[str, Any]) -> Content:
    """The same with some entries put back; None for one that was not there."""
    left = {key: value for key, value in entries.items() if key not in was}
    return {**left, **{key: value for key, value in was.items() if value is not None}}


def _changed_entries(old: Content, new: Content, keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: old.get(key) for key in keys if old.get(key) != new.get(key)}


def _check_consent(old: Content, new: Content) -> None:
    for language in old.keys() | new.keys():
        was, now = (found.get(language, {}).get("consent") for found in (old, new))
        # A language that is added may have its own words for it.
        if was != now and language in old:
            raise _beyond(f"consent ({language})")


def _check_values(old: Content, new: Content) -> None:
    """The same number of values, and none in the place of another."""
    lists = [(old["values"], new["values"])]
    for language, entry in old.get("translations", {}).items():
        translated = new.get("translations", {}).get(language, {})
        if "values" in entry and "values" in translated:
            lists.append((entry["values"], translated["values"]))
    for was, now in lists:
        if len(was) != len(now):
            raise _beyond(f"the number of values of {old['name']!r}")
        if any(value != was[place] and value in was for place, value in enumerate(now)):
            raise _beyond(f"which place a value of {old['name']!r} has")


def _beyond(what: str) -> StudyError:
    return StudyError(
        f"this changes more than words: {what}",
        "a correction leaves that as it is; otherwise make a new study with a store of its own",
    )
