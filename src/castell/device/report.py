"""One respondent's report: made on the device, nothing sent."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.device.random_words import labelled_words
from castell.device.respond import draw_samples, report_columns
from castell.errors import AnswerError
from castell.study.number_texts import number_of
from castell.study.scales import Points
from castell.study.schema import Attribute, suggest
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
    """Which blocks a device with this key reports: all, or the one drawn and what is public."""
    return list(study.design.samples[int(_sample_drawn(study, key)[0])])


def _sample_drawn(study: Study, key: bytes) -> NDArray[np.intp]:
    return draw_samples(study.design, 1, labelled_words(key, "draw", study.origin))


def blocks_reported(study: Study, codes: Sequence[int]) -> list[int]:
    """Which blocks the codes of a report are of.

    >>> from castell import Attribute, Schema
    >>> sizes = {"a": "xyz", "b": "uv"}
    >>> schema = Schema(Attribute(name, list(values)) for name, values in sizes.items())
    >>> blocks_reported(Study(schema, 1.0, "singles"), [3])  # codes 0 to 2 are of the other one
    [1]
    """
    columns = zip(study.design.layout, codes, strict=True)
    return [column.blocks[column.places_of(np.asarray(code))] for column, code in columns]


def make_report(study: Study, answers: Mapping[str, object], key: bytes) -> Report:
    """A report of a value for each attribute that is asked. Nothing is sent.

    The words of a block belong to the key, the study and the block, not to the answer: nobody can
    look for a nicer report by answering otherwise and back. A correction of the study's words
    changes none of them.
    """
    origin, asked = study.origin, blocks_asked(study, key)
    columns = report_columns(
        study.design,
        answer_codes(study, answers, asked, key),
        _sample_drawn(study, key),
        lambda index: labelled_words(key, "report", origin, index),
    )
    return Report(_new_id(), study.digest, tuple(int(column[0]) for column in columns))


def answer_codes(
    study: Study, answers: Mapping[str, object], asked: Sequence[int], key: bytes = b""
) -> dict[str, NDArray[np.intp]]:
    """The code of each answer that some blocks need, as columns of one row.

    Where numbers are rounded at random, that too belongs to the key and the attribute, not to the
    answer.
    """
    for name in answers:
        if name not in study.names:
            raise AnswerError(
                f"{name!r} is no attribute of the study", suggest(str(name), study.names)
            )
    names = dict.fromkeys(name for index in asked for name in study.design.blocks[index].names)
    for name in names:
        if name not in answers:
            raise AnswerError(f"there is no answer for {name!r}", "give a value for it")
    return {
        name: np.array([code_of(study.schema[name], answers[name], _chance(study, name, key))])
        for name in names
    }


def _chance(study: Study, name: str, key: bytes) -> float:
    words = labelled_words(key, "round", study.origin, study.names.index(name))
    return float(words(1)[0] >> np.uint64(11)) * 2.0**-53


def code_of(attribute: Attribute, answer: object, chance: float) -> int:
    """The code of an answer; `chance` rounds a number where the study rounds at random."""
    if isinstance(attribute.scale, Points):
        number = number_of(str(answer))
        found = int(attribute.scale.codes(np.array([number]), np.array([chance]))[0])
        if found >= 0:
            return found
    return attribute.code(answer)


def _new_id() -> str:
    return base64.urlsafe_b64encode(os.urandom(16)).rstrip(b"=").decode()
