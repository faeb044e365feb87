"""The survey page's own words, in its languages and in those that owners add."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from castell import Study
from castell.collector.page_words import built_in, languages_of, load_words, template, words_for
from castell.errors import CastellError, OptionError
from tests.browser.studies import SURVEY

ENGLISH = built_in()["en"]


def filled(value: str | list[str]) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", json.dumps(value)))


def translated(path: Path, language: str = "ar", **changes: Any) -> Path:
    """A file as a translator gives it back."""
    words = {**ENGLISH, **changes}
    lines = [f"{key} = {json.dumps(value)}" for key, value in words.items() if value is not None]
    path.write_text("\n".join([f'language = "{language}"', "[words]", *lines]), encoding="utf-8")
    return path


def test_every_language_has_the_same_texts_with_the_same_gaps() -> None:
    assert set(built_in()) == {"de", "en", "es", "fr"}
    for words in built_in().values():
        assert list(words) == list(ENGLISH)
        for key, text in words.items():
            assert filled(text) == filled(ENGLISH[key]), key
            assert all(part.strip() for part in ([text] if isinstance(text, str) else text))


def test_a_study_gets_the_words_of_its_languages_only() -> None:
    study = Study.from_toml(SURVEY)
    assert languages_of(study) == ["en", "de"]
    assert set(words_for(study)) == {"en", "de"}
    assert set(words_for(Study.from_toml(SURVEY.replace('"en"', '"fr-CA"')))) == {"fr", "de"}
    assert set(words_for(Study.from_toml(SURVEY.replace('"en"', '"ar"')))) == {"en", "de"}
    assert set(words_for(Study.from_toml(SURVEY.replace('language = "en"', "")))) == {"en", "de"}


def test_an_owner_may_add_a_language(tmp_path: Path) -> None:
    own = load_words(translated(tmp_path / "ar.toml", sentTitle="شكرا"))
    assert (own.language, own.missing) == ("ar", ())
    study = Study.from_toml(SURVEY.replace("translations.de", "translations.ar"))
    assert words_for(study, (own,))["ar"]["sentTitle"] == "شكرا"
    assert set(words_for(study, (own,))) == {"en", "ar"}


def test_words_that_are_not_complete_are_not_used(tmp_path: Path) -> None:
    own = load_words(translated(tmp_path / "ar.toml", sentTitle="", send=None))
    assert own.missing == ("send", "sentTitle")
    study = Study.from_toml(SURVEY.replace("translations.de", "translations.ar"))
    assert set(words_for(study, (own,))) == {"en"}


def test_the_template_is_complete_and_empty(tmp_path: Path) -> None:
    path = tmp_path / "nl.toml"
    path.write_text(template("nl"), encoding="utf-8")
    own = load_words(path)
    assert (own.language, own.words) == ("nl", {})
    assert list(own.missing) == list(ENGLISH)
    with pytest.raises(CastellError, match="is not a language"):
        template("../x")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"sentTitel": "x"}, "no words 'sentTitel'"),
        ({"sentTitle": 3}, "the words 'sentTitle' are 3"),
        ({"someOf": "{some}"}, r"fill in \{some\} and not \{all\}, \{some\}"),
        ({"send": "Send {n}"}, r"fill in \{n\} and not nothing"),
        ({"notProtectedItems": ["one"]}, "write 3"),
        ({"notProtectedItems": "one"}, "write them as in English"),
    ],
)
def test_mistakes_of_a_translator_are_told(
    tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(OptionError, match=problem):
        load_words(translated(tmp_path / "ar.toml", **changes))


@pytest.mark.parametrize(
    "text",
    ["", 'language = "ar"', 'language = "a r"\n[words]', "not TOML", "language = 3\n[words]",
     'language = "ar"\ntitle = "x"\n[words]'],
)  # fmt: skip
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "ar.toml").write_text(text, encoding="utf-8")
    with pytest.raises(CastellError, match=r"ar\.toml"):
        load_words(tmp_path / "ar.toml")
    with pytest.raises(OptionError, match="castell words LANGUAGE FILE"):
        load_words(tmp_path / "nothing.toml")
