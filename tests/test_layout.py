"""Tests mirror the rooms of src/castell: the tests of a room are found by its name."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.import_graph import ROOT

TESTS = Path(__file__).parent
# Folders for what is no room: everything of a kind, the pages in a browser, what stands beside.
OTHERS = {"benchmarks", "browser", "contract", "deploy", "experiments"}
# Tests of the whole, and of two languages at once. Modules in no room have theirs here too.
WHOLE = {
    "test_docs",
    "test_example",
    "test_field_words",
    "test_imports",
    "test_layout",
    "test_methods_page",
    "test_modules_entered",
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


LONGEST = 350


def test_no_file_is_too_long_to_be_read_at_once() -> None:
    client = ROOT.parents[1] / "client"
    files = [*ROOT.rglob("*.py"), *ROOT.rglob("*.js"), *client.rglob("*.js")]
    assert client.is_dir()
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in files}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


# A report of a draw is a mixture over blocks, of a study without one a product: these say which.
ASK_FOR_THE_DRAW = {"study/design.py"}


def asks_for_the_draw(code: str) -> bool:
    """Whether code reads the attribute `draw` of anything, or counts `samples` of a design."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Attribute(attr="draw", ctx=ast.Load()):
                return True
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value="draw"), *_]):
                return True
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(attr="samples")])
            ):
                return True
    return False


def test_one_file_asks_whether_a_design_draws() -> None:
    """The others ask a design for what follows: its samples, columns, block weights, document; or
    whether it `is_drawn`, which a draw from one block is not."""
    files = {path.relative_to(ROOT).as_posix(): path for path in ROOT.rglob("*.py")}
    asking = {name for name, path in files.items() if asks_for_the_draw(path.read_text("utf-8"))}
    assert asking == ASK_FOR_THE_DRAW


# Where a design that draws is another thing to a reader or to the arithmetic, and what is asked.
ASK_WHETHER_DRAWN = {
    "auditing/audited_codes.py": "which answers an audit compares",
    "inference/method.py": "the kind of reports that a method reads",
    "planning/designs.py": "whether the sets of a plan are too wide",
    "study/design.py": "the design itself, to refuse what reads every block of everybody",
}


def test_few_files_ask_whether_blocks_are_drawn() -> None:
    """Fewer is better: the samples of a design, the columns of a report (`Design.layout`) and what
    a method declares to read say what follows from a draw. Whoever must ask says here for what."""
    files = {path.relative_to(ROOT).as_posix(): path for path in ROOT.rglob("*.py")}
    asking = {name for name, path in files.items() if asks_whether_drawn(path.read_text("utf-8"))}
    assert asking == set(ASK_WHETHER_DRAWN)


def asks_whether_drawn(code: str) -> bool:
    """Whether code reads the attribute `is_drawn` of anything."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == "is_drawn"
        for node in ast.walk(ast.parse(code))
    )


def test_the_check_for_the_draw_sees_what_it_should() -> None:
    assert asks_for_the_draw("x = 1 if study.design.draw else 2")
    assert asks_for_the_draw("getattr(design, 'draw', None)")
    assert not asks_for_the_draw("Design(blocks, draw=True)")
    assert asks_for_the_draw("if len(self.study.design.samples) > 1: pass")
    assert not asks_for_the_draw("draw = design.is_drawn; draw_samples(draw)")
    assert asks_whether_drawn("draw = study.design.is_drawn")
    assert not asks_whether_drawn("def is_drawn(self): return len(self.samples) > 1")
