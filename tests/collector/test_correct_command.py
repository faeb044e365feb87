"""Correcting a typing error while a study runs: every report stays, nobody is asked twice."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from castell import Study
from castell.cli.app import app
from castell.collector import correct_command
from castell.collector.app import make_app
from castell.collector.settings import State
from castell.collector.store import StoreError, counts_of, open_store
from castell.collector.store.invitations import new_invitation
from castell.device.client import Client
from castell.errors import StudyChangedError, StudyError
from tests.collecting import collecting
from tests.collector.respondents import settings

FILE = """
name = "drinks"
epsilon = 1.0
title = "Drnks"

[[attribute]]
name = "drink"
question = "What do you drink?"
values = ["te", "coffee"]
"""
FIXED = FILE.replace("Drnks", "Drinks").replace('"te"', '"tea"')
ANSWER = {"drink": "coffee"}
OLD = Study.from_toml(FILE)


def run(*arguments: str | Path, answer: str = "") -> str:
    given = [str(argument) for argument in arguments]
    ran = CliRunner().invoke(app, given, input=answer, catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.output


def report(study: str, codes: list[int], id: str = "A" * 22) -> dict[str, object]:
    return {"id": id, "study": study, "codes": codes}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def correct(file: Path, place: str) -> Study:
    file.write_text(file.read_text().replace("Drnks", "Drinks").replace('"te"', '"tea"'))
    return correct_command.correct(file, place, lambda _: True)[0]


def test_reports_stay_and_both_digests_are_taken(file: Path, place: str) -> None:
    """In SQLite and in PostgreSQL; what came under the old digest is known under the new one."""
    code = new_invitation()
    opened = open_store(place, OLD)
    with TestClient(make_app(State(opened, settings()))) as client:
        assert client.post("/reports", json=report(OLD.digest, [0])).status_code == 201
    with closing(open_store(place, OLD)) as store:
        store.invite([code])
    new = correct(file, place)
    assert Study.load(file) == new
    assert new.origin == OLD.digest
    with closing(open_store(place, new)) as store:
        assert (store.count(), store.study.to_json()) == (1, new.to_json())
        assert counts_of(store, new).n == 1
    opened = open_store(place, new)
    with TestClient(make_app(State(opened, settings()))) as client:
        published = client.get("/study.json").json()
        assert published["title"] == "Drinks"
        assert published["corrections"][0]["was"]["title"] == "Drnks"
        for digest in (OLD.digest, new.digest):
            # The same report under either digest is the same report; so is an invitation.
            assert client.post("/reports", json=report(digest, [0])).status_code == 200
        for status in (201, 403):
            sent = {**report(OLD.digest, [1], "B" * 21 + "A"), "invitation": code}
            sent["id"] = sent["id"] if status == 201 else "C" * 21 + "A"
            assert client.post("/reports", json=sent).status_code == status
        other = report("0" * 64, [0], "D" * 21 + "A")
        assert client.post("/reports", json=other).status_code == 409
    # Who has the old file is told.
    with pytest.raises(StoreError, match=r"another study.*castell correct"):
        open_store(place, OLD)


def test_a_correction_goes_into_backups_and_out_of_them(file: Path, tmp_path: Path) -> None:
    from castell.collector import store_copies

    open_store(tmp_path / "study.sqlite", OLD).close()
    new = correct(file, str(tmp_path / "study.sqlite"))
    store_copies.backup(str(tmp_path / "study.sqlite"), tmp_path / "backup.sqlite")
    store_copies.restore(tmp_path / "backup.sqlite", str(tmp_path / "restored.sqlite"))
    open_store(tmp_path / "restored.sqlite", new).close()


def test_more_than_words_is_refused_and_nothing_is_changed(file: Path, place: str) -> None:
    open_store(place, OLD).close()
    for old, new in (("epsilon = 1.0", "epsilon = 2.0"), ('"te", "coffee"', '"coffee", "te"')):
        file.write_text(FILE.replace(old, new), encoding="utf-8")
        before = file.read_text()
        with pytest.raises(StudyError, match="more than words"):
            correct_command.correct(file, place, lambda _: True)
        assert file.read_text() == before
    with closing(open_store(place)) as store:
        assert store.study == OLD
        with pytest.raises(StoreError, match="no correction of the study"):
            store.correct(Study.from_toml(FIXED))


def test_of_two_corrections_at_once_one_is_told(place: str) -> None:
    with closing(open_store(place, OLD)) as one, closing(open_store(place, OLD)) as other:
        one.correct(OLD.corrected(Study.from_toml(FIXED), "2026-11-16"))
        with pytest.raises(StoreError, match="by somebody else: look at it again"):
            other.correct(
                OLD.corrected(Study.from_toml(FILE.replace("Drnks", "Drinking")), "2026-11-16")
            )


def test_the_verb_shows_the_words_and_asks(file: Path) -> None:
    store = file.with_suffix(".sqlite")
    open_store(store, OLD).close()
    file.write_text(FIXED, encoding="utf-8")
    said = run("correct", file, answer="n\n")
    assert "title\n  was  Drnks\n  now  Drinks" in said
    assert "nothing was corrected" in said
    assert file.read_text() == FIXED
    with pytest.raises(StoreError, match="castell correct"):
        open_store(store, Study.load(file))
    assert "publishes it within seconds" in run("correct", file, answer="y\n")
    open_store(store, Study.load(file)).close()
    told = json.loads(run("correct", file, "--yes", "--json"))
    assert told["changes"] == []
    # Once more: what is in the file already stays there.
    file.write_text(file.read_text().replace("What do you", "Which do you"), encoding="utf-8")
    told = json.loads(run("correct", file, "--yes", "--json").splitlines()[-1])
    assert told["changes"] == [
        {"where": "drink question", "was": "What do you drink?", "now": "Which do you drink?"}
    ]
    assert Study.load(file).digest == told["digest"]
    assert len(Study.load(file).corrections) == 2


def test_a_file_that_was_not_written_is_written_by_the_next_try(file: Path) -> None:
    """The store was corrected, and the machine went down before the file was."""
    place = str(file.with_suffix(".sqlite"))
    open_store(place, OLD).close()
    new = correct(file, place)
    file.write_text(FIXED, encoding="utf-8")
    correct_command.correct(file, place, lambda _: True)
    assert Study.load(file) == new


def test_a_published_file_is_written_anew(tmp_path: Path) -> None:
    place, file = str(tmp_path / "s.sqlite"), tmp_path / "study.json"
    open_store(place, OLD).close()
    file.write_text(Study.from_toml(FIXED).to_json(), encoding="utf-8")
    new, changes = correct_command.correct(file, place, lambda _: True)
    assert len(changes) == 2
    assert Study.load(file) == new


def test_files_that_are_no_study_or_another_stores(file: Path, tmp_path: Path) -> None:
    place = str(tmp_path / "study.sqlite")
    open_store(place, OLD).close()
    with pytest.raises(StudyError, match="cannot read"):
        correct_command.correct(tmp_path / "nothing.toml", place, lambda _: True)
    correct(file, place)
    # A correction that this store never had.
    forged = file.read_text().replace('on = "2', 'on = "1').replace("Drinks", "Beverages")
    file.write_text(forged, encoding="utf-8")
    with pytest.raises(StudyError, match=r"not those of the store: take"):
        correct_command.correct(file, place, lambda _: True)
    with closing(open_store(place)) as store:
        assert store.study.text.title == "Drinks"


def test_a_device_that_has_sent_is_not_asked_again(tmp_path: Path) -> None:
    """And one that has not is shown what changed, by a collector that was started again."""
    sent, seen = tmp_path / "sent", tmp_path / "seen"
    folder = tmp_path / "running"
    folder.mkdir()
    with collecting(FILE, folder, "--port", "0") as running:
        port = running.url.rpartition(":")[2]
        first = Client(running.url, folder=sent)
        assert first.send(first.make(ANSWER))
        waiting = Client(running.url, folder=seen).make(ANSWER)
    study = folder / "study.toml"
    new = correct(study, str(running.store))
    assert new != OLD
    with collecting(study.read_text(), folder, "--port", port) as running:
        again = Client(running.url, folder=sent)
        assert again.study.digest == new.digest
        assert again.entry is not None
        assert again.entry.state == "arrived"
        assert again.send(again.make({"drink": "tea"})) is False
        assert [entry.epsilon for entry in again.ledger()] == [new.epsilon]
        with pytest.raises(StudyChangedError, match=r"'Drnks' -> 'Drinks'.*accept"):
            Client(running.url, folder=seen)
        accepted = Client(running.url, folder=seen, accept=True)
        # The same device draws the same report for the same answer, whatever the words.
        assert accepted.make(ANSWER).codes == waiting.codes
        # What was made before, and never sent, still goes.
        assert accepted.send(waiting)
        assert accepted.send(accepted.make({"drink": "tea"})) is False
    assert len(running.codes()) == 2
