"""Attacks on a collection that no other test plays: replays, caches, lengths, questions."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from castell.collector.store import open_store
from castell.collector.store.invitations import new_invitation
from castell.collector.wire import new_id
from tests.collector.respondents import LOGGED_IN, STUDY, WIDTHS, bulk, collector, report


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def unused(store: Path) -> int:
    with closing(open_store(store)) as opened, opened.snapshot() as snapshot:
        return len(snapshot.unspent)


def test_a_replay_counts_nothing_and_uses_nothing_up(tmp_path: Path) -> None:
    """Whoever holds a report and other people's invitations cannot waste those on it."""
    path = tmp_path / "s.sqlite"
    store, codes = open_store(path, STUDY), [new_invitation() for _ in range(3)]
    store.invite(codes)
    with collector(store) as client:
        heard = report(invitation=codes[0])
        assert client.post("/reports", json=heard).status_code == 201
        for code in (*codes, new_invitation()):
            assert client.post("/reports", json={**heard, "invitation": code}).status_code == 200
        # The same codes as somebody else's report: that needs an invitation of its own.
        again = {**heard, "id": new_id()}
        assert client.post("/reports", json=again).status_code == 403
        assert store.count() == 1
    assert unused(path) == 2


def test_asking_about_an_invitation_is_written_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    store, code = open_store(path, STUDY), new_invitation()
    store.invite([code])
    with collector(store) as client:
        client.post("/invitations", json={"invitation": code})
        before = files(tmp_path)
        for asked in (code, new_invitation()):
            for _ in range(20):
                client.post("/invitations", json={"invitation": asked})
        after = files(tmp_path)
    # The index of SQLite's WAL notes who reads; it holds no content.
    assert {n: c for n, c in before.items() if not n.endswith("-shm")} == {
        n: c for n, c in after.items() if not n.endswith("-shm")
    }
    assert not any(code.encode() in content for content in after.values())


def test_no_browser_or_proxy_keeps_results(tmp_path: Path) -> None:
    with collector(tmp_path / "s.sqlite") as client:
        client.post("/reports/bulk", json=bulk(120))
        asked = "attributes=health&method=independent"
        for path in (
            "overview",
            f"estimate?{asked}",
            f"progress?{asked}",
            *(f"download?{asked}&format={kind}" for kind in ("csv", "json", "reports")),
        ):
            said = client.get(f"/results/api/{path}", headers=LOGGED_IN)
            assert said.status_code == 200, path
            assert said.headers["cache-control"] == "no-store", path
            assert "etag" not in said.headers, path


def test_the_length_of_a_report_hardly_tells_it() -> None:
    """Only the digits of the codes differ; no name of a value, and no answer, is in it."""

    def length(codes: list[int]) -> int:
        return len(json.dumps({**report(), "codes": codes}, separators=(",", ":")))

    shortest, longest = length([0] * len(WIDTHS)), length([width - 1 for width in WIDTHS])
    assert longest - shortest == sum(len(str(width - 1)) - 1 for width in WIDTHS) <= 2 * len(WIDTHS)
