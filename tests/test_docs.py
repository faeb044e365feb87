"""The documents' examples run: Python blocks, study files and command lines, as printed."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from castell import Study, methods
from castell.estimators import options_of, reads
from castell.population import health_survey
from tests.ports import free_port
from tests.running_pages import environment, run_line, serve
from tests.small_plans import plan_from_little

ROOT = Path(__file__).parent.parent
# The first page makes the study and the reports that others go on from.
FIRST = ROOT / "docs" / "index.md"
PAGES = [ROOT / "README.md", FIRST, *sorted(set((ROOT / "docs").glob("*.md")) - {FIRST})]
# Made by the build, which test_site runs: its blocks go on from each other.
PAGES.remove(ROOT / "docs" / "gallery.md")

# What a person types, or pipes, when `castell send` asks.
ANSWERS = """
age=60+
region=north
education=trade
smokes=now
exercise=weekly
health=fair
"""


def _blocks(language: str) -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for i, code in enumerate(re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)):
            found.append((f"{page.name}-{i}", code))
    return found


@pytest.mark.parametrize("code", [pytest.param(c, id=i) for i, c in _blocks("python")])
def test_python_blocks_run(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # As a reader runs it: without the __future__ of this file.
    exec(compile(code, "documented example", "exec", dont_inherit=True), {})  # noqa: S102


@pytest.mark.parametrize("text", [pytest.param(c, id=i) for i, c in _blocks("toml")])
def test_study_files_load(text: str) -> None:
    assert Study.from_toml(text).epsilon > 0


def _command_lines() -> list[tuple[str, str]]:
    """The lines that a reader types, with the page each stands on."""
    return [
        (name.rpartition("-")[0], line[2:].split(" # ")[0].rstrip())
        for name, block in _blocks("console")
        for line in block.splitlines()
        if line.startswith("$ castell ")
    ]


def _write_paper(folder: Path) -> None:
    """The study of the page on classic designs, and what 500 people said."""
    (text,) = (code for _, code in _blocks("toml") if code.startswith("# copied.toml\n"))
    (folder / "copied.toml").write_text(text, encoding="utf-8")
    said = [
        f"{'same' if k % 10 < 6 else 'different'},{'yes' if k % 3 else 'no'},"
        f"{'same' if k % 7 < 5 else 'different'}"
        for k in range(500)
    ]
    (folder / "said.csv").write_text("\n".join(["copied,cheated,moon", *said]), encoding="utf-8")


def test_command_lines_run_in_the_order_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan_from_little(monkeypatch)
    import pyarrow as pa
    from pyarrow import csv

    columns = {name: pa.array(values) for name, values in health_survey(2000).items()}
    csv.write_csv(pa.table(columns), tmp_path / "answers.csv")
    _write_paper(tmp_path)
    lines = _command_lines()
    assert len(lines) >= 5
    how: dict[str, Any] = {"cwd": tmp_path, "env": environment(tmp_path)}
    looked: set[str] = set()  # pages look at the study with the same lines, and it stays as it is
    for _, page in itertools.groupby(lines, key=lambda entry: entry[0]):
        with contextlib.ExitStack() as servers:
            port = free_port()
            for _, written in page:
                if written.startswith(("castell check ", "castell plan ")) and written in looked:
                    continue
                looked.add(written)
                line = re.sub(r"\b8000\b", str(port), written)
                if line.startswith("castell serve "):
                    server = servers.enter_context(serve(line, port, **how))
                    servers.callback(server.terminate)
                    continue
                run_line(line, tmp_path, ANSWERS)
    assert (tmp_path / "joint.png").stat().st_size > 10_000


def test_links_between_documents_lead_somewhere() -> None:
    inner = [p for p in (ROOT / "docs").rglob("*/*.md") if "_build" not in p.parts]
    for page in [*PAGES, *inner, *ROOT.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} -> {target}"


def test_every_method_is_in_the_table() -> None:
    text = (ROOT / "docs" / "designs-and-methods.md").read_text(encoding="utf-8")
    assert [m for m in methods() if f"| `{m}` |" not in text] == []


def test_the_table_says_what_every_method_reads() -> None:
    text = (ROOT / "docs" / "designs-and-methods.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", text, re.MULTILINE))
    for method in methods():
        declared = reads(method)
        limited = declared.drawn and not declared.across
        words = [
            "drawn (what a block holds)" if k == "drawn" and limited else k for k in declared.kinds
        ]
        assert told[method] == ", ".join(words)
    having = [f"`{method}`" for method in methods() if "target" in options_of(method)]
    sentence = f"{', '.join(having[:-1])} and {having[-1]} take `target"
    assert sentence in " ".join(text.split())


def test_the_page_on_the_paper_has_the_number_that_was_computed() -> None:
    text = (ROOT / "docs" / "explanations" / "paper.md").read_text(encoding="utf-8")
    stored = ROOT / "docs" / "reproduction" / "numbers" / "table_adult-real.json"
    found = json.loads(stored.read_text(encoding="utf-8"))
    (mean,) = (
        record["mean"]
        for record in found["records"]
        if (record["pair"], record["scheme"]) == ("sex x income", "castell")
    )
    assert (
        f"With real noise it is {mean:.1e} (mean of {found['about']['repeats']} collections"
        in text.replace("e-5", "e-05")
    )


@pytest.mark.parametrize("page", ["docs/how-it-works.md", "docs/methods.md", "CONTRIBUTING.md"])
def test_the_files_that_a_map_names_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./]+\.(?:py|js))`", text))
    folders = [ROOT / part for part in ("src", "client", "tests", "benchmarks", "experiments")]
    files = [f"/{p.relative_to(ROOT).as_posix()}" for f in folders for p in f.rglob("*.[pj]*")]
    assert sorted(n for n in named if not any(f.endswith(f"/{n}") for f in files)) == []


@pytest.mark.parametrize("page", ["privacy.md", "collecting.md", "browser.md"])
def test_the_tests_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[a-z_./]+)`", text)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
