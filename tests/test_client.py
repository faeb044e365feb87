"""The respondent without a browser: remembers, keeps count, and sends what it showed."""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from castell import Attribute, Schema, Study
from castell.device.client import Client, Memo, Report, blocks_asked, make_report, send_report
from castell.device.ledger import Entry, Keep, ledger, settle, spend
from castell.errors import (
    AnswerError,
    CastellError,
    OptionError,
    QueryError,
    SendError,
    StudyChangedError,
)
from tests.collecting import GOOD, SILENCE, TELEMETRY, Answer, scripted
from tests.collecting import TELEMETRY_STUDY as STUDY

ANSWERS = {"os": "mac", "crashes": "none"}


def nap(pauses: list[float]) -> Callable[[float], None]:
    return pauses.append


# -- the memo --------------------------------------------------------------------------------------


def test_a_hundred_reports_of_one_answer_are_one(tmp_path: Path) -> None:
    with scripted(GOOD) as collector:
        for _ in range(100):
            client = Client(collector.url, folder=tmp_path)
            client.send(client.make(ANSWERS))
    reports = [json.loads(body) for body in collector.bodies]
    assert len({tuple(report["codes"]) for report in reports}) == 1
    assert len({report["id"] for report in reports}) == 100
    (entry,) = client.ledger()
    assert entry.reports == 100
    assert entry.spent_if_same == pytest.approx(STUDY.epsilon)
    assert entry.spent_at_most == pytest.approx(3 * STUDY.epsilon)  # three values to each block


def test_every_answer_has_the_chances_of_its_channel() -> None:
    # One device each: what they report of one answer is distributed as the channel says. The
    # chance of a chi-square above 40 with 2 degrees of freedom is 2e-9.
    keys = np.random.default_rng(1).bytes(32 * 5_000)
    for value in ("none", "many"):
        codes = Counter(
            make_report(STUDY, {**ANSWERS, "crashes": value}, Memo(keys[i : i + 32])).codes[1]
            for i in range(0, len(keys), 32)
        )
        channel = STUDY.design.blocks[1].channel
        weights = channel.weights()[STUDY.schema["crashes"].code(value)]
        expected = [5_000 * weight / channel.total for weight in weights]
        distance = sum((codes[y] - e) ** 2 / e for y, e in enumerate(expected))
        assert distance < 40


def test_reports_of_other_answers_studies_and_devices_are_drawn_on_their_own() -> None:
    many = Schema([Attribute("a", range(100)), Attribute("b", range(100))])
    study, other = Study(many, 1.0), Study(many, 1.0, name="another")
    one, two = Memo(bytes(32)), Memo(bytes(31) + b"\1")
    answers = {"a": 3, "b": 4}
    base = make_report(study, answers, one).codes
    assert make_report(study, answers, one).codes == base
    assert make_report(study, answers, two).codes != base
    assert make_report(other, answers, one).codes != base
    # The other block's answer plays no part.
    assert make_report(study, {"a": 3, "b": 5}, one).codes[0] == base[0]
    assert blocks_asked(study, one) == [0, 1]


@pytest.mark.parametrize(
    ("answers", "kind", "message"),
    [
        ({"os": "mac"}, AnswerError, "no answer for 'crashes'"),
        ({**ANSWERS, "os": "Mac "}, QueryError, "did you mean 'mac'"),
        ({**ANSWERS, "ox": "mac"}, AnswerError, "'ox' is no attribute"),
        ({**ANSWERS, "os": None}, QueryError, "not a value"),
    ],
)
def test_answers_that_the_study_does_not_know(
    answers: dict[str, Any], kind: type[CastellError], message: str
) -> None:
    with pytest.raises(kind, match=message):
        make_report(STUDY, answers, Memo(bytes(32)))


# -- what is kept ----------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_the_key_is_for_its_owner_only(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        keep = Keep(tmp_path / "made")
        key = keep.key()
    finally:
        os.umask(mask)
    assert stat.S_IMODE(keep.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(keep.folder.stat().st_mode) == 0o700
    assert Keep(tmp_path / "made").key() == key
    assert len(key) == 32
    assert repr(key) not in repr(Memo(key))
    keep.path.chmod(0o640)
    with pytest.raises(OptionError, match="open to others"):
        Keep(tmp_path / "made")


def test_quick_processes_agree_on_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: Keep(tmp_path).key(), range(16)))
    assert len(keys) == 1


def test_nothing_kept_tells_the_answers(tmp_path: Path) -> None:
    with scripted(GOOD) as collector:
        for value in ("none", "many"):
            client = Client(collector.url, folder=tmp_path / value)
            client.keep.update("memo", lambda _: "ab" * 32)  # the one thing that must differ
            client.send(client.make({**ANSWERS, "crashes": value}))
    files = [sorted((tmp_path / v).iterdir()) for v in ("none", "many")]
    assert [f.name for f in files[0]] == [f.name for f in files[1]] == ["device.sqlite"]
    kept = [Keep(tmp_path / value).all("") for value in ("none", "many")]
    assert kept[0] == kept[1]


def test_the_ledger_is_written_before_anything_leaves(tmp_path: Path) -> None:
    keep, seen = Keep(tmp_path), []
    with scripted(SILENCE) as collector:
        client = Client(collector.url, folder=tmp_path)
        report = client.make(ANSWERS)
        with pytest.raises(SendError):
            client.send(report, pause=lambda _: seen.append(ledger(keep)[0]))
    assert [entry.reports for entry in seen] == [1] * 4
    assert seen[0].waiting == report.document()
    assert len(set(collector.bodies)) == 1


def test_a_report_that_has_arrived_leaves_no_bytes(tmp_path: Path) -> None:
    keep = Keep(tmp_path)
    keep.key()
    with keep._open() as link:
        assert link.execute("PRAGMA secure_delete").fetchone() == (1,)
    spend(keep, STUDY, Report("Q" * 22, STUDY.digest, (0, 0)).document())
    assert b"Q" * 22 in (tmp_path / "device.sqlite").read_bytes()
    settle(keep, STUDY)
    assert [file.name for file in tmp_path.iterdir()] == ["device.sqlite"]
    assert b"Q" * 22 not in (tmp_path / "device.sqlite").read_bytes()


def test_a_file_that_cannot_be_used_is_said_to_be(tmp_path: Path) -> None:
    Keep(tmp_path).key()
    (tmp_path / "device.sqlite").write_bytes(b"dear diary " * 100)
    with pytest.raises(OptionError, match=r"cannot be used .*move it away.*spends anew"):
        Keep(tmp_path).key()
    with pytest.raises(OptionError, match=r"cannot be kept .*--folder"):
        Keep(tmp_path / "device.sqlite" / "below")


def test_spending_twice_is_written_once_and_limits_hold(tmp_path: Path) -> None:
    keep = Keep(tmp_path)
    report = Report("A" * 22, STUDY.digest, (0, 0)).document()
    assert spend(keep, STUDY, report).reports == 1
    assert spend(keep, STUDY, report).reports == 1
    with pytest.raises(SendError, match="still waiting"):
        spend(keep, STUDY, {**report, "id": "B" * 22})
    settle(keep, STUDY)
    with pytest.raises(OptionError, match="the limit is 3"):
        spend(keep, STUDY, {**report, "id": "B" * 22}, limit=3.0)
    assert spend(keep, STUDY, {**report, "id": "B" * 22}, limit=4.0).reports == 2


def test_what_a_drawn_design_costs_is_its_dearest_block() -> None:
    entry = Entry("d", "n", True, ((1.0, 2), (0.5, 9)), reports=5)
    assert (entry.spent_if_same, entry.spent_at_most) == (1.0, 2.5)
    plain = replace(entry, drawn=False)
    assert (plain.spent_if_same, plain.spent_at_most) == (1.5, 4.5)
    assert replace(plain, reports=0).spent_at_most == 0.0


# -- sending ---------------------------------------------------------------------------------------

REPORT = Report("AAAAAAAAAAAAAAAAAAAAAA", STUDY.digest, (1, 2))


def test_what_leaves_is_the_body_and_no_more(tmp_path: Path) -> None:
    with scripted(GOOD) as collector:
        client = Client(collector.url, folder=tmp_path)
        report = client.make(ANSWERS)
        assert collector.bodies == []
        client.send(report)
    assert collector.bodies == [report.body()]
    assert list(json.loads(report.body())) == ["id", "study", "codes"]
    (headers,) = collector.headers
    assert set(headers) == {
        "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Host", "User-Agent"
    }  # fmt: skip
    assert headers["User-Agent"] == "castell"
    assert re.fullmatch("[A-Za-z0-9_-]{21}[AQgw]", report.id)


@pytest.mark.parametrize("trouble", [SILENCE, (503, {}), (500, {}), (429, {}), (200, {"x": 1})])
def test_trouble_is_tried_again_with_the_same_report(trouble: Answer) -> None:
    pauses: list[float] = []
    with scripted(trouble, trouble, GOOD) as collector:
        send_report(REPORT, f"{collector.url}/reports", pause=nap(pauses))
    assert collector.bodies == [REPORT.body()] * 3
    assert 0.25 <= pauses[0] <= 0.75
    assert 0.5 <= pauses[1] <= 1.5


def test_a_collector_may_say_when_to_come_back() -> None:
    pauses: list[float] = []
    busy = [(503, {"headers": {"Retry-After": text}}) for text in ("7", "9999")]
    with scripted(*busy, GOOD) as collector:
        send_report(REPORT, f"{collector.url}/reports", pause=nap(pauses))
    assert pauses == [7.0, 60.0]


@pytest.mark.parametrize(
    "answer",
    [
        (409, {"error": "study changed", "remedy": "ask again"}),
        (422, {"error": "not a report"}),
        (403, {}),
        (302, {"headers": {"Location": "http://127.0.0.1:9/elsewhere"}}),
        (307, {"headers": {"Location": "http://127.0.0.1:9/elsewhere"}}),
    ],
)
def test_a_refusal_is_final(answer: Answer, tmp_path: Path) -> None:
    with scripted(answer) as collector:
        client = Client(collector.url, folder=tmp_path)
        message = answer[1].get("error", f"answers {answer[0]}")
        with pytest.raises(SendError, match=message) as caught:
            client.send(client.make(ANSWERS))
        assert caught.value.final
        assert len(collector.bodies) == 1
        # The collector has seen it, so it is spent; but it need not be sent again.
        assert client.waiting() is None
        assert client.ledger()[0].reports == 1


def test_what_may_not_have_arrived_is_sent_first_next_time(tmp_path: Path) -> None:
    with scripted(*[SILENCE] * 5, GOOD) as collector:
        client = Client(collector.url, folder=tmp_path)
        first = client.make(ANSWERS)
        with pytest.raises(SendError, match="cannot be reached") as caught:
            client.send(first, pause=lambda _: None)
        assert not caught.value.final
        again = Client(collector.url, folder=tmp_path)
        assert again.waiting() == first
        second = again.make(ANSWERS)
        again.send(second)
    assert collector.bodies == [first.body()] * 6 + [second.body()]
    assert again.waiting() is None
    assert again.ledger()[0].reports == 2


def test_an_unreachable_collector_is_told(tmp_path: Path) -> None:
    with pytest.raises(SendError, match="cannot be reached"):
        Client("http://127.0.0.1:1/", folder=tmp_path)
    with scripted(GOOD) as collector, pytest.raises(SendError, match="answers 404"):
        Client(f"{collector.url}/nowhere/", folder=tmp_path)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://host/", "not a collector's address"),
        ("study.json", "not a collector's address"),
        ("https://host/?x=1", "not a collector's address"),
        ("http://collector.example/", "not encrypted"),
    ],
)
def test_addresses_that_are_none(url: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=message):
        Client(url, folder=tmp_path)


def test_a_changed_study_is_refused_until_accepted(tmp_path: Path) -> None:
    with scripted(GOOD) as collector:
        client = Client(f"{collector.url}/study.json", folder=tmp_path)
        old = client.make(ANSWERS)
        collector.study = Study.from_toml(TELEMETRY.replace("epsilon = 2.0", "epsilon = 9.0"))
        with pytest.raises(StudyChangedError, match="first saw"):
            Client(collector.url, folder=tmp_path)
        accepted = Client(collector.url, folder=tmp_path, accept=True)
        assert Client(collector.url, folder=tmp_path).study == accepted.study
        with pytest.raises(StudyChangedError, match="another study"):
            accepted.send(old)
    assert collector.bodies == []
