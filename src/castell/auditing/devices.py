"""Devices to audit: whatever turns answers into codes of reports, person after person.

`reports(study, asked, people)` lets so many new devices, which know nothing of each other, answer
the same row or rows one after the other, and gives the codes: people x rows x columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from castell.device.device_file import Keep
from castell.device.respondent import Respondent
from castell.study.study import Study

Answers = Mapping[str, str]
Codes = NDArray[np.int64]


class Device(Protocol):
    """What can be audited. One of your own needs no more than this."""

    @property
    def name(self) -> str: ...

    @property
    def remembers(self) -> bool:
        """Whether a device that is asked again is the same one; a file of answers is no device."""
        ...

    @property
    def step(self) -> int:
        """How many people to ask at a time, between two signs of life."""
        ...

    @property
    def sent(self) -> Sequence[str]:
        """What it tried to send, though nobody asked it to."""
        ...

    def reports(self, study: Study, asked: Sequence[Answers], people: int) -> Codes: ...


@dataclass(frozen=True)
class FrameDevice:
    """`study.randomize`: what castell randomize does with a file of answers."""

    name: str = "frame"
    remembers: bool = False
    step: int = 1 << 17
    sent: tuple[str, ...] = ()

    def reports(self, study: Study, asked: Sequence[Answers], people: int) -> Codes:
        (answers,) = asked
        columns = {name: np.full(people, value, dtype=object) for name, value in answers.items()}
        found = study.randomize(columns).columns
        return np.stack([np.asarray(c, dtype=np.int64) for c in found], axis=1)[:, None, :]


class _Memory(Keep):
    """A device's memory that is gone afterwards."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def update(self, name: str, change: Callable[[Any], Any]) -> Any:
        self.kept[name] = change(self.kept.get(name))
        return self.kept[name]


@dataclass(frozen=True)
class PythonDevice:
    """One person's device in Python: what castell send makes its reports with."""

    name: str = "python"
    remembers: bool = True
    step: int = 500
    sent: tuple[str, ...] = ()

    def reports(self, study: Study, asked: Sequence[Answers], people: int) -> Codes:
        found = []
        for _ in range(people):
            person = Respondent(study, _Memory())
            found.append([person.make(answers).codes for answers in asked])
        return np.array(found, dtype=np.int64)
