"""Tutorials and how-to pages run end to end: every block, in order, each page in its folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.building.gallery import DRAWS
from tests.running_pages import follow
from tests.test_docs import ANSWERS, ROOT

# Pages that are read and followed on their own. Those of docs/ itself are run by test_docs, and
# those whose pictures are made by the build are run by it.
PAGES = [
    page
    for folder in ("tutorials", "howto", "explanations", "reference")
    for page in sorted((ROOT / "docs" / folder).rglob("*.md"))
    if re.search(r"^(```python|```toml|\$ castell)", page.read_text("utf-8"), re.MULTILINE)
    and DRAWS not in page.read_text("utf-8")
]
# Millions of rows are for a machine that has nothing else to do.
FEWER = {"CASTELL_TUTORIAL_ROWS": "20000"}


@pytest.mark.parametrize("page", [pytest.param(p, id=f"{p.parent.name}-{p.stem}") for p in PAGES])
def test_a_page_leads_to_its_end(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in FEWER.items():
        monkeypatch.setenv(name, value)
    assert follow(page, tmp_path, ANSWERS) > 0
