"""The site builds without a warning, loads nothing from elsewhere, and its links hold."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest
import typer

import castell
from castell.cli.app import app
from castell.study import collection_table, page, toml_file
from docs.building import accessible, command_line, errors, http_interface, library, study_file
from docs.building.project_files import PAGES as PROJECT_PAGES
from docs.building.project_files import within_the_site
from tests.built_site import DOCS, build

_ADDRESS = re.compile(r'<(\w+)\b[^>]*?\b(?:src|href)="([^"]*)"')
_ID = re.compile(r'\bid="([^"]+)"')


def _pages() -> list[Path]:
    return [path for path in DOCS.rglob("*.md") if "_build" not in path.parts]


def test_the_site(tmp_path: Path) -> None:
    ran = build(tmp_path)
    out = tmp_path / "site"
    assert (ran.returncode, ran.stderr) == (0, "")
    built = {path: path.read_text(encoding="utf-8") for path in out.rglob("*.html")}
    for page_ in _pages():
        assert (out / page_.relative_to(DOCS)).with_suffix(".html") in built
    assert _loaded_from_elsewhere(built) == []
    assert _broken_links(built) == []
    _check_the_list_for_programs(out)
    assert gallery_pictures(built[out / "gallery.html"]) == 20
    for page_ in sorted((DOCS / "tutorials").glob("*.md")):
        if page_.stem != "index":
            text = built[out / "tutorials" / f"{page_.stem}.html"]
            assert re.search(r'<img [^>]*alt="[^"]{20}', text), f"{page_.stem} has no picture"
    assert (out / "searchindex.js").stat().st_size > 100_000


def _loaded_from_elsewhere(built: dict[Path, str]) -> list[str]:
    """What a browser would fetch from another host. A link that is pressed is no load."""
    return [
        f"{path.name}: {address}"
        for path, text in built.items()
        for tag, address in _ADDRESS.findall(text)
        if tag != "a" and re.match(r"(https?:)?//", address)
    ]


def _broken_links(built: dict[Path, str]) -> list[str]:
    ids = {path: set(map(html.unescape, _ID.findall(text))) for path, text in built.items()}
    broken = []
    for path, text in built.items():
        for _, address in _ADDRESS.findall(text):
            if re.match(r"[a-z]+:|//", address):
                continue
            where, at = urldefrag(html.unescape(address))
            where = unquote(where.partition("?")[0])
            target = (path.parent / where).resolve() if where else path
            if not target.exists() or (at and target in ids and unquote(at) not in ids[target]):
                broken.append(f"{path.name} -> {address}")
    return broken


def gallery_pictures(text: str) -> int:
    return len(re.findall(r'<img [^>]*src="_images/gallery-\d\d\.svg"', text))


def _check_the_list_for_programs(out: Path) -> None:
    listed = (out / "llms.txt").read_text(encoding="utf-8")
    for page_ in _pages():
        name = page_.relative_to(DOCS).with_suffix("").as_posix()
        assert name == "index" or f"({name}.html)" in listed, f"llms.txt lacks {name}"
    whole = (out / "llms-full.txt").read_text(encoding="utf-8")
    assert "V of two attributes without the bias of noise" in whole


def test_broken_links_and_loads_are_found(tmp_path: Path) -> None:
    one, two = tmp_path / "one.html", tmp_path / "two.html"
    one.write_text("")
    two.write_text("")
    built = {one: '<a href="two.html#there">', two: '<h2 id="here"><script src="//x/y.js">'}
    assert _broken_links(built) == ["one.html -> two.html#there"]
    assert _loaded_from_elsewhere(built) == ["two.html: //x/y.js"]


def test_every_public_name_is_in_the_reference_and_has_an_example() -> None:
    assert library.listed() <= set(castell.__all__)
    blocks = "".join(
        code
        for path in _pages()
        for code in re.findall(r"^```python\n(.*?)^```$", path.read_text("utf-8"), re.M | re.S)
    )
    without = [
        name
        for name in castell.__all__
        if ">>>" not in (getattr(castell, name).__doc__ or "")
        and not re.search(rf"\b(castell\.|import .*\b){name}\b", blocks)
    ]
    assert without == [], "add an example to a page of docs/reference/library"


def test_every_verb_and_option_is_in_the_reference() -> None:
    text = command_line.command_line()
    group: Any = typer.main.get_command(app)
    verbs = dict(group.commands)
    verbs |= {f"token {name}": verb for name, verb in verbs.pop("token").commands.items()}
    assert len(verbs) > 20
    for name, verb in verbs.items():
        section = text.partition(f"## `castell {name}`\n")[2].partition("\n## ")[0]
        assert section, name
        for option in verb.params:
            shown = option.opts[0] if option.opts[0].startswith("-") else option.name.upper()
            assert f"`{shown}`" in section or getattr(option, "hidden", False)
        assert "$ castell" in section, f"castell {name} has no example"


def test_every_operation_is_in_the_reference() -> None:
    text = http_interface.http_interface()
    for path, operations in http_interface.document()["paths"].items():
        for verb in operations:
            assert f"## `{verb.upper()} {path}`" in text
    assert "## `POST /reports`" in text


def test_the_study_file_is_told_as_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    known: dict[str, set[str]] = {}

    def note(_table: dict[str, Any], entries: set[str], what: str) -> None:
        known[what] = set(entries)

    monkeypatch.setattr(toml_file, "_only", note)
    toml_file.read_toml(
        'epsilon = 1.0\n[[attribute]]\nname = "a"\nvalues = ["x", "y"]\n'
        '[[channel]]\nattributes = ["a"]\nmatrix = [[0.7, 0.3], [0.3, 0.7]]\n'
    )
    assert known["the study"] == set(study_file.STUDY)
    assert known["attribute"] | {"choose", "keys"} == set(study_file.ATTRIBUTE)
    of_mechanisms = {"mechanism", "epsilon", "fakes", "f", "q"}
    assert known["a channel"] | {"kind"} | of_mechanisms == set(study_file.CHANNEL)
    assert set(collection_table._KNOWN) == set(study_file.COLLECTION)
    assert set(page._KNOWN) == set(study_file.PAGE)


def test_errors_are_read_from_the_source() -> None:
    told = errors.raised()
    assert ("the study has no attributes", "add a [[attribute]] section for each question") in told[
        "StudyError"
    ]
    assert sum(map(len, told.values())) > 200
    assert "## TableTooLargeError" in errors.errors()
    # What is filled in has a name, so that a reader finds the line they met.
    assert ("<language> is not a language", "use a tag such as de or pt-BR") in told["SchemaError"]


def test_what_a_request_may_ask_is_told_in_words() -> None:
    text = http_interface.http_interface()
    assert "| `level` | query | a number from 0.01 to 0.9999. " in text
    assert "`region=north`" not in text, "long lists are cut"
    tables = [line for line in text.splitlines() if line.startswith("| `")]
    assert [line for line in tables if '{"' in line] == []


def test_links_out_of_the_documents_are_led_into_the_site() -> None:
    assert within_the_site("[a](../README.md#methods)", "scale") == "[a](project/readme.md#methods)"
    assert within_the_site("[a](../../docs/scale.md)", "project/readme") == "[a](../scale.md)"
    assert within_the_site("[a](epsilon.md)", "scale") == "[a](epsilon.md)"
    assert within_the_site("[a](../deploy)", "running") == "a"
    assert all((DOCS / f"{name}.md").exists() for name in PROJECT_PAGES.values())


def test_what_scrolls_can_be_reached_and_empty_corners_are_no_headings() -> None:
    search = '<div id="search-results"></div>'
    assert accessible.put_right(search) == f"<h1>Search</h1>{search}"
    page_ = '<div class="table-wrapper x"><th class="head"><p></p></th></div><pre>y</pre>'
    assert accessible.put_right(page_) == (
        '<div class="table-wrapper x" tabindex="0" role="group" aria-label="table">'
        '<td></td></div><pre tabindex="0">y</pre>'
    )
