"""The store gets a name for its spool to know it by; reports are kept under a hash of their id."""

from __future__ import annotations

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    link = op.get_bind()
    study = link.execute(sa.text("SELECT value FROM castell_about WHERE name = 'study'")).scalar()
    if study is None:
        return  # the tables were made a moment ago
    link.execute(
        sa.text("INSERT INTO castell_about VALUES ('id', :id)"), {"id": secrets.token_hex(16)}
    )
    # What castell.collector.store.store.report_key does.
    link.execute(
        sa.text(
            "UPDATE castell_reports SET id = substring(sha256(convert_to('castell report '"
            " || (CAST(:study AS json)->>'digest') || ' ', 'UTF8') || id) FROM 1 FOR 16)"
        ),
        {"study": study},
    )
