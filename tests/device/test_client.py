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
from ssl import SSLCertVerificationError
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest

from castell import Attribute, Reports, Schema, Study
from castell.channels import BloomResponse
from castell.device import transport
from castell.device.client import Client
from castell.device.device_file import Keep
from castell.device.ledger import Key, kept_for, ledger, settle, spend
from castell.device.random_words import labelled_words
from castell.device.report import Report, blocks_asked, make_report
from castell.device.respond import block_codes, respond
from castell.device.respondent import Respondent
from castell.device.transport import send_report
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


def test_a_hundred_reports_of_a_device_are_one(tmp_path: Path) -> None:
    made, left = [], []
    with scripted(GOOD) as collector:
        for turn in range(100):
            client = Client(collector.url, folder=tmp_path)
            made.append(client.make({**ANSWERS, "crashes": ("none", "some", "many")[turn % 3]}))
            left.append(client.send(made[-1]))
    assert len(set(made)) == 1
    assert left == [True] + [False] * 99
    assert collector.bodies == [made[0].body()]
    (entry,) = client.ledger()
    assert entry.report == made[0]
    assert (entry.epsilon, entry.state) == (STUDY.epsilon, "arrived")


def test_nobody_can_look_for_a_nicer_report(tmp_path: Path) -> None:
    with scripted(GOOD) as collector:
        client = Client(collector.url, folder=tmp_path)
        shown = {client.make({**ANSWERS, "os": os}).codes for os in ("mac", "linux") * 20}
    assert len(shown) <= 2
    assert collector.bodies == []
    assert client.entry is None
    assert client.ledger() == []


def test_every_answer_has_the_chances_of_its_channel() -> None:
    # One device each: what they report of one answer is distributed as the channel says. The
    # chance of a chi-square above 40 with 2 degrees of freedom is 2e-9.
    keys = np.random.default_rng(1).bytes(32 * 5_000)
    for value in ("none", "many"):
        codes = Counter(
            make_report(STUDY, {**ANSWERS, "crashes": value}, keys[i : i + 32]).codes[1]
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
    one, two = bytes(32), bytes(31) + b"\1"
    answers = {"a": 3, "b": 4}
    base = make_report(study, answers, one).codes
    assert make_report(study, answers, one).codes == base
    assert make_report(study, answers, two).codes != base
    assert make_report(other, answers, one).codes != base
    # The other block's answer plays no part.
    assert make_report(study, {"a": 3, "b": 5}, one).codes[0] == base[0]
    # Blocks have words of their own: 100 values each, and the same answer in both.
    same = [make_report(study, {"a": 3, "b": 3}, bytes([i] * 32)).codes for i in range(50)]
    assert sum(a == b for a, b in same) < 25
    assert blocks_asked(study, one) == [0, 1]


def test_one_respondent_and_a_frame_are_randomised_by_the_same_code() -> None:
    """Given the same words, one person's report is the row of a frame of one, in every design."""
    attributes = Schema(
        [Attribute("a", [*"xyz"]), Attribute("b", [*"uv"]), Attribute("c", [*"pqrst"])]
    )
    answers, key = {"a": "y", "b": "v", "c": "t"}, bytes(range(32))
    for design in ("independent", "joint", [["a", "c"], ["b"]], "pairs", "cover", "bloom"):
        study = Study(attributes, 3.0, design)
        asked = blocks_asked(study, key)
        codes = {name: np.array([study.schema[name].code(answers[name])]) for name in study.names}
        expected = []
        for index in asked:
            block = study.design.blocks[index]
            answer = block_codes(block, codes)
            words = labelled_words(key, "report", study.digest, index)
            code = int(respond(block.channel, answer, words)[0])
            expected.append(code + (study.design.starts[index] if study.design.draw else 0))
        report = make_report(study, answers, key)
        assert report.codes == tuple(expected)
        # Codes that a study's reports can hold, however large (a Bloom filter has 64 bits).
        Reports(study, [np.array([code], dtype=np.uint64) for code in report.codes], secure=True)


def test_bloom_filters_of_one_respondent_flip_each_bit_as_stated() -> None:
    study = Study(Schema([Attribute("a", [*"xy"])]), 4.0, "bloom")
    channel = study.design.blocks[0].channel
    assert isinstance(channel, BloomResponse)
    true = sum(1 << bit for bit in channel.filters[1])
    rng, devices = np.random.default_rng(5), 400
    flips = [
        (make_report(study, {"a": "y"}, rng.bytes(32)).codes[0] ^ true).bit_count()
        for _ in range(devices)
    ]
    # 64 x 400 bits: five standard deviations are exceeded by chance less than once in a million.
    bits, chance = 64 * devices, channel.other / channel.total
    assert abs(sum(flips) - bits * chance) < 5 * (bits * chance * (1 - chance)) ** 0.5
    assert len(set(flips)) > 3


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
        make_report(STUDY, answers, bytes(32))


# -- what is kept ----------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_the_key_is_for_its_owner_only(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        keep = Keep(tmp_path / "made")
        key = kept_for(keep, STUDY)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(keep.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(keep.folder.stat().st_mode) == 0o700
    assert kept_for(Keep(tmp_path / "made"), STUDY) == key
    assert isinstance(key, Key)
    assert len(key.secret) == 32
    assert repr(key) == "Key()"
    keep.path.chmod(0o640)
    with pytest.raises(OptionError, match="open to others"):
        Keep(tmp_path / "made")


def test_quick_processes_agree_on_one_key_and_one_report(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: kept_for(Keep(tmp_path), STUDY), range(16)))) == 1

        def take_part(turn: int) -> Report | None:
            person = Respondent(STUDY, Keep(tmp_path))
            report = person.make({"os": "mac", "crashes": ("none", "many")[turn % 2]})
            try:
                return person.hand_over(report).report
            except SendError:
                return None

        stood = {report for report in pool.map(take_part, range(16)) if report}
    assert len(stood) == 1
    entry = Respondent(STUDY, Keep(tmp_path)).entry
    assert entry is not None
    assert stood == {entry.report}


def test_nothing_kept_tells_the_answers(tmp_path: Path) -> None:
    """Two answers that happen to give one report leave one record, and no key beside it."""
    for number in range(100):
        secret = number.to_bytes(32, "big")
        reports = [
            make_report(STUDY, {**ANSWERS, "crashes": value}, secret) for value in ("none", "many")
        ]
        if reports[0].codes == reports[1].codes:
            break
    kept = []
    for value, report in zip(("none", "many"), reports, strict=True):
        keep = Keep(tmp_path / value)
        keep.update(f"study:{STUDY.digest}", lambda _: {"key": secret.hex()})
        person = Respondent(STUDY, keep)
        assert person.make({**ANSWERS, "crashes": value}).codes == report.codes
        person.hand_over(replace(report, id="A" * 22))
        kept.append(keep.all(""))
        assert [file.name for file in (tmp_path / value).iterdir()] == ["device.sqlite"]
        assert secret.hex().encode() not in keep.path.read_bytes()
        person.mark_arrived(replace(report, id="A" * 22))
        kept.append(keep.all(""))
    assert kept[:2] == kept[2:]
    assert set(kept[1][0]) == {"sent"}
    assert set(kept[1][0]["sent"]) == {
        "digest", "name", "epsilon", "id", "codes", "state", "invitation"
    }  # fmt: skip


def test_the_ledger_is_written_before_anything_leaves(tmp_path: Path) -> None:
    keep, seen = Keep(tmp_path), []
    with scripted(SILENCE) as collector:
        client = Client(collector.url, folder=tmp_path)
        report = client.make(ANSWERS)
        with pytest.raises(SendError):
            client.send(report, pause=lambda _: seen.append(ledger(keep)[0]))
    assert [(entry.report, entry.state) for entry in seen] == [(report, "waiting")] * 4
    assert len(set(collector.bodies)) == 1


def test_an_invitation_is_kept_no_longer_than_it_may_be_needed(tmp_path: Path) -> None:
    code = "abcdefghijklmnopqrst"
    for state in ("arrived", "refused"):
        person = Respondent(STUDY, Keep(tmp_path / state))
        report = person.make(ANSWERS, code)
        assert person.hand_over(report).report == report
        # It may have arrived: made again it is the same to the letter.
        assert person.make(ANSWERS) == report
        assert code.encode() in person.keep.path.read_bytes()
        (person.mark_arrived if state == "arrived" else person.mark_refused)(report)
        assert code.encode() not in person.keep.path.read_bytes()
        assert person.make(ANSWERS) == replace(report, invitation=None)
    # Refused for its invitation: the same report goes with another one.
    other = person.make({"os": "linux", "crashes": "many"}, "b" * 20)
    assert other == replace(report, invitation="b" * 20)
    assert person.hand_over(other).state == "waiting"


def test_only_the_report_that_is_meant_is_settled(tmp_path: Path) -> None:
    keep = Keep(tmp_path)
    report = Report("A" * 22, STUDY.digest, (0, 0))
    other = replace(report, id="B" * 22)
    settle(keep, STUDY, report, "arrived")  # nothing was handed over
    assert ledger(keep) == []
    spend(keep, STUDY, report)
    settle(keep, STUDY, other, "arrived")
    assert ledger(keep)[0].state == "waiting"
    settle(keep, STUDY, report, "refused")
    assert ledger(keep)[0].state == "refused"
    spend(keep, STUDY, report)
    settle(keep, STUDY, report, "arrived")
    settle(keep, STUDY, report, "refused")  # an old copy's refusal comes late
    assert ledger(keep)[0].state == "arrived"
    assert spend(keep, STUDY, report).state == "arrived"


def test_a_file_that_cannot_be_used_is_said_to_be(tmp_path: Path) -> None:
    kept_for(Keep(tmp_path), STUDY)
    (tmp_path / "device.sqlite").write_bytes(b"dear diary " * 100)
    with pytest.raises(OptionError, match=r"cannot be used .*move it away.*spends anew"):
        kept_for(Keep(tmp_path), STUDY)
    with pytest.raises(OptionError, match=r"cannot be kept .*--folder"):
        Keep(tmp_path / "device.sqlite" / "below")


def test_the_first_report_stands_and_limits_hold(tmp_path: Path) -> None:
    keep = Keep(tmp_path)
    report = Report("A" * 22, STUDY.digest, (0, 0))
    with pytest.raises(OptionError, match=r"spends 2, the limit is 1\.5"):
        spend(keep, STUDY, report, limit=1.5)
    assert ledger(keep) == []
    first = spend(keep, STUDY, report, limit=2.0)
    assert spend(keep, STUDY, report, limit=0.1) == first  # spent already
    for other in (replace(report, id="B" * 22), replace(report, codes=(0, 1))):
        with pytest.raises(SendError, match="the first stands"):
            spend(keep, STUDY, other)
    assert ledger(keep) == [first]


def test_a_changed_study_is_another_and_costs_again(tmp_path: Path) -> None:
    keep, changed = Keep(tmp_path), Study.from_toml(TELEMETRY.replace("2.0", "3.0"))
    for study in (STUDY, changed):
        person = Respondent(study, keep)
        person.hand_over(person.make(ANSWERS))
    assert sum(entry.epsilon for entry in ledger(keep)) == STUDY.epsilon + changed.epsilon


def test_a_drawn_device_is_asked_the_same_before_and_after(tmp_path: Path) -> None:
    attributes = [Attribute(name, [*"xyz"]) for name in "abcd"]
    study, answers = Study(Schema(attributes), 2.0, "pairs"), dict.fromkeys("abcd", "y")
    for turn in range(10):
        person = Respondent(study, Keep(tmp_path / str(turn)))
        asked = person.asked
        report = person.make(dict.fromkeys(asked, "x"))
        person.hand_over(report)
        assert person.asked == asked
        assert person.make(answers) == report
        with pytest.raises(AnswerError, match="no answer for"):
            person.make({})


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
        # The collector has seen it, so it is spent, and it stands.
        assert client.waiting() is None
        assert client.ledger()[0].state == "refused"
        collector.answers = [GOOD]
        assert client.send(client.make({**ANSWERS, "crashes": "many"}))
    assert len(set(collector.bodies)) == 1


def test_what_may_not_have_arrived_is_sent_again_next_time(tmp_path: Path) -> None:
    with scripted(*[SILENCE] * 5, GOOD) as collector:
        client = Client(collector.url, folder=tmp_path)
        first = client.make(ANSWERS)
        with pytest.raises(SendError, match="cannot be reached") as caught:
            client.send(first, pause=lambda _: None)
        assert not caught.value.final
        again = Client(collector.url, folder=tmp_path)
        assert again.waiting() == first
        assert again.make({"os": "linux", "crashes": "many"}) == first
        assert again.send(first)
        assert not again.send(first)
    assert collector.bodies == [first.body()] * 6
    assert again.waiting() is None


def test_an_unreachable_collector_is_told(tmp_path: Path) -> None:
    with pytest.raises(SendError, match="cannot be reached"):
        Client("http://127.0.0.1:1/", folder=tmp_path)
    with scripted(GOOD) as collector, pytest.raises(SendError, match="answers 404"):
        Client(f"{collector.url}/nowhere/", folder=tmp_path)


def test_a_certificate_that_is_not_trusted_is_no_reason_to_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise URLError(SSLCertVerificationError(1, "self-signed certificate"))

    monkeypatch.setattr(transport, "_ask", refuse)
    with pytest.raises(SendError, match=r"self-signed.*SSL_CERT_FILE"):
        Client("https://collector.example/", folder=tmp_path)


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
