"""A plan of the next stage: no more is spent, estimates get better, and all of it is said."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest

import castell
from castell import Attribute, NextStage, Schema, Study, plan_next
from castell.counting import MemoryCounts
from castell.errors import CastellError, MethodError, OptionError
from castell.inference.latent.model import learn
from castell.inference.latent.settings import SETTINGS
from castell.planning import candidates, next_stage
from castell.planning.plan import Wanted
from tests.populations import collect, population

# Many values, most of them rare: where blocks that ask coarsely gain most.
PEOPLE = population((8, 6, 5, 2), seed=8, sharpness=6.0)
FIRST = Study(PEOPLE.schema, 3.0, "pairs", name="first")


@pytest.fixture(autouse=True, scope="module")
def fewer() -> Iterator[None]:
    """Plans as always, from fewer synthetic people and trees: some are made here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(next_stage, "PEOPLE", 2000)
        patch.setattr(next_stage, "MOST_REPEATS", 2)
        patch.setattr(candidates, "TREES", 60)
        yield


def _reports(n: int = 2000, seed: int = 0) -> castell.Reports:
    return collect(FIRST, PEOPLE.table, n, np.random.default_rng(seed))


@pytest.fixture(scope="module")
def plan() -> NextStage:
    return plan_next(_reports(), 18_000)


def test_the_next_stage_spends_no_more_and_asks_everything(plan: NextStage) -> None:
    assert plan.planned.design.exact_epsilon <= FIRST.design.exact_epsilon
    assert {name for b in plan.planned.design.blocks for name in b.names} == set(FIRST.names)
    assert plan.planned.schema.names == FIRST.schema.names
    assert sum(b.share for b in plan.blocks) == pytest.approx(1.0)
    weights = np.array(plan.planned.design.weights)
    shares = np.array([b.share for b in plan.blocks])
    np.testing.assert_allclose(weights / weights.sum(), shares)
    assert Study.from_json(plan.study.to_json()) == plan.study


def test_it_expects_to_gain_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of two simulations chance may make either design the better one, and the last bit of a matrix
    # product turn chance. So what they find is given here.
    monkeypatch.setattr(next_stage, "_simulate", lambda _, s, *__: 0.02 if s == FIRST else 0.015)
    plan = plan_next(_reports(), 18_000)
    assert plan.gain == pytest.approx(0.25)
    assert not plan.keeps_design
    assert plan.study is plan.planned
    assert plan.errors[1] < plan.errors[0]
    assert plan.expected[1] < plan.expected[0]
    text = str(plan)
    assert f"{plan.errors[1]:.4f} with the plan" in text
    assert "depends on earlier reports, which are randomised" in text
    assert all(", ".join(b.block.names) in text for b in plan.blocks)
    told = json.loads(json.dumps(plan.to_dict()))
    assert told["digest"] == plan.study.digest
    assert len(told["blocks"]) == len(plan.blocks)
    assert "NextStage" in repr(plan)
    assert plan.plot().to_dict()["data"]["values"]


def test_the_more_people_are_simulated_the_less_is_the_error() -> None:
    fitted = learn(MemoryCounts(_reports()), None, None, SETTINGS.starts)
    wanted = Wanted.of(PEOPLE.schema, None, None)
    few, many = (next_stage._simulate(fitted, FIRST, n, wanted, 0) for n in (1000, 500_000))
    assert many < few / 3


def test_the_same_reports_give_the_same_plan(plan: NextStage) -> None:
    assert plan_next(_reports(), 18_000).planned == plan.planned


def test_a_table_that_is_wanted_is_closer_to_the_truth() -> None:
    names, people = ["b", "c"], PEOPLE.margin(["b", "c"])
    one: list[float] = []
    two: list[float] = []
    planned = plan_next(_reports(), 18_000, tables=[names]).planned
    for seed in range(3):
        generator = np.random.default_rng([9, seed])
        first = collect(FIRST, PEOPLE.table, 2000, generator)
        for study, errors in ((FIRST, one), (planned, two)):
            reports = [first, collect(study, PEOPLE.table, 18_000, generator)]
            table = castell.fit(reports, "latent").estimate(names).probabilities
            errors.append(float(np.sqrt(((table - people) ** 2).sum())))
    # One of six pairs is asked of nearly everybody: up to sqrt(6) times closer. That all pairs gain
    # too, though far less, is for benchmarks/stages.py to show.
    assert np.mean(two) < 0.75 * np.mean(one)


def test_a_present_design_that_does_as_well_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next_stage, "_simulate", lambda *_: 0.01)
    made = plan_next(_reports(500), 100)
    assert made.keeps_design
    assert made.study is FIRST or made.study == FIRST
    assert "The present design is kept" in str(made)
    assert made.gain == 0.0


def test_what_is_wanted_is_asked() -> None:
    made = plan_next(_reports(), 5000, tables=[["c", "d"]])
    share = sum(b.share for b in made.blocks if {"c", "d"} <= set(b.block.names))
    assert share > 0.9
    alone = plan_next(_reports(), 5000, shares=[{"d": "d1"}])
    assert sum(b.share for b in alone.blocks if "d" in b.block.names) > 0.9


def test_wanted_shares_and_tables_are_measured_as_asked() -> None:
    wanted = Wanted.of(PEOPLE.schema, [["a", "d"]], [{"b": ["b0", "b3"], "d": "d1"}])
    codes = [column.astype(np.intp) for column in PEOPLE.codes(500, 2).values()]
    found = wanted.indicators(codes)
    assert found is not None
    last = found[-1]
    assert np.array_equal(last, np.isin(codes[1], [0, 3]) & (codes[3] == 1))
    assert np.array_equal(np.sum(found[:-1], axis=0), np.ones(500))
    assert wanted.many == 2


def test_stages_can_follow_each_other() -> None:
    first = _reports()
    second = plan_next(first, 4000)
    generator = np.random.default_rng(3)
    more = collect(second.study, PEOPLE.table, 4000, generator)
    third = plan_next([first, more], 10_000)
    assert third.planned.design.exact_epsilon <= FIRST.design.exact_epsilon


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "many"])
def test_a_number_of_respondents_is_needed(n: object) -> None:
    with pytest.raises(OptionError, match="how many respondents are still to come"):
        plan_next(_reports(10), n)  # type: ignore[arg-type]


def test_what_does_not_exist_is_refused() -> None:
    reports = _reports(10)
    with pytest.raises(CastellError, match="no attribute 'zz'"):
        plan_next(reports, 10, tables=[["a", "zz"]])
    with pytest.raises(OptionError, match="give a list of names"):
        plan_next(reports, 10, tables=["ab"])
    with pytest.raises(OptionError, match="names no attribute"):
        plan_next(reports, 10, shares=[{}])
    with pytest.raises(CastellError, match="'d9' is not a value"):
        plan_next(reports, 10, shares=[{"d": "d9"}])
    bloom = Study(Schema([Attribute("a", ["x", "y"]), Attribute("b", ["x", "y"])]), 4.0, "bloom")
    with pytest.raises(MethodError):
        plan_next(bloom.randomize({"a": ["x"], "b": ["y"]}), 10)


def test_progress_is_told() -> None:
    heard: list[float] = []
    plan_next(_reports(300), 300, tables=[["d"]], progress=heard.append)
    assert heard == sorted(heard)
    assert (heard[0], heard[-1]) == (0.0, 1.0)
