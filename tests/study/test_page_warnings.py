"""What castell check warns of in the texts of a study, and links that are refused."""

from __future__ import annotations

import pytest

from castell import Study
from castell.cli.study_file import to_toml
from castell.errors import SchemaError
from castell.study.page_warnings import page_warnings
from castell.study.texts import StudyText

OWNED = """
name = "health"
title = "Health"
consent = "I take part."
thanks = "Thank you."
imprint = "https://university.example/imprint"
completion = "/done.html"
language = "en"
epsilon = 2.0

[translations.ar]
title = "الصحة"
consent = "أشارك."
thanks = "شكرا."

[[attribute]]
name = "age"
question = "How old are you?"
values = ["0-49", "50+"]

[attribute.translations.ar]
question = "كم عمرك؟"

[[attribute]]
name = "smokes"
question = "Do you smoke?"
values = ["no", "yes"]

[attribute.translations.ar]
question = "هل تدخن؟"
values = ["لا", "نعم"]
"""


def test_complete_translations_are_not_warned_of() -> None:
    """Values that are numbers need none."""
    assert page_warnings(Study.from_toml(OWNED)) == []


@pytest.mark.parametrize(
    ("gone", "missing"),
    [
        ('consent = "أشارك."\n', "consent"),
        ('question = "كم عمرك؟"\n', "the question of 'age'"),
        ('values = ["لا", "نعم"]\n', "the values of 'smokes'"),
    ],
)
def test_missing_translations_are(gone: str, missing: str) -> None:
    text = OWNED.replace(gone, "")
    if gone.startswith('question = "كم'):
        text = text.replace("[attribute.translations.ar]\n\n[[attribute]]", "[[attribute]]")
    (warning,) = page_warnings(Study.from_toml(text))
    assert warning.startswith(f"some texts are not there in 'ar' ({missing}): respondents see")


def test_what_the_owner_says_is_published_and_comes_back() -> None:
    study = Study.from_toml(OWNED)
    assert Study.from_json(study.to_json()) == study
    assert study.to_dict()["completion"] == "/done.html"
    written = to_toml(study.schema, name="health", epsilon=2.0, text=study.text)
    assert Study.from_toml(written) == study


@pytest.mark.parametrize(
    "link",
    ["http://a.example/", "javascript:alert(1)", "//a.example/", "/\\a.example", "https://",
     "https://me@a.example/", "https://a.example/ b", "done.html", "data:text/html,x"],
)  # fmt: skip
def test_a_link_that_is_not_safe_is_refused(link: str) -> None:
    for key in ("imprint", "privacy", "completion"):
        with pytest.raises(SchemaError, match="begins with https://"):
            StudyText.of({key: link})
        with pytest.raises(SchemaError, match="begins with https://"):
            StudyText.of({"translations": {"de": {key: link}}})
