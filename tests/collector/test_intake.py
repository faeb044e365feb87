"""Reports over HTTP: what is kept, what is refused, and that nothing refused is kept."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from castell.collector.store import StoreError, Submission, open_store
from castell.collector.store.invitations import new_invitation
from castell.collector.store.sqlite import SqliteStore
from castell.collector.store.store import Outcome, Rules
from tests.collector.respondents import LOGGED_IN, STUDY, WIDTHS, bulk, collector, item, report

JSON = {"content-type": "application/json"}


def kept(path: Path) -> int:
    return open_store(path / "store.sqlite").count()


def test_a_report_is_kept_once(client: TestClient, tmp_path: Path) -> None:
    sent = report()
    first, again = client.post("/reports", json=sent), client.post("/reports", json=sent)
    assert (first.status_code, first.json()) == (201, {"status": "stored"})
    assert (again.status_code, again.json()) == (200, {"status": "stored"})
    assert kept(tmp_path) == 1


def test_an_id_stands_for_one_report(client: TestClient, tmp_path: Path) -> None:
    sent = report(codes=[0, 0, 0])
    client.post("/reports", json=sent)
    answer = client.post("/reports", json={**sent, "codes": [0, 0, 1]})
    assert answer.status_code == 409
    assert answer.json()["error"] == "this id stands for another report"
    assert kept(tmp_path) == 1


def test_a_bulk(client: TestClient, tmp_path: Path) -> None:
    sent = bulk(10)
    answer = client.post("/reports/bulk", json=sent)
    assert (answer.status_code, answer.json()) == (201, {"stored": 10, "repeated": 0})
    sent["reports"].append(item())
    answer = client.post("/reports/bulk", json=sent)
    assert (answer.status_code, answer.json()) == (201, {"stored": 1, "repeated": 10})
    answer = client.post("/reports/bulk", json=sent)
    assert (answer.status_code, answer.json()) == (200, {"stored": 0, "repeated": 11})
    assert kept(tmp_path) == 11


def test_a_bulk_is_kept_whole_or_not_at_all(client: TestClient, tmp_path: Path) -> None:
    sent = bulk(3)
    sent["reports"][1]["codes"] = [0, 0, WIDTHS[2]]
    answer = client.post("/reports/bulk", json=sent)
    assert answer.status_code == 422
    assert "$.reports[1].codes[2]" in answer.json()["error"]
    client.post("/reports", json=report(id=sent["reports"][2]["id"], codes=[1, 1, 1]))
    sent["reports"][1]["codes"] = sent["reports"][2]["codes"] = [0, 0, 0]
    answer = client.post("/reports/bulk", json=sent)
    assert answer.status_code == 409
    assert answer.json()["error"].startswith("reports[2]: ")
    assert kept(tmp_path) == 1


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"study": "0" * 64}, 409),
        ({"study": STUDY.digest.upper()}, 422),
        ({"codes": [0, 0]}, 422),
        ({"codes": [0, 0, 0, 0]}, 422),
        ({"codes": [-1, 0, 0]}, 422),
        ({"codes": [WIDTHS[0], 0, 0]}, 422),
        ({"codes": [0, 0, WIDTHS[2]]}, 422),
        ({"codes": [0, 0, 2**70]}, 422),
        ({"codes": [0, 0, 1.0]}, 422),
        ({"codes": [0, 0, "1"]}, 422),
        ({"codes": [0, 0, True]}, 422),
        ({"codes": [0, 0, None]}, 422),
        ({"codes": {}}, 422),
        ({"id": "A" * 21}, 422),
        ({"id": "A" * 23}, 422),
        ({"id": "A" * 22 + "\n"}, 422),
        ({"id": "A" * 21 + "B"}, 422),  # the same bytes as another way to write them
        ({"id": "+" + "A" * 21}, 422),
        ({"id": "A" * 20 + "=="}, 422),
        ({"id": "A" * 21 + "\uff21"}, 422),
        ({"id": 5}, 422),
        ({"invitation": "a" * 20}, 422),
        ({"answer": "Male"}, 422),
        ({"": 0}, 422),
    ],
)
def test_what_is_no_report_is_refused(
    client: TestClient, tmp_path: Path, changes: dict[str, Any], status: int
) -> None:
    answer = client.post("/reports", json=report(**changes))
    assert answer.status_code == status
    assert set(answer.json()) == {"error", "remedy"}
    assert kept(tmp_path) == 0


@pytest.mark.parametrize("name", ["id", "study", "codes"])
def test_no_field_may_be_missing(client: TestClient, tmp_path: Path, name: str) -> None:
    sent = report()
    del sent[name]
    assert client.post("/reports", json=sent).status_code == 422
    assert kept(tmp_path) == 0


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b'{"id": "\xff"}', 400),
        (b"[" * 900, 422),
        (b"null", 422),
        (b"NaN", 400),
        (b'{"a":' * 150, 422),
        (b'"' + b"a" * 900 + b'"', 422),
        pytest.param(json.dumps(report()).encode() + b"{}", 400, id="two documents"),
    ],
)
def test_what_is_no_json_is_refused(client: TestClient, body: bytes, status: int) -> None:
    assert client.post("/reports", content=body, headers=JSON).status_code == status
    # A bulk may find the fields wrong before it gets to where the JSON is broken.
    assert client.post("/reports/bulk", content=body, headers=JSON).status_code in (status, 422)


def test_a_bulk_has_a_size(tmp_path: Path) -> None:
    with collector(tmp_path / "store.sqlite", bulk=5) as client:
        assert client.post("/reports/bulk", json=bulk(5)).status_code == 201
        assert client.post("/reports/bulk", json=bulk(6)).status_code == 422
        assert client.post("/reports/bulk", json=bulk(0)).status_code == 422


def test_the_body_must_say_that_it_is_json(client: TestClient) -> None:
    body = json.dumps(report()).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""):
        answer = client.post("/reports", content=body, headers={"content-type": kind})
        assert answer.status_code == 415
    assert client.post("/reports", content=body).status_code == 415
    packed = {**JSON, "content-encoding": "gzip"}
    assert client.post("/reports", content=body, headers=packed).status_code == 415
    said = {"content-type": "Application/JSON; charset=utf-8"}
    assert client.post("/reports", content=body, headers=said).status_code == 201


def test_a_long_body_is_not_read(client: TestClient) -> None:
    told = client.post("/reports", content=b" " * 100_000, headers=JSON)
    assert told.status_code == 413
    assert told.headers["connection"] == "close"
    read = 0

    def pieces() -> Any:
        nonlocal read
        for _ in range(1000):
            read += 1
            yield b" " * 1000

    # Without a length the body comes in pieces, and is counted.
    assert client.post("/reports", content=pieces(), headers=JSON).status_code == 413


def test_reading_stops_at_the_limit() -> None:
    """Not one piece more is taken from the network than the limit allows."""
    from castell.collector.security.limits import read_json
    from castell.collector.wire import RefusedError

    taken = 0

    async def receive() -> Any:
        nonlocal taken
        taken += 1
        return {"type": "http.request", "body": b" " * 100, "more_body": True}

    scope = {"headers": [(b"content-type", b"application/json")]}
    with pytest.raises(RefusedError) as caught:
        asyncio.run(read_json(scope, receive, 1000))
    assert caught.value.status == 413
    assert taken == 11
    for length, status in ((b"1001", 413), (b"9" * 99, 413), (b"ten", 400), (b"-5", 400)):
        scope["headers"][1:] = [(b"content-length", length)]
        with pytest.raises(RefusedError) as caught:
            asyncio.run(read_json(scope, receive, 1000))
        assert caught.value.status == status
    assert taken == 11


def test_a_body_that_never_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    from castell.collector.security import limits
    from castell.collector.wire import RefusedError

    monkeypatch.setattr(limits, "PATIENCE", 0.01)

    async def silent() -> Any:
        await asyncio.Event().wait()

    async def gone() -> Any:
        return {"type": "http.disconnect"}

    scope = {"headers": [(b"content-type", b"application/json")]}
    for receive, status in ((silent, 408), (gone, 400)):
        with pytest.raises(RefusedError) as caught:
            asyncio.run(limits.read_json(scope, receive, 1000))
        assert caught.value.status == status


def test_other_methods_and_places(client: TestClient) -> None:
    answer = client.get("/reports")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json() == {
        "error": "method not allowed",
        "remedy": "use a method that Allow names",
    }
    for method, path in [("DELETE", "/study.json"), ("PUT", "/reports"), ("HEAD", "/reports/bulk")]:
        assert client.request(method, path).status_code == 405
    for path in ("/nothing", "/reports/", "/reports/x", "/static/client/../wire.py", "/static"):
        answer = client.get(path, follow_redirects=False)
        assert answer.status_code in (404, 405), path
        assert set(answer.json()) == {"error", "remedy"}


def test_the_study_as_published(client: TestClient) -> None:
    answer = client.get("/study.json")
    assert answer.text == STUDY.to_json()
    assert answer.headers["content-type"] == "application/json"
    tag = answer.headers["etag"]
    again = client.get("/study.json", headers={"if-none-match": f'"x", {tag}'})
    assert (again.status_code, again.content) == (304, b"")
    assert client.head("/study.json").content == b""


def _twice(document: dict[str, Any], name: str, value: Any) -> bytes:
    """A field once more, with another value; the name may be written with an escape."""
    return json.dumps(document).encode()[:-1] + f', "{name}": {json.dumps(value)}}}'.encode()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("codes", [0, 0, 0]),
        ("id", "A" * 22),
        ("study", STUDY.digest),
        ("\\u0069d", "A" * 22),
        ("codes", []),
    ],
)
def test_a_field_twice_is_refused(
    client: TestClient, tmp_path: Path, name: str, value: Any
) -> None:
    answer = client.post("/reports", content=_twice(report(), name, value), headers=JSON)
    assert answer.status_code == 422
    assert kept(tmp_path) == 0


def test_a_field_twice_in_a_bulk_is_refused(client: TestClient, tmp_path: Path) -> None:
    sent = bulk(3)
    outer = [_twice(sent, "study", STUDY.digest), _twice(sent, "reports", bulk(2)["reports"])]
    one = _twice(sent["reports"][1], "codes", [0, 0, 0]).decode()
    inner = json.dumps(sent).replace(json.dumps(sent["reports"][1]), one).encode()
    for body in (*outer, inner):
        assert client.post("/reports/bulk", content=body, headers=JSON).status_code == 422
    assert kept(tmp_path) == 0
    assert client.post("/reports/bulk", json=sent).status_code == 201


def test_escapes_and_spaces_are_no_second_field(client: TestClient) -> None:
    body = json.dumps(report(), indent=3).replace('"id"', '"\\u0069d"')
    assert client.post("/reports", content=body, headers=JSON).status_code == 201


def test_what_the_collector_asks_for(client: TestClient) -> None:
    asked = {"study": STUDY.digest, "invitations": False, "bulk": 1000}
    asked |= {"state": "open", "opens": None, "closes": None}
    assert client.get("/collector.json").json() == asked


def test_counts_for_the_operator(tmp_path: Path) -> None:
    with collector(tmp_path / "store.sqlite", minimum=1) as client:
        sent = report()
        client.post("/reports", json=sent)
        client.post("/reports", json=sent)
        client.post("/reports", json=report(codes=[]))
        text = client.get("/metrics", headers=LOGGED_IN).text
    for line in ('{outcome="stored"} 1', '{outcome="repeated"} 1'):
        assert f"castell_reports_total{line}\n" in text
    assert 'castell_refused_total{reason="not_a_report"} 1\n' in text
    assert "castell_commit_seconds_count 2\n" in text


def test_counters_move_in_steps(tmp_path: Path) -> None:
    """So that whoever watches them does not see a single respondent come."""
    with collector(tmp_path / "store.sqlite", minimum=50) as client:
        for kept, shown in ((4, 0), (1, 5), (4, 5), (1, 10)):
            for _ in range(kept):
                client.post("/reports", json=report())
            text = client.get("/metrics", headers=LOGGED_IN).text
            assert f'{{outcome="stored"}} {shown}\n' in text
            assert f"castell_commit_seconds_count {shown}\n" in text
            assert f"castell_store_reports {shown}\n" in text


class BrokenStore(SqliteStore):
    """A disk that fails when it is told to."""

    broken = True

    def add(self, submissions: Any) -> list[Outcome]:
        if self.broken:
            raise StoreError("the disk is full", "buy another")
        return super().add(submissions)


def test_a_failing_store_is_no_promise(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = BrokenStore(tmp_path / "store.sqlite", STUDY)
    with collector(store) as client:
        sent = report()
        answer = client.post("/reports", json=sent)
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "5"
        assert "disk" not in answer.text
        assert client.post("/reports", json=sent).status_code == 503
        # The operator is told what to do, once.
        told = "castell: reports are not kept: the disk is full: buy another"
        ours = [record.getMessage() for record in caplog.records if record.name == "castell"]
        assert ours == [told]
        assert client.get("/healthz").status_code == 503
        store.broken = False
        assert client.post("/reports", json=sent).status_code == 201
        assert client.get("/healthz").json() == {"status": "ok"}
        assert 'reason="store"} 2' in client.get("/metrics", headers=LOGGED_IN).text


def test_an_unforeseen_error_is_no_promise_either(tmp_path: Path) -> None:
    class Odd(SqliteStore):
        def add(self, submissions: Any) -> list[Outcome]:
            raise RuntimeError(f"odd: {len(submissions)}")

    with collector(Odd(tmp_path / "store.sqlite", STUDY)) as client:
        assert client.post("/reports", json=report()).status_code == 503


def test_more_than_the_collector_can_hold(tmp_path: Path) -> None:
    with collector(tmp_path / "store.sqlite", bulk=10, queue=10) as client:
        assert client.post("/reports/bulk", json=bulk(10)).status_code == 201
    from castell.collector.writer import BusyError, Writer

    writer = Writer(open_store(tmp_path / "store.sqlite"), queue=1)
    two = Submission(((b"", b""), (b"", b"")))
    with pytest.raises(BusyError):
        writer.submit(two)


def test_invitations(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.sqlite", STUDY)
    code = new_invitation()
    store.invite([code])
    with collector(store) as client:
        assert client.get("/collector.json").json()["invitations"] is True
        missing = client.post("/reports", json=report())
        assert (missing.status_code, missing.json()["remedy"]) == (403, "give the code you got")
        assert client.post("/reports", json=report(invitation=None)).status_code == 422
        unknown = client.post("/reports", json=report(invitation="a" * 20))
        assert unknown.status_code == 403
        assert client.post("/reports", json=report(invitation=code.upper())).status_code == 422
        several = client.post("/reports/bulk", json=bulk(2))
        assert several.status_code == 403
        assert "one at a time" in several.json()["remedy"]
        sent = report(invitation=code)
        assert client.post("/reports", json=sent).status_code == 201
        assert client.post("/reports", json=sent).status_code == 200
        used = client.post("/reports", json=report(invitation=code))
        # Whoever holds a code cannot learn from the answer whether it was used.
        assert (used.status_code, used.json()) == (403, unknown.json())


def described(client: TestClient) -> Any:
    """What a report is, by the collector's own description."""
    return client.get("/openapi.json").json()["components"]["schemas"]["Report"]


def test_invitations_made_meanwhile_are_asked_for_at_once(tmp_path: Path) -> None:
    code = new_invitation()
    with collector(tmp_path / "store.sqlite") as client:
        before = report()
        assert client.post("/reports", json=before).status_code == 201
        assert "invitation" not in described(client)["properties"]
        unasked = client.post("/reports", json=report(invitation=code))
        assert (unasked.status_code, unasked.json()["error"]) == (
            422,
            "no invitation is needed here",
        )
        with closing(open_store(tmp_path / "store.sqlite")) as other:
            other.invite([code])
        assert client.get("/collector.json").json()["invitations"] is True
        assert "invitation" in described(client)["required"]
        assert client.post("/reports", json=report()).status_code == 403
        assert client.post("/reports/bulk", json=bulk(1)).status_code == 403
        assert client.post("/reports", json=before).status_code == 200
        assert client.post("/reports", json=report(invitation=code)).status_code == 201


def test_a_store_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    class Unreadable(SqliteStore):
        def rules(self) -> Rules:
            raise StoreError("the disk is gone", "find it")

    with collector(Unreadable(tmp_path / "store.sqlite", STUDY)) as client:
        answer = client.get("/collector.json")
        assert answer.status_code == 503
        assert "disk" not in answer.text
