"""Nobody with the invitations and a copy of all files links a report to one, or tells an order.

People answer one after the other, each with an invitation. In between, after a stop and after kill
-9 an attacker (see `attacker`) copies everything and tries. What the attacker finds must be what
chance gives: about one right link however many people there are, and no order.

A ranking counts for those it ranks: that a report is in the spool and not in the database is seen,
and that it is likely to be a later one is known (see docs/threat-model.md).
"""

from __future__ import annotations

import json
import secrets
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from castell.collector.store import Submission, filing, open_store
from castell.collector.store.invitations import new_invitation
from castell.collector.store.sqlite import SqliteStore
from castell.collector.store.store import report_key
from castell.collector.wire import id_bytes
from tests.collector.attacker import Loot, Person, attack, copied
from tests.collector.loot import person, system_columns
from tests.collector.process import Collector
from tests.collector.respondents import STUDY, report

# Above these by chance less than once in a million runs, over all that is tried in one of them.
ORDER, LINKS = 6.0, 14


def answer(port: int, code: str) -> Person:
    document = report(invitation=code)
    kind = {"content-type": "application/json"}
    url, body = f"http://127.0.0.1:{port}/reports", json.dumps(document).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, kind), timeout=60) as said:
        assert said.status == 201
    return person(code, id_bytes(document["id"]))


def nothing(loot: Loot) -> None:
    assert loot.order < ORDER, loot
    assert loot.links < LINKS, loot


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "collector"
    made.mkdir()
    (made / "study.json").write_text(STUDY.to_json(), encoding="utf-8")
    return made


@pytest.mark.parametrize("end", [Collector.stop, Collector.kill])
def test_files_link_nobody(folder: Path, end: Any) -> None:
    codes = [new_invitation() for _ in range(300)]
    with closing(open_store(folder / "study.sqlite", STUDY)) as store:
        store.invite(codes)
    server = Collector(folder, "--port", "0", "--rate", "0")
    people: list[Person] = []
    try:
        for code in codes[:220]:
            people.append(answer(server.port, code))
            if len(people) in (60, 130, 200, 220):
                nothing(attack(copied(folder), people))
    finally:
        end(server)
    nothing(attack(copied(folder), people))
    # All of them are there, so there was something to find.
    with closing(open_store(folder / "study.sqlite")) as store:
        assert store.count() == 220


def filled(path: Path, number: int) -> tuple[SqliteStore, list[Person]]:
    """A store that is still open, after many filings, and those who answered, in their order."""
    codes = [new_invitation() for _ in range(number + 100)]
    store = SqliteStore(path, STUDY)
    store.invite(codes)
    people: list[Person] = []
    for start in range(0, number, 10):
        ids = [secrets.token_bytes(16) for _ in range(10)]
        people += [person(code, id) for code, id in zip(codes[start:], ids, strict=False)]
        sent = zip(ids, codes[start:], strict=False)
        store.add([Submission(((report_key(STUDY, id), b"code"),), code) for id, code in sent])
    return store, people


def test_many_filings_leave_no_order(tmp_path: Path) -> None:
    store, people = filled(tmp_path / "s.sqlite", 1000)
    with closing(store):
        nothing(attack(copied(tmp_path), people))
    nothing(attack(copied(tmp_path), people))


def test_the_attack_finds_the_order_of_filings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a store's files were not put in order after each."""
    monkeypatch.setattr(SqliteStore, "_keep_order", lambda _: None)
    store, people = filled(tmp_path / "s.sqlite", 1000)
    with closing(store):
        loot = attack(copied(tmp_path), people)
    assert loot.order > ORDER
    assert loot.links < LINKS  # of filings, not of people


@pytest.mark.parametrize("end", [Collector.stop, Collector.kill])
def test_a_database_links_nobody(folder: Path, database: str, spool: Path, end: Any) -> None:
    """Up to the first filing and beyond it; of several filings the database tells the order."""
    codes = [new_invitation() for _ in range(300)]
    with closing(open_store(database, STUDY)) as store:
        store.invite(codes)
    with psycopg.connect(database) as link:
        ((data, number),) = link.execute(
            "SELECT current_setting('data_directory'), oid FROM pg_database"
            " WHERE datname = current_database()"
        ).fetchall()
    places = [Path(data) / "pg_wal", Path(data) / "base" / str(number), spool, folder]
    server = Collector(folder, "--port", "0", "--rate", "0", "--store", database)
    people: list[Person] = []
    try:
        for code in codes[:160]:
            people.append(answer(server.port, code))
            if len(people) in (60, 130, 160):
                nothing(attack(copied(*places), people, *system_columns(database, people)))
    finally:
        end(server)
    with psycopg.connect(database, autocommit=True) as link:
        link.execute("CHECKPOINT")  # what was in the server's memory is in its files now
    invitations, reports = system_columns(database, people)
    assert len(reports["xmin"]) == filing.POOL
    nothing(attack(copied(*places), people, invitations, reports))


def test_the_attack_finds_a_store_that_files_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it would be without a pool: a transaction for each report, left in the WAL."""
    monkeypatch.setattr(filing, "POOL", 0)
    monkeypatch.setattr(SqliteStore, "_keep_order", lambda _: None)
    codes = [new_invitation() for _ in range(100)]
    people: list[Person] = []
    with closing(open_store(tmp_path / "s.sqlite", STUDY)) as store:
        store.invite(codes)
        for number, code in enumerate(codes):
            id = number.to_bytes(16, "big")
            store.add([Submission(((report_key(STUDY, id), b"code"),), code)])
            people.append(person(code, id))
        live = attack(copied(tmp_path), people)
    assert live.links > 90
    assert live.order > 9.0


def test_the_attack_finds_an_order_inside_a_file(tmp_path: Path) -> None:
    ids = [number.to_bytes(16, "big") for number in range(100)]
    people = [person(new_invitation(), id) for id in ids]
    (tmp_path / "log").write_bytes(b"".join(one.report[1] for one in people))
    assert attack(copied(tmp_path), people).order > 9.0
