"""Audits of studies in which something is sent as it is: public attributes, skipped questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

import castell
from castell import Attribute, MatrixResponse, Schema, Study
from castell.auditing.audited_codes import rows_sent_plainly
from castell.auditing.devices import Answers, Codes
from castell.errors import ChannelError
from tests.auditing.broken_devices import SeededFrame

REGION = Attribute("region", ["north", "south", "west"], public=True)
SMOKES = Attribute("smokes", ["never", "before", "now"])
SICK = Attribute("sick", ["no", "yes"])
MAY_SKIP = Attribute("sick", ["no", "yes"], missing="skip")
STUDIES = {
    "public": Study(Schema([REGION, SMOKES, SICK]), 2.0),
    "public beside a draw": Study(Schema([REGION, SMOKES, SICK]), 2.0, "singles"),
    "skipped": Study(Schema([SMOKES, MAY_SKIP]), 2.0),
    "skipped by a matrix": Study(
        Schema([MAY_SKIP, SMOKES]), 2.0, channels={"sick": MatrixResponse([[8, 2], [3, 7]])}
    ),
    "skipped in a draw beside public": Study(Schema([REGION, SMOKES, MAY_SKIP]), 2.0, "singles"),
}
SURE = 1.0 - 1e-6
CHECK = "public or skipped, and sent as it is"


@dataclass
class Changed(SeededFrame):
    """A device that changes one column of its reports."""

    column: int = 0
    by: int = 1
    every: int = 1

    def reports(self, study: Study, asked: Sequence[Answers], people: int) -> Codes:
        made = super().reports(study, asked, people)
        width = study.design.widths[self.column]
        made[:: self.every, :, self.column] = (
            made[:: self.every, :, self.column] + self.by
        ) % width
        return made


@pytest.mark.parametrize("name", STUDIES)
def test_a_right_device_passes(name: str) -> None:
    study = STUDIES[name]
    found = castell.audit(study, SeededFrame(3), n=40_000, confidence=SURE)
    assert found.passed, str(found)
    assert 0.6 * study.epsilon < found.lower <= study.epsilon
    (check,) = [c for c in found.checks if c.name == CHECK]
    assert check.passed
    # Epsilon is about what is randomised: nothing else is a part that is bounded.
    assert not any("region" in bound.name for bound in found.bounds)
    python = castell.audit(study, "python", n=400, confidence=SURE)
    assert python.passed, str(python)


@pytest.mark.parametrize(
    ("name", "column", "every"),
    [("public", 0, 1), ("public", 0, 40), ("public beside a draw", 1, 1), ("skipped", 1, 1)],
)
def test_one_that_sends_something_else_is_found_out(name: str, column: int, every: int) -> None:
    device = Changed(3, column=column, every=every)
    found = castell.audit(STUDIES[name], device, n=40_000, confidence=SURE)
    (check,) = [c for c in found.checks if c.name == CHECK]
    assert not check.passed
    assert not found.passed


def test_every_public_value_is_asked_and_skipping_too() -> None:
    rows = rows_sent_plainly(STUDIES["skipped in a draw beside public"])
    assert [row["region"] for row, _ in rows] == [0, 1, 2, 0]
    assert [sorted(may[1]) for _, may in rows[:3]] == [[0], [1], [2]]
    # All of what may be drawn of the question that is answered; of the other that it was skipped.
    assert rows[3][0]["sick"] == 2
    assert {column: sorted(may) for column, may in rows[3][1].items()} == {0: [0, 1, 2, 5]}
    assert rows_sent_plainly(Study(Schema([SMOKES, SICK]), 2.0)) == []


def test_a_design_that_gives_answers_away_is_refused() -> None:
    one_sided = castell.mechanism("triangular", prevalence=0.25)
    study = Study([SICK], channels={"sick": one_sided})
    with pytest.raises(ChannelError, match="sick"):
        castell.audit(study, "frame", n=1000)


def test_pairs_differ_in_what_is_randomised_alone() -> None:
    seen: list[Answers] = []

    @dataclass
    class Watched(SeededFrame):
        def reports(self, study: Study, asked: Sequence[Answers], people: int) -> Codes:
            seen.append(dict(asked[0]))
            return super().reports(study, asked, people)

    castell.audit(STUDIES["public"], Watched(3), n=4000, confidence=SURE)
    compared = [row for row in seen if row["region"] == "north"]
    assert len(compared) > len(seen) - 3
    assert np.unique([row["smokes"] for row in compared]).size == 3
