"""What `castell check` warns of in what a study says to its survey page."""

from __future__ import annotations

from castell.study.study import Study

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
    return [REVIEW_BEFORE] if study.text.review == "before" else []
