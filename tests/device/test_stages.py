"""A device and a study with stages: it believes weights and digests, never the server."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from castell import KaryResponse, Schema, Study
from castell.device.client import Client
from castell.errors import SendError, StudyChangedError, StudyError
from castell.study.later_stages import check_stages, next_stage, versions, with_words
from tests.collecting import GOOD, SILENCE, scripted
from tests.staged_studies import ANSWERS, FIRST, SECOND, STAGED, forged, stage_design, worse


def no_pause(_: float) -> None: ...


def test_a_stage_is_the_same_study_with_other_blocks() -> None:
    assert SECOND.identity == FIRST.identity
    assert SECOND.digest != FIRST.digest
    assert SECOND.promise is not None
    assert SECOND.promise.after == (FIRST.digest,)
    assert Study.from_json(SECOND.to_json()) == SECOND
    third = next_stage(SECOND, FIRST.design)
    check_stages([FIRST, SECOND, third])
    with pytest.raises(StudyError, match="not the stages"):
        check_stages([FIRST, third])
    with pytest.raises(StudyError, match="not the stages"):
        check_stages([Study.from_toml(STAGED.replace("2.0", "1.0")), SECOND])


def test_stages_have_the_corrections_of_their_study() -> None:
    other = Study.from_toml(STAGED.replace('name = "os"', 'name = "os"\nquestion = "Which one?"'))
    once = FIRST.corrected(other, "2026-11-16")
    after = next_stage(once, stage_design())
    assert after.wordings == once.wordings
    assert after.identity == FIRST.identity
    assert after.promise is not None
    assert after.promise.after == (FIRST.digest,)
    # Corrected after the switch, it has the same words by the same names.
    late = with_words(SECOND, other, "2026-11-16")
    assert late.wordings == once.wordings
    assert [v.digest for v in versions(late)] == [SECOND.digest, late.digest]


def test_a_study_without_a_promise_has_no_stages() -> None:
    plain = Study.from_toml(STAGED.replace("stages = true", ""))
    assert plain.promise is None
    assert plain.identity == plain.origin
    with pytest.raises(StudyError, match="promises no stages"):
        next_stage(plain, stage_design())


@pytest.mark.parametrize("epsilon", [2.0, 0.7, 1e-3])
def test_what_is_asked_is_what_is_promised(epsilon: float) -> None:
    study = Study(FIRST.schema, epsilon, "pairs", staged=True)
    assert study.promise is not None
    assert float(study.promise.epsilon) == epsilon
    assert study.design.exact_epsilon <= study.promise.epsilon
    # Where channels are given, what they cost, rounded up.
    given = Study(
        Schema([FIRST.schema["paid"]]), channels={"paid": KaryResponse(2, 3, 1)}, staged=True
    )
    assert given.content["stages"] == {"epsilon": "1.098612289"}


def test_no_stage_above_the_promise_can_be_made() -> None:
    with pytest.raises(StudyError, match="above the 2"):
        next_stage(FIRST, stage_design(KaryResponse.with_epsilon(3, 2.1)))


def test_a_server_that_publishes_a_worse_channel_is_refused(tmp_path: Path) -> None:
    """By a device that has seen the first stage, and by one that has seen nothing."""
    with scripted(GOOD, study=FIRST) as collector:
        Client(collector.url, folder=tmp_path / "old")
        for epsilon in (2.1, 2.0000001, 9.0):
            collector.text = worse(epsilon)
            for folder in ("old", "new"):
                with pytest.raises(StudyError, match="above the 2 that the study promises"):
                    Client(collector.url, folder=tmp_path / folder)
        assert collector.bodies == []


LIES: dict[str, dict[str, Any]] = {
    "a larger promise": {"stages": {"epsilon": "9", "after": [FIRST.digest]}},
    "no promise any more": {"stages": None},
    "another question": {
        "attributes": [
            {"name": a.name, "question": "Really?", "values": list(a.values)} for a in FIRST.schema
        ]
    },
    "exchanged values": {
        "attributes": [
            {"name": a.name, "question": "", "values": list(a.values)[::-1]} for a in FIRST.schema
        ]
    },
    "another name": {"name": "other"},
    "another consent": {"consent": "I agree to everything."},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_stage_of_another_study_is_refused(lie: str, tmp_path: Path) -> None:
    """Whatever it says of the stages before it."""
    changes = LIES[lie]
    text = forged(**changes)
    if changes.get("stages", 1) is None:
        content = {k: v for k, v in SECOND.content.items() if k != "stages"}
        plain = Study(SECOND.schema, design=SECOND.design, name=SECOND.name)
        assert plain.content == content
        text = plain.to_json()
    with scripted(GOOD, study=FIRST) as collector:
        first = Client(collector.url, folder=tmp_path)
        collector.text = text
        with pytest.raises(StudyChangedError, match="not the one this device first saw"):
            Client(collector.url, folder=tmp_path)
        # Told the digest on paper, a device that has seen nothing refuses it too.
        collector.stages = {FIRST.digest: FIRST, SECOND.digest: SECOND}
        with pytest.raises(StudyChangedError, match="no stage of"):
            Client(collector.url, folder=tmp_path / "new", digest=FIRST.digest)
        assert first.study == FIRST
        assert collector.bodies == []


def test_a_good_stage_is_answered_and_counts_once(tmp_path: Path) -> None:
    with scripted(GOOD, study=FIRST) as collector:
        Client(collector.url, folder=tmp_path / "seen")
        done = Client(collector.url, folder=tmp_path / "done")
        done.send(done.make(ANSWERS))
        late = Client(collector.url, folder=tmp_path / "late")
        made = late.make(ANSWERS)
        collector.study, collector.stages = SECOND, {FIRST.digest: FIRST}
        # Who has seen the first stage and not answered is asked as the second one does.
        seen = Client(collector.url, folder=tmp_path / "seen", digest=FIRST.digest)
        assert seen.study == SECOND
        assert seen.send(seen.make(ANSWERS))
        # Who has the first stage open finishes under it.
        assert late.send(made)
        assert [json.loads(body)["study"] for body in collector.bodies] == [
            FIRST.digest,
            SECOND.digest,
            FIRST.digest,
        ]
        # Nobody reports a second time, whatever stage there is.
        for folder, stage in (("done", FIRST), ("late", FIRST), ("seen", SECOND)):
            again = Client(collector.url, folder=tmp_path / folder)
            assert again.study == stage
            assert not again.send(again.make(dict.fromkeys(ANSWERS) | ANSWERS))
            assert len(again.ledger()) == 1
            assert again.ledger()[0].epsilon <= 2.0
        assert len(collector.bodies) == 3


def test_a_report_that_may_not_have_arrived_goes_out_again_under_its_stage(tmp_path: Path) -> None:
    with scripted(SILENCE, study=FIRST) as collector:
        client = Client(collector.url, folder=tmp_path)
        with pytest.raises(SendError):
            client.send(client.make(ANSWERS), pause=no_pause)
        collector.study, collector.stages = SECOND, {FIRST.digest: FIRST}
        collector.answers = [GOOD]
        again = Client(collector.url, folder=tmp_path)
        waiting = again.waiting()
        assert waiting is not None
        assert again.send(waiting)
        assert len(set(collector.bodies)) == 1


def test_a_server_cannot_put_another_stage_in_the_place_of_the_one_reported_for(
    tmp_path: Path,
) -> None:
    other = next_stage(FIRST, replace(SECOND.design, weights=(1, 1)))
    with scripted(GOOD, study=FIRST) as collector:
        client = Client(collector.url, folder=tmp_path)
        client.send(client.make(ANSWERS))
        collector.study, collector.stages = SECOND, {FIRST.digest: other}
        with pytest.raises(StudyChangedError, match="no stage of"):
            Client(collector.url, folder=tmp_path)
        collector.stages = {}
        with pytest.raises(SendError, match="404"):
            Client(collector.url, folder=tmp_path)


def test_two_programs_in_two_stages_send_one_report(tmp_path: Path) -> None:
    with scripted(GOOD, study=FIRST) as collector:
        early = Client(collector.url, folder=tmp_path)
        made = early.make(ANSWERS)
        collector.study, collector.stages = SECOND, {FIRST.digest: FIRST}
        late = Client(collector.url, folder=tmp_path)
        assert late.send(late.make(ANSWERS))
        with pytest.raises(SendError, match="the first stands"):
            early.send(made)
        with pytest.raises(StudyChangedError, match="another stage"):
            early.make(ANSWERS)
        assert len(collector.bodies) == 1
