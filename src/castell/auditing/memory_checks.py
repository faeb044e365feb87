"""What a device says when it is asked again: the same, and of another answer nothing more.

A device draws its random numbers once for a study, whatever is answered. So the same answer gives
the same report, and the reports of two answers are made of one number. A device that draws again
gives away as much again, and so does one whose numbers depend on the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from castell.auditing.audited_codes import Row
from castell.auditing.devices import Codes
from castell.auditing.telling_event import Event, Reports, bound, pools
from castell.auditing.verdict import Check, by_chance
from castell.channels import Words
from castell.device.random_words import Source, secure_words
from castell.device.respond import draw_samples, report_columns
from castell.inference.incomplete_beta import incomplete_beta
from castell.linear.operators import Floats
from castell.results.trust.drift import homogeneity
from castell.study.study import Study

Ask = Callable[[Sequence[Row], int], Codes]

# In place of the device's reports, so many made here of one number each.
_REFERENCE = 50_000


def memory_checks(
    study: Study,
    events: Sequence[Event],
    pair: tuple[Row, Row],
    people: int,
    ask: Ask,
    alpha: float,
) -> list[Check]:
    """Devices are asked the same twice, then otherwise, then the first again; both ways round."""
    one, two = pair
    first, second = ask([one, one, two, one], people), ask([two, two, one, two], people)
    differ = sum(
        int((codes[:, [1, 3]] != codes[:, :1]).any(axis=(1, 2)).sum()) for codes in (first, second)
    )
    event = max(events, key=lambda event: event.part.epsilon)
    thrice: list[Reports] = [
        np.asarray(event.reports[codes[:, [0, 1, 3], event.part.column]].all(axis=1))
        for codes in (first, second)
    ]
    chances = event.likely, event.unlikely
    found = bound("asked three times", event.part.epsilon, thrice[0], thrice[1], chances, alpha)
    told = f"{differ:,} of {2 * people:,} devices gave the same answers another report"
    if differ:
        told += f"; asked three times, {event.part.name} gives away at least {found.lower:.3g}"
    return [
        Check("the same answer, the same report", told, differ == 0 and found.holds),
        _coupling(study, pair, first[:, [0, 2]], alpha),
    ]


def _coupling(study: Study, pair: tuple[Row, Row], codes: Codes, alpha: float) -> Check:
    """Whether reports of two answers go together as those made of one number do."""
    made = _made_of_one_number(study, pair, _REFERENCE)
    found = []
    for column in range(codes.shape[2]):
        width = study.design.widths[column]
        seen, likely = (
            _join_columns(codes[:, :, column], width),
            _join_columns(made[:, :, column], width),
        )
        _, places = np.unique(np.concatenate([seen, likely]), return_inverse=True)
        table = np.zeros((2, int(places.max()) + 1))
        np.add.at(table[0], places[: len(seen)], 1.0)
        np.add.at(table[1], places[len(seen) :], 1.0)
        found.append(_never_made(table))
        # The rarest together, so that pools are made of what is rare.
        order = np.argsort(table[1], kind="stable")
        table = table[:, order]
        starts = pools(table[1] * len(seen) / len(likely))
        found.append(homogeneity(np.add.reduceat(table, starts, axis=1)).p)
    return by_chance("another answer, the same random number", found, alpha)


def _never_made(table: Floats) -> float:
    """How often so many devices give two reports that were never made of one number here.

    What was never seen has about the chance of what was seen once (Good 1953); more is allowed.
    """
    once = float((table[1] == 1.0).sum())
    allowed = min(1.0, (once + 5.0 * sqrt(once) + 20.0) / table[1].sum())
    strange, people = int(table[0, table[1] == 0.0].sum()), int(table[0].sum())
    return incomplete_beta(strange, people - strange + 1, allowed) if strange else 1.0


def _join_columns(codes: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    found: NDArray[np.int64] = codes[:, 0] * width + codes[:, 1]
    return found


def _made_of_one_number(study: Study, pair: tuple[Row, Row], people: int) -> Codes:
    design = study.design
    drawn = draw_samples(design, people, secure_words)
    kept: dict[int, list[Words]] = {}
    found = []
    for row in pair:
        codes = {name: np.full(people, code, dtype=np.intp) for name, code in row.items()}
        sources = {index: _again(kept.setdefault(index, [])) for index in range(len(design.blocks))}
        columns = report_columns(design, codes, drawn, sources.__getitem__)
        found.append(np.stack([column.astype(np.int64) for column in columns], axis=1))
    return np.stack(found, axis=1)


def _again(kept: list[Words]) -> Source:
    """The words that were drawn here before, in their order; new ones once those are used up."""
    place = 0

    def words(count: int) -> Words:
        nonlocal place
        if place == len(kept):
            kept.append(secure_words(count))
        place += 1
        return kept[place - 1]

    return words
