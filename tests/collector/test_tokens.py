"""Tokens of people: made, listed and revoked while a collector runs; what each role may do."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from castell.collector.security.tokens import TokenBook
from castell.collector.store import Store, StoreError, Submission, open_store
from castell.collector.store.tokens import Role, Token, new_token, token_hash
from castell.collector.store_copies import backup, restore
from tests.collector.process import collecting
from tests.collector.respondents import LOGGED_IN, STUDY, TOKEN, bulk, collector, pair
from tests.collector.test_commands import call, castell, fails

OVERVIEW = "/results/api/overview"
ESTIMATE = "/results/api/estimate?attributes=sex&method=castell"
DOWNLOAD = "/results/api/download?attributes=sex&method=castell&format="


def given(store: Store, role: Role, name: str = "anna", expires: int | None = None) -> str:
    secret = new_token()
    store.add_token(Token(name, role, token_hash(secret), expires))
    return secret


def ask(client: TestClient, path: str, token: str) -> int:
    return client.get(path, headers={"authorization": f"Bearer {token}"}).status_code


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the store counts at once, not a second later."""
    monkeypatch.setattr("castell.collector.security.tokens.FRESH", 0.0)


# -- in the store --------------------------------------------------------------------------------


def test_tokens_are_kept_by_name(store: Store, place: str) -> None:
    assert store.tokens() == []
    given(store, Role.OWNER, "zoe", 12345)
    given(store, Role.ANALYST, "anna")
    with closing(open_store(place)) as other:
        found = other.tokens()
        assert [(t.name, t.role, t.expires) for t in found] == [
            ("anna", Role.ANALYST, None),
            ("zoe", Role.OWNER, 12345),
        ]
        with pytest.raises(StoreError, match="there is a token of anna already"):
            given(other, Role.OWNER, "anna")
        other.revoke_token("anna")
        with pytest.raises(StoreError, match="there is no token of anna"):
            other.revoke_token("anna")
    assert [t.name for t in store.tokens()] == ["zoe"]


def test_a_name_that_begins_like_another_is_another(store: Store) -> None:
    given(store, Role.ANALYST, "anna-b")
    given(store, Role.ANALYST, "anna")
    store.revoke_token("anna")
    assert [t.name for t in store.tokens()] == ["anna-b"]
    with pytest.raises(StoreError, match="there is no token"):
        store.revoke_token("ann")
    with pytest.raises(StoreError, match="there is no token"):
        store.revoke_token("anna%")


@pytest.mark.parametrize("name", ["", "Anna", "a b", "-a", "ä", "a" * 65, "a\n"])
def test_odd_names_are_refused(tmp_path: Path, name: str) -> None:
    with (
        closing(open_store(tmp_path / "s.sqlite", STUDY)) as store,
        pytest.raises(StoreError, match="is no name for a token"),
    ):
        given(store, Role.ANALYST, name)


def test_no_file_holds_a_token(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "s.sqlite", STUDY)) as store:
        store.add([Submission((pair(),))])
        secret = given(store, Role.ANALYST)
        for file in tmp_path.iterdir():
            assert secret.encode() not in file.read_bytes()
        store.revoke_token("anna")
    # What was revoked is gone, its hash too.
    assert token_hash(secret).hex().encode() not in (tmp_path / "s.sqlite").read_bytes()


def test_tokens_do_not_come_back_with_a_backup(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "s.sqlite", STUDY)) as store:
        store.add([Submission((pair(),))])
        given(store, Role.ANALYST)
    backup(str(tmp_path / "s.sqlite"), tmp_path / "backup.sqlite")
    restore(tmp_path / "backup.sqlite", str(tmp_path / "again.sqlite"))
    with closing(open_store(tmp_path / "again.sqlite")) as restored:
        assert restored.tokens() == []


# -- what each may do ----------------------------------------------------------------------------


@pytest.mark.usefixtures("at_once")
def test_what_each_role_may_do(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with collector(path, minimum=1) as client, closing(open_store(path)) as store:
        client.post("/reports/bulk", json=bulk(20))
        analyst, owner = given(store, Role.ANALYST), given(store, Role.OWNER, "olga")
        for token in (analyst, owner, TOKEN):
            assert ask(client, OVERVIEW, token) == 200
            assert ask(client, ESTIMATE, token) == 200
            for kind in ("csv", "json", "script", "notebook"):
                assert ask(client, DOWNLOAD + kind, token) == 200
        for path_of_owners in (f"{DOWNLOAD}reports", "/metrics"):
            assert ask(client, path_of_owners, analyst) == 403
            assert ask(client, path_of_owners, owner) == 200
            assert ask(client, path_of_owners, TOKEN) == 200
        told = client.get(f"{DOWNLOAD}reports", headers={"authorization": f"Bearer {analyst}"})
        assert told.json()["error"] == "this is for an owner of the study"
        for token, role in ((analyst, "analyst"), (owner, "owner"), (TOKEN, "owner")):
            headers = {"authorization": f"Bearer {token}"}
            assert client.get(OVERVIEW, headers=headers).json()["role"] == role


@pytest.mark.usefixtures("at_once")
def test_a_token_that_is_revoked_or_expired_opens_nothing(place: str) -> None:
    with (
        closing(open_store(place, STUDY)) as other,
        collector(open_store(place, STUDY), minimum=1) as client,
    ):
        token = given(other, Role.ANALYST)
        assert ask(client, OVERVIEW, token) == 200
        other.revoke_token("anna")
        assert ask(client, OVERVIEW, token) == 401
        soon = given(other, Role.ANALYST, "ben", int(time.time()) + 3600)
        late = given(other, Role.ANALYST, "cleo", int(time.time()) - 1)
        assert ask(client, OVERVIEW, soon) == 200
        assert ask(client, OVERVIEW, late) == 401


@pytest.mark.usefixtures("at_once")
def test_a_refusal_says_which_token_it_takes_and_not_what_became_of_this_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.sqlite"
    with collector(path) as client, closing(open_store(path)) as store:
        revoked = given(store, Role.ANALYST)
        store.revoke_token("anna")
        expired = given(store, Role.ANALYST, "ben", int(time.time()) - 1)
        analyst = given(store, Role.ANALYST, "cleo")

        def told(path: str, token: str) -> Any:
            return client.get(path, headers={"authorization": f"Bearer {token}"}).json()

        wrong = told(OVERVIEW, "never-a-token-at-all")
        assert wrong["needs"] == "analyst"
        assert "an analyst's or an owner's token of this study" in wrong["remedy"]
        assert "castell token add STORE --name NAME --role analyst" in wrong["remedy"]
        assert told(OVERVIEW, revoked) == told(OVERVIEW, expired) == wrong
        assert told(OVERVIEW, "") == {**wrong, "error": "no token came with this"}
        for found in (told("/metrics", revoked), told("/metrics", analyst)):
            assert found["needs"] == "owner"
            assert "--role owner" in found["remedy"]
        assert told(f"{DOWNLOAD}reports", analyst)["needs"] == "owner"


def test_the_hash_of_a_token_is_no_token(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with collector(path) as client, closing(open_store(path)) as store:
        given(store, Role.OWNER)
        (held,) = store.tokens()
        assert ask(client, "/metrics", held.hash.hex()) == 401
        assert ask(client, "/metrics", "") == 401


# -- the book ------------------------------------------------------------------------------------


class Shelf:
    """Tokens that are read, how often that was, and a clock."""

    def __init__(self, *held: Token) -> None:
        self.held, self.reads, self.now = list(held), 0, 100.0

    def read(self) -> list[Token]:
        self.reads += 1
        return list(self.held)

    def book(self) -> TokenBook:
        return TokenBook(TOKEN, self.read, clock=lambda: self.now, now=lambda: self.now)


def test_guesses_do_not_keep_the_store_busy() -> None:
    shelf = Shelf()
    book = shelf.book()

    async def guess() -> None:
        for _ in range(50):
            assert await book.role(b"wrong") is None
        assert await book.role(TOKEN.encode()) is Role.OWNER

    asyncio.run(guess())
    assert shelf.reads == 1


def test_a_change_counts_within_a_second() -> None:
    shelf = Shelf(Token("anna", Role.ANALYST, token_hash("secret"), 150))
    book = shelf.book()

    async def use() -> None:
        assert await book.role(b"secret") is Role.ANALYST
        shelf.held.clear()
        shelf.now += 1.0
        assert await book.role(b"secret") is None
        shelf.held.append(Token("anna", Role.ANALYST, token_hash("secret"), 150))
        shelf.now = 149.0
        assert await book.role(b"secret") is Role.ANALYST
        shelf.now = 150.0
        assert await book.role(b"secret") is None

    asyncio.run(use())


def test_every_token_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, whichever it is: the time does not tell how far down the list one stands."""
    from hmac import compare_digest

    compared: list[tuple[int, int]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return compare_digest(one, other)

    monkeypatch.setattr("castell.collector.security.tokens.hmac.compare_digest", compare)
    shelf = Shelf(*(Token(f"t{i}", Role.ANALYST, token_hash(f"secret {i}")) for i in range(5)))
    book = shelf.book()

    async def use(token: bytes) -> None:
        await book.role(token)

    for token in (b"secret 0", b"secret 4", b"x", b"x" * 500):
        compared.clear()
        asyncio.run(use(token))
        assert compared == [(32, 32)] * 6


def test_a_store_that_cannot_be_read_lets_the_owner_in_alone(tmp_path: Path) -> None:
    with collector(tmp_path / "store.sqlite") as client:
        for file in tmp_path.iterdir():
            file.unlink()
        assert client.get("/metrics", headers=LOGGED_IN).status_code == 200
        answer = client.get("/metrics", headers={"authorization": "Bearer another-token"})
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "5"


# -- the command line ----------------------------------------------------------------------------


def test_tokens_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "study.json").write_text(STUDY.to_json(), encoding="utf-8")
    store = tmp_path / "study.sqlite"
    with collecting(tmp_path, "--port", "0", "--minimum", "1") as made:
        url = f"{made.told['address']}{OVERVIEW}"
        assert castell("token", "list", store).startswith("no tokens but")
        secret = castell("token", "add", store, "--name", "anna", "--role", "analyst").strip()
        given = castell("token", "add", store, "--name", "olga", "--role", "owner", "--json")
        owner = json.loads(given)["token"]
        castell("token", "add", store, "--name", "ben", "--days", "30")
        listed = castell("token", "list", store)
        assert [line.split()[:2] for line in listed.splitlines()] == [
            ["anna", "analyst"],
            ["ben", "analyst"],
            ["olga", "owner"],
        ]
        assert secret not in listed
        rows: list[dict[str, Any]] = json.loads(castell("token", "list", store, "--json"))["tokens"]
        assert [row["expires"] is None for row in rows] == [True, False, True]
        assert call(url, authorization=f"Bearer {secret}")[0] == 200
        metrics = f"{made.told['address']}/metrics"
        assert call(metrics, authorization=f"Bearer {secret}")[0] == 403
        assert call(metrics, authorization=f"Bearer {owner}")[0] == 200
        assert castell("token", "revoke", store, "--name", "anna") == "revoked the token of anna\n"
        time.sleep(1.1)  # as long as what was read before may count
        assert call(url, authorization=f"Bearer {secret}")[0] == 401
        assert call(url, authorization=f"Bearer {made.told['token']}")[0] == 200
    assert "no role 'king'" in fails("token", "add", store, "--name", "a", "--role", "king")
    assert "no token of anna" in fails("token", "revoke", store, "--name", "anna")
    assert secret not in (tmp_path / "log").read_text(encoding="utf-8")
