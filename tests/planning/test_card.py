"""A card says what the published study says, for programs and for people."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import ClassVar

import pytest

from castell import Study
from castell.channels import built_in
from castell.planning.card import card
from castell.planning.card_page import card_page
from castell.planning.shuffled import shuffled
from castell.study.collection_table import OpeningHours
from tests.contract.designs import STUDIES
from tests.foreign_channels import Neighbours
from tests.populations import schema

TOML = """
name = "smoking"
title = "Smoking & health"
description = "<Two> questions."
epsilon = 1.5
design = "singles"

[[attribute]]
name = "smokes"
question = "Do you smoke?"
values = ["no", "yes"]

[[attribute]]
name = "health"
values = ["good", "fair", "poor"]
"""


def test_what_a_registry_asks_for() -> None:
    study = Study.from_toml(TOML)
    hours = OpeningHours(datetime(2026, 12, 1, tzinfo=UTC), datetime(2026, 12, 22, tzinfo=UTC))
    made = card(study, 800, hours=hours, software="castell 0")
    found = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert found["digest"] == study.digest
    assert found["privacy_loss"]["epsilon"] == study.epsilon
    assert found["privacy_loss"]["delta"] == 0
    assert found["model"] == "local"
    assert [a["name"] for a in found["collected"]] == ["smokes", "health"]
    assert found["duration"]["opens"] == "2026-12-01T00:00:00+00:00"
    assert found["duration"]["reports_per_person"] == 1
    assert [m["chance_drawn"] for m in found["mechanism"]] == [0.5, 0.5]
    assert found["shuffled"] == json.loads(json.dumps(shuffled(study, 800).to_dict()))
    assert found["software"] == "castell 0"
    assert "drawn" in found["accounting"]


def test_without_a_number_of_people_nothing_is_said_of_shuffling() -> None:
    made = card(Study.from_toml(TOML))
    assert made.to_dict()["shuffled"] is None
    assert "depends on how many take part" in str(made)
    assert "What the shuffled epsilon assumes" not in card_page(made)
    assert "no dates set" in str(made)


def test_the_epsilon_after_shuffling_stands_with_its_assumptions() -> None:
    made = card(Study.from_toml(TOML), 800)
    line = dict(made.rows())["epsilon, shuffled"]
    assert "if 800 take part" in line
    assert "without order or time" in line
    page = card_page(made)
    for text in made.shuffled.assumes if made.shuffled else ["missing"]:
        assert text.replace("'", "&#x27;") in page


class _Page(HTMLParser):
    """Every element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_every_kind_of_channel_has_a_name_for_people() -> None:
    titles = [found.title for found in built_in().values()]
    assert len(set(titles)) == len(titles)
    assert not set(titles) & set(built_in())


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_a_card_and_a_page(name: str) -> None:
    made = card(STUDIES[name], 50, delta=1e-3)
    json.dumps(made.to_dict(), allow_nan=False)
    for entry in made.mechanism():
        assert entry["name"] == built_in()[entry["kind"]].title
    assert repr(made).startswith("<Card of ")
    page = _Page()
    page.feed(card_page(made))
    page.close()
    assert page.open == []
    assert "script" not in page.seen


def test_the_page_escapes_what_people_wrote() -> None:
    page = card_page(card(Study.from_toml(TOML)))
    assert "Smoking &amp; health" in page
    assert "<Two>" not in page


def test_a_hundred_people_only_where_a_report_is_an_answer() -> None:
    assert "<svg" in card_page(card(Study.from_toml(TOML)))
    assert "<svg" not in card_page(card(STUDIES["sets"]))
    assert "<svg" not in card_page(card(STUDIES["own joint"]))


def test_a_channel_from_elsewhere_has_its_own_name_or_that_of_its_kind() -> None:
    class Named(Neighbours):
        title: ClassVar[str] = "the nearer, the likelier"

    for channel, name in [(Neighbours(3, 2), "neighbours"), (Named(3, 2), Named.title)]:
        made = card(Study(schema((3,)), channels={"a": channel}))
        assert [entry["name"] for entry in made.mechanism()] == [name]
