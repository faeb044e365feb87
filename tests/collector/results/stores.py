"""Stores with reports of known hours, and a way to ask the collector about them."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

import httpx
import numpy as np
from numpy.typing import NDArray

from castell import Reports, Study
from castell.collector.app import make_app
from castell.collector.settings import Settings, State
from castell.collector.store import Packing, Snapshot, Store, open_store
from castell.collector.store.store import Rules
from castell.population import SCHEMA, health_survey

TOKEN = "a-token-for-the-tests"  # noqa: S105
HEADERS = {"authorization": f"Bearer {TOKEN}"}
# Midnight, UTC, on some day.
MIDNIGHT = 1_767_225_600
HOUR, DAY = 3600, 86_400

STUDY = Study(SCHEMA, epsilon=9.0, name="health")
# Each respondent reports one pair of attributes: no report holds three.
PAIRS = Study(SCHEMA, epsilon=4.0, name="health by pairs", design="pairs")


def reports_of(people: int, seed: int = 1, study: Study = STUDY) -> Reports:
    return study.randomize(health_survey(people, seed), seed=seed)


def spread(n: int, days: int) -> NDArray[np.int64]:
    """Hours of reports that come evenly over some days."""
    return MIDNIGHT + np.arange(n, dtype=np.int64) * days * 24 // n * HOUR


def fill_store(path: Path, reports: Reports, hours: NDArray[np.int64]) -> Store:
    """A store that holds these reports, each as if it had come in its hour."""
    store = open_store(path, reports.study, secure=reports.secure)
    pack = Packing(reports.study.design.widths).pack
    rows = zip(*(column.tolist() for column in reports.columns), strict=True)
    kept = [
        (secrets.token_bytes(16), pack(codes), hour)
        for codes, hour in zip(rows, hours.tolist(), strict=True)
    ]
    store.load(Snapshot(iter([kept]), [], Rules(False, False)))
    return store


def state_of(store: Store, minimum: int = 100) -> State:
    return State(store, Settings(token=TOKEN, minimum=minimum))


def ask(state: State, *paths: str, headers: dict[str, str] | None = None) -> list[httpx.Response]:
    """What the collector answers to some requests, one after the other, in process."""
    return ask_each(state, *((path, headers or HEADERS) for path in paths))


def ask_each(state: State, *requests: tuple[str, dict[str, str]]) -> list[httpx.Response]:
    """The same, each request with headers of its own."""

    async def ask_all() -> list[httpx.Response]:
        transport = httpx.ASGITransport(make_app(state))
        async with httpx.AsyncClient(transport=transport, base_url="http://collector") as http:
            return [await http.get(path, headers=headers) for path, headers in requests]

    return asyncio.run(ask_all())


def query(names: Sequence[str], **more: str) -> str:
    pairs = [("attributes", name) for name in names] + list(more.items())
    return urlencode(pairs)
