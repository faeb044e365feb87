"""The text of an estimate: what a reader must find in it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import castell
from castell import JointEstimate, Study
from castell.results.summary import INSECURE
from tests.populations import collect, population, sparse, studies

PEOPLE = population((2, 3, 4), seed=4)


def _joint(method: str = "castell", post: str = "raw", *, n: int = 12345) -> JointEstimate:
    reports = collect(studies()["matrix"], PEOPLE.table, n, np.random.default_rng(1))
    return castell.estimate(reports, ["b", "a"], method, post=post)


def _rows(text: str) -> list[list[str]]:
    """The table's lines, each as its words: labels, estimate, error, both ends."""
    _, _, body, _ = re.split(r"^-+$", text, flags=re.MULTILINE)
    return [re.sub(r"[\[\],]", " ", line).split() for line in body.strip().splitlines()]


def test_the_head() -> None:
    joint = _joint(post="clip")
    text = joint.summary()
    assert str(joint) == text
    head = text.split("\n\n")[0]
    assert "Joint distribution of b x a" in head
    assert re.search(r"^method\s+castell, post-processing clip$", head, re.MULTILINE)
    assert re.search(r"^reports\s+n = 12,345$", head, re.MULTILINE)
    assert "epsilon 6.485 in all, 4.485 on these attributes" in head
    assert INSECURE not in text


def test_the_table() -> None:
    joint = _joint()
    low, high = joint.conf_int(0.9)
    text = joint.summary(0.9)
    assert "90% interval" in text
    rows = _rows(text)
    assert len(rows) == 6
    for row, (i, j) in zip(rows, np.ndindex(3, 2), strict=True):
        assert row[:2] == [f"b{i}", f"a{j}"]
        tables = (joint.probabilities, joint.standard_errors, low, high)
        assert row[2:] == [f"{table[i, j]:.4f}" for table in tables]


def test_of_long_tables_the_largest_cells_are_shown() -> None:
    people = sparse((8, 9), held=5, seed=0)
    reports = collect(Study(people.schema, 8.0), people.table, 2000, np.random.default_rng(0))
    joint = castell.estimate(reports, ["b", "a"], "castell")
    text = joint.summary(most=7)
    assert "72, the 7 largest shown" in text
    shown = [float(row[2]) for row in _rows(text)]
    largest = np.sort(joint.probabilities, axis=None)[::-1][:7]
    assert sorted(shown, reverse=True) == [float(f"{value:.4f}") for value in largest]
    # In the order of the table.
    labels = [(row[0], row[1]) for row in _rows(text)]
    assert labels == sorted(labels)
    assert len(_rows(joint.summary(most=100))) == 72
    assert "shown" not in joint.summary(most=72)


def test_seeded_reports_are_marked() -> None:
    study = studies()["independent"]
    answers = PEOPLE.answers(100, seed=0)
    assert (
        INSECURE in castell.estimate(study.randomize(answers, seed=1), ["a"], "castell").summary()
    )
    assert "INSECURE" not in castell.estimate(study.randomize(answers), ["a"], "castell").summary()


def test_notes_of_the_method_are_told() -> None:
    for method in ("independent", "clusters", "truncated", "hybrid"):
        joint = _joint(method)
        assert joint.notes
        for note in joint.notes:
            assert note in joint.summary()


def test_noise_is_told() -> None:
    joint = _joint(n=15)
    negative = -joint.probabilities[joint.probabilities < 0].sum()
    assert negative > 0.0005
    assert f"negative cells sum to -{negative:.4f}" in joint.summary()
    assert "negative cells" not in _joint(post="simplex", n=15).summary()
    assert "negative cells" not in _joint().summary()


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_cells_like_zero_are_those_whose_interval_holds_zero(level: float) -> None:
    people = sparse((4, 5), held=4, seed=3)
    reports = collect(Study(people.schema, 8.0), people.table, 400, np.random.default_rng(0))
    joint = castell.estimate(reports, ["a", "b"], "castell")
    low, high = joint.conf_int(level)
    zeros = int(((low <= 0) & (high >= 0)).sum())
    assert f"{zeros} of 20 cells cannot be told from zero at the {level:.0%}" in joint.summary(
        level
    )


@pytest.mark.parametrize(("level", "shown"), [(0.5, "50%"), (0.95, "95%"), (0.999, "99.9%")])
def test_the_level_is_shown_as_it_is(level: float, shown: str) -> None:
    assert f" {shown} interval" in _joint().summary(level)
