"""The first tables: what the store holds, the reports, and invitations not yet used."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "castell_about",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_table(
        "castell_reports",
        sa.Column("id", sa.LargeBinary, sa.CheckConstraint("length(id) = 16"), primary_key=True),
        sa.Column("codes", sa.LargeBinary, nullable=False),
        sa.Column("hour", sa.BigInteger, sa.CheckConstraint("hour % 3600 = 0"), nullable=False),
    )
    op.create_table(
        "castell_unspent",
        sa.Column(
            "code", sa.LargeBinary, sa.CheckConstraint("length(code) = 16"), primary_key=True
        ),
    )
