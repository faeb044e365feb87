"""The store for those who run PostgreSQL already: SQLAlchemy Core over psycopg 3.

A commit returns after the server's fsync (synchronous_commit=on; a server with fsync=off is
refused). Reading goes by the random id, never by the place in the table.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    ARRAY,
    BigInteger,
    Connection,
    LargeBinary,
    Select,
    bindparam,
    create_engine,
    delete,
    event,
    func,
    insert,
    not_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert as insert_or_leave
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from castell.collector.store.acceptance import settle
from castell.collector.store.invitations import invitation_key
from castell.collector.store.migrating import migrate
from castell.collector.store.packing import Packing
from castell.collector.store.store import (
    Outcome,
    Snapshot,
    StoreError,
    Submission,
    hour_text,
    not_empty,
    same_study,
    this_hour,
)
from castell.collector.store.tables import about, reports, unspent
from castell.study.study import Study

_TRIES = 5

# Arrays in, one statement whatever their length: the planner and the wire see it once.
_LISTS = (
    func.unnest(
        bindparam("ids", type_=ARRAY(LargeBinary)), bindparam("rows", type_=ARRAY(LargeBinary))
    )
    .table_valued("id", "codes")
    .render_derived()
)
_INVITED = select(about.c.value == "true").where(about.c.name == "invitations")
_ROWS = select(_LISTS.c.id, _LISTS.c.codes, bindparam("hour", type_=BigInteger))


def _inserting(rows: Select[Any]) -> Any:
    statement = insert_or_leave(reports).from_select(["id", "codes", "hour"], rows)
    return statement.on_conflict_do_nothing().execution_options(preserve_rowcount=True)


_INSERT = _inserting(_ROWS)
# Writes nothing where invitations are needed: no second statement has to ask.
_INSERT_UNINVITED = _inserting(_ROWS.where(not_(_INVITED.scalar_subquery())))
_FIND = select(reports.c.id, reports.c.codes).where(
    reports.c.id == func.any(bindparam("ids", type_=ARRAY(LargeBinary)))
)


class PostgresqlStore:
    """Reports of one study in a database. Opening makes the tables if `study` is given."""

    def __init__(self, address: str, study: Study | None = None, *, secure: bool = True) -> None:
        try:
            url = make_url(address).set(drivername="postgresql+psycopg")
        except (ArgumentError, ValueError):
            raise StoreError("this is no address of a database", "write postgresql://...") from None
        self.place = url.render_as_string(hide_password=True)
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
                    values["invitations"] = "false"
                    rows = [{"name": name, "value": value} for name, value in values.items()]
                    link.execute(insert_or_leave(about).on_conflict_do_nothing(), rows)
                held = {row.name: row.value for row in link.execute(select(about))}
            self.study = same_study(Study.from_json(held["study"]), study, self.place)
        except BaseException:
            self._engine.dispose()
            raise
        self.secure = held["secure"] == "true"
        self._packing = Packing(self.study.design.widths)

    # -- writing -------------------------------------------------------------------------------

    def add(self, submissions: Sequence[Submission]) -> list[Outcome]:
        pairs = [pair for one in submissions for pair in one.reports]
        if not any(one.invitation for one in submissions):
            with self._transaction() as link:
                if _insert(link, pairs, _INSERT_UNINVITED):
                    return [Outcome(len(one.reports)) for one in submissions]
                link.rollback()
        for _ in range(_TRIES):
            with self._transaction() as link:
                found = link.execute(_FIND, {"ids": [id for id, _ in pairs]})
                known = {bytes(row.id): bytes(row.codes) for row in found}
                spend = self._spender(link) if _invited(link) else None
                outcomes, new = settle(submissions, known, spend)
                if _insert(link, list(new.items())):
                    return outcomes
                # Another collector wrote one of them in between: look again.
                link.rollback()
        raise StoreError("the same reports come from many sides", "send them again later")

    def _spender(self, link: Connection) -> Any:
        def spend(invitation: str | None) -> bool:
            # A used invitation is forgotten, not marked: the store never says who has answered.
            if invitation is None:
                return False
            key = invitation_key(self.study, invitation)
            return link.execute(delete(unspent).where(unspent.c.code == key)).rowcount == 1

        return spend

    def invite(self, codes: Sequence[str]) -> None:
        keys = sorted(invitation_key(self.study, code) for code in codes)
        with self._transaction() as link:
            link.execute(insert(unspent), [{"code": key} for key in keys])
            self._set_invitations(link, True)

    def invited(self) -> bool:
        with self._transaction() as link:
            return _invited(link)

    def _set_invitations(self, link: Connection, needed: bool) -> None:
        value = "true" if needed else "false"
        link.execute(update(about).where(about.c.name == "invitations").values(value=value))

    def load(self, snapshot: Snapshot) -> int:
        loaded = 0
        with self._transaction() as link:
            if link.execute(select(func.count()).select_from(reports)).scalar_one():
                raise not_empty(self.place)
            for rows in snapshot.rows:
                values = [dict(zip(("id", "codes", "hour"), row, strict=True)) for row in rows]
                link.execute(insert(reports), values)
                loaded += len(rows)
            if snapshot.unspent:
                link.execute(insert(unspent), [{"code": key} for key in snapshot.unspent])
            self._set_invitations(link, snapshot.invitations)
        return loaded

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

    # -- reading -------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _moment(self) -> Iterator[Connection]:
        """A view of one moment, streamed."""
        with self._transaction() as link:
            yield link.execution_options(
                isolation_level="REPEATABLE READ", stream_results=True, max_row_buffer=1 << 14
            )

    def count(self) -> int:
        with self._transaction() as link:
            return int(link.execute(select(func.count()).select_from(reports)).scalar_one())

    def batches(self, step: int = 1 << 16) -> Iterator[list[NDArray[Any]]]:
        for _, columns in self.dated(step):
            yield columns

    def dated(self, step: int = 1 << 16) -> Iterator[tuple[NDArray[np.int64], list[NDArray[Any]]]]:
        with self._moment() as link:
            found = link.execute(select(reports.c.hour, reports.c.codes).order_by(reports.c.id))
            for rows in found.partitions(step):
                hours = np.array([row[0] for row in rows], dtype=np.int64)
                yield hours, self._packing.columns([row[1] for row in rows])

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        with self._moment() as link:
            keys = list(link.execute(select(unspent.c.code).order_by(unspent.c.code)).scalars())
            invited = _invited(link)
            found = link.execute(select(reports).order_by(reports.c.id))
            rows = (
                [(row[0], row[1], row[2]) for row in part] for part in found.partitions(1 << 14)
            )
            yield Snapshot(rows, keys, invited)

    def timeline(self) -> list[tuple[str, int]]:
        query = select(reports.c.hour, func.count()).group_by(reports.c.hour)
        with self._transaction() as link:
            found = link.execute(query.order_by(reports.c.hour)).all()
        return [(hour_text(hour), n) for hour, n in found]

    # -- upkeep --------------------------------------------------------------------------------

    def rest(self) -> None:
        """Nothing to do: the server keeps its own files."""

    def close(self) -> None:
        self._engine.dispose()


def _invited(link: Connection) -> bool:
    return bool(link.execute(_INVITED).scalar_one())


def _insert(
    link: Connection, pairs: Sequence[tuple[bytes, bytes]], statement: Any = _INSERT
) -> bool:
    """Write reports in the order of their ids; false if one of them was there."""
    if not pairs:
        return True
    ordered = sorted(pairs)
    values = {"ids": [id for id, _ in ordered], "rows": [codes for _, codes in ordered]}
    return bool(link.execute(statement, {**values, "hour": this_hour()}).rowcount == len(pairs))


def _make_durable(connection: Any, record: Any) -> None:
    """Whatever the server's default: a commit of ours returns after its fsync."""
    del record
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION synchronous_commit TO on")
    connection.commit()
