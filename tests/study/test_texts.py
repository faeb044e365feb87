"""What pages show is part of the study: in the digest, strict, and only where there is any."""

from __future__ import annotations

import json
from typing import Any

import pytest

from castell import Attribute, CastellError, Schema, Study
from castell.cli.study_file import to_toml
from castell.errors import SchemaError
from castell.study.texts import StudyText, Translation

TOML = """
name = "health"
title = "How are you?"
description = "Three minutes, six questions."
language = "en"
epsilon = 2.0

[translations.de]
title = "Wie geht es Ihnen?"

[translations.ca]
title = "Com esteu?"
description = "Tres minuts."

[[attribute]]
name = "smokes"
question = "Do you smoke?"
values = ["never", "before", "now"]

[attribute.translations.de]
question = "Rauchen Sie?"
values = ["nie", "früher", "jetzt"]

[attribute.translations.ca]
question = "Fumeu?"
"""


def test_texts_come_from_the_study_file() -> None:
    study = Study.from_toml(TOML)
    assert (study.text.title, study.text.language) == ("How are you?", "en")
    assert [language for language, _ in study.text.translations] == ["ca", "de"]
    (smokes,) = study.schema
    assert smokes.translations == (
        Translation("ca", "Fumeu?"),
        Translation("de", "Rauchen Sie?", ("nie", "früher", "jetzt")),
    )


def test_texts_are_published_and_come_back() -> None:
    study = Study.from_toml(TOML)
    published = json.loads(study.to_json())
    assert published["title"] == "How are you?"
    assert published["translations"] == {
        "ca": {"title": "Com esteu?", "description": "Tres minuts."},
        "de": {"title": "Wie geht es Ihnen?"},
    }
    assert published["attributes"][0]["translations"] == {
        "ca": {"question": "Fumeu?"},
        "de": {"question": "Rauchen Sie?", "values": ["nie", "früher", "jetzt"]},
    }
    back = Study.from_json(study.to_json())
    assert (back.text, back.schema, back.digest) == (study.text, study.schema, study.digest)


def test_texts_are_written_as_people_write_them() -> None:
    study = Study.from_toml(TOML)
    text = to_toml(study.schema, name=study.name, epsilon=2.0, text=study.text)
    assert Study.from_toml(text) == study


def test_what_respondents_are_told_is_in_the_digest() -> None:
    changes = ["How are you?", "Three minutes, six", '"en"', "Rauchen", "früher", "Tres"]
    digests = {Study.from_toml(TOML.replace(old, '"fr"' if '"' in old else "?")) for old in changes}
    assert len(digests | {Study.from_toml(TOML)}) == len(changes) + 1


def test_a_study_without_texts_publishes_none() -> None:
    study = Study(Schema([Attribute("a", ["x", "y"], "?")]), 1.0)
    assert set(study.content) == {"castell", "name", "attributes", "blocks"}
    assert set(study.content["attributes"][0]) == {"name", "question", "values"}
    assert study.text == StudyText()


def test_codes_do_not_depend_on_the_language() -> None:
    (smokes,) = Study.from_toml(TOML).schema
    assert [smokes.code(value) for value in smokes.values] == [0, 1, 2]
    with pytest.raises(CastellError, match="'nie' is not a value"):
        smokes.code("nie")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "How are you?"', "title = 3", "the study's title is 3"),
        ('language = "en"', 'language = "English"', "'English' is not a language"),
        ('language = "en"', 'language = "e\u00f1"', "is not a language"),
        ("[translations.de]", "[translations.DE]", "'DE' is not a language"),
        ('title = "Wie geht es Ihnen?"', "", "is empty"),
        ('title = "Wie geht es Ihnen?"', 'title = ""', "empty title"),
        ('title = "Wie geht es Ihnen?"', 'titel = "Wie?"', "unknown entry 'titel'"),
        ('title = "Wie geht es Ihnen?"', "title = 3", "title of .* is 3"),
        ('question = "Rauchen Sie?"', 'question = " "', "empty question"),
        ('question = "Rauchen Sie?"', 'frage = "Rauchen Sie?"', "unknown entry 'frage'"),
        ('"nie", "früher", "jetzt"', '"nie", "früher"', "2 different values for 3"),
        ('"nie", "früher", "jetzt"', '"nie", "nie", "jetzt"', "2 different values for 3"),
        ('"nie", "früher", "jetzt"', '"nie", "", "jetzt"', "empty value"),
        ('"nie", "früher", "jetzt"', '"nie", 2, "jetzt"', "a value in .* is 2"),
        ('["nie", "früher", "jetzt"]', '"nie"', "no list of values"),
        ('["nie", "früher", "jetzt"]', "[]", "0 different values for 3"),
    ],
)
def test_texts_that_cannot_be_shown_are_refused(old: str, new: str, message: str) -> None:
    assert old in TOML
    with pytest.raises(SchemaError, match=message):
        Study.from_toml(TOML.replace(old, new, 1))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "give a table for each language"),
        ([], "give a table for each language"),
        ({"de": 3}, "is empty"),
        ({"de": {"question": "\ud800"}}, "half a character"),
    ],
)
def test_translations_in_python_are_checked_too(given: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Attribute("a", ["x", "y"], "", given)


@pytest.mark.parametrize(
    "change",
    [
        {"title": ""},
        {"translations": {}},
        {"translations": {"de": {}}},
        {"translations": {"de": {"title": "x", "more": 1}}},
        {"description": 3},
        {"subtitle": "x"},
    ],
)
def test_published_texts_are_as_strict(change: dict[str, Any]) -> None:
    document = {**json.loads(Study.from_toml(TOML).to_json()), **change}
    with pytest.raises(CastellError):
        Study.from_json(json.dumps(document))
