"""The survey page as it is served: one document with all it begins with, and the owner's logo."""

from __future__ import annotations

import json
import re
from pathlib import Path

from starlette.testclient import TestClient

from castell import Attribute, Study
from castell.collector.app import make_app
from castell.collector.page_files import Look, load_look
from castell.collector.settings import Settings, State
from castell.collector.store import open_store
from castell.collector.survey_page import document
from tests.collector.respondents import TOKEN, collector
from tests.collector.test_page_files import SVG, studied

BLOCK = re.compile(r'<script type="application/json" id="given">(.*?)</script>', re.S)


def test_the_page_holds_the_study_to_the_letter_and_what_the_collector_says(
    tmp_path: Path,
) -> None:
    with collector(tmp_path / "reports.sqlite") as client:
        page = client.get("/")
        (block,) = BLOCK.findall(page.text)
        given = json.loads(block)
        assert given["study"] == client.get("/study.json").text
        assert given["collector"] == client.get("/collector.json").json()
        assert given["collector"]["invitations"] is False
        assert set(given["words"]) == {"en"}
        assert page.headers["content-encoding"] == "gzip"
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert "unsafe-inline" not in page.headers["content-security-policy"]
        again = client.get("/", headers={"if-none-match": page.headers["etag"]})
        assert again.status_code == 304


def test_invitations_that_are_made_later_are_asked_for_at_once(tmp_path: Path) -> None:
    with collector(tmp_path / "reports.sqlite") as client:
        tag = client.get("/").headers["etag"]
        store = open_store(tmp_path / "reports.sqlite")
        store.invite(["a" * 20])
        store.close()
        page = client.get("/", headers={"if-none-match": tag})
        assert page.status_code == 200
        assert json.loads(BLOCK.findall(page.text)[0])["collector"]["invitations"] is True


def test_a_study_cannot_end_the_block_that_holds_it() -> None:
    nasty = '</script><script src="//a.example/x.js"></script><!--'
    study = Study([Attribute("a", [nasty, "y"], nasty)], epsilon=1.0)
    page = document(study, Look(), {})
    assert page.count("<script") == 2
    assert nasty not in page
    (block,) = BLOCK.findall(page)
    assert json.loads(block)["study"] == study.to_json()


def test_a_logo_is_served_so_that_it_cannot_run_anything(tmp_path: Path) -> None:
    (tmp_path / "logo.svg").write_text(SVG.replace("<path", "<script>alert(1)</script><path"))
    file = studied(tmp_path, 'logo = "logo.svg"\naccent = "#a3195b"')
    study, look = Study.load(file), load_look(file)
    store = open_store(tmp_path / "s.sqlite", study)
    with TestClient(make_app(State(store, Settings(token=TOKEN), look))) as client:
        logo = client.get("/logo")
        assert logo.headers["content-type"] == "image/svg+xml"
        policy = logo.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "sandbox" in policy
        assert "allow-scripts" not in policy
        assert logo.headers["x-content-type-options"] == "nosniff"
        assert "--accent: #a3195b;" in client.get("/survey.css").text
        given = json.loads(BLOCK.findall(client.get("/").text)[0])
        assert given["page"] == {"logo": "", "kiosk": False, "preview": False}


def test_without_a_logo_there_is_none(tmp_path: Path) -> None:
    with collector(tmp_path / "reports.sqlite") as client:
        assert client.get("/logo").status_code == 404


def test_a_store_that_cannot_be_read_does_not_keep_the_page_away(tmp_path: Path) -> None:
    with collector(tmp_path / "reports.sqlite") as client:
        (tmp_path / "reports.sqlite").unlink()
        page = client.get("/")
        assert page.status_code == 200
        assert json.loads(BLOCK.findall(page.text)[0])["collector"] == {}
