"""A change of code alone changes no estimate; `recorded.py` keeps one that is meant to."""

from __future__ import annotations

import pytest

from tests.contract.designs import STUDIES
from tests.contract.recorded import answers, distance, kept

# Sums of floats differ between processors in their last digits, and fits multiply that.
CLOSE = 1e-8


@pytest.mark.parametrize("design", STUDIES)
def test_estimates_are_those_that_were_kept(design: str) -> None:
    now, before = answers(design), kept()[design]
    assert set(now) == set(before)
    assert {m: distance(now[m], before[m]) for m in now} == pytest.approx(
        dict.fromkeys(now, 0.0), abs=CLOSE
    )


def test_another_number_or_another_answer_shows() -> None:
    assert distance({"a x b": [0.25, 0.75]}, {"a x b": [0.25, 0.75 + 1e-6]}) > CLOSE
    assert distance({"a x b": [1.0]}, {"a x b: QueryError": []}) > CLOSE
