"""Respondents for the tests: a study, reports of it, and a collector in this process."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from castell import Attribute, Schema, Study
from castell.collector.app import make_app
from castell.collector.settings import Settings, State
from castell.collector.store import Packing, Store, open_store
from castell.collector.store.spool import Waiting
from castell.collector.store.store import this_hour
from castell.collector.wire import new_id

TOKEN = "a-token-for-the-tests"  # noqa: S105
LOGGED_IN = {"authorization": f"Bearer {TOKEN}"}

# A column of two attributes, one of a single byte, and one whose codes need two.
STUDY = Study(
    Schema(
        [
            Attribute("sex", ["Female", "Male"]),
            Attribute("smokes", ["never", "before", "now"]),
            Attribute("health", ["poor", "fair", "good", "excellent"]),
            Attribute("town", [f"town {i}" for i in range(300)]),
        ]
    ),
    epsilon=6.0,
    design=[["sex", "smokes"], ["health"], ["town"]],
    name="tests",
)
WIDTHS = STUDY.design.widths
PACKING = Packing(WIDTHS)


def codes() -> list[int]:
    return [secrets.randbelow(width) for width in WIDTHS]


def item() -> dict[str, Any]:
    return {"id": new_id(), "codes": codes()}


def report(**changes: Any) -> dict[str, Any]:
    """A report as a client sends it."""
    return {"study": STUDY.digest, **item(), **changes}


def bulk(number: int) -> dict[str, Any]:
    return {"study": STUDY.digest, "reports": [item() for _ in range(number)]}


def pair() -> tuple[bytes, bytes]:
    """A report as a store takes it."""
    return secrets.token_bytes(16), PACKING.pack(codes())


def waiting(reports: int, spent: int = 0) -> Waiting:
    """Reports, and invitations used with others, as a spool holds them."""
    keys = frozenset(secrets.token_bytes(16) for _ in range(spent))
    return Waiting(dict(pair() for _ in range(reports)), keys, this_hour())


def settings(**changes: Any) -> Settings:
    return Settings(**{"token": TOKEN, "rate": 0.0, **changes})


@contextmanager
def collector(store: Path | Store, **changes: Any) -> Iterator[TestClient]:
    """A client of a collector that runs in this process."""
    opened = open_store(store, STUDY) if isinstance(store, Path) else store
    with TestClient(make_app(State(opened, settings(**changes)))) as client:
        yield client
