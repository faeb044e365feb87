"""The signal of a study whose respondents see their report before they send it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from castell import Reports, Study, estimate
from castell.counting import MemoryCounts
from castell.inference.inversion import observe
from castell.inference.pooled_table import views
from castell.results.trust import leaving, shift_if_some_leave, signals
from castell.study.texts import StudyText

TEXT = """
review = "before"
epsilon = 3.0
{design}

[[attribute]]
name = "a"
values = ["x", "y"]

[[attribute]]
name = "b"
values = ["p", "q", "r"]

[[attribute]]
name = "c"
values = ["u", "v"]
"""


def collected(study: Study, n: int = 4000) -> Reports:
    rng = np.random.default_rng(3)
    answers: dict[str, NDArray[Any]] = {
        one.name: np.array(one.values, dtype=object)[
            np.minimum(rng.geometric(0.5, n) - 1, one.size - 1)
        ]
        for one in study.schema
    }
    return study.randomize(answers, seed=4)


def of_design(design: str) -> Study:
    return Study.from_toml(TEXT.format(design=design))


ASYMMETRIC = Study(
    of_design("").schema,
    epsilon=3.0,
    channels={"a": [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]]},
    text=StudyText(review="before"),
)


@pytest.mark.parametrize(
    "study",
    [of_design(""), of_design('design = [["a", "b"], ["c"]]'), ASYMMETRIC],
    ids=["each", "clusters", "asymmetric"],
)
def test_a_shift_is_that_of_reports_that_are_left_out(study: Study) -> None:
    for name in study.names:
        seen = observe(MemoryCounts(collected(study)), [name])
        worst = np.zeros(seen.shape)
        for code in np.ndindex(seen.table.shape):
            fewer = seen.table.copy()
            fewer[code] *= 0.75
            # Replace would round their number; a share of a report is one here.
            stayed = replace(seen, table=fewer / fewer.sum(), n=1)
            worst = np.maximum(worst, np.abs(stayed.invert() - seen.invert()))
        assert shift_if_some_leave(seen, 0.25) == pytest.approx(worst, rel=1e-9)


def test_a_study_that_shows_reports_first_always_asks_for_a_look() -> None:
    reports = collected(of_design(""))
    counts = MemoryCounts(reports)
    *_, last = signals(counts, estimate(reports, ["a", "b"], "castell"))
    assert (last.key, last.state) == ("leaving", "look")
    most = max(shift_if_some_leave(observe(counts, [name])).max() for name in ("a", "b"))
    assert last.numbers["shift"] == pytest.approx(most, rel=1e-12)
    assert f"{100 * most:.1f} points" in last.text
    assert last.value == f"up to {100 * most:.1f} points"
    usual = collected(Study.from_toml(TEXT.format(design="").replace('review = "before"', "")))
    told = signals(MemoryCounts(usual), estimate(usual, ["a", "b"], "castell"))
    assert "leaving" not in {signal.key for signal in told}


def test_of_several_blocks_that_hold_an_attribute_each_counts_by_its_weight() -> None:
    counts = MemoryCounts(collected(of_design('design = "pairs"')))
    seen = views(counts, ["b"])
    assert len(seen) == 2
    known = sum(weight * shift_if_some_leave(observed).max() for weight, observed in seen)
    found = leaving(counts, ["b"]).numbers["shift"]
    largest = max(weight * shift_if_some_leave(observed).max() for weight, observed in seen)
    assert largest < found <= known * (1 + 1e-12)


def test_where_nothing_can_be_inverted_it_asks_all_the_same() -> None:
    counts = MemoryCounts(collected(of_design('design = "bloom"')))
    found = leaving(counts, ["a", "b"])
    assert (found.state, found.value) == ("look", "not known")
    assert "shift" not in found.numbers
