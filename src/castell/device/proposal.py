"""What to ask, proposed from data: a pilot, or public figures. A person finishes it.

Bins are round numbers near quantiles. Taken from the respondents' own answers they would tell
something of these, so every proposal says where it comes from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import accumulate
from math import floor, log10
from typing import TYPE_CHECKING, Any

from castell.device.answer_columns import as_arrow, texts
from castell.device.proposed_choices import choices_in
from castell.device.usual_scales import UNSURE, usual_scales
from castell.errors import SchemaError
from castell.study.attribute import NO_ANSWER, Attribute
from castell.study.choices import choose_all
from castell.study.declining import declines
from castell.study.number_texts import (
    is_parted_by_points,
    may_be_parted_by_a_point,
    may_be_two_numbers,
    number_in_file,
)
from castell.study.scales import Period
from castell.study.schema import Schema
from castell.study.value_texts import one_text

if TYPE_CHECKING:
    import pyarrow as pa

# A question that cannot be passed over gets lies instead of answers.
DECLINE = "prefer not to say"
# Up to so many different numbers are asked as they are; more are cut into so many bins.
MOST_NUMBERS, BINS = 12, 6
# So many texts among numbers stand beside them: "?", "unknown".
MOST_BESIDE = 3
MOST_PERIODS = 40

# Days in an order that is not said: the third of April and the fourth of March look alike.
_OTHER_DAY = re.compile(r"[0-9]{1,2}([./-])[0-9]{1,2}\1([0-9]{2}|[0-9]{4})", re.ASCII)


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


@dataclass
class Found:
    """What a column holds: how often each text, as it is compared, and how many are missing."""

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    missing: int = 0
    empty: int = 0  # of the missing, those that are empty texts
    rows: int = 0
    rewritten: str = ""
    parted: str = ""  # a number whose thousands are parted by points
    pointed: str = ""  # one whose point may do so

    def add(self, column: pa.ChunkedArray) -> None:
        import pyarrow.compute as pc

        labels = texts(column)
        self.rows += len(labels)
        for entry in pc.value_counts(labels).to_pylist():
            text, many = entry["values"], entry["counts"]
            if text is None or not text.strip():
                self.missing += many
                self.empty += many * (text is not None)
                continue
            if is_parted_by_points(text):
                self.parted = self.parted or text.strip()
            elif may_be_parted_by_a_point(text):
                self.pointed = self.pointed or text.strip()
            one = one_text(text.strip())
            if one != text.strip():
                self.rewritten = self.rewritten or f"{text.strip()} is written {one}"
            self.counts[one] += many


@dataclass(frozen=True)
class Proposal:
    """An attribute, or none, and what was done in a sentence."""

    attribute: Attribute | None
    remark: str
    options: tuple[Attribute, ...] = ()  # instead of the one, where people chose of several

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.options if self.attribute is None else (self.attribute,)


def propose(
    found: Found, most_values: int = 100, decline: str | Sequence[str] = DECLINE
) -> Proposal:
    """How a column would be asked; each question offers `decline` beside its values, if any, or
    the ways not to answer that are in the column."""
    # Ways not to answer stand beside the others, whatever these are.
    ways = sorted(filter(declines, found.counts))
    if ways and len(found.counts) - len(ways) > 1:
        answers = {text: many for text, many in found.counts.items() if text not in ways}
        made = propose(replace(found, counts=Counter(answers)), most_values, ways)
        told = f"; {' and '.join(map(repr, ways))} stand{'s' * (len(ways) == 1)} beside them"
        return replace(made, remark=made.remark + told * bool(made.attributes))
    if options := choices_in(found.counts):
        return _choices(found, options, decline)
    name, different = found.name, len(found.counts)
    missing = _many(found.missing, "missing answer")
    lost = f"; {missing}" if found.missing else ""
    numbers = {text: number_in_file(text) for text in found.counts}
    others = [text for text, number in numbers.items() if number != number]
    values = {number: text for text, number in numbers.items() if number == number}
    plain = f"{name!r} has {_many(different, 'different value')} in {_many(found.rows, 'row')}"
    if found.missing:
        plain = f"{name!r} has {missing}, {plain.split(' has ', 1)[1]}"
    if different < 2:
        return Proposal(None, f"{plain}: left out")
    said: dict[str, Any]
    if set(found.counts) == {"false", "true"}:
        said, what = {"values": ["false", "true"]}, "truth values"
    elif found.parted and found.pointed:
        return Proposal(
            None,
            f"{plain}: left out; {found.pointed!r} may be two numbers beside {found.parted!r}: "
            "write numbers without what parts thousands",
        )
    elif values and len(values) > MOST_NUMBERS and len(others) <= MOST_BESIDE:
        if _is_identifier(found, list(values)):
            return Proposal(None, f"{plain}, one for each row: left out as an identifier")
        weighted = sorted((number, found.counts[text]) for number, text in values.items())
        cuts = round_cuts(weighted)
        if not cuts:
            return Proposal(None, f"{plain}, nearly all alike: left out")
        whole = all(number == floor(number) for number in values)
        said = {"bins": cuts, "type": "integer" if whole else "number", "also": sorted(others)}
        what = (
            f"{len(values):,} numbers from {weighted[0][0]:g} to {weighted[-1][0]:g}, cut into "
            f"bins at {', '.join(cuts)}: round numbers near the quantiles of this file. If these "
            "are the respondents' own answers, choose bins from public figures instead"
        )
        if others:
            texts_beside = " and ".join(map(repr, sorted(others)))
            what += f"; beside them {texts_beside}: write none = ... for one that says to have none"
    elif (said := _periods(found)) and different > MOST_NUMBERS:
        what = f"days by {said['period']}"
    elif said:
        said, what = {"values": sorted(found.counts), "ordered": True}, f"{different} days in order"
    elif different > most_values and (two := next(filter(may_be_two_numbers, others), "")):
        return Proposal(
            None, f"{plain}: left out; {two!r} may be two numbers: write a point for a comma"
        )
    elif different > most_values and all(map(_OTHER_DAY.fullmatch, found.counts)):
        day = min(found.counts)
        return Proposal(
            None, f"{plain}: left out; {day!r} looks like a day: write days as 2024-03-17"
        )
    elif different > most_values:
        return Proposal(None, f"{plain}: left out; group them into 2 to {most_values}")
    elif not others:
        said = {"values": [values[number] for number in sorted(values)], "ordered": True}
        what = f"{different} numbers in order"
    else:
        said, what = _texts(found.counts)
    attribute = _attribute(name, said, found.missing, decline)
    if found.missing:
        last = attribute.values[attribute.size - attribute.beside]
        lost += f' become{"s" * (found.missing == 1)} {last!r} (missing = "category")'
    listed = found.rewritten and attribute.scale is None
    rewritten = f"; {found.rewritten}" if listed else ""
    return Proposal(attribute, f"{name!r}: {what}{rewritten}{lost}")


def _choices(found: Found, options: Sequence[str], decline: str | Sequence[str]) -> Proposal:
    """A yes or no for each option."""
    unsaid = found.missing - found.empty
    made = choose_all(
        found.name,
        options,
        also=_beside([], unsaid, decline),
        missing="category" if unsaid else "refuse",
    )
    what = f"{found.name!r}: people chose of {len(options)} options: a yes or no for each"
    if found.empty:
        what += f"; {found.empty:,} empty cells chose none of them"
    if unsaid:
        last = made[0].values[made[0].size - made[0].beside]
        what += f'; {unsaid:,} missing answers become {last!r} (missing = "category")'
    return Proposal(None, what, made)


def propose_schema(frame: Any, columns: Sequence[str] | None, decline: str) -> Schema:
    """The attributes of a frame; columns that cannot be asked are left out."""
    import narwhals as nw

    asked = columns is not None
    if columns is None:
        is_mapping = isinstance(frame, Mapping)
        columns = list(frame) if is_mapping else nw.from_native(frame, eager_only=True).columns
    table = as_arrow(frame, columns)
    made: list[Attribute] = []
    for name in columns:
        found = Found(name)
        found.add(table.column(name))
        proposal = propose(found, decline=decline)
        made += proposal.attributes
        if asked and not proposal.attributes:
            raise SchemaError(proposal.remark, "group its values first, or leave it out")
    return Schema(made)


def _attribute(
    name: str, said: dict[str, Any], missing: int, decline: str | Sequence[str]
) -> Attribute:
    beside = _beside(list(said.pop("also", [])), missing, decline)
    return Attribute(name, **said, also=beside, missing="category" if missing else "refuse")


def _beside(others: list[str], missing: int, decline: str | Sequence[str]) -> list[str]:
    """What stands beside the answers: of these the first is what a missing answer is."""
    if isinstance(decline, str):
        return [decline, *others] if decline else others
    if missing and NO_ANSWER not in decline:
        # To decline is not to be missing.
        return [NO_ANSWER, *decline, *others]
    return [*sorted(decline, key=lambda way: way != NO_ANSWER), *others]


def _texts(counts: Collection[str]) -> tuple[dict[str, Any], str]:
    """Texts in the order of a scale that everybody knows, or in alphabetical order."""
    by_plain = {text.casefold(): text for text in counts}
    twins = sorted(text for text in counts if by_plain[text.casefold()] != text)
    unsure = sorted(set(by_plain) & UNSURE)
    words = set(by_plain) - set(unsure)
    for scale in usual_scales():
        if len(words) > 1 and not twins and words <= set(scale):
            values = [by_plain[word] for word in scale if word in words]
            ordered = {"ordered": True} if len(values) > 2 else {}
            also = [by_plain[word] for word in unsure]
            told = f", {' and '.join(map(repr, also))} beside them" if also else ""
            said = {"values": values, "also": also, **ordered}
            return said, f"{len(values)} values in their usual order{told}"
    alike = [f"{text!r} and {by_plain[text.casefold()]!r}" for text in twins]
    capitals = f"; {', '.join(alike)} differ in capitals only: write them alike first"
    return {"values": sorted(counts, key=_order)}, (
        f"{len(counts)} values in alphabetical order: put them in the order people expect, "
        f"and add ordered = true if they have one{capitals if twins else ''}"
    )


def _order(text: str) -> tuple[int, float, str]:
    """Numbers by size, then texts by alphabet."""
    number = number_in_file(text)
    return (0, number, text) if number == number else (1, 0.0, text)


def _is_identifier(found: Found, numbers: Sequence[float]) -> bool:
    """Whole numbers from 0 or 1 on, each in one row: a counter of rows."""
    counter = max(numbers) - min(numbers) + 1 == len(numbers) == found.rows
    return counter and min(numbers) in (0, 1) and found.rows > 2 * MOST_NUMBERS


def _periods(found: Found) -> dict[str, Any]:
    """The shortest period of which there are not too many, if all texts are days."""
    day = Period("day", ())
    if not all(text[:4].isdigit() and day.text(text)[:10] == text[:10] for text in found.counts):
        return {}
    days = sorted(text[:10] for text in found.counts)
    if any(len(one) != 10 or one[4] != "-" for one in days):
        return {}
    for period in ("month", "quarter", "year"):
        ends = [days[0], days[-1]]
        if Period.between(period, ends).size <= MOST_PERIODS or period == "year":
            return {"period": period, "range": ends}
    return {}


def round_cuts(weighted: Sequence[tuple[float, int]], bins: int = BINS) -> list[str]:
    """Where bins would begin: round numbers near the quantiles of some numbers with their counts.

    A number that many have is a bin of its own.

    >>> round_cuts([(float(age), 1) for age in range(17, 91)])
    ['30', '40', '55', '65', '80']
    """
    total = sum(many for _, many in weighted)
    mode, most = max(weighted, key=lambda pair: pair[1])
    alone: list[float] = []
    if most > total / bins and len(weighted) > 2:
        above = next((number for number, _ in weighted if number > mode), None)
        # A round number between it and the next one.
        after = [] if above is None else [mode + float(_round_step(above - mode))]
        alone = [edge for edge in (mode, *after) if edge > weighted[0][0]]
        weighted = [pair for pair in weighted if pair[0] != mode]
        total, bins = total - most, bins - 1
    ends = list(accumulate(many for _, many in weighted))

    def quantile(share: float) -> float:
        return next(n for (n, _), end in zip(weighted, ends, strict=True) if end >= share * total)

    spread = quantile(0.9) - quantile(0.1) or weighted[-1][0] - weighted[0][0]
    if spread <= 0:
        return []
    step = _round_step(spread / bins)
    if all(number == floor(number) for number, _ in weighted):
        step = max(step, Decimal(1))
    places = [quantile(k / bins) for k in range(1, bins)]
    cuts = {round(Decimal(place) / step) * step for place in places}
    lone = {Decimal(str(edge)) for edge in alone}
    # What is nearer to a lone number than a step would split next to nothing.
    kept = {cut for cut in cuts if all(abs(cut - edge) >= step for edge in lone)} | lone
    low, high = Decimal(str(weighted[0][0])), Decimal(str(weighted[-1][0]))
    if alone:
        low = min(low, Decimal(str(mode)))
    return [format(cut.normalize(), "f") for cut in sorted(kept) if low < cut <= high]


def _round_step(largest: float) -> Decimal:
    """The largest of 1, 2, 5, 10, 20, ... that is not above."""
    power = Decimal(10) ** floor(log10(largest))
    return max(
        factor * power for factor in (1, 2, 5) if factor * power <= Decimal(largest) or factor == 1
    )
