"""Numbers that may mean that nobody answered are told from numbers that people gave."""

from __future__ import annotations

import pytest

from castell.device.missing_codes import missing_codes


@pytest.mark.parametrize(
    ("texts", "codes"),
    [
        (["never", "daily", "99"], ["99"]),
        (["0", "1200", "2500", "-99"], ["-99"]),
        (["1", "2", "3", "4", "5", "9"], ["9"]),
        (["0", "1", "99", "999"], ["99", "999"]),
        ([str(age) for age in range(18, 91)] + ["999"], ["999"]),
        # Numbers that people may have given.
        ([str(age) for age in range(18, 100)], []),
        ([str(k) for k in range(10)], []),
        (["-100", "-99", "-98", "0", "5"], []),
        (["8", "9", "10"], []),
        (["9", "99"], []),
        (["never", "daily"], []),
        ([], []),
    ],
)
def test_codes_stand_apart_from_answers(texts: list[str], codes: list[str]) -> None:
    assert missing_codes(texts) == codes
