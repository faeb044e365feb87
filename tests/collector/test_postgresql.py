"""The PostgreSQL store against a real server that these tests start themselves."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, insert

from castell.collector.store import Store, StoreError, Submission, open_store, tables
from castell.collector.store.invitations import new_invitation
from castell.collector.store.postgresql import PostgresqlStore
from castell.collector.store.postgresql_migrations import VERSION_TABLE, migrate
from castell.collector.store.store import Row, report_key
from castell.collector.store.tables import about, metadata
from tests.collector import postgres
from tests.collector.respondents import STUDY, collector, pair, report


def one() -> list[Submission]:
    return [Submission((pair(),))]


def many() -> list[Submission]:
    """Enough to be filed, all but those that stay in the spool."""
    return [Submission((pair(),)) for _ in range(200)]


def rows(store: Store) -> list[list[Row]]:
    with store.snapshot() as snapshot:
        return list(snapshot.rows)


def run(database: str, *statements: str) -> list[tuple[object, ...]]:
    with psycopg.connect(database, autocommit=True) as link:
        cursor = link.cursor()
        for statement in statements:
            cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []


def test_migrations_make_the_tables_the_code_uses(database: str) -> None:
    open_store(database, STUDY).close()
    engine = create_engine(database.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as link:
        context = MigrationContext.configure(link, opts={"version_table": VERSION_TABLE})
        found = [d for d in compare_metadata(context, metadata) if d[1].name != VERSION_TABLE]
        assert found == []
        assert context.get_current_revision() == "0002"
    engine.dispose()


def test_an_unknown_version_is_refused_and_left_alone(database: str) -> None:
    with closing(open_store(database, STUDY)) as store:
        store.add(many())
    run(database, f"UPDATE {VERSION_TABLE} SET version_num = '0099'")
    for study in (STUDY, None):
        with pytest.raises(StoreError, match=r"schema version 0099, this castell knows 0002"):
            open_store(database, study)
    assert run(database, "SELECT count(*) FROM castell_reports") == [(136,)]


def test_tables_without_a_version_are_refused(database: str) -> None:
    run(database, "CREATE TABLE castell_reports (diary text)")
    with pytest.raises(StoreError, match="without a version"):
        open_store(database, STUDY)


def test_other_tables_are_no_matter(database: str) -> None:
    run(database, "CREATE TABLE reports (diary text)", "INSERT INTO reports VALUES ('dear')")
    with closing(open_store(database, STUDY)) as store:
        store.add(one())
    assert run(database, "SELECT diary FROM reports") == [("dear",)]


def test_only_rounded_hours_and_whole_ids_can_be_stored(database: str) -> None:
    open_store(database, STUDY).close()
    for values in ("'\\x00', '', 0", f"'\\x{'00' * 16}', '', 1"):
        with pytest.raises(psycopg.errors.CheckViolation):
            run(database, f"INSERT INTO castell_reports VALUES ({values})")


def test_commits_wait_for_the_disk_whatever_the_default(database: str) -> None:
    name = database.rpartition("/")[2]
    run(database, f"ALTER DATABASE {name} SET synchronous_commit = off")
    with closing(PostgresqlStore(database, STUDY)) as store, store._transaction() as link:
        assert link.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "on"


def test_a_server_without_fsync_is_refused() -> None:
    if postgres.tools() is None:
        pytest.skip("NOT TESTED: PostgreSQL is not installed (apt-get install postgresql)")
    with (
        postgres.running("fsync=off") as address,
        pytest.raises(StoreError, match=r"fsync=off and would lose reports: turn it on"),
    ):
        open_store(address, STUDY)


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(StoreError, match="the database does not do it") as caught:
        open_store("postgresql://me:secret@127.0.0.1:1/nothing", STUDY)
    assert "secret" not in str(caught.value)
    with pytest.raises(StoreError, match="no address"):
        open_store("postgresql://host:not-a-port/x", STUDY)


def test_a_lost_connection_is_no_promise_and_heals(database: str) -> None:
    def cut(store: PostgresqlStore) -> None:
        with store._transaction() as link:
            link.exec_driver_sql("SELECT 1")
            run(
                database,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()",
            )
            link.exec_driver_sql("SELECT 1")

    store = PostgresqlStore(database, STUDY)
    with collector(store) as client:
        assert client.post("/reports", json=report()).status_code == 201
        # Every connection is cut, in the middle of a transaction for one of them.
        with pytest.raises(StoreError, match="see to the server"):
            cut(store)
        assert client.post("/reports", json=report()).status_code in (201, 503)
        assert client.post("/reports", json=report()).status_code == 201


def test_reports_survive_a_crash_of_the_server() -> None:
    """kill -9 of PostgreSQL itself: what was acknowledged is there when it is up again."""
    if postgres.tools() is None:
        pytest.skip("NOT TESTED: PostgreSQL is not installed (apt-get install postgresql)")
    with postgres.running() as address, closing(open_store(address, STUDY)) as store:
        kept = 0
        for _ in range(5):
            kept += sum(outcome.stored for outcome in store.add(many()))
        postgres.crash(address)
        assert store.count() == kept == 1000
        assert store.add(one())[0].stored == 1


def test_an_invitation_and_its_report_share_no_row(database: str) -> None:
    codes = [new_invitation() for _ in range(3)]
    with closing(open_store(database, STUDY)) as store:
        store.invite(codes)
        store.add([Submission((pair(),), codes[1])])
        # Until others were used as well the database does not hear of it.
        with store.snapshot() as snapshot:
            assert len(snapshot.unspent) == 2
        assert run(database, "SELECT count(*) FROM castell_unspent") == [(3,)]
    columns = run(
        database,
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_name LIKE 'castell%' ORDER BY 1, 2",
    )
    assert columns == [
        ("castell_about", "name"),
        ("castell_about", "value"),
        ("castell_reports", "codes"),
        ("castell_reports", "hour"),
        ("castell_reports", "id"),
        ("castell_unspent", "code"),
        ("castell_version", "version_num"),
    ]


def test_a_database_of_the_first_version_is_brought_up_to_date(database: str) -> None:
    """What was kept under its id is known under its key: sent again, it is not counted again."""
    engine = create_engine(database.replace("postgresql://", "postgresql+psycopg://"))
    reports = dict(pair() for _ in range(20))
    with engine.begin() as link:
        migrate(link, make=True, version="0001")
        about_it = {"study": STUDY.to_json(), "secure": "true", "invitations": "false"}
        for name, value in about_it.items():
            link.execute(insert(about).values(name=name, value=value))
        for id, codes in reports.items():
            link.execute(insert(tables.reports).values(id=id, codes=codes, hour=3600))
    engine.dispose()
    with pytest.raises(StoreError, match=r"the store is older.*castell serve"):
        open_store(database)
    with closing(open_store(database, STUDY)) as store:
        assert store.count() == 20
        sent = [Submission(((report_key(STUDY, id), codes),)) for id, codes in reports.items()]
        assert {outcome.repeated for outcome in store.add(sent)} == {1}
        assert store.timeline() == [("1970-01-01T01:00:00Z", 20)]


def test_machines_without_invitations_have_a_spool_each(
    database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A report that comes to both is kept once, though neither sees what waits at the other's."""
    sent, more, others = many(), many(), many()
    here = open_store(database, STUDY, spool=tmp_path / "here")
    there = open_store(database, STUDY, spool=tmp_path / "there")
    with closing(here), closing(there):
        for store, batches in ((here, (sent, more, sent)), (there, (sent, others, sent))):
            for batch in batches:
                store.add(batch)
        # Each files what waits: 64 of `sent` wait at both.
        for store in (here, there):
            store.add(many()[:90])
        with closing(open_store(database, spool=tmp_path / "here")):
            (said,) = [r.getMessage() for r in caplog.records if r.name == "castell"]
        assert f"{tmp_path / 'there'} on" in said
        assert "are not read: give its folder with CASTELL_SPOOL" in said
        found = [{key for part in rows(store) for key, _, _ in part} for store in (here, there)]
        wanted = {key for one in (*sent, *more, *others) for key, _ in one.reports}
        assert wanted <= found[0] | found[1]
        assert len(found[0] | found[1]) == len(wanted) + 180


def test_invitations_are_used_with_one_spool(database: str, tmp_path: Path) -> None:
    """A second one would not know the invitations that wait in the first."""
    codes = [new_invitation() for _ in range(3)]
    here, there = tmp_path / "here", tmp_path / "there"
    with closing(open_store(database, STUDY, spool=here)) as store:
        store.invite(codes)
        assert store.add([Submission((pair(),), codes[0])])[0].stored == 1
    with (
        closing(open_store(database, STUDY, spool=there)) as other,
        pytest.raises(StoreError, match=r"another spool: give its folder with --spool"),
    ):
        other.add([Submission((pair(),), codes[0])])
    # Wherever the folder goes, it is the same spool.
    here.rename(tmp_path / "moved")
    with closing(open_store(database, STUDY, spool=tmp_path / "moved")) as store:
        outcomes = store.add([Submission((pair(),), code) for code in codes[:2]])
        assert [outcome.stored for outcome in outcomes] == [0, 1]
        assert store.count() == 2
