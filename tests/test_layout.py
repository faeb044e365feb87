"""Tests mirror the rooms of src/castell: the tests of a room are found by its name."""

from __future__ import annotations

from pathlib import Path

from tests.import_graph import ROOT

TESTS = Path(__file__).parent
# Folders for what is no room: everything of a kind, the pages in a browser, what stands beside.
OTHERS = {"benchmarks", "browser", "contract", "deploy", "experiments"}
# Tests of the whole, and of two languages at once. Modules in no room have theirs here too.
WHOLE = {
    "test_docs",
    "test_example",
    "test_imports",
    "test_layout",
    "test_promises",
    "test_site",
    "test_tutorials",
    "test_vectors",
}


def _folders(path: Path) -> set[str]:
    return {inner.name for inner in path.iterdir() if (inner / "__init__.py").exists()}


def test_every_folder_of_tests_is_a_room_and_every_room_has_one() -> None:
    assert _folders(TESTS) - OTHERS == _folders(ROOT)


def test_a_test_lies_in_the_folder_of_its_room() -> None:
    found = {path.stem for path in TESTS.glob("test_*.py")}
    modules = {f"test_{path.stem}" for path in ROOT.glob("*.py")}
    stray = ", ".join(sorted(found - WHOLE - modules))
    assert not stray, f"{stray}: move to the folder of the room that is tested"
    assert found >= WHOLE
