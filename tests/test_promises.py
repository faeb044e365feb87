"""Every promise of the threat model names a test, and every test that a document names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
THREATS = ROOT / "docs" / "threat-model.md"
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMED = re.compile(r"`(tests/[\w./]+)(?:::(\w+))?`")


def promises(text: str) -> list[tuple[str, str]]:
    """The rows of the table of promises: what is promised, and by which tests it is held."""
    table = text.partition("## Each promise and its test")[2]
    rows = re.findall(r"^\| (.*?) \| (.*?) \|$", table, re.MULTILINE)
    return [row for row in rows if row[0] != "promise"]


def problem(path: str, test: str) -> str | None:
    """Why a test that is named is none."""
    place = ROOT / path
    if not place.exists():
        return f"there is no {path}"
    return None if not test or test in named_in(place) else f"{path} has no {test}"


@cache
def named_in(place: Path) -> frozenset[str]:
    """The tests in a file, which many promises name; read once."""
    body = ast.parse(place.read_text("utf-8")).body
    functions = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    return frozenset(name for name in functions if name.startswith("test_"))


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES])
def test_every_test_that_is_named_exists(page: Path) -> None:
    named = NAMED.findall(page.read_text(encoding="utf-8"))
    assert [found for one in named if (found := problem(*one))] == []


def test_every_promise_has_a_test() -> None:
    rows = promises(THREATS.read_text(encoding="utf-8"))
    assert len(rows) > 30
    assert [promise for promise, tests in rows if not NAMED.search(tests)] == []
    assert len({promise for promise, _ in rows}) == len(rows)


def test_a_promise_without_a_test_and_a_test_that_is_gone_are_seen() -> None:
    text = "## Each promise and its test\n\n| promise | test |\n|---|---|\n| safe | soon |\n"
    ((promise, tests),) = promises(text)
    assert promise == "safe"
    assert not NAMED.search(tests)
    assert problem("tests/nothing.py", "") == "there is no tests/nothing.py"
    here = "tests/test_promises.py"
    assert problem(here, "test_nothing") == f"{here} has no test_nothing"
    assert problem(here, "problem") == f"{here} has no problem"
    assert problem(here, "test_every_promise_has_a_test") is None
