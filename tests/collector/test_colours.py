"""The owner's colour: legible in light and dark, or refused with one that is."""

from __future__ import annotations

import re
from random import Random

import pytest

from castell.collector.colours import (
    DARK,
    LIGHT,
    TEXT,
    accent_styles,
    contrast,
    legible_on_light,
)
from castell.collector.survey_page import SURVEY
from castell.errors import OptionError


def values(styles: str) -> list[dict[str, str]]:
    """The custom properties of each :root, light first."""
    return [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
        for block in re.findall(r":root \{(.*?)\}", styles, re.S)
    ]


def test_contrast_is_that_of_the_guidelines() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=1e-3)
    assert contrast("#ffffff", "#0000ff") == pytest.approx(8.592, abs=1e-3)


def test_the_page_has_the_grounds_that_are_counted_with() -> None:
    light, dark = values((SURVEY / "base.css").read_text("utf-8"))
    assert LIGHT.items() <= light.items()
    assert DARK.items() <= dark.items()


def test_no_colour_changes_nothing() -> None:
    assert accent_styles("") == ""


def test_every_colour_is_legible_or_refused_with_one_that_is() -> None:
    generator = Random(1)  # noqa: S311
    refused = 0
    for _ in range(500):
        colour = f"#{generator.randrange(1 << 24):06x}"
        try:
            styles = accent_styles(colour)
        except OptionError as error:
            refused += 1
            found = re.search(r"#[0-9a-f]{6}", error.remedy)
            assert found is not None
            styles = accent_styles(found[0])
        for shown, grounds in zip(values(styles), (LIGHT, DARK), strict=True):
            assert all(contrast(shown["accent"], ground) >= TEXT for ground in grounds.values())
            assert contrast(shown["accent-ink"], shown["accent"]) >= TEXT
            assert contrast(shown["accent"], shown["tint"]) >= 3  # dots and marks on it
    assert 100 < refused < 400


def test_a_pale_colour_is_refused_with_its_contrast() -> None:
    with pytest.raises(OptionError, match=r"#ff9900 is hard to read: its contrast .* is 2\.0"):
        legible_on_light("#FF9900")
    assert legible_on_light("#A3195B") == "#a3195b"


def test_the_second_colour_of_pictures_is_not_the_first() -> None:
    for accent in ("#b4500f", "#1d5fa6"):
        for shown in values(accent_styles(accent)):
            assert contrast(shown["more"], shown["tint"]) >= 3
            assert shown["more"] != shown["accent"]
    orange, blue = (values(accent_styles(accent))[0]["more"] for accent in ("#b4500f", "#1d5fa6"))
    assert orange != blue
