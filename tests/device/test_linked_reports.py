"""Everything a device sends for a study, linked, tells no more than one report: exactly.

A device answers ten times. One answer stays what it is, the other changes, and the attacker knows
how the other changed, links all ten reports and guesses by Bayes' rule with the exact chances. The
device is castell's own, run once for every number its words can be, so nothing here is sampled.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import castell.device.report
from castell import Attribute, KaryResponse, Schema, Study
from castell.channels import Channel, CyclicResponse, PartitionResponse
from castell.device.device_file import Keep
from castell.device.random_words import Source
from castell.device.respondent import Respondent
from castell.study.design import Block, Design

# The first never changes, the second does; a third is only there to be in other blocks.
SCHEMA = Schema([Attribute("a", [*"xy"]), Attribute("b", [*"uvw"]), Attribute("c", [*"pq"])])
SIZES = dict(zip(SCHEMA.names, SCHEMA.sizes, strict=True))
PATH = [*"uvwuvvwuwu"]


class MemoryKeep(Keep):
    """What a device keeps, as text but not on a disk: thousands of devices are tried."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def update(self, name: str, change: Callable[[Any], Any]) -> Any:
        value = change(json.loads(self.texts[name]) if name in self.texts else None)
        self.texts[name] = json.dumps(value)
        return value


Codes = tuple[int, ...]
Transcript = tuple[Codes, ...]
Chances = dict[Transcript, Fraction]


def kary(*names: str) -> tuple[tuple[str, ...], Channel]:
    size = int(np.prod([SIZES[name] for name in names]))
    return names, KaryResponse(size, 4, 1)


def design(
    *blocks: tuple[tuple[str, ...], Channel], draw: bool = False, weights: tuple[int, ...] = ()
) -> Study:
    made = [Block(names, tuple(SIZES[n] for n in names), channel) for names, channel in blocks]
    return Study(SCHEMA, design=Design(tuple(made), draw, weights))


# What the designs of these names look like, with weights small enough to enumerate.
CIRCLE = CyclicResponse(6, 7, (0, 1, 3), 3, 1)
BOXES = PartitionResponse(
    (2, 3), (((0,), (0, 1)), ((1,), (0, 2)), ((0,), (2,)), ((1,), (1,))), KaryResponse(4, 5, 1)
)
STUDIES = {
    "independent": design(kary("a"), kary("b"), kary("c")),
    "joint": design(kary("a", "b", "c")),
    "clusters": design(kary("a", "b"), kary("c")),
    "pairs": design(kary("a", "b"), kary("a", "c"), kary("b", "c"), draw=True),
    "cover": design((("a", "b"), CIRCLE), kary("a", "c"), kary("b", "c"), draw=True),
    "coarse, unequal": design((("a", "b"), BOXES), kary("a", "c"), draw=True, weights=(3, 2)),
    "singles": design(kary("a"), kary("b"), kary("c"), draw=True),
}
# Where the unchanging answer shares a block with the changing one.
SHARING = ["joint", "clusters", "pairs", "cover", "coarse, unequal"]

each_design = pytest.mark.parametrize("name", STUDIES)


def answers(a: str, b: str) -> dict[str, str]:
    return {"a": a, "b": b, "c": "p"}


# -- the device as it is ---------------------------------------------------------------------------


def choices(study: Study) -> Iterator[dict[tuple[object, ...], int]]:
    """Every number that each label of words can give, all alike; a draw fixes what else matters."""
    blocks = study.design.blocks
    if study.design.draw:
        owners = [i for i, weight in enumerate(study.design.weights) for _ in range(weight)]
        for place, index in enumerate(owners):
            for number in range(blocks[index].channel.total):
                yield {("draw",): place, ("report", index): number}
        return
    for numbers in product(*(range(block.channel.total) for block in blocks)):
        yield {("report", index): number for index, number in enumerate(numbers)}


def chance_of(study: Study, choice: dict[tuple[object, ...], int]) -> Fraction:
    blocks = study.design.blocks
    total = sum(study.design.weights)
    for label in choice:
        if label[0] == "report":
            total *= blocks[int(str(label[1]))].channel.total
    return Fraction(1, total)


def castells_device(study: Study, a: str, path: list[str], patch: pytest.MonkeyPatch) -> Chances:
    """How likely each transcript of reports is, from castell's own code."""
    chances: Chances = defaultdict(Fraction)
    for choice in choices(study):

        def words(
            key: bytes, *label: str | int, given: dict[tuple[object, ...], int] = choice
        ) -> Source:
            del key
            number = given.get((label[0], *label[2:]), 0)  # without the study's digest
            return lambda count: np.full(count, number, dtype=np.uint64)

        patch.setattr(castell.device.report, "labelled_words", words)
        keep, transcript = MemoryKeep(), []
        for b in path:
            person = Respondent(study, keep)
            report = person.make(answers(a, b))
            person.hand_over(report)
            person.mark_arrived(report)
            transcript.append(report.codes)
        chances[tuple(transcript)] += chance_of(study, choice)
    return chances


# -- the old rule: a draw for each answer of a block -----------------------------------------------


def memoised_answers(study: Study, a: str, path: list[str]) -> Chances:
    """A device that draws once for each answer of a block and repeats that for the same answer."""
    blocks, chances = study.design.blocks, defaultdict[Transcript, Fraction](Fraction)
    drawn = [[i] for i in range(len(blocks))] if study.design.draw else [list(range(len(blocks)))]
    for reported, weight in zip(drawn, study.design.weights, strict=True):
        asked = [(i, _answer(study, blocks[i], answers(a, b))) for b in path for i in reported]
        known = list(dict.fromkeys(asked))
        rows = {x: _chances(blocks[x[0]].channel, x[1]) for x in known}
        for drawn_codes in product(*(range(len(rows[x])) for x in known)):
            found = dict(zip(known, drawn_codes, strict=True))
            chance = Fraction(weight, sum(study.design.weights))
            for x, code in found.items():
                chance *= rows[x][code]
            transcript = tuple(
                tuple(
                    (study.design.starts[i] if study.design.draw else 0)
                    + found[i, _answer(study, blocks[i], answers(a, b))]
                    for i in reported
                )
                for b in path
            )
            chances[transcript] += chance
    return chances


def _answer(study: Study, block: Block, given: dict[str, str]) -> int:
    codes = [study.schema[name].code(given[name]) for name in block.names]
    return int(np.ravel_multi_index(codes, block.sizes))


def _chances(channel: Channel, answer: int) -> list[Fraction]:
    return [Fraction(weight, channel.total) for weight in channel.weights()[answer]]


# -- the attacker ----------------------------------------------------------------------------------


def guessed(rule: Callable[[str], Chances]) -> Fraction:
    """How often the best guess at the unchanging answer is right, if both were equally likely."""
    given = {a: rule(a) for a in SCHEMA["a"].values}
    assert all(sum(chances.values()) == 1 for chances in given.values())
    seen = {transcript for chances in given.values() for transcript in chances}
    best = sum(
        (max(chances.get(t, Fraction(0)) for chances in given.values()) for t in seen), Fraction(0)
    )
    return best / len(given)


def one_report(study: Study) -> Fraction:
    """What the attacker gets from the first report alone, from the published weights."""
    return guessed(lambda a: memoised_answers(study, a, PATH[:1]))


@each_design
def test_ten_linked_reports_tell_no_more_than_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = STUDIES[name]
    found = guessed(lambda a: castells_device(study, a, PATH, monkeypatch))
    assert found == one_report(study)
    assert found > Fraction(1, 2)


@each_design
def test_the_odds_between_any_two_people_stay_within_the_stated_total(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever both answered over time: the total is the study's, not that of ten reports."""
    study = STUDIES[name]
    one = castells_device(study, "x", PATH, monkeypatch)
    two = castells_device(study, "y", [*reversed(PATH)], monkeypatch)
    assert set(one) == set(two)
    assert float(max(max(one[t] / two[t], two[t] / one[t]) for t in one)) <= np.exp(study.epsilon)


@pytest.mark.parametrize("name", SHARING)
def test_a_draw_for_each_answer_of_a_block_would_tell_more(name: str) -> None:
    """The test above is not blind: the rule that castell had before does not pass it."""
    study = STUDIES[name]
    linked = guessed(lambda a: memoised_answers(study, a, PATH))
    assert linked > one_report(study) + Fraction(1, 50)


def test_where_nothing_is_shared_the_old_rule_was_as_good() -> None:
    for name in ("independent", "singles"):
        study = STUDIES[name]
        assert guessed(lambda a: memoised_answers(study, a, PATH)) == one_report(study)  # noqa: B023
