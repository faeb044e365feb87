"""Answers that are none: all of them counted, some of them shown, in one line."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

from castell.errors import AnswerError
from castell.study.declining import looks_missing
from castell.study.scales import Bins, Points
from castell.study.schema import Attribute, suggest

# Of more answers than that only the number is told, and of more different ones.
_KEPT = 1000
_SHOWN = 3


@dataclass
class BadAnswers:
    """What was found so far: for each attribute its texts, with the rows they stand in."""

    found: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    attributes: dict[str, Attribute] = field(default_factory=dict)
    more: dict[str, int] = field(default_factory=dict)
    kept: int = 0

    @property
    def enough(self) -> bool:
        return self.kept >= _KEPT

    def add(self, attribute: Attribute, text: str | None, row: int) -> None:
        self.kept += 1
        self.attributes.setdefault(attribute.name, attribute)
        self.found.setdefault(attribute.name, {}).setdefault(text or "", []).append(row)

    def count(self, attribute: Attribute, rows: int) -> None:
        """So many more of an attribute."""
        self.more[attribute.name] = self.more.get(attribute.name, 0) + rows

    def include(self, later: BadAnswers) -> None:
        """Those of later rows."""
        for name, by_text in later.found.items():
            for text, rows in by_text.items():
                for row in rows:
                    if self.enough:
                        self.count(later.attributes[name], 1)
                    else:
                        self.add(later.attributes[name], text, row)
        for name, many in later.more.items():
            self.count(later.attributes[name], many)

    def __bool__(self) -> bool:
        return bool(self.found)

    @property
    def total(self) -> int:
        return self.kept + sum(self.more.values())

    def check(self) -> None:
        """Refuse the answers if one is bad."""
        if not self:
            return
        name, by_text = next(iter(self.found.items()))
        text, rows = min(by_text.items(), key=lambda item: item[1][0])
        attribute, total = self.attributes[name], self.total
        problem, remedy = _problem_and_remedy(attribute, text, rows[0])
        if total > 1:
            problem = f"{total:,} answers are none of the study's: {'; '.join(self._columns())}"
            problem += f". The first is {_problem_and_remedy(attribute, text, rows[0])[0]}"
        raise AnswerError(problem, remedy)

    def _columns(self) -> list[str]:
        """Each column with how many it has, the most frequent texts and their first rows."""
        told = []
        for name, by_text in self.found.items():
            many = sum(map(len, by_text.values())) + self.more.get(name, 0)
            often = sorted(by_text.items(), key=lambda item: -len(item[1]))
            shown = [_texts(text, rows) for text, rows in often[:_SHOWN]]
            rest = len(often) - _SHOWN
            shown += [f"{rest} other texts"] if rest > 0 else []
            told.append(f"{name!r} has {many:,} ({', '.join(shown)})")
        return told


def _texts(text: str, rows: list[int]) -> str:
    what = repr(text) if text.strip() else "missing"
    listed = ", ".join(str(row) for row in rows[:_SHOWN]) + ", ..." * (len(rows) > _SHOWN)
    return f"{what} in row{'s' * (len(rows) > 1)} {listed}"


def _problem_and_remedy(attribute: Attribute, text: str, row: int) -> tuple[str, str]:
    """What is wrong with one answer, and what to do."""
    where = f"row {row}, column {attribute.name!r}"
    if not text.strip():
        return (
            f"{where}: the answer is missing",
            "drop the row, or give the attribute missing = \"category\": a value 'no answer' "
            "that is randomised like any other",
        )
    if text.strip() in attribute.values:
        return f"{where}: {text!r} has spaces around it", f"write it as {text.strip()!r}"
    scale = attribute.scale
    if isinstance(scale, (Bins, Points)):
        low, high = scale.limits[0], scale.limits[-1]
        ends = f"from {low:g} to {high:g}" if high < float("inf") else "in digits"
        kind = "a whole number" if isinstance(scale, Bins) and scale.whole else "a number"
        return (
            f"{where}: {text!r} is not a value of the study",
            f"give {kind} {ends}, or one of {', '.join(attribute.values[:12])}",
        )
    remedy = suggest(text, attribute.values)
    if looks_missing(text):
        remedy = f"if it means no answer, randomise with --missing {shlex.quote(text)}; {remedy}"
    return f"{where}: {text!r} is not a value of the study", remedy
