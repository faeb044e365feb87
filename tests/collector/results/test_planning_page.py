"""What the planner page asks: the numbers of castell.plan, worked out once, for who has a token."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path

import msgspec
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import castell
from castell import Attribute, Schema, Study
from castell.collector.results.planning_page import (
    FEWEST,
    LONGEST_ESTIMATE,
    MOST,
    SHORTER,
    PlanQuestion,
    parse_plan,
    plan_document,
)
from castell.collector.results.process import SolverProcess
from castell.collector.results.routes import routes
from castell.collector.results.worker import KEPT, WAITING, ResultsWorker
from castell.collector.settings import State
from castell.collector.store import open_store
from castell.collector.wire import RefusedError
from castell.errors import OptionError
from castell.planning.likely_estimate import decode_estimate, likely_table
from castell.planning.planner import USUAL_PEOPLE
from tests.collector.results.stores import HEADERS, ask_each, state_of

STUDY = Study(
    Schema([Attribute("smokes", ["never", "before", "now"]), Attribute("sick", ["no", "yes"])]),
    epsilon=1.5,
    name="small",
)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    store = open_store(tmp_path / "s.sqlite", STUDY)
    yield state_of(store)
    store.close()


def test_the_page_gets_the_numbers_of_castell_plan(state: State) -> None:
    """Before a single report is in, and only with a token."""
    path = "/results/api/plan?n=700&epsilon=2.5"
    own, other, refused, page = ask_each(
        state, ("/results/api/plan", HEADERS), (path, HEADERS), (path, {}), ("/plan", {})
    )
    assert own.status_code == other.status_code == page.status_code == 200
    assert refused.status_code == 401
    assert page.headers["content-type"].startswith("text/html")
    plan = castell.plan(STUDY, 700, epsilon=2.5)
    told = other.json()
    assert told["plan"] == msgspec.json.decode(msgspec.json.encode(plan.to_dict()))
    assert told["notes"][0] == f"Recommended (*): {plan.reason}"
    assert told["table"][1][0] == f"{plan.design_name} *"
    assert [picture["room"] > 0 for picture in told["pictures"]] == [True, False]
    assert (own.json()["plan"]["n"], own.json()["plan"]["epsilon"]) == (USUAL_PEOPLE, 1.5)
    assert own.json()["own_epsilon"] == told["own_epsilon"] == 1.5


@pytest.mark.parametrize(
    "asked",
    [
        {"n": [str(FEWEST - 1)]},
        {"n": [str(MOST + 1)]},
        {"n": ["1e3"]},
        {"n": ["-5"]},
        {"n": [""]},
        {"n": ["²"]},
        {"n": ["9" * 5000]},
        {"n": ["100", "200"]},
        {"epsilon": ["0"]},
        {"epsilon": ["0.04"]},
        {"epsilon": ["33"]},
        {"epsilon": ["nan"]},
        {"epsilon": ["inf"]},
        {"epsilon": ["two"]},
        {"people": ["100"]},
    ],
)
def test_what_has_no_place_is_refused(asked: dict[str, list[str]]) -> None:
    with pytest.raises(OptionError):
        parse_plan(asked)


GOOD = {"attributes": ["sick"], "values": [["no", "yes"]], "probabilities": [0.9, 0.1]}


def test_an_earlier_estimate_says_what_is_likely(state: State) -> None:
    """As `castell plan --like estimate.json` does; nothing of it is kept."""
    worker = ResultsWorker(state)
    app = Starlette(routes=routes(state, worker))
    with TestClient(app) as client:
        path = "/results/api/plan?n=700"
        told = client.post(path, json={**GOOD, "kind": "joint_estimate", "n": 5}).json()
        like = likely_table(STUDY.schema, decode_estimate(json.dumps(GOOD)))
        plan = castell.plan(STUDY, 700, like=like)
        assert told["plan"] == msgspec.json.decode(msgspec.json.encode(plan.to_dict()))
        assert told["table"] != client.get(path).json()["table"]
        assert [key for key in worker._kept if "sick" in repr(key)] == []
        assert len(worker._kept) == 1  # the plan without it
        for status, body, problem in REFUSED:
            answer = client.post(path, content=body, headers={"content-type": "application/json"})
            assert answer.status_code == status, body[:80]
            assert problem in answer.json()["error"], body[:80]
        long = b" " * (LONGEST_ESTIMATE + 1)
        answer = client.post(path, content=long, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["remedy"]) == (413, SHORTER)
        assert (
            client.post(path, content=b"x", headers={"content-type": "text/csv"}).status_code == 415
        )
        assert client.put(path, json=GOOD).status_code == 405
    (refused,) = ask_each(state, ("/results/api/plan", {}))
    assert refused.status_code == 401


def _with(**changes: object) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


REFUSED = [
    (400, b"{", "not JSON"),
    (400, b'{"probabilities": ' + b"[" * 100_000, "not JSON"),
    (422, b"{}", "no estimate"),
    (422, b"[]", "no estimate"),
    (422, _with(attributes="sick"), "no estimate"),
    (422, _with(attributes=[]), "no estimate"),
    (422, _with(values=[[1, 2]]), "no estimate"),
    (422, _with(probabilities=None), "no estimate"),
    (409, _with(attributes=["age"]), "'age', which the study does not ask"),
    (409, _with(attributes=["sick", "sick"], values=[["no", "yes"]] * 2), "twice"),
    (409, _with(attributes=["smokes"]), "other values of 'smokes'"),
    (409, _with(values=[["no", "yes"]] * 2), "values of 2 attributes"),
    (409, _with(probabilities=[0.9]), "no table of 2 numbers"),
    (409, _with(probabilities=[[0.9], [0.1]]), "no table of 2 numbers"),
    (409, _with(probabilities=[True, False]), "no table of 2 numbers"),
    (409, _with(probabilities=[0.9, 0.2]), "do not sum to one"),
    (409, _with(probabilities=[10**400, 0]), "do not sum to one"),
]


def test_what_is_asked_is_read() -> None:
    assert parse_plan({}) == PlanQuestion(USUAL_PEOPLE, None)
    asked = parse_plan({"n": ["0500"], "epsilon": ["2.004"]})
    assert asked == PlanQuestion(500, Decimal(2))  # so the same plan is worked out once


def test_a_plan_is_worked_out_once_and_only_so_many_wait(state: State) -> None:
    made: list[int] = []

    def job(k: int) -> int:
        made.append(k)
        return k

    async def run() -> None:
        worker = ResultsWorker(state)
        several = [worker.once("same", partial(job, k)) for k in range(5)]
        assert await asyncio.gather(*several) == [0] * 5
        assert made == [0]
        for k in range(KEPT):
            await worker.once(k, partial(job, k))
        assert await worker.once("same", partial(job, 7)) == 7  # the oldest went
        many = [worker.once(("more", k), partial(job, k)) for k in range(WAITING + 1)]
        told = await asyncio.gather(*many, return_exceptions=True)
        assert [isinstance(each, RefusedError) for each in told] == [False] * WAITING + [True]
        assert worker.waiting == 0
        worker.close()

    asyncio.run(run())


def test_a_plan_that_nobody_waits_for_is_not_worked_out(state: State) -> None:
    async def gone() -> bool:
        return True

    async def run() -> None:
        worker = ResultsWorker(state)
        with pytest.raises(RefusedError, match="nobody waits"):
            await worker.once("key", lambda: 1 / 0, gone)
        worker.close()

    asyncio.run(run())


def test_plans_are_made_in_the_models_process() -> None:
    """Without any reports, and with errors as they are."""
    solver = SolverProcess()
    try:
        question = PlanQuestion(700, Decimal("2.5"))
        told = solver.run(partial(plan_document, STUDY, question))
        assert msgspec.json.decode(told)["plan"]["n"] == 700
        with pytest.raises(OptionError, match="n is '7'"):
            solver.run(partial(parse_plan, {"n": ["7"]}))
    finally:
        solver.close()
