"""Where a result comes from: the study, the method and the reports. The same in every result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from castell.display.json_values import plain
from castell.display.one_line import shorten
from castell.inference.reasons import Reason
from castell.inference.support import Checked
from castell.study.study import Study

# The values of attributes that count, by the attribute's name.
Labels = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Source:
    """The study whose `n` reports were read, by which method, and whether they protect anybody.

    `earlier` are studies of the same attributes whose reports were read too.
    """

    study: Study
    method: str
    n: int
    secure: bool
    earlier: tuple[Study, ...] = ()

    @property
    def studies(self) -> tuple[Study, ...]:
        return (*self.earlier, self.study)

    @property
    def epsilon(self) -> float:
        """What a respondent spends in all, at most: each took part in one study."""
        return max(study.epsilon for study in self.studies)

    def join(self, other: Source) -> Source:
        """Of a result from the reports of two models; the other's study counts as the later."""
        method = self.method if self.method == other.method else f"{self.method}, {other.method}"
        earlier = (*self.studies, *other.earlier)
        several = tuple(dict.fromkeys(study for study in earlier if study != other.study))
        secure = self.secure and other.secure
        return Source(other.study, method, self.n + other.n, secure, several)

    def to_dict(self) -> dict[str, Any]:
        """The entries that every result has in common."""
        several = {"digests": [study.digest for study in self.studies]} if self.earlier else {}
        return {
            "study": self.study.name,
            "digest": self.study.digest,
            **several,
            "method": self.method,
            "n": self.n,
            "epsilon": plain(self.epsilon),
            "public": list(self.study.schema.public),  # what epsilon does not cover
            "secure": self.secure,
        }

    def facts(self) -> list[str]:
        """The same in a few words."""
        found = [
            f"method {shorten(self.method, 40)!r}",
            f"n = {self.n:,}",
            f"epsilon {self.epsilon:.4g}",
        ]
        found += [f"public {shown}"] if (shown := ", ".join(self.study.schema.public)) else []
        found += [f"{len(self.studies)} studies"] if self.earlier else []
        return found if self.secure else [*found, "INSECURE (seeded)"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FromReports(ABC):
    """What every result knows of the reports it is made from, and how it tells it.

    `checked` says by what a model's answer can be checked; `backend` is the kind of frame that
    `to_frame` gives.
    """

    source: Source
    checked: Checked
    reasons: tuple[Reason, ...] = ()
    backend: str | None = None

    @abstractmethod
    def summary(self, level: float = 0.95) -> str:
        """The result as a text for a report."""

    def __str__(self) -> str:
        return self.summary()

    def _how_sure(self, level: float) -> dict[str, Any]:
        """The entries of `to_dict` that say how sure a result is, the same for all."""
        return {
            "level": level,
            "checked": self.checked.value,
            "reasons": [each.to_dict() for each in self.reasons],
            "notes": list(self.notes),
        }

    @property
    def method(self) -> str:
        return self.source.method

    @property
    def secure(self) -> bool:
        """Whether the reports were made with secure randomness."""
        return self.source.secure

    @property
    def notes(self) -> tuple[str, ...]:
        """The reasons in words."""
        return tuple(str(each) for each in self.reasons)


def describe_values(asked: Mapping[str, Sequence[str]], between: str = " and ") -> str:
    """Attributes and the values of them that count, in words.

    >>> describe_values({"smokes": ("now",), "health": ("poor", "fair")})
    'smokes = now and health = poor or fair'
    """
    return between.join(f"{name} = {' or '.join(values)}" for name, values in asked.items())


def as_lists(asked: Labels) -> dict[str, list[str]]:
    """The same as plain lists."""
    return {name: list(values) for name, values in asked.items()}
