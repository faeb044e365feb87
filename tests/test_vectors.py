"""Python against vectors/, which JavaScript is held to as well (tests/browser)."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from castell import CastellError, Study
from castell.channels import Channel, Words, channel_of
from castell.collector.browser_channels import browser_kinds
from castell.device.device_file import Keep
from castell.device.ledger import settle
from castell.device.random_words import labelled_words, numbers_below
from castell.device.report import Report, make_report
from castell.device.respondent import Respondent
from castell.errors import SendError
from castell.study.canonical import canonical
from castell.study.number_texts import number_of
from castell.study.scales import Bins, Points, scale_of
from tests.make_vectors import text_of, vectors

FOLDER = Path(__file__).parent.parent / "vectors"


def load(name: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text())
    return entries


def named(name: str) -> Any:
    return [pytest.param(vector, id=vector["name"]) for vector in load(name)]


def test_the_files_are_what_the_generator_writes() -> None:
    for name, entries in vectors().items():
        written = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
        assert written == text_of(entries), f"run python tests/make_vectors.py ({name})"
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(vectors())


def test_every_kind_of_the_browser_is_in_them() -> None:
    """A public attribute is never sampled; it is in the vectors of studies."""
    kinds = {vector["channel"]["kind"] for vector in load("channels")}
    assert kinds == browser_kinds() - {"clear"}, "add it to CHANNELS of tests/make_vectors.py"


@pytest.mark.parametrize("vector", load("canonical"))
def test_canonical_json(vector: dict[str, Any]) -> None:
    text = canonical(vector["value"])
    assert text == vector["text"]
    assert hashlib.sha256(text.encode()).hexdigest() == vector["sha256"]


class Script:
    """Words in a given order; asking for more than there are is an error."""

    def __init__(self, words: list[str]) -> None:
        self.words = [int(word, 16) for word in words]

    def __call__(self, count: int) -> Words:
        given, self.words = self.words[:count], self.words[count:]
        assert len(given) == count
        return np.array(given, dtype=np.uint64)


def report_of(channel: Channel, answer: int, script: Script) -> int:
    return int(channel.respond(np.array([answer]), numbers_below(channel.total, 1, script))[0])


@pytest.mark.parametrize("vector", named("channels"))
def test_channels(vector: dict[str, Any]) -> None:
    channel: Channel = channel_of(vector["channel"])
    found = (channel.inputs, channel.outputs, channel.total)
    assert found == (vector["inputs"], vector["outputs"], vector["total"])
    assert math.isclose(float(channel.exact_epsilon), vector["epsilon"], rel_tol=1e-12)
    for answer, words, report in vector["cases"]:
        script = Script(words)
        assert report_of(channel, answer, script) == report, (answer, words)
        assert script.words == []


@pytest.mark.parametrize("vector", load("scales"))
def test_numbers_find_their_values(vector: dict[str, Any]) -> None:
    scale = scale_of(vector["scale"], ())
    for text, chance, code in vector["cases"]:
        number = np.array([number_of(text)])
        if isinstance(scale, Bins):
            found = scale.codes(number)
        else:
            assert isinstance(scale, Points)
            found = scale.codes(number, np.array([chance]))
        assert int(found[0]) == code, (text, chance)


@pytest.mark.parametrize("vector", named("broken_channels"))
def test_broken_channels_are_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(CastellError):
        channel_of(vector["channel"])


@pytest.mark.parametrize("vector", named("studies"))
def test_studies(vector: dict[str, Any]) -> None:
    study = Study.from_json(vector["text"])
    assert study.digest == vector["digest"]
    assert study.to_json() == vector["text"]
    assert math.isclose(study.epsilon, vector["epsilon"], rel_tol=1e-12)


@pytest.mark.parametrize("vector", named("statements"))
def test_statements(vector: dict[str, Any]) -> None:
    stated = Study.from_json(vector["study"]).statement().to_dict()
    wanted = vector["statement"]
    for key in ("all_guessed_if_drawn", "all_by_chance_if_drawn", "all_guessed", "all_by_chance"):
        assert stated[key] == pytest.approx(wanted[key], rel=1e-14), key
    assert stated["telling_block"] == wanted["telling_block"]
    for found, entry in zip(stated["attributes"], wanted["attributes"], strict=True):
        assert found["best_guess"] == found["best_guess_if_drawn"]
        for key, value in entry.items():
            expected = value if key == "name" else pytest.approx(value, rel=1e-14)
            assert found[key] == expected, key


@pytest.mark.parametrize("vector", named("broken_studies"))
def test_broken_studies_are_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(CastellError):
        Study.from_json(vector["text"])


@pytest.mark.parametrize("vector", named("stages"))
def test_a_device_knows_the_stages_of_a_study(vector: dict[str, Any], tmp_path: Path) -> None:
    seen, then = Study.from_json(vector["seen"]), Study.from_json(vector["then"])
    assert (seen.identity == then.identity) == vector["same_study"]
    assert (seen.wordings[-1] == then.wordings[-1]) == vector["same_words"]
    # One report for all stages of a study, and one for each study.
    keep = Keep(tmp_path)
    Respondent(seen, keep).hand_over(Report("first", seen.digest, (0,)))
    assert (Respondent(then, keep).entry is not None) == vector["same_study"]
    if vector["same_study"]:
        with pytest.raises(SendError, match="the first stands"):
            Respondent(then, keep).hand_over(Report("second", then.digest, (0,)))


@pytest.mark.parametrize("vector", load("words"))
def test_words_that_belong_to_a_label(vector: dict[str, Any]) -> None:
    words = labelled_words(bytes.fromhex(vector["key"]), *vector["label"])
    assert [hex(int(word)) for word in words(len(vector["words"]))] == vector["words"]
    one_by_one = labelled_words(bytes.fromhex(vector["key"]), *vector["label"])
    assert [hex(int(one_by_one(1)[0])) for _ in vector["words"]] == vector["words"]


@pytest.mark.parametrize("vector", named("reports"))
def test_reports(vector: dict[str, Any]) -> None:
    study = Study.from_json(vector["study"])
    report = make_report(study, vector["answers"], bytes.fromhex(vector["key"]))
    assert list(report.codes) == vector["codes"]
    assert Report(vector["id"], report.study, report.codes).body() == vector["body"]


@pytest.mark.parametrize("vector", named("standing"))
def test_the_first_report_stands(vector: dict[str, Any], tmp_path: Path) -> None:
    study, keep = Study.from_json(vector["study"]), Keep(tmp_path)
    keep.update(f"study:{study.identity}", lambda _: {"key": vector["key"]})
    person = Respondent(study, keep)

    def state() -> str | None:
        return None if person.entry is None else person.entry.state

    for step in vector["steps"]:
        if "make" in step:
            assert list(person.make(step["make"]).codes) == step["codes"]
        elif "settle" in step:
            name, became = step["settle"]
            settle(keep, study, Report(name, study.digest, ()), became)
            assert state() == step["state"]
        else:
            name, codes = step["spend"]
            report = Report(name, study.digest, tuple(codes))
            if step["state"] == "refused":
                with pytest.raises(SendError, match="the first stands"):
                    person.hand_over(report)
            else:
                assert person.hand_over(report).state == step["state"] == state()
