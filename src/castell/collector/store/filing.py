"""Filing: which of the waiting reports go to the database, and when.

Three rules, so that what the database remembers of its transactions is nothing about a person.

1. At least `POOL` reports go together, in one transaction, sorted by their random keys.
2. Reports and used invitations are chosen for filing at random and independently of each other, and
   `POOL` of each stay behind. So the reports that wait are never "those that came since the last
   filing", and whoever knows which invitations were filed does not know which reports.
3. A batch that is large by itself goes straight to the database, once a full pool waits: those who
   wait are then already hidden among each other, and so are those of the batch.

`POOL` is 64: whoever holds the invitations, and all that is on the disk, links a person to their
report with a chance of 1 in 64 at best, once as many have answered. (While n < 64 have, it is
1 in n: n used invitations and n reports are there, whatever the order.) A larger pool hides little
more, while all that waits is written anew with each report: 2 * 64 rows are about a page.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection

from castell.collector.store.spool import Waiting

POOL = 64

_CHOOSE = secrets.SystemRandom()


def goes_straight(waiting: Waiting, new: Collection[bytes]) -> bool:
    """Whether a batch of new reports can be filed without those that wait.

    >>> pool = {bytes([i]): b"" for i in range(POOL)}
    >>> goes_straight(Waiting(pool), pool), goes_straight(Waiting(), pool)
    (True, False)
    """
    return len(waiting.reports) >= POOL and len(new) >= POOL


def is_due(reports: int) -> bool:
    """Whether enough reports wait: a pool to file and a pool to stay."""
    return reports >= 2 * POOL


def choose_for_filing(waiting: Waiting) -> Waiting:
    """What is filed now: all but a pool of reports, all but a pool of invitations.

    >>> full = Waiting({bytes([i]): b"" for i in range(2 * POOL)}, frozenset([b"a", b"b"]))
    >>> chosen = choose_for_filing(full)
    >>> len(chosen.reports), sorted(chosen.spent)
    (64, [])
    """
    keys = _all_but_a_pool(waiting.reports)
    return Waiting(
        {key: waiting.reports[key] for key in keys},
        frozenset(_all_but_a_pool(waiting.spent)),
        waiting.hour,
    )


def _all_but_a_pool(keys: Collection[bytes]) -> list[bytes]:
    return _CHOOSE.sample(sorted(keys), max(0, len(keys) - POOL))
