"""What a soak left behind, against what was promised, and what a thief of all files finds in it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from castell.collector.store import open_store
from castell.collector.store.invitations import invitation_key
from castell.collector.store.store import report_key
from castell.collector.wire import id_bytes
from castell.study.study import Study
from tests.collector.attacker import Person, attack, copied
from tests.collector.loot import system_columns
from tests.collector.soak.people import Account

# People who answered one after the other, whom the thief tries to link. A chance of 1 in 64 is
# promised: 4 of 256 on average. So many, in the best of some hundred tries, are more than chance
# gives once in a million times.
LINKED, LINKS = 256, 24
# Spearman's correlation in units of chance, over people from the whole run.
ORDERED, ORDER = 256, 6.0


@dataclass(frozen=True)
class Theft:
    """When everything was copied, and what the best of all attacks made of it."""

    when: str
    people: int
    right: int
    by: str
    order: float | None

    @property
    def bad(self) -> bool:
        return self.right >= LINKS or (self.order is not None and self.order >= ORDER)


@dataclass(frozen=True)
class Verdict:
    """`lost`: acknowledged and not there. `double`: there and never sent, or with other codes, or
    an invitation used for nothing, or the other way round."""

    promised: int
    held: int
    used: int
    lost: int
    double: int
    thefts: tuple[Theft, ...] = field(default=())

    @property
    def linkable(self) -> int:
        return sum(theft.bad for theft in self.thefts)

    @property
    def good(self) -> bool:
        return not (self.lost or self.double or self.linkable)


def verdict(place: str, study: Study, account: Account, thefts: tuple[Theft, ...]) -> Verdict:
    with closing(open_store(place)) as opened, opened.snapshot() as snapshot:
        pack = opened._packing.pack  # type: ignore[attr-defined]
        rows = [(bytes(id), bytes(codes)) for part in snapshot.rows for id, codes, _ in part]
        unspent = set(map(bytes, snapshot.unspent))
    held = dict(rows)
    keys = {id: report_key(study, id_bytes(id)) for id in account.sent}
    sent = {keys[id]: pack(codes) for id, codes in account.sent.items()}
    lost = sum(keys[id] not in held for id in account.promised) + account.kept_again
    given = account.invitations.values()
    used = sum(invitation_key(study, code) not in unspent for code in given)
    foreign = sum(sent.get(key) != codes for key, codes in rows)
    double = foreign + len(rows) - len(held) + abs(used - len(held))
    return Verdict(len(account.promised), len(rows), used, lost, double, thefts)


def steal(
    when: str,
    account: Account,
    places: list[Path],
    study: Study,
    database: str | None = None,
    *,
    order: bool,
) -> Theft:
    """Copy everything and try; `order` where no order at all is promised."""
    last = [_person(study, account, id) for id in account.promised[-LINKED:]]
    files = {Path(name).name: content for name, content in copied(*places).items()}
    columns = ({}, {}) if database is None else system_columns(database, last)
    loot = attack(files, last, *columns)
    found = None
    if order:
        step = max(1, len(account.promised) // ORDERED)
        spread = [_person(study, account, id) for id in account.promised[::step]]
        found = round(attack(files, spread).order, 1)
    return Theft(when, len(last), loot.links, loot.links_by, found)


def _person(study: Study, account: Account, id: str) -> Person:
    code, raw = account.invitations[id], id_bytes(id)
    return Person((code.encode(), invitation_key(study, code)), (raw, report_key(study, raw)))
