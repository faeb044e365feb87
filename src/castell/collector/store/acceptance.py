"""What becomes of submissions among reports that are there already: the rules, without a database.

A report that is there counts as repeated, at any time: whoever heard no answer learns that it is
kept. An id that stands for other codes refuses its whole submission. Outside the opening hours, and
while the collection is paused, nothing new is taken. An invitation is used up only for a submission
that brings something new, and refused where none is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from castell.collector.store.store import Outcome, Refusal, Submission


def settle(
    submissions: Sequence[Submission],
    known: Mapping[bytes, bytes],
    spend: Callable[[str | None], bool] | None,
    *,
    paused: bool = False,
) -> tuple[list[Outcome], dict[bytes, bytes]]:
    """The outcomes, and the reports to be written, by id.

    `known` are the codes of those ids that are there; `spend` uses an invitation, if reports need
    one.

    >>> one = Submission(((b"id", b"codes"),))
    >>> settle([one, one], {}, None)
    ([Outcome(stored=1, repeated=0, refusal=None, at=0),
      Outcome(stored=0, repeated=1, refusal=None, at=0)], {b'id': b'codes'})
    """
    outcomes: list[Outcome] = []
    written: dict[bytes, bytes] = {}
    for submission in submissions:
        new: dict[bytes, bytes] = {}
        outcome = None
        for i, (id, codes) in enumerate(submission.reports):
            there = known.get(id) or written.get(id) or new.setdefault(id, codes)
            if there != codes:
                outcome = Outcome(0, 0, Refusal.CONFLICT, i)
                break
        if outcome is None and new and not submission.in_hours:
            outcome = Outcome(0, 0, Refusal.CLOSED)
        if outcome is None and new and paused:
            outcome = Outcome(0, 0, Refusal.PAUSED)
        if outcome is None and new and spend is not None and not spend(submission.invitation):
            outcome = Outcome(0, 0, Refusal.INVITATION)
        if outcome is None and spend is None and submission.invitation is not None:
            outcome = Outcome(0, 0, Refusal.UNASKED)
        if outcome is None:
            written |= new
            outcome = Outcome(len(new), len(submission.reports) - len(new))
        outcomes.append(outcome)
    return outcomes, written
