"""A collector that lies to get more than one report out of a device gets the same one each time."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

from castell.device.client import Client
from castell.errors import SendError
from tests.collecting import GOOD, SILENCE, TELEMETRY_STUDY, Answer, scripted

LIES: list[Answer] = [
    SILENCE,
    (200, {"status": "lost"}),
    (403, {"error": "the invitation is not known", "remedy": "try another"}),
    (409, {"error": "this id stands for another report", "remedy": "make a new report"}),
    (422, {"error": "not a report", "remedy": "answer again"}),
    (429, {"error": "too often"}),
    (500, {}),
    (503, {"error": "the report was not kept", "remedy": "send it again later"}),
    GOOD,
]


@pytest.mark.parametrize("seed", range(5))
def test_whatever_a_collector_says_it_gets_one_report(seed: int, tmp_path: Path) -> None:
    """Over thirty visits, each with other answers: the codes that leave are always the same."""
    choose = random.Random(seed)  # noqa: S311
    schema = TELEMETRY_STUDY.schema
    with scripted(GOOD) as collector:
        for _ in range(30):
            collector.answers = [choose.choice(LIES)]
            client = Client(collector.url, folder=tmp_path)
            answers = {a.name: choose.choice(a.values) for a in schema}
            with suppress(SendError):
                client.send(client.make(answers), pause=lambda _: None)
    assert len(collector.bodies) > 0
    assert len(set(collector.bodies)) == 1
