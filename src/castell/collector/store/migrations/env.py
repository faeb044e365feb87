"""Alembic runs this: migrations over the connection the store already has."""

from alembic import context

from castell.collector.store.postgresql_migrations import VERSION_TABLE
from castell.collector.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
context.run_migrations()
