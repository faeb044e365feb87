"""The field's words: statistics are named as statisticians name them, one word for one thing."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Not these, but: prior concentration, Cramer's V; over-relaxed EM; model averaging; sufficient
# statistics, unbiased pairs; sampling variation; hyper-parameters; cross-validation; fitted
# margins; a random start; a shrinkage coefficient; connected; variance, scale; relied on.
WORDS = (
    "strength",
    "strengths",
    "climb",
    "climbs",
    "belief",
    "beliefs",
    "believed",
    "evidence",
    "gathering",
    "accident",
    "accidents",
    "recipe",
    "recipes",
    "trials",
    "settled",
    "scatter",
    "scattered",
    "loosened",
    "tied",
)
# An audit has trials, binomial ones; a proxy's word is believed.
OTHERS = ("auditing", "collector")
PAGES = [
    *(
        page
        for room in sorted((ROOT / "src" / "castell").iterdir())
        if room.name not in OTHERS
        for page in ([room] if room.suffix == ".py" else sorted(room.rglob("*.py")))
    ),
    ROOT / "docs" / "methods.md",
]
_WORD = re.compile(rf"(?<![^\W_])({'|'.join(WORDS)})(?![^\W_])", re.IGNORECASE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_uses_the_fields_words(page: Path) -> None:
    lines = enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
    assert [(k, line.strip()) for k, line in lines if _WORD.search(line)] == []


@pytest.mark.parametrize("text", ["STRENGTHS = 3", "some_evidence(0)", "A model is believed."])
def test_such_a_word_is_found(text: str) -> None:
    assert _WORD.search(text)


# Words that are a participle and no verb of the same spelling ("cut", "bound", "seed" are both).
_PARTICIPLE = re.compile(
    r"_*(?:[a-z]{2,}[^e]ed|(?:re|un)?(?:made|drawn|held|found|kept|told|taken|given|known|seen|left|sent"
    r"|shown|written|built|hidden|chosen|meant|spent|sunk|gone))"
)
# Functions and methods that are called by a participle alone, and why each may be.
MAY_BE = {
    "answered": "model.answered(...): those who answered a question",
    "chosen": "castell.chosen: columns of what was chosen",
    "corrected": "study.corrected(...): the study, corrected",
    "reduced": "the name of an inversion in the paper",
    "shuffled": "castell.shuffled: a study's budget among shuffled reports",
    "smoothed": "the same table, smoothed",
    "sorted": "the same reports, sorted",
    "unbounded": "joint.unbounded(...): intervals without bounds",
    "weighted": "what a method has beside `fit`",
}


def _called_by_a_participle(code: str) -> set[str]:
    """Functions of a module and methods, properties apart: these say what something is."""
    found = set()
    for outer in ast.walk(ast.parse(code)):
        if not isinstance(outer, (ast.Module, ast.ClassDef)):
            continue
        for node in outer.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                names = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
                plain = not names & {"property", "cached_property", "classmethod"}
                if plain and _PARTICIPLE.fullmatch(node.name):
                    found.add(node.name)
    return found


def test_functions_are_verbs_or_nouns_and_no_participles() -> None:
    pages = sorted((ROOT / "src" / "castell").rglob("*.py"))
    found = {page: _called_by_a_participle(page.read_text(encoding="utf-8")) for page in pages}
    odd = {page.name: sorted(names - set(MAY_BE)) for page, names in found.items()}
    assert {page: names for page, names in odd.items() if names} == {}
    assert set().union(*found.values()) == set(MAY_BE)


def test_a_participle_is_seen() -> None:
    assert _called_by_a_participle("def settled(x): ...\nclass A:\n    def _told(self): ...") == {
        "settled",
        "_told",
    }
    assert not _called_by_a_participle("def feed(x): ...\ndef need_table(x): ...\ndef seed(x): ...")
