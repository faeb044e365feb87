"""The methods page: every section names its file, and citations and references agree."""

from __future__ import annotations

import ast
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


# Constants of memory, speed and arithmetic, of which no estimate depends beyond rounding.
NUMERICAL = {
    "CLOSE",
    "COARSE",
    "MOST_CHILDREN",
    "MOST_ENTRIES",
    "MOST_EM_STEPS",
    "MOST_FITTED_CELLS",
    "MOST_NUMBERS",
    "MOST_ROUNDS",
    "MOST_STEPS",
    "MOST_SWEEPS",
    "SWEEPS",
    "TRIES",
    # Of the command line, of experiments, of compared systems as they are published.
    "CELLS",
    "DECIDED_BY_TABLE",
    "PUBLISHED_CLOSE",
    "REPEATS",
    "WORK",
}
ROW = re.compile(r"^\| (.+?) \| (`[\w/.]+`.*?) \| .+ \| .+ \|$", re.MULTILINE)


def _constants() -> dict[str, str]:
    """The constants that the table names, with the files it names for them."""
    table = BODY.partition("\n## Constants\n")[2]
    return {
        name: files
        for names, files in ROW.findall(table)
        for name in re.findall(r"`([A-Z_]+)`", names)
    }


def _written(path: Path) -> set[str]:
    """The constants of a module that are numbers, or tuples of them."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if not isinstance(node, ast.Assign):
            continue
        for target, value in zip(*_pairs(node), strict=True):
            number = re.fullmatch(r"[\d\s.,e<*/()-]+|tuple\(.*", ast.unparse(value))
            if number and isinstance(target, ast.Name) and re.fullmatch(r"[A-Z][A-Z_]+", target.id):
                found.add(target.id)
    return found


def _pairs(node: ast.Assign) -> tuple[list[ast.expr], list[ast.expr]]:
    (target,) = node.targets
    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
        return target.elts, node.value.elts
    return [target], [node.value]


@pytest.mark.parametrize("name", sorted(_constants()))
def test_a_constant_is_in_the_file_that_is_named(name: str) -> None:
    files = [ROOT / "src" / "castell" / file for file in re.findall(r"`(.+?)`", _constants()[name])]
    texts = [
        path.read_text("utf-8")
        for file in files
        for path in (sorted(file.rglob("*.py")) if file.is_dir() else [file])
    ]
    assert any(re.search(rf"\b{name}\b", text) for text in texts)


@pytest.mark.parametrize("room", ["inference", "estimators"])
def test_every_constant_of_a_method_is_told(room: str) -> None:
    found = {
        f"{path.name}: {name}"
        for path in (ROOT / "src" / "castell" / room).rglob("*.py")
        for name in _written(path) - NUMERICAL - set(_constants())
    }
    assert sorted(found) == []


def test_lines_are_short_enough_to_be_read_in_an_editor() -> None:
    """Tables and displayed equations have a line each."""
    text = re.sub(r"^\$\$.*?\$\$", "", BODY, flags=re.DOTALL | re.MULTILINE)
    lines = [line for line in text.splitlines() if not line.startswith("|")]
    # A displayed equation may run on beside the text.
    assert [line for line in lines if len(line) > 130] == []


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
