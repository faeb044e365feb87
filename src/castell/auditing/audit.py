"""An audit: how much a device gives away, measured from outside, and whether it is the study's.

The epsilon of a device is at least the log of how much likelier some event is under one answer than
under another. The event is chosen on a quarter of the reports and tested on the others, by exact
binomial bounds (Clopper and Pearson 1934), so the bound holds whatever the device does. A bound
proves too much; that a device is right it cannot prove. So reports are also compared with the
published weights, against those of other people, and against what the same device says again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import ceil, hypot, log, sqrt

import numpy as np
from numpy.typing import NDArray

from castell.auditing.audited_codes import (
    Part,
    Row,
    count_wrong_cells,
    labels,
    parts_of,
    rows_sent_plainly,
    rows_to_ask,
)
from castell.auditing.device_names import FEWEST, IN_A_BROWSER, PEOPLE, is_address, open_device
from castell.auditing.devices import Codes, Device
from castell.auditing.memory_checks import memory_checks
from castell.auditing.telling_event import (
    Bound,
    Event,
    bound,
    choose,
    fit_of,
    likeliest,
    repeats_of,
)
from castell.auditing.verdict import Audit, Check, by_chance
from castell.errors import OptionError
from castell.inference.intervals import quantile
from castell.numbers import is_number, is_whole
from castell.results.trust.drift import homogeneity
from castell.study.study import Study

# Of all reports so many choose the event; of the rest, half are of one row of answers.
CHOOSING = 0.25
LAGS = (1, 2, 3, 4)
# So many report each row of answers that are sent as they are: nothing of that is left to chance.
PLAIN_PEOPLE = 50
# Bounds of fast devices that are right come so near to epsilon so often, with at most so many
# people.
WITHIN, LIKELY, MOST_PEOPLE = 0.01, 0.99, 10_000_000

Progress = Callable[[float], None]


def audit(
    study: Study | None,
    device: Device | str = "frame",
    *,
    n: int | None = None,
    confidence: float = 0.999,
    progress: Progress | None = None,
) -> Audit:
    """What a device gives away, next to what the study states.

    `device` is "frame" (`study.randomize`), "python" (what `castell send` runs), "browser" (the
    client in a real browser), the address of a running survey page, whose study is taken if none
    is given, or an object with a `reports` method. `n` people are asked; nothing is ever sent. All
    bounds hold at once with `confidence`, and each kind of check fails a right device at most as
    often as that allows.

    >>> from castell import Attribute, Schema, Study
    >>> study = Study(Schema([Attribute("smokes", ["no", "yes"])]), epsilon=1.0)
    >>> found = audit(study, n=100_000)
    >>> 0.8 < found.lower, found.epsilon <= 1.0
    (True, True)
    """
    if n is not None and not is_whole(n, FEWEST):
        raise OptionError(f"n is {n!r}", f"give how many devices to ask, {FEWEST} or more")
    if not is_number(confidence, 0.5) or not 0.5 <= confidence < 1.0:
        raise OptionError(f"the confidence is {confidence!r}", "give a share from 0.5 to below 1")
    with open_device(device) as asked:
        study = _study_of(asked, study)
        parts, rows = parts_of(study), rows_to_ask(study)
        people = n or _people(asked, parts, rows, 1.0 - confidence)
        again = min(max(people // 20, 100), 2000) if asked.remembers else 0
        take = _Taking(asked, study, people + 8 * again, progress)
        each = max(2, int(people * CHOOSING) // len(rows))
        explored = [take(row, each) for row in rows]
        events = [choose(part, rows, explored) for part in parts]
        pair = _pair(events)
        half = int(people * (1.0 - CHOOSING)) // 2
        first, second = take(pair[0], half), take(pair[1], half)
        alpha = 1.0 - confidence
        bounds = _bounds(events, first, second, alpha)
        whole = _whole(study, events, first, second, alpha)
        checks = [
            _enumeration(study),
            *_weights_checks(parts, pair, (first, second), alpha),
            *_independence(events, (first, second), alpha),
            *_check_plain_answers(study, take),
        ]
        if asked.remembers:
            checks += memory_checks(study, events, pair, again, take.sequence, alpha)
        if asked.name not in PEOPLE:
            told = f"{len(asked.sent)} requests were stopped" if asked.sent else "nothing"
            checks.append(Check("sends nothing", f"what it tried to send: {told}", not asked.sent))
        return Audit(
            study=study,
            device=asked.name,
            n=take.people,
            confidence=float(confidence),
            whole=whole,
            bounds=tuple(bounds),
            checks=tuple(checks),
        )


def _study_of(device: Device, given: Study | None) -> Study:
    """The study to audit: the one given, which a page must serve, or the page's."""
    read = getattr(device, "read_study", None) if is_address(device.name) else None
    served: Study | None = None if read is None else read()
    study = given or served
    if study is None:
        raise OptionError("there is no study to audit", "give one, or a survey page's address")
    if served is not None and served.digest not in study.digests:
        raise OptionError(
            f"{device.name} serves another study (digest {served.digest[:12]})",
            "audit it by its address alone, which takes its own study",
        )
    return study


class _Taking:
    """Asks a device, some people at a time, and tells how far it is."""

    def __init__(
        self, device: Device, study: Study, expected: int, progress: Progress | None
    ) -> None:
        self.device, self.study, self.expected = device, study, expected
        self.progress, self.people, self.done = progress, 0, 0

    def __call__(self, row: Row, people: int) -> Codes:
        return self.sequence([row], people)[:, 0, :]

    def sequence(self, rows: Sequence[Row], people: int) -> Codes:
        """What so many devices report when they are asked one row after the other."""
        asked = [labels(self.study, row) for row in rows]
        parts: list[Codes] = []
        widths = np.array(self.study.design.widths)
        while people:
            step = min(people, self.device.step)
            made = np.asarray(self.device.reports(self.study, asked, step), dtype=np.int64)
            shape = (step, len(rows), len(widths))
            if made.shape != shape or (made < 0).any() or (made >= widths).any():
                raise OptionError(
                    f"the device {self.device.name!r} makes reports that are none of the study's",
                    f"it must give codes as an array of shape {shape}",
                )
            parts.append(made)
            people -= step
            self.people += step
            self.done += step * len(rows)
            if self.progress is not None:
                self.progress(min(1.0, self.done / self.expected))
        return np.concatenate(parts)


def _names_in(events: Sequence[Event]) -> set[str]:
    return {n for event in events for member in event.part.members for n in member.block.names}


def _pair(events: Sequence[Event]) -> tuple[Row, Row]:
    """Two rows of answers that are each part's own pair; what is public is the same in both."""
    shown = [name for name in events[0].first if name not in _names_in(events)]
    rows: list[dict[str, int]] = [{name: events[0].first[name] for name in shown} for _ in range(2)]
    for event in events:
        for member in event.part.members:
            for row, chosen in zip(rows, (event.first, event.second), strict=True):
                row.update({name: chosen[name] for name in member.block.names})
    return rows[0], rows[1]


def _where_seen(event: Event, codes: Codes) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = event.reports[codes[:, event.part.column]]
    return found


def _bounds(events: Sequence[Event], first: Codes, second: Codes, alpha: float) -> list[Bound]:
    share = alpha / (len(events) + (len(events) > 1))
    return [
        bound(
            event.part.name,
            event.part.epsilon,
            _where_seen(event, first),
            _where_seen(event, second),
            (event.likely, event.unlikely),
            share,
        )
        for event in events
    ]


def _whole(
    study: Study, events: Sequence[Event], first: Codes, second: Codes, alpha: float
) -> Bound | None:
    """The whole report at once: in how many parts their event was seen. Nothing is assumed."""
    if len(events) == 1:
        return None
    one = np.array([_where_seen(event, first) for event in events]).sum(axis=0)
    two = np.array([_where_seen(event, second) for event in events]).sum(axis=0)
    likely = _many([event.likely for event in events])
    unlikely = _many([event.unlikely for event in events])
    share = alpha / (len(events) + 1)
    chances = [(float(likely[k:].sum()), float(unlikely[k:].sum())) for k in range(1, len(likely))]
    # By the weights, not by these reports: how many parts must show it is chosen beforehand.
    least = 1 + int(np.argmax([_likely_bound(p, q, len(first), share) for p, q in chances]))
    return bound(
        "the whole report",
        study.epsilon,
        one >= least,
        two >= least,
        chances[least - 1],
        share,
    )


def _likely_bound(p: float, q: float, n: int, alpha: float) -> float:
    seen = np.ones(n, dtype=np.bool_)
    seen[round(n * p) :] = False
    other = np.ones(n, dtype=np.bool_)
    other[round(n * q) :] = False
    return bound("", 0.0, seen, other, (p, q), alpha).lower


def _many(chances: Sequence[float]) -> NDArray[np.float64]:
    """How often how many of independent events happen."""
    found = np.ones(1)
    for chance in chances:
        found = np.convolve(found, [1.0 - chance, chance])
    return found


def _enumeration(study: Study) -> Check:
    cells, wrong = count_wrong_cells([block.channel for block in study.design.blocks])
    told = f"{cells:,} (answer, number) cells of small channels gone through, {wrong:,} wrong"
    if not cells:
        told = "no channel is small enough to go through every number; its weights are used"
    return Check("published weights", told, wrong == 0)


def _weights_checks(
    parts: Sequence[Part], pair: tuple[Row, Row], codes: tuple[Codes, Codes], alpha: float
) -> list[Check]:
    fits, repeats = [], []
    for part in parts:
        for row, seen in zip(pair, codes, strict=True):
            chances = part.chances(row)
            fits.append(fit_of(part.counts(seen), chances))
            repeats += [repeats_of(seen[:, part.column], chances, lag) for lag in LAGS]
    return [
        by_chance("reports as often as the weights say", fits, alpha),
        by_chance("no report repeats another person's", repeats, alpha),
    ]


def _independence(events: Sequence[Event], codes: tuple[Codes, Codes], alpha: float) -> list[Check]:
    """Whether what one part shows has to do with what another shows, given the answers."""
    if len(events) == 1:
        return []
    found = []
    for seen in codes:
        shown = [_where_seen(event, seen) for event in events]
        for one, two in combinations(shown, 2):
            table = np.bincount(2 * one + two, minlength=4).reshape(2, 2)
            found.append(homogeneity(table).p)
    return [by_chance("parts are independent of each other", found, alpha)]


def _check_plain_answers(study: Study, take: _Taking) -> list[Check]:
    """Whether what is declared to be sent as it is, and only that, says what was answered."""
    wrong = asked = 0
    for row, allowed in rows_sent_plainly(study):
        codes = take(row, PLAIN_PEOPLE)
        asked += len(codes)
        fits = [np.isin(codes[:, column], list(may)) for column, may in allowed.items()]
        wrong += int((~np.all(fits, axis=0)).sum())
    if not asked:
        return []
    told = f"{wrong:,} of {asked:,} reports say otherwise than was answered"
    return [Check("public or skipped, and sent as it is", told, wrong == 0)]


def _people(device: Device, parts: Sequence[Part], rows: Sequence[Row], alpha: float) -> int:
    """As many as bring every bound within a hundredth of epsilon, where devices are fast enough."""
    if device.name != "frame":
        return PEOPLE.get(device.name, IN_A_BROWSER)
    wanted = max(_least_reports(part, rows, alpha / (len(parts) + 1)) for part in parts)
    return min(max(int(2 * wanted / (1.0 - CHOOSING)), PEOPLE["frame"]), MOST_PEOPLE)


def _least_reports(part: Part, rows: Sequence[Row], alpha: float) -> int:
    """How many reports of each answer that takes, by the event of the weights.

    The bound is so many standard errors below an estimate that itself may be some too low.
    """
    unlucky = quantile(2.0 * LIKELY - 1.0)  # to one side
    found = MOST_PEOPLE
    for one, two in combinations([part.chances(row) for row in rows], 2):
        best = likeliest(one, two)
        p, q = float(one[best].sum()), float(two[best].sum())
        wide = log(p / q) - (1.0 - WITHIN) * part.epsilon
        if wide > 0.0:
            # Both chances are bounded on their own, so their errors add up.
            errors = sqrt((1.0 - p) / p), sqrt((1.0 - q) / q)
            far = sum(errors) * quantile(1.0 - alpha) + hypot(*errors) * unlucky
            found = min(found, ceil((far / wide) ** 2))
    return found
