"""After how many reports a study goes on to its next stage: `stages` in a study file.

Published is only that there are stages, and what they promise (`promise`). When they end is for
whoever runs the collector, like the hours of `collection_table`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from castell.errors import StudyError
from castell.numbers import is_whole
from castell.study.promise import MOST_STAGES

# A stage is a mark on its reports: fewer would tell too nearly when each of them came.
FEWEST = 128
# Nothing can be planned for more.
MOST = 10**9
_EXAMPLE = "write stages = [0.1, 1.0] and expected = 30000, stages = [3000, 30000], or true"


@dataclass(frozen=True)
class StageSizes:
    """`ends` are numbers of reports, counted from the first: the last is all that are expected.

    Without any, stages follow each other by hand (castell next-stage).

    >>> StageSizes.of({"stages": [Decimal("0.1"), 1], "expected": 30_000}).ends
    (3000, 30000)
    """

    ends: tuple[int, ...] = ()

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> StageSizes | None:
        """What a whole study file says; nothing if it has no stages."""
        given, expected = content.get("stages", False), content.get("expected")
        listed = isinstance(given, list)
        if not isinstance(given, bool) and not (listed and 2 <= len(given) <= MOST_STAGES):
            raise StudyError(f"stages is {_given_text(given)}", _EXAMPLE)
        shares = listed and not all(is_whole(end, 2) for end in given)
        if expected is not None and not (shares and is_whole(expected, 1)):
            raise StudyError(
                f"expected is {_given_text(expected)}",
                "it is a number of respondents, for stages that are shares of them",
            )
        if isinstance(given, bool):
            return cls() if given else None
        if not shares:
            return cls(tuple(map(int, given)))
        if expected is None:
            raise StudyError("stages are shares of respondents", "add expected = 30000, how many")
        return cls(tuple(_shares(given, int(expected))))

    def __post_init__(self) -> None:
        if self.ends and self.ends[-1] > MOST:
            raise StudyError(
                f"the last stage ends at {self.ends[-1]:,} reports", f"end it at {MOST:,} at most"
            )
        for start, end in pairwise((0, *self.ends)):
            if end - start < FEWEST:
                raise StudyError(
                    f"a stage ends at {end:,} reports, {end - start:,} after it began",
                    f"give them in rising order, each with {FEWEST} reports or more",
                )


def load_stage_sizes(path: Path) -> StageSizes | None:
    """The sizes in a study file. A published study is told nothing of them."""
    if path.suffix == ".json":
        return None
    return StageSizes.of(tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal))


def _shares(given: list[Any], expected: int) -> list[int]:
    for share in given:
        number = isinstance(share, (int, Decimal)) and not isinstance(share, bool)
        # A number that is none cannot be compared with one.
        if not number or Decimal(share).is_nan() or not 0 < share <= 1:
            raise StudyError(f"stages is {_given_text(given)}", _EXAMPLE)
    if given[-1] != 1:
        raise StudyError(f"the last stage ends at {given[-1]} of the respondents", "end it at 1.0")
    return [int(share * expected) for share in given]


def _given_text(given: object) -> str:
    if isinstance(given, list):
        return f"[{', '.join(map(_given_text, given))}]"
    return str(given) if isinstance(given, Decimal) else repr(given)
