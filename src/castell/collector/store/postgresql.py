"""The store for those who run PostgreSQL already: SQLAlchemy Core over psycopg 3.

A commit returns after the server's fsync (synchronous_commit=on; a server with fsync=off is
refused). Reading goes by the random key, never by the place in the table.

PostgreSQL cannot be made to forget: WAL, `xmin`, `xmax`, `ctid` and dead rows tell which
transaction did what, and which came first. So reports and used invitations come to it only in
filings (see `filing`), and wait in a spool on the collector's machine until then.

Several collectors on one machine share its spool. Collectors on several machines have a spool each,
and keys see to it that a report which came to two of them counts once. Invitations are used on one
machine only: another would not know those that wait in this one's spool.
"""

from __future__ import annotations

import contextlib
import logging
import platform
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Connection,
    LargeBinary,
    bindparam,
    create_engine,
    delete,
    event,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert as insert_or_leave
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from castell.collector.store.administration import INVITATIONS, PAUSED, rules_of
from castell.collector.store.filing import is_due
from castell.collector.store.invitations import invitation_key
from castell.collector.store.postgresql_migrations import migrate
from castell.collector.store.spool import Spool
from castell.collector.store.spool_folder import VARIABLE, folder_name, spool_folder
from castell.collector.store.spooled_store import SpooledStore
from castell.collector.store.stage_rows import StageRows
from castell.collector.store.staged import PLANNED, stages_in
from castell.collector.store.store import (
    Row,
    Rules,
    Snapshot,
    StoreError,
    new_store_id,
    same_study,
)
from castell.collector.store.tables import about, reports, unspent
from castell.study.study import Study

# Arrays in, one statement whatever their length: the planner and the wire see it once.
_KEYS = bindparam("keys", type_=ARRAY(LargeBinary))
_LISTS = (
    func.unnest(_KEYS, bindparam("rows", type_=ARRAY(LargeBinary)))
    .table_valued("id", "codes")
    .render_derived()
)
_INSERT = (
    insert_or_leave(reports)
    .from_select(
        ["id", "codes", "hour"],
        select(_LISTS.c.id, _LISTS.c.codes, bindparam("hour", type_=BigInteger)),
    )
    .on_conflict_do_nothing()
    .execution_options(preserve_rowcount=True)
)
_FIND = select(reports.c.id, reports.c.codes).where(reports.c.id == func.any(_KEYS))
_UNUSED = select(unspent.c.code).where(unspent.c.code == func.any(_KEYS))
_SPEND = delete(unspent).where(unspent.c.code == func.any(_KEYS))
_RULES = select(about).where(about.c.name.in_([INVITATIONS, PAUSED]))
_LOCK = text("SELECT pg_advisory_xact_lock(:castell, :spool)")
_CASTELL = 0x43615354
_SPOOL = "spool "  # and the name of a folder: a row for each that reports have waited in
_LOG = logging.getLogger("castell")


class PostgresqlStore(SpooledStore[Connection]):
    """Reports of one study in a database. Opening makes the tables if `study` is given."""

    def __init__(
        self,
        address: str,
        study: Study | None = None,
        *,
        secure: bool = True,
        spool: Path | None = None,
    ) -> None:
        try:
            url = make_url(address).set(drivername="postgresql+psycopg")
        except (ArgumentError, ValueError):
            raise StoreError("this is no address of a database", "write postgresql://...") from None
        self.place = url.render_as_string(hide_password=True)
        self._folder = spool_folder(spool)
        # A server that was started again is noticed before a batch fails for it.
        self._engine = create_engine(url, pool_pre_ping=True)
        event.listen(self._engine, "connect", _make_durable)
        try:
            with self._transaction() as link:
                if link.execute(text("SHOW fsync")).scalar_one() != "on":
                    raise StoreError(
                        "the server runs with fsync=off and would lose reports", "turn it on"
                    )
                migrate(link, make=study is not None)
                if study is not None:
                    values = {"study": study.to_json(), "secure": str(secure).lower()}
                    values |= {"invitations": "false", "id": new_store_id()}
                    rows = [{"name": name, "value": value} for name, value in values.items()]
                    link.execute(insert_or_leave(about).on_conflict_do_nothing(), rows)
                entries = {row.name: row.value for row in link.execute(select(about))}
            self.stages = same_study(stages_in(entries), study, self.place)
            self._packing = StageRows(self.stages)
            path = self._folder / f"{entries['id']}.spool"
            self.spool = Spool(path, bytes.fromhex(entries["id"]), self._packing.size)
            self.spool.read()  # one that is damaged is found out now
            self._check_spools(entries, collecting=study is not None)
        except BaseException:
            self._engine.dispose()
            raise
        self.secure = entries["secure"] == "true"
        self._name: str | None = None  # the spool folder's, once reports are written
        self._claimed = self._noted = False

    # -- writing -------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """A transaction, durable when the block is left."""
        try:
            with self._engine.connect() as link:
                yield link
                link.commit()
        except SQLAlchemyError as error:
            said = str(getattr(error, "orig", None) or error).strip().split("\n")[0]
            raise StoreError(
                f"the database does not do it ({said})", "see to the server, then try again"
            ) from None

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Connection]:
        if self._name is None:
            self._name = folder_name(self._folder)
        # A number of 32 bits with a sign. Two spools with the same one only wait for each other.
        number = zlib.crc32(self._name.encode()) - (1 << 31)
        with self._transaction() as link:
            link.execute(_LOCK, {"castell": _CASTELL, "spool": number})
            yield link

    def _undo(self, link: Connection) -> None:
        link.rollback()

    def _insert(
        self,
        link: Connection,
        reports: Mapping[bytes, bytes],
        spent: Collection[bytes],
        hour: int,
    ) -> bool:
        rows = sorted(reports.items())
        values = {"keys": [key for key, _ in rows], "rows": [codes for _, codes in rows]}
        if link.execute(_INSERT, {**values, "hour": hour}).rowcount != len(rows):
            return False
        if spent:
            link.execute(_SPEND, {"keys": sorted(spent)})
        return True

    def _check_spools(self, entries: Mapping[str, str], *, collecting: bool) -> None:
        here = folder_name(self._folder) if (self._folder / "name").exists() else None
        for name, where in entries.items():
            if name == f"{_SPOOL}{here}":
                self.spool.check(collecting=collecting)
            elif name.startswith(_SPOOL) and not collecting:
                _LOG.warning(
                    "castell: reports that wait in %s are not read: give its folder with %s",
                    where,
                    VARIABLE,
                )

    def _note_spool(self) -> None:
        if not self._noted:
            self._note(f"{_SPOOL}{self._name}", f"{self._folder.absolute()} on {platform.node()}")
            self._noted = True

    def _claim_invitations(self) -> None:
        if self._claimed:
            return
        if self._note("invitations used with", str(self._name)) != self._name:
            raise StoreError(
                "the invitations of this store are used by a collector with another spool",
                "give its folder with --spool; if that is lost, make a new store from a backup",
            )
        self._claimed = True

    def _note(self, name: str, value: str) -> str:
        """Write something about the store down for good, before the spool is written.

        What is there is left. Returned is what stands there then.
        """
        with self._transaction() as link:
            row = {"name": name, "value": value}
            link.execute(insert_or_leave(about).on_conflict_do_nothing(), [row])
            query = select(about.c.value).where(about.c.name == name)
            return str(link.execute(query).scalar_one())

    def invite(self, codes: Sequence[str]) -> None:
        keys = sorted(invitation_key(self.study, code) for code in codes)
        with self._transaction() as link:
            if keys:
                link.execute(insert(unspent), [{"code": key} for key in keys])
            self._write_note(link, INVITATIONS, "true")

    def _changing(self) -> AbstractContextManager[Connection]:
        return self._transaction()

    def _write_note(self, link: Connection, name: str, value: str | None) -> None:
        if value is None:
            link.execute(delete(about).where(about.c.name == name))
            return
        row = insert_or_leave(about).values(name=name, value=value)
        link.execute(
            row.on_conflict_do_update(index_elements=[about.c.name], set_={"value": value})
        )

    def _fill(self, link: Connection, snapshot: Snapshot) -> int:
        loaded = 0
        for rows in snapshot.rows:
            values = [dict(zip(("id", "codes", "hour"), row, strict=True)) for row in rows]
            link.execute(insert(reports), values)
            loaded += len(rows)
        if snapshot.unspent:
            link.execute(insert(unspent), [{"code": key} for key in snapshot.unspent])
        for name, value in zip((INVITATIONS, PAUSED), snapshot.rules, strict=True):
            self._write_note(link, name, "true" if value else "false")
        for at, became in snapshot.planned.items():
            self._write_note(link, f"{PLANNED}{at}", became)
        return loaded

    def _replace_study(self, old: str, new: str, notes: Mapping[str, str]) -> bool:
        there = (about.c.name == "study") & (about.c.value == old)
        with self._transaction() as link:
            if link.execute(update(about).where(there).values(value=new)).rowcount != 1:
                return False
            for name, value in notes.items():
                self._write_note(link, name, value)
            return True

    def _study_text(self) -> str:
        with self._transaction() as link:
            query = select(about.c.value).where(about.c.name == "study")
            return str(link.execute(query).scalar_one())

    # -- reading -------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._transaction() as link:
            yield link.execution_options(
                isolation_level="REPEATABLE READ", stream_results=True, max_row_buffer=1 << 14
            )

    def _rules(self, link: Connection) -> Rules:
        return rules_of({row.name: row.value for row in link.execute(_RULES)})

    def _notes(self, link: Connection, prefix: str) -> dict[str, str]:
        query = select(about).where(about.c.name.startswith(prefix, autoescape=True))
        return {row.name: row.value for row in link.execute(query)}

    def _find(self, link: Connection, keys: Collection[bytes]) -> dict[bytes, bytes]:
        found = link.execute(_FIND, {"keys": list(keys)})
        return {bytes(row.id): bytes(row.codes) for row in found}

    def _unused_invitations(self, link: Connection, keys: Collection[bytes]) -> frozenset[bytes]:
        return frozenset(map(bytes, link.execute(_UNUSED, {"keys": list(keys)}).scalars()))

    def _count(self, link: Connection) -> int:
        return int(link.execute(select(func.count()).select_from(reports)).scalar_one())

    def _rows(self, link: Connection, step: int) -> Iterator[list[Row]]:
        found = link.execute(select(reports).order_by(reports.c.id))
        for part in found.partitions(step):
            yield [(bytes(row[0]), bytes(row[1]), row[2]) for row in part]

    def _hours(self, link: Connection) -> dict[int, int]:
        query = select(reports.c.hour, func.count()).group_by(reports.c.hour)
        return {row[0]: row[1] for row in link.execute(query)}

    def _all_unused(self, link: Connection) -> list[bytes]:
        found = link.execute(select(unspent.c.code).order_by(unspent.c.code))
        return list(map(bytes, found.scalars()))

    # -- upkeep --------------------------------------------------------------------------------

    def close(self) -> None:
        if is_due(self._spooled):
            self.rest()
        self._engine.dispose()


def _make_durable(connection: Any, record: Any) -> None:
    """Whatever the server's default: a commit of ours returns after its fsync."""
    del record
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION synchronous_commit TO on")
    connection.commit()
