"""What a [page] table names: logos that are pictures, and what check says of the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from castell.collector.page_files import KIOSK, LARGEST_LOGO, Look, load_look, look_warnings
from castell.errors import OptionError
from tests.collector.test_page_words import translated
from tests.study.test_page import STUDY

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>'


def studied(folder: Path, page: str) -> Path:
    file = folder / "study.toml"
    file.write_text(f"{STUDY}\n[page]\n{page}\n", encoding="utf-8")
    return file


def test_a_study_without_a_page_looks_as_castell_does(tmp_path: Path) -> None:
    assert load_look(studied(tmp_path, "")) == Look()
    assert look_warnings(Look()) == []


def test_a_logo_is_found_beside_the_study(tmp_path: Path) -> None:
    (tmp_path / "logo.svg").write_text(SVG)
    look = load_look(studied(tmp_path, 'logo = "logo.svg"\nlogo_alt = "Example"'))
    assert look.logo is not None
    assert (look.logo.media_type, look.logo.alt) == ("image/svg+xml", "Example")
    assert look.document() == {"logo": "Example", "kiosk": False, "preview": False}
    assert look_warnings(look) == []


@pytest.mark.parametrize(
    ("name", "body", "problem"),
    [
        ("logo.svg", None, "cannot be read"),
        ("logo.gif", b"GIF89a", "is no picture"),
        ("logo.html", b"<script>", "is no picture"),
        ("logo.png", SVG.encode(), "is no image/png"),
        ("logo.svg", b"<html>", "is no image/svg"),
        ("logo.png", b"\x89PNG\r\n\x1a\n" + bytes(LARGEST_LOGO), "make it smaller"),
    ],
)
def test_what_is_no_logo_is_refused(
    tmp_path: Path, name: str, body: bytes | None, problem: str
) -> None:
    if body is not None:
        (tmp_path / name).write_bytes(body)
    with pytest.raises(OptionError, match=problem):
        load_look(studied(tmp_path, f'logo = "{name}"'))


def test_check_says_what_a_page_costs(tmp_path: Path) -> None:
    (tmp_path / "logo.svg").write_text(SVG)
    translated(tmp_path / "ar.toml", send="")
    page = 'logo = "logo.svg"\nkiosk = true\nwords = ["ar.toml"]'
    kiosk, alt, words = look_warnings(load_look(studied(tmp_path, page)))
    assert kiosk == KIOSK
    assert "nothing keeps a person from answering again" in kiosk
    assert alt.endswith("add logo_alt, the name it shows")
    assert words.startswith("the page's own words in 'ar' are not complete and not used (send):")


def test_kiosk_mode_can_be_started_without_the_file(tmp_path: Path) -> None:
    assert load_look(studied(tmp_path, ""), kiosk=True).kiosk
    assert not load_look(studied(tmp_path, "kiosk = false")).kiosk
