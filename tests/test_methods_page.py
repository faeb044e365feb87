"""The methods page: every section names its file, and citations and references agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BODY, _, REFERENCES = (
    (ROOT / "docs" / "methods.md").read_text(encoding="utf-8").partition("\n## References\n")
)
# Sections of words alone.
WITHOUT_FILES = {"Notation and sampling assumptions"}
_YEAR = r"(?:19|20)\d\d"
_NAME = r"(?:D'|Di )?[A-ZÀ-Ý][\w-]+"
# "Warner 1965", "Wilson's (1927)", "Varin, Reid and Firth 2011", "Hausman's test (1978)"; a second
# year of the same names after a comma or a semicolon.
_CITED = re.compile(
    rf"({_NAME})(?:, {_NAME})*(?: and {_NAME}| et al\.)?(?:'s)?(?: test)? \(?({_YEAR})\b"
)


def _sections() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", BODY, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _cited() -> set[tuple[str, str]]:
    return {(m[1], m[2]) for m in _CITED.finditer(" ".join(BODY.split()))}


def _listed() -> set[tuple[str, str]]:
    lines = [line for line in REFERENCES.splitlines() if line.strip()]
    assert all(line.startswith("- ") for line in lines)
    first = {line: re.match(rf"- ({_NAME})", line) for line in lines}
    return {(m[1], year) for line, m in first.items() if m for year in re.findall(_YEAR, line)}


def test_every_citation_is_in_the_references() -> None:
    assert sorted(_cited() - _listed()) == []


def test_every_reference_is_cited() -> None:
    assert sorted(_listed() - _cited()) == []


def test_no_citation_is_overlooked() -> None:
    """Every year on the page is that of a citation."""
    text = " ".join(BODY.split())
    assert re.findall(rf".{{30}}\b{_YEAR}\b", _CITED.sub("", text)) == []


@pytest.mark.parametrize("section", [s for s in _sections() if s not in WITHOUT_FILES])
def test_a_section_names_its_file(section: str) -> None:
    named = re.findall(r"`([\w/]+(?:\.py|/))`", _sections()[section])
    found = [name for name in named if (ROOT / "src" / "castell" / name).exists()]
    assert found, section
