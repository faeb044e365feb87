"""Several studies in one process: each under its path, with its store, its tokens and its hours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from castell import Attribute, Schema, Study
from castell.collector.app import study_app
from castell.collector.commands import default_store
from castell.collector.served_studies import Plan, plan
from castell.collector.settings import State
from castell.collector.several_studies import Studies, by_path, slug_of, study_files
from castell.collector.store import open_store
from castell.collector.store.tokens import Role, Token, token_hash
from castell.collector.wire import new_id
from castell.device.client import Client
from castell.errors import OptionError
from tests.collector.process import collecting
from tests.collector.respondents import LOGGED_IN, settings
from tests.collector.test_commands import call, castell, fails

TEXT = """
name = "{name}"
epsilon = 1.0

[[attribute]]
name = "{attribute}"
values = ["no", "yes"]
"""


def study_of(name: str) -> Study:
    return Study(Schema([Attribute(name, ["no", "yes"])]), epsilon=1.0, name=name)


def report_of(study: Study) -> dict[str, Any]:
    return {"id": new_id(), "study": study.digest, "codes": [1]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "studies").mkdir()
    for name in ("health", "housing"):
        text = TEXT.format(name=name, attribute=f"{name}-question")
        (tmp_path / "studies" / f"{name}.toml").write_text(text, encoding="utf-8")
    return tmp_path / "studies"


@pytest.fixture
def both(tmp_path: Path) -> Iterator[TestClient]:
    """Two studies whose stores stay open as long as the client."""
    states = {
        name: State(open_store(tmp_path / f"{name}.sqlite", study_of(name)), kept)
        for name, kept in (("a", settings(minimum=1)), ("results", settings(minimum=1)))
    }
    app = Studies({name: study_app(state) for name, state in states.items()})
    with TestClient(app) as client:
        yield client


# -- paths ---------------------------------------------------------------------------------------


def test_each_study_has_its_own_reports(both: TestClient, tmp_path: Path) -> None:
    """One of them is called like a page of the other, which must not matter."""
    for name, number in (("a", 2), ("results", 3)):
        assert both.get(f"/{name}/study.json").json()["name"] == name
        for _ in range(number):
            answer = both.post(f"/{name}/reports", json=report_of(study_of(name)))
            assert answer.status_code == 201
    other = both.post("/a/reports", json=report_of(study_of("results")))
    assert other.status_code == 409
    for name, number in (("a", 2), ("results", 3)):
        overview = both.get(f"/{name}/results/api/overview", headers=LOGGED_IN).json()
        assert (overview["n"], overview["study"]["name"]) == (number, name)
        assert both.get(f"/{name}/results").headers["content-type"].startswith("text/html")
        with closing(open_store(tmp_path / f"{name}.sqlite")) as store:
            assert store.count() == number


def test_nothing_is_at_the_root(both: TestClient) -> None:
    for path in ("/", "/study.json", "/results", "/openapi.json", "/metrics", "/b/", "//a/"):
        answer = both.get(path, headers=LOGGED_IN, follow_redirects=False)
        # ("/results" is a study here, without its slash.)
        assert answer.status_code == (307 if path == "/results" else 404), path
        assert "health" not in answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert both.get("/healthz").json() == {"status": "ok"}


def test_an_address_without_its_slash_leads_to_the_study(both: TestClient) -> None:
    """Relative, so that it names no host and needs to know no prefix of a proxy's."""
    answer = both.get("/a", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "a/")
    assert both.get("/a").url.path == "/a/"


def test_nothing_that_is_served_names_a_path_from_the_root(both: TestClient) -> None:
    """Links that begin with / lead out of the study, and out of a proxy's prefix."""
    import re

    pages = ["/a/", "/a/results", "/a/survey.js", "/a/survey.css", "/a/static/results/results.css"]
    scripts = Path(__file__).parents[2] / "src/castell/collector/pages/results"
    pages += [f"/a/static/results/{path.name}" for path in scripts.glob("*.js")]
    for page in pages:
        answer = both.get(page)
        assert answer.status_code == 200
        found = re.findall(r"""(?:href=|src=|url\(|fetch\(|import\()["'`]?/[a-z]""", answer.text)
        assert found == [], page
        assert not re.search(r"""["'`]/(?:static|results|reports|study|collector)""", answer.text)
    described = both.get("/a/openapi.json").json()
    assert described["servers"] == [{"url": "."}]


def test_all_must_be_well(both: TestClient, tmp_path: Path) -> None:
    for file in tmp_path.glob("a.sqlite*"):
        file.unlink()
    assert both.get("/healthz").status_code == 503
    assert both.get("/a/healthz").status_code == 503
    assert both.get("/results/healthz").status_code == 200
    assert both.post("/results/reports", json=report_of(study_of("results"))).status_code == 201


def test_a_token_of_one_study_opens_no_other(both: TestClient, tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "a.sqlite")) as store:
        store.add_token(Token("anna", Role.OWNER, token_hash("a-secret")))
    headers = {"authorization": "Bearer a-secret"}
    assert both.get("/a/metrics", headers=headers).status_code == 200
    assert both.get("/results/metrics", headers=headers).status_code == 401
    # The one that the collector was started with is for whoever runs all of them.
    assert both.get("/results/metrics", headers=LOGGED_IN).status_code == 200


def test_a_pause_is_for_one_study(both: TestClient, tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "a.sqlite")) as store:
        store.pause(True)
    assert both.post("/a/reports", json=report_of(study_of("a"))).status_code == 503
    assert both.post("/results/reports", json=report_of(study_of("results"))).status_code == 201


# -- what is planned -----------------------------------------------------------------------------


def planned(*paths: Path, **options: Any) -> Plan:
    return plan(paths, default_store, **options)


def test_one_file_is_at_the_root_and_a_folder_never(folder: Path) -> None:
    assert list(planned(folder / "health.toml").studies) == [""]
    assert list(planned(folder).studies) == ["health", "housing"]
    (folder / "housing.toml").unlink()
    found = planned(folder)
    assert list(found.studies) == ["health"]
    assert not found.is_one
    assert found.studies["health"].place == str(folder / "health.sqlite")


def test_names_make_addresses() -> None:
    assert slug_of("Gesundheit & Köln (2026)") == "gesundheit-koln-2026"
    for name in ("健康", "Healthz"):
        with pytest.raises(OptionError, match="makes no address"):
            by_path([study_of(name)])
    with pytest.raises(OptionError, match="two studies would be at /a-b/"):
        by_path([study_of("a b"), study_of("A-B")])


def test_what_cannot_be_served_together(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="several studies cannot have one store"):
        planned(folder, store="one.sqlite")
    with pytest.raises(OptionError, match="hours of their own"):
        planned(folder, opens="2026-12-01T08:00:00Z")
    (tmp_path / "empty").mkdir()
    with pytest.raises(OptionError, match="there is no study in"):
        study_files([tmp_path / "empty"])
    for name in ("health", "housing"):
        file = folder / f"{name}.toml"
        text = file.read_text(encoding="utf-8")
        file.write_text(f'{text}\n[collection]\nstore = "same.sqlite"\n', encoding="utf-8")
    said = fails("serve", folder, "--port", "0")
    assert "two studies have the same store" in said
    assert list(folder.glob("*.sqlite")) == []


def test_a_study_file_names_its_store(folder: Path) -> None:
    file = folder / "health.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(f'{text}\n[collection]\nstore = "@place.txt"\n', encoding="utf-8")
    (folder / "place.txt").write_text(f"{folder / 'elsewhere.sqlite'}\n", encoding="utf-8")
    castell("invite", file, "3")
    assert (folder / "elsewhere.sqlite").exists()
    assert not (folder / "health.sqlite").exists()


# -- as an operator runs it ----------------------------------------------------------------------


def test_serve_a_folder(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "study.json").write_text(study_of("third").to_json(), encoding="utf-8")
    with collecting(tmp_path, "--port", "0", str(folder)) as made:
        told = {one["address"].rpartition("/")[2]: one for one in made.told["studies"]}
        assert sorted(told) == ["health", "housing", "third"]
        for name, one in told.items():
            study = Study.from_json(call(f"{one['address']}/study.json")[1].decode())
            assert study.digest == one["study"]
            client = Client(f"{one['address']}/", folder=tmp_path / "device")
            assert client.send(client.make({study.names[0]: "yes"}))
            with closing(open_store(one["store"])) as store:
                assert store.count() == 1, name
            headers = {"authorization": f"Bearer {made.told['token']}"}
            status, text = call(f"{one['address']}/metrics", **headers)
            assert status == 200
            assert b"castell_start_time_seconds" in text
        castell("pause", told["health"]["store"])
        state = json.loads(call(f"{told['health']['address']}/collector.json")[1])["state"]
        assert state == "paused"
    assert (tmp_path / "log").read_text(encoding="utf-8") == ""
