"""Channels that castell did not write: what they say is checked against their weights.

People rely on the epsilon that a study states. It is worked out from the weights, so a channel must
have whole weights, respond as they say, and state the epsilon that follows from them.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from inspect import getattr_static
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from castell.channels.budget import check_range, log_ratio
from castell.channels.protocol import MAX_TOTAL, Channel, Traits, Words
from castell.errors import ChannelError
from castell.linear.operators import Floats

# So many pairs of answer and number are tried one by one; of more, a sample.
EXHAUSTIVE = 1 << 20
SAMPLE = 1 << 17  # of each answer, or fewer where there are many
# How seldom an honest channel may fail the test of a sample.
FALSE_ALARM = 1e-12
LARGEST = 1 << 22  # entries of a matrix that can be looked at
# Decimal arithmetic of an author's own may differ in the last digits; floats differ by far more.
SAME_EPSILON = Decimal("1e-20")

MEMBERS = (
    "kind",
    "inputs",
    "outputs",
    "total",
    "draws",
    "reports_answers",
    "has_digits",
    "has_matrix",
    "has_forward",
    "exact_epsilon",
    "weights",
    "respond",
    "project",
    "forward",
    "inverse",
    "best_guess",
    "worst_guess",
    "document",
)
# What only castell's own channels answer for themselves: budget, exposure and audits rest on it.
OWN_TRAITS = tuple(n for n in vars(Traits) if n[0] != "_" and n not in ("kind", "title"))


def check_channel(channel: Any, built_in: Collection[str] = ()) -> None:
    """Refuse a channel that is none, or that does something else than it says."""
    if isinstance(channel, type):
        raise ChannelError(
            f"{channel.__name__} is a class of channels", "make a channel of it, with its weights"
        )
    missing = [name for name in MEMBERS if getattr_static(channel, name, None) is None]
    if missing:
        raise ChannelError(
            f"a {type(channel).__name__} is no channel: it has no {', '.join(missing)}",
            "give a matrix, or a channel (castell.extend.WeightedChannel has all of it)",
        )
    _check_traits(channel)
    _check_once(_Case(type(channel), _document_text(channel, built_in), channel))


@dataclass(frozen=True)
class _Case:
    """A channel by what it publishes: checked once, however many studies it is part of."""

    made_by: type
    document: str
    channel: Any = field(compare=False)


@lru_cache(maxsize=256)
def _check_once(case: _Case) -> None:
    channel: Channel = case.channel
    weights = _check_weights(channel)
    _check_epsilon(channel, weights)
    _check_responses(channel, weights)
    _check_lens(channel, weights)


def _refuse(channel: Any, problem: str, remedy: str) -> NoReturn:
    raise ChannelError(f"the channel of kind {channel.kind!r} {problem}", remedy)


def _check_traits(channel: Any) -> None:
    """Refuse one that is public, skipped or coarse by its own word: no weights would show it."""
    if not isinstance(getattr(channel, "title", None), str):
        raise ChannelError(
            f"a {type(channel).__name__} has no name for people",
            "give it a text as its title, or inherit castell.extend.Traits",
        )
    changed = [n for n in OWN_TRAITS if getattr_static(channel, n, 0) is not vars(Traits)[n]]
    if changed:
        raise ChannelError(
            f"a {type(channel).__name__} is special by its own word: {', '.join(changed)}",
            "leave that as castell.extend.Traits has it; only the weights can be checked",
        )


def _document_text(channel: Any, built_in: Collection[str]) -> str:
    """The document as text, if it is one that the channel can be read from again."""
    if not isinstance(channel.kind, str) or not channel.kind:
        raise ChannelError(f"a channel's kind is {channel.kind!r}", "give it a name")
    if channel.kind in built_in:
        _refuse(channel, "is not castell's own, which has that name", "name it otherwise")
    document = channel.document()
    try:
        text = json.dumps(document, sort_keys=True, allow_nan=False)
        same = json.loads(text) == document
    except (TypeError, ValueError):
        text, same = "", False
    if not same or not isinstance(document, dict) or document.get("kind") != channel.kind:
        _refuse(
            channel,
            "has a document that is no JSON object with its kind",
            "publish a dictionary of texts, whole numbers and lists, with 'kind'",
        )
    if hasattr(type(channel), "from_document"):
        again = type(channel).from_document(document)
        if again.document() != document or again.weights() != channel.weights():
            _refuse(
                channel,
                "is another one when it is read from its document",
                "put everything that its weights follow from into the document",
            )
    return text


def _check_weights(channel: Channel) -> list[list[int]]:
    for name in ("inputs", "outputs", "total"):
        try:
            number = getattr(channel, name)
        except TypeError as error:
            _refuse(channel, f"has no {name} ({error})", "make its weights rows of whole numbers")
        if type(number) is not int:
            _refuse(channel, f"has {name} = {number!r}", "give a whole number")
    if not channel.has_matrix or channel.draws != 1:
        _refuse(
            channel,
            "has no matrix, or draws several numbers for an answer",
            "only a matrix that one number samples can be checked and taken back out",
        )
    if channel.has_digits or (channel.reports_answers and channel.outputs != channel.inputs):
        _refuse(
            channel,
            "says that its reports are answers, or have a digit for each attribute",
            "set has_digits to False, and reports_answers too if reports are no answers",
        )
    if not 2 <= channel.inputs <= channel.outputs:
        _refuse(
            channel,
            f"has {channel.inputs} answers and {channel.outputs} reports",
            "there must be two answers or more, and as many reports or more",
        )
    if channel.inputs * channel.outputs > LARGEST:
        _refuse(channel, "has too many weights to be checked", "split the block")
    if not 0 < channel.total <= MAX_TOTAL:
        _refuse(channel, f"has weights that sum to {channel.total}", "keep them below 2^53")
    weights = channel.weights()
    shape = [len(row) for row in weights]
    if shape != [channel.outputs] * channel.inputs:
        _refuse(
            channel,
            f"has weights that are not {channel.inputs} rows of {channel.outputs}",
            "give a row for each answer, with the weight of every report",
        )
    for x, row in enumerate(weights):
        for y, weight in enumerate(row):
            if type(weight) is not int or weight < 1:
                _refuse(
                    channel,
                    f"has weight {weight!r} for report {y} of answer {x}",
                    "give positive whole numbers: a report that an answer never leads to would "
                    "rule it out",
                )
        if sum(row) != channel.total:
            _refuse(
                channel,
                f"has weights of answer {x} that sum to {sum(row)}, not {channel.total}",
                "make every row sum to the total",
            )
    return weights


def _check_epsilon(channel: Channel, weights: list[list[int]]) -> None:
    columns = zip(*weights, strict=True)
    true = log_ratio(max(Fraction(max(column), min(column)) for column in columns))
    stated: object = channel.exact_epsilon
    if not isinstance(stated, Decimal) or abs(stated - true) > SAME_EPSILON:
        _refuse(
            channel,
            f"states epsilon = {stated}, and its weights give {true:.12g}",
            "state the logarithm of the largest ratio of two weights of a report "
            "(castell.extend.log_ratio)",
        )
    check_range(true, f"the epsilon of the channel of kind {channel.kind!r}")


def _check_responses(channel: Channel, weights: list[list[int]]) -> None:
    every = channel.inputs * channel.total <= EXHAUSTIVE
    generator = np.random.default_rng(0)  # the same numbers each time: a verdict is never luck
    tried = (
        channel.total if every else max(SAMPLE >> 5, min(SAMPLE, (SAMPLE << 3) // channel.inputs))
    )
    cells = channel.inputs * channel.outputs
    for x, row in enumerate(weights):
        numbers: Words = (
            np.arange(channel.total, dtype=np.uint64)
            if every
            else generator.integers(0, channel.total, tried, dtype=np.uint64)
        )
        reports = _responses(channel, x, numbers)
        seen = np.bincount(reports, minlength=channel.outputs) / tried
        said = np.array(row, dtype=np.float64) / channel.total
        # Bernstein's inequality: no cell is further off by chance but once in 1 / FALSE_ALARM.
        log = np.log(2.0 * cells / FALSE_ALARM)
        slack = (log / 3 + np.sqrt(log**2 / 9 + 2 * log * tried * said * (1 - said))) / tried
        off = np.abs(seen - said) > (0.5 / channel.total if every else slack)
        if off.any():
            y = int(np.argmax(off))
            _refuse(
                channel,
                f"reports answer {x} as {y} with chance {seen[y]:.6g}, not {said[y]:.6g}",
                "respond() must give each report as many of the numbers below the total as it "
                "weighs",
            )


def _responses(channel: Channel, answer: int, numbers: Words) -> NDArray[np.int64]:
    """The reports of an answer; each must be a report, and depend on its own number only."""
    codes = np.full(len(numbers), answer, dtype=np.intp)
    given = numbers.copy()
    found = np.asarray(channel.respond(codes, given))
    if found.shape != numbers.shape or found.dtype.kind not in "iu":
        _refuse(channel, "does not respond with a whole number each", "return one for each answer")
    reports = found.astype(np.int64)
    if len(reports) and not 0 <= reports.min() <= reports.max() < channel.outputs:
        _refuse(
            channel,
            f"responds with {reports.min()} to {reports.max()}",
            f"reports run from 0 to {channel.outputs - 1}",
        )
    again = np.asarray(channel.respond(codes[::-1], numbers[::-1].copy()))[::-1]
    if not np.array_equal(again, found) or not np.array_equal(given, numbers):
        _refuse(
            channel,
            "responds otherwise to the same answer and number",
            "respond() must use the numbers it is given and no other randomness, and keep them",
        )
    return reports


def _check_lens(channel: Channel, weights: list[list[int]]) -> None:
    matrix: Floats = np.array(weights, dtype=np.float64).T / channel.total
    if not channel.has_forward or not np.allclose(channel.forward.dense(), matrix, atol=1e-12):
        _refuse(channel, "has a forward map that is not its weights", "give weights / total")
    inverse = channel.inverse.dense()
    if inverse.shape != matrix.T.shape or not np.allclose(
        inverse @ matrix, np.eye(channel.inputs), atol=1e-6
    ):
        _refuse(channel, "has an inverse that does not take it back out", "invert its matrix")
    columns = list(zip(*weights, strict=True))
    best = sum(max(column) for column in columns) / (channel.total * channel.inputs)
    worst = max(max(column) / sum(column) for column in columns)
    for name, true in (("best_guess", best), ("worst_guess", worst)):
        if abs(getattr(channel, name) - true) > 1e-12:
            _refuse(
                channel,
                f"states {name} = {getattr(channel, name):.9g}, and its weights give {true:.9g}",
                "work it out from the weights",
            )
    if channel.project((channel.inputs,), (0,)) is None:
        _refuse(channel, "has no view of the whole block", "project() must return itself there")
