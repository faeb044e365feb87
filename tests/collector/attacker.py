"""Somebody with the list of invitations and a copy of every file, who wants to link and to order.

The attack knows nothing of how a store lays out its files. It looks for the bytes by which an
invitation or a report can be known, wherever they are, and ranks them by where they are found: the
first and the last place in a file (in a WAL that is the order of writing), the place inside a page,
the number of copies. System columns of a database are one more thing to rank by. Then

- each ranking is compared with the true order of arrival (Spearman's rank correlation),
- each ranking of invitations is laid beside each ranking of reports: the first with the first, and
  so on, or each with its neighbour; and what is right is counted.

The attacker of a test may try all of them, forwards and backwards, and is judged by the best.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PAGES = (4096, 8192)
_DICE = random.Random(1)  # noqa: S311
Ranking = dict[int, float]  # a person's number, by arrival, and where they stand


@dataclass(frozen=True)
class Person:
    """One who answered: the bytes that their invitation and their report can be known by."""

    invitation: tuple[bytes, ...]
    report: tuple[bytes, ...]


def copied(*folders: Path) -> dict[str, bytes]:
    """All files of some folders, as a thief takes them."""
    files = (path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path): path.read_bytes().rstrip(b"\x00") for path in files}


def rankings(files: Mapping[str, bytes], marks: Sequence[Sequence[bytes]]) -> dict[str, Ranking]:
    """Everything that the places of some bytes can be ranked by, for each file."""
    found: dict[str, Ranking] = {}
    for name, content in files.items():
        places = _places(content, {mark for kinds in marks for mark in kinds})
        for number, kinds in enumerate(marks):
            for kind, mark in enumerate(kinds):
                if mark not in places:
                    continue
                first, last = places[mark][0], places[mark][-1]
                seen = {"first": first, "last": last, "copies": len(places[mark])}
                seen |= {f"first in {page}": first % page for page in PAGES}
                seen |= {f"last in {page}": last % page for page in PAGES}
                for feature, value in seen.items():
                    found.setdefault(f"{name} {kind} {feature}", {})[number] = value
    return found


def _places(content: bytes, marks: set[bytes]) -> dict[bytes, list[int]]:
    """Where each of some marks is, in one pass: a WAL is long, and people are many."""
    known = np.zeros(1 << 16, dtype=bool)
    for mark in marks:
        known[int.from_bytes(mark[:2], "big")] = True
    lengths = sorted({len(mark) for mark in marks})
    found: dict[bytes, list[int]] = {}
    for start in range(0, len(content), 1 << 24):
        part = np.frombuffer(content[start : start + (1 << 24) + 1], dtype=np.uint8)
        pairs = part[:-1].astype(np.uint16) << 8 | part[1:]
        for at in (np.flatnonzero(known[pairs]) + start).tolist():
            for length in lengths:
                if (piece := content[at : at + length]) in marks:
                    found.setdefault(piece, []).append(at)
    return found


def correlation(ranking: Ranking) -> float:
    """Spearman's, of a ranking with arrival, in units of what chance makes of it.

    Without an order in it this is close to a standard normal variable: above 5.5 by chance less
    than once in ten million times.
    """
    numbers = np.array(sorted(ranking))
    values = np.array([ranking[number] for number in numbers])
    if len(numbers) < 10 or np.ptp(values) == 0:
        return 0.0
    ranks = _ranks(values)
    arrival = _ranks(numbers.astype(float))
    found = float(np.corrcoef(ranks, arrival)[0, 1])
    return abs(found) * float(np.sqrt(len(numbers) - 1))


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks, equal ones shared."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[inverse]


def links(invitations: Ranking, reports: Ranking) -> int:
    """How many are right if the first invitation is laid beside the first report, and so on."""
    best = 0
    right = _ordered(reports)
    for left in (_ordered(invitations), _ordered(_only(invitations, reports))):
        for one, other in ((left, right), (left[::-1], right), (left[::-1], right[::-1])):
            best = max(best, sum(a == b for a, b in zip(one, other, strict=False)))
    return best


def neighbours(invitations: Ranking, reports: Ranking) -> int:
    """How many are right if each invitation is laid beside the report right after or before it.

    Where both are in one file this does not mind that some of either are missing.
    """
    right = _ordered(reports)
    values = [reports[number] for number in right]
    best = 0
    for step in (0, -1):
        found = 0
        for number, value in invitations.items():
            at = bisect_right(values, value) + step
            found += 0 <= at < len(right) and right[at] == number
        best = max(best, found)
    return best


def _ordered(ranking: Ranking) -> list[int]:
    """People as a ranking has them; who stand equal in an order without meaning."""
    numbers = list(ranking)
    _DICE.shuffle(numbers)
    return sorted(numbers, key=ranking.__getitem__)


def _only(one: Ranking, other: Ranking) -> Ranking:
    return {number: value for number, value in one.items() if number in other}


@dataclass(frozen=True)
class Loot:
    """What the best of all rankings gave the attacker, and which it was."""

    order: float
    order_by: str
    links: int
    links_by: str


def attack(
    files: Mapping[str, bytes],
    people: Sequence[Person],
    invitations: Mapping[str, Ranking] | None = None,
    reports: Mapping[str, Ranking] | None = None,
) -> Loot:
    """Try everything; `invitations` and `reports` are further rankings, of system columns say."""
    codes = rankings(files, [one.invitation for one in people]) | dict(invitations or {})
    kept = rankings(files, [one.report for one in people]) | dict(reports or {})
    order, order_by = max(
        ((correlation(ranking), name) for name, ranking in {**codes, **kept}.items()),
        default=(0.0, ""),
    )
    pairs = (
        (max(links(a, b), neighbours(a, b)), f"{m} | {n}")
        for m, a in codes.items()
        for n, b in kept.items()
    )
    most, by = max(pairs, default=(0, ""))
    return Loot(order, order_by, most, by)
