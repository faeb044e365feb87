"""Bringing a PostgreSQL database to the schema this castell knows, and refusing one it does not."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from castell.collector.store.store import StoreError

VERSION_TABLE = "castell_version"
_FOLDER = Path(__file__).parent / "migrations"
# Two collectors that start at once must not both migrate: the number only has to be ours.
_LOCK = 0x43615354


def migrate(link: Connection, *, make: bool, version: str = "head") -> None:
    """Bring the database to a version, if `make`; otherwise only check that it is the newest."""
    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.attributes["connection"] = link
    scripts = ScriptDirectory.from_config(config)
    link.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    options = {"version_table": VERSION_TABLE}
    current = MigrationContext.configure(link, opts=options).get_current_revision()
    known = {script.revision for script in scripts.walk_revisions()}
    if current is None and inspect(link).has_table("castell_reports"):
        raise StoreError(
            "the database has castell's tables without a version", "give an empty database"
        )
    if current is not None and current not in known:
        raise StoreError(
            f"the store has schema version {current}, this castell knows "
            f"{scripts.get_current_head()}",
            "use the castell that wrote it",
        )
    if current == scripts.get_current_head():
        return
    if not make:
        raise StoreError(
            "there is no store in this database" if current is None else "the store is older",
            "castell serve makes it, or brings it up to date",
        )
    command.upgrade(config, version)
