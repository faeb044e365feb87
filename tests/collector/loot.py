"""What an attacker of a collector looks for: the marks of a person, and what a database tells."""

from __future__ import annotations

import contextlib

import psycopg

from castell.collector.store.invitations import invitation_key
from castell.collector.store.store import report_key
from tests.collector.attacker import Person, Ranking
from tests.collector.respondents import STUDY


def person(code: str, id: bytes) -> Person:
    return Person((code.encode(), invitation_key(STUDY, code)), (id, report_key(STUDY, id)))


def system_columns(
    database: str, people: list[Person]
) -> tuple[dict[str, Ranking], dict[str, Ranking]]:
    """What PostgreSQL tells of rows beside what is in them, of deleted ones too."""
    found: list[dict[str, Ranking]] = []
    with psycopg.connect(database, autocommit=True) as link:
        with contextlib.suppress(psycopg.Error):
            link.execute("CREATE EXTENSION IF NOT EXISTS pageinspect")
        for table, column, marks in (
            ("castell_unspent", "code", [one.invitation for one in people]),
            ("castell_reports", "id", [one.report for one in people]),
        ):
            rows = link.execute(
                f"SELECT {column}, xmin::text::bigint, xmax::text::bigint,"
                f" (ctid::text::point)[0] * 1000 + (ctid::text::point)[1] FROM {table}"
            ).fetchall()
            with contextlib.suppress(psycopg.Error):
                rows += link.execute(
                    "SELECT t_data, t_xmin::text::bigint, t_xmax::text::bigint, page * 1000 + lp"
                    f" FROM generate_series(0, pg_relation_size('{table}') / 8192 - 1) AS page,"
                    f" heap_page_items(get_raw_page('{table}', page::int)) WHERE t_data IS NOT NULL"
                ).fetchall()
            numbers = {mark: number for number, kinds in enumerate(marks) for mark in kinds}
            rankings: dict[str, Ranking] = {"xmin": {}, "xmax": {}, "place": {}}
            for data, *values in rows:
                for start in range(len(data) - 15):
                    number = numbers.get(bytes(data[start : start + 16]))
                    if number is not None:
                        for name, value in zip(rankings, values, strict=True):
                            rankings[name][number] = float(value)
            found.append(rankings)
    return found[0], found[1]
