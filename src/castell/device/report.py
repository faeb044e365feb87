"""One respondent's report: made on the device, nothing sent."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from castell.device.respond import block_codes, draw_blocks, report_columns
from castell.device.words import Source, labelled_words
from castell.errors import AnswerError
from castell.study.schema import suggest
from castell.study.study import Study


@dataclass(frozen=True)
class Report:
    """All that leaves the device. A second copy with the same id is not counted again."""

    id: str
    study: str
    codes: tuple[int, ...]
    invitation: str | None = None

    def document(self) -> dict[str, Any]:
        plain = {"id": self.id, "study": self.study, "codes": list(self.codes)}
        return plain if self.invitation is None else {**plain, "invitation": self.invitation}

    def body(self) -> str:
        """The bytes that leave, as text.

        >>> Report("AAAAAAAAAAAAAAAAAAAAAA", "ab", (1, 2)).body()
        '{"id":"AAAAAAAAAAAAAAAAAAAAAA","study":"ab","codes":[1,2]}'
        """
        return json.dumps(self.document(), separators=(",", ":"))


def blocks_asked(study: Study, key: bytes) -> list[int]:
    """Which blocks a device with this key reports: all, or the one that was drawn for it."""
    drawn = draw_blocks(study.design, 1, labelled_words(key, "draw", study.digest))
    return list(range(len(study.design.blocks))) if drawn is None else [int(drawn[0])]


def make_report(study: Study, answers: Mapping[str, object], key: bytes) -> Report:
    """A report of a value for each attribute that is asked. Nothing is sent."""
    codes = _codes(study, answers, blocks_asked(study, key))
    blocks, digest = study.design.blocks, study.digest

    def words_of(index: int) -> Source:
        answer = int(block_codes(blocks[index], codes)[0])
        return labelled_words(key, "report", digest, index, answer)

    drawn = draw_blocks(study.design, 1, labelled_words(key, "draw", digest))
    columns = report_columns(study.design, codes, drawn, words_of)
    return Report(_new_id(), digest, tuple(int(column[0]) for column in columns))


def _codes(
    study: Study, answers: Mapping[str, object], asked: list[int]
) -> dict[str, np.ndarray[Any, np.dtype[np.intp]]]:
    """The code of each answer that some blocks need, as columns of one row."""
    for name in answers:
        if name not in study.names:
            raise AnswerError(
                f"{name!r} is no attribute of the study", suggest(str(name), study.names)
            )
    names = dict.fromkeys(name for index in asked for name in study.design.blocks[index].names)
    for name in names:
        if name not in answers:
            raise AnswerError(f"there is no answer for {name!r}", "give a value for it")
    return {name: np.array([study.schema[name].code(answers[name])]) for name in names}


def _new_id() -> str:
    return base64.urlsafe_b64encode(os.urandom(16)).rstrip(b"=").decode()
