"""The tables of the PostgreSQL store. Migrations bring a database to this."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, LargeBinary, MetaData, Table, Text

metadata = MetaData()

about = Table(
    "castell_about",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

reports = Table(
    "castell_reports",
    metadata,
    Column("id", LargeBinary, primary_key=True),
    Column("codes", LargeBinary, nullable=False),
    Column("hour", BigInteger, nullable=False),
)

unspent = Table("castell_unspent", metadata, Column("code", LargeBinary, primary_key=True))
