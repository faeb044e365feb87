"""The field's words: statistics are named as statisticians name them, one word for one thing."""

from __future__ import annotations

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
