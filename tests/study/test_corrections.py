"""Words of a study can be corrected, and nothing else can under that name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from castell import Study
from castell.errors import CastellError, StudyError
from castell.study.corrections import MOST, corrected_words
from castell.study.toml_file import correction_section

FILE = """
name = "health"
epsilon = 2.0
title = "Helth"
consent = "I take part of my own will."

[translations.de]
title = "Gesundheid"
consent = "Ich mache mit."

[[attribute]]
name = "smokes"
question = "Do you smoek?"
values = ["nevr", "before", "now"]

[attribute.translations.de]
values = ["nie", "früher", "jetzt"]

[[attribute]]
name = "health"
values = ["poor", "good"]
"""
STUDY = Study.from_toml(FILE)
DAY = "2026-11-16"


def words(*pairs: tuple[str, str], text: str = FILE) -> Study:
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return Study.from_toml(text)


@pytest.mark.parametrize(
    "pair",
    [
        ("Helth", "Health"),
        ('title = "Helth"', ""),
        ("Gesundheid", "Gesundheit"),
        ("Do you smoek?", "Do you smoke?"),
        ("nevr", "never"),
        ('["nie",', '["noch nie",'),
        ('name = "health"\nvalues', 'name = "health"\nquestion = "How are you?"\nvalues'),
        (
            "[translations.de]",
            '[translations.fr]\ntitle = "Santé"\nconsent = "Oui."\n[translations.de]',
        ),
        ('title = "Helth"', 'title = "Helth"\nprivacy = "https://university.example/"'),
    ],
)
def test_words_are_corrected_and_the_rest_is_the_same(pair: tuple[str, str]) -> None:
    made = STUDY.corrected(words(pair), DAY)
    assert made.digest != STUDY.digest
    assert (made.digests, made.origin) == ((STUDY.digest, made.digest), STUDY.digest)
    assert made.design == STUDY.design
    assert Study.from_json(made.to_json()) == made
    # A reader of the published study sees what was there before.
    (change,) = [c for c in corrected_words(made.content, 0) if "consent" not in c.where]
    assert change.was != change.now
    assert json.loads(made.to_json())["corrections"][0]["on"] == DAY


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (("epsilon = 2.0", "epsilon = 3.0"), "blocks"),
        (("epsilon = 2.0", 'epsilon = 2.0\ndesign = "joint"'), "blocks"),
        (("epsilon = 2.0", 'epsilon = 2.0\ndesign = "singles"'), "blocks, draw"),
        (('name = "health"\nepsilon', 'name = "wealth"\nepsilon'), "name"),
        (("epsilon = 2.0", 'epsilon = 2.0\nreview = "before"'), "review"),
        (("of my own will", "and may be called"), "consent"),
        (("Ich mache mit.", "Ich mache alles mit."), r"consent \(de\)"),
        (('consent = "Ich mache mit."', ""), r"consent \(de\)"),
        (('"nevr", "before"', '"before", "nevr"'), "which place a value of 'smokes'"),
        (('"nevr", "before"', '"before", "never"'), "which place a value of 'smokes'"),
        (('"nie", "früher"', '"früher", "nie"'), "which place a value of 'smokes'"),
    ],
)
def test_anything_else_is_refused(pair: tuple[str, str], said: str) -> None:
    with pytest.raises(StudyError, match=f"more than words: {said}.*a new study"):
        STUDY.corrected(words(pair), DAY)


def test_values_and_names_of_attributes_stay() -> None:
    fewer = FILE.replace('"poor", "good"', '"poor", "fair", "good"')
    with pytest.raises(StudyError, match="more than words"):
        STUDY.corrected(Study.from_toml(fewer), DAY)
    renamed = FILE.replace('name = "smokes"', 'name = "smoking"')
    with pytest.raises(StudyError, match="more than words"):
        STUDY.corrected(Study.from_toml(renamed), DAY)
    with pytest.raises(StudyError, match="no words were changed"):
        STUDY.corrected(STUDY, DAY)


def test_corrections_add_up_and_each_is_proven() -> None:
    once = STUDY.corrected(words(("Helth", "Health")), DAY)
    both = once.corrected(words(("Helth", "Health"), ("smoek", "smoke")), "2026-11-17")
    assert both.digests == (STUDY.digest, once.digest, both.digest)
    assert [str(c) for c in corrected_words(both.content, 1)] == [
        "smokes question: 'Do you smoek?' -> 'Do you smoke?'"
    ]
    assert len(corrected_words(both.content, 0)) == 2
    # Back to the first words is a correction like any other, not the first study.
    back = both.corrected(STUDY, "2026-11-18")
    assert back.origin == STUDY.digest != back.digest


def forged(change: Callable[[dict[str, Any]], object]) -> str:
    """A corrected study with something else changed, and a digest that fits nevertheless."""
    from castell.study.canonical import canonical, digest_of

    made = STUDY.corrected(words(("Helth", "Health")), DAY)
    content = json.loads(made.to_json())
    del content["digest"]
    change(content)
    return canonical({**content, "digest": digest_of(content)})


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["blocks"][0]["channel"].update(same=c["blocks"][0]["channel"]["same"] + 1),
        lambda c: c["attributes"][0].update(question="Do you deal?"),
        lambda c: c["corrections"][0].update(was={"title": "Anything"}),
        lambda c: c["corrections"][0].update(was={"title": 3}),
        lambda c: c["corrections"][0].update(was={"attributes": []}),
        lambda c: c["corrections"][0].update(was={"attributes": {"smokes": {"values": None}}}),
        lambda c: c["corrections"][0].update(was={"blocks": c["blocks"]}),
        lambda c: c["corrections"][0].update(of="0" * 64),
        lambda c: c["corrections"][0].update(on="yesterday"),
        lambda c: c["corrections"][0].update(by="me"),
        lambda c: c.update(corrections=[]),
        lambda c: c.update(corrections=c["corrections"] * (MOST + 1)),
    ],
)
def test_a_study_that_only_claims_to_be_a_correction_is_refused(
    change: Callable[[dict[str, Any]], object],
) -> None:
    with pytest.raises(CastellError):
        Study.from_json(forged(change))
    assert Study.from_json(forged(lambda _: None)).origin == STUDY.digest


def test_a_study_file_holds_its_corrections() -> None:
    odd = words(("Do you smoek?", 'Do \\"you\\" \\u007f\\n smoke \\U0001f512 \''))
    made = STUDY.corrected(odd, DAY).corrected(words(("Helth", "Health")), DAY)
    text = FILE.replace("Helth", "Health") + "".join(map(correction_section, made.corrections))
    assert Study.from_toml(text) == made
    with pytest.raises(StudyError, match=r"do not fit the study.*castell correct"):
        Study.from_toml(text.replace("Gesundheid", "Gesundheit"))
    with pytest.raises(StudyError, match=r"section is broken"):
        Study.from_toml(FILE + '\n[[correction]]\nof = "x"\nwas = "no JSON"\n')


def test_reports_of_the_words_before_are_reports_of_the_study() -> None:
    from castell import Reports

    made = STUDY.corrected(words(("nevr", "never")), DAY)
    answers = {"smokes": ["now", "before"], "health": ["good", "poor"]}
    table = STUDY.randomize(answers).to_arrow()
    assert len(Reports.from_arrow(table, made)) == 2
    later = made.randomize(answers).to_arrow()
    with pytest.raises(CastellError, match="another study"):
        Reports.from_arrow(later, STUDY)
