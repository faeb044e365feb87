"""What `castell check` warns of in what a study says to its survey page."""

from __future__ import annotations

from castell.study.study import Study
from castell.study.texts import SAID

REVIEW_BEFORE = (
    'review = "before" shows respondents the drawn report before it is sent: those who leave on '
    "seeing it bias every estimate, may reveal their answer by leaving, and cannot be counted; "
    "leave review out to send first and show afterwards"
)


def page_warnings(study: Study) -> list[str]:
    """Each a sentence with its remedy.

    >>> from castell import Attribute, Schema
    >>> page_warnings(Study(Schema([Attribute("sex", ["Female", "Male"])]), epsilon=1.0))
    []
    """
    order = [REVIEW_BEFORE] if study.text.review == "before" else []
    return order + [_translation_warning(study, language) for language in _incomplete(study)]


def _incomplete(study: Study) -> list[str]:
    """Languages that some but not all texts of a study are there in."""
    translated = {language for language, _ in study.text.translations}
    for attribute in study.schema:
        translated |= {translation.language for translation in attribute.translations}
    return sorted(language for language in translated if _missing(study, language))


def _translation_warning(study: Study, language: str) -> str:
    return (
        f"some texts are not there in {language!r} ({', '.join(_missing(study, language))}): "
        f"respondents see them in {study.text.language or 'the first language'!r}; add them to "
        f"the translations"
    )


def _missing(study: Study, language: str) -> list[str]:
    text = dict(study.text.translations).get(language)
    missing = [key for key in SAID if getattr(study.text, key) and not getattr(text, key, "")]
    for attribute in study.schema:
        found = {t.language: t for t in attribute.translations}.get(language)
        if attribute.question and not (found and found.question):
            missing.append(f"the question of {attribute.name!r}")
        # Numbers are the same in every language.
        words = any(letter.isalpha() for value in attribute.values for letter in value)
        if words and not (found and found.values):
            missing.append(f"the values of {attribute.name!r}")
    return missing
