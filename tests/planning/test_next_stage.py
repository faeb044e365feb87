"""A plan of the next stage: no more is spent, estimates get better, and all of it is said."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

import castell
from castell import Attribute, NextStage, Schema, Study, plan_next
from castell.counting import Counts
from castell.errors import CastellError, MethodError, OptionError
from castell.inference.latent.structural_zero_mixture import Answers
from castell.planning import (
    bootstrap_models,
    candidates,
    design_share,
    next_stage,
    next_stage_planner,
)
from castell.planning.design_share import Reckoned, Tried
from castell.planning.estimands import Wanted
from tests.populations import collect, population

Asked = Sequence[tuple[Study, int]]

# Many values, most of them rare: where blocks that ask coarsely gain most.
PEOPLE = population((8, 6, 5, 2), seed=8, sharpness=6.0)
FIRST = Study(PEOPLE.schema, 3.0, "pairs", name="first")


@pytest.fixture(autouse=True, scope="module")
def fewer() -> Iterator[None]:
    """Plans as always, from fewer synthetic people and trees: some are made here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(next_stage_planner, "PEOPLE", 2000)
        patch.setattr(design_share, "PEOPLE", 1000)
        patch.setattr(bootstrap_models, "MODELS", 2)
        patch.setattr(next_stage_planner, "MOST_REPEATS", 2)
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
    assert sum(b.share for b in plan.blocks) == pytest.approx(plan.share)
    design = plan.planned.design
    chances = dict(zip(design.blocks, np.array(design.weights) / sum(design.weights), strict=True))
    before = FIRST.design.blocks if plan.share < 1.0 else ()
    wanted = dict.fromkeys(before, (1.0 - plan.share) / len(FIRST.design.blocks))
    for new in plan.blocks:
        wanted[new.block] = wanted.get(new.block, 0.0) + new.share
    assert chances == pytest.approx(wanted, abs=1e-3)
    assert Study.from_json(plan.study.to_json()) == plan.study


def test_it_expects_to_gain_and_says_so(plan: NextStage) -> None:
    assert not plan.keeps_design
    assert plan.study is plan.planned
    assert plan.expected[1] < plan.expected[0]
    assert 0.01 < plan.gain < 0.5
    text = str(plan)
    assert f"{plan.errors[1]:.4f} with the plan" in text
    assert "depends on earlier reports, which are randomised" in text
    assert all(", ".join(b.block.names) in text for b in plan.blocks)
    told = json.loads(json.dumps(plan.to_dict()))
    assert told["digest"] == plan.study.digest
    assert len(told["blocks"]) == len(plan.blocks)
    assert (told["gain"], told["share_planned"]) == (plan.gain, plan.share)
    assert "NextStage" in repr(plan)
    assert plan.plot().to_dict()["data"]["values"]


def test_who_is_asked_as_before_is_said(plan: NextStage) -> None:
    half = replace(plan, tried=Tried(Reckoned(0.5, -0.2), ((0.02, 0.015), (0.02, 0.016))))
    assert not half.keeps_design
    assert "50% of them are asked as before, in case the plan errs." in str(half)
    assert " 50.0%  as before" in str(half)
    assert half.plot().to_dict()["data"]["values"][0] == {"set": "as before", "share": 0.5}
    whole = replace(plan, tried=Tried(Reckoned(1.0, -0.2), ((0.02, 0.015), (0.02, 0.016))))
    assert "as before" not in str(whole)


def test_the_same_reports_give_the_same_plan(plan: NextStage) -> None:
    assert plan_next(_reports(), 18_000).planned == plan.planned


def test_a_table_that_is_wanted_is_closer_to_the_truth() -> None:
    names, people = ["b", "c"], PEOPLE.margin(["b", "c"])
    one: list[float] = []
    two: list[float] = []
    planned = plan_next(_reports(), 18_000, tables=[names]).study
    for seed in range(3):
        generator = np.random.default_rng([9, seed])
        first = collect(FIRST, PEOPLE.table, 2000, generator)
        for study, errors in ((FIRST, one), (planned, two)):
            reports = [first, collect(study, PEOPLE.table, 18_000, generator)]
            table = castell.fit(reports, "latent").estimate(names).probabilities
            errors.append(float(np.sqrt(((table - people) ** 2).sum())))
    # One of six pairs is asked of nearly everybody: up to sqrt(6) times closer. That all pairs gain
    # too, though far less, is for benchmarks/stages.py to show.
    assert np.mean(two) < 0.9 * np.mean(one)


def test_a_present_design_that_does_as_well_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next_stage_planner, "_simulate", lambda *_: 0.01)
    made = plan_next(_reports(500), 100)
    assert made.errors == (0.01, 0.01)
    assert made.keeps_design
    assert made.study is FIRST or made.study == FIRST
    assert "The present design is kept" in str(made)
    assert abs(made.gain) < 0.01


def test_a_plan_is_tried_on_every_likely_population(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two simulations may agree by chance, and would then decide alone."""
    tried: list[Answers] = []

    def watched(_fitted: object, truth: Answers, *_: object) -> float:
        tried.append(truth)
        return 0.01

    monkeypatch.setattr(bootstrap_models, "MODELS", 4)
    monkeypatch.setattr(next_stage_planner, "_simulate", watched)
    plan_next(_reports(500), 100)
    assert len(set(map(id, tried))) == 4
    assert len(tried) == 2 * 4  # with the present design and with the plan


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


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "many", 10**9 + 1])
def test_a_number_of_respondents_is_needed(n: object) -> None:
    with pytest.raises(OptionError, match="how many respondents are still to come"):
        plan_next(_reports(10), n)  # type: ignore[arg-type]


def test_not_all_of_very_many_are_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated: list[int] = []
    made = bootstrap_models.simulated_reports

    def watched(truth: Answers, asked: Asked, generator: np.random.Generator) -> list[Counts]:
        simulated.append(sum(people for _, people in asked))
        return made(truth, asked, generator)

    for module in (next_stage_planner, next_stage):
        monkeypatch.setattr(module, "MOST_SIMULATED", 400)
    monkeypatch.setattr(next_stage_planner, "simulated_reports", watched)
    plan = plan_next(_reports(300), 10**9, tables=[["c", "d"]])
    assert simulated
    assert set(simulated) == {700}
    assert plan.words()[0].startswith("Simulated with 400 more people")
    assert plan.n == 10**9


def test_what_does_not_exist_is_refused() -> None:
    reports = _reports(10)
    with pytest.raises(CastellError, match="no attribute 'zz'"):
        plan_next(reports, 10, tables=[["a", "zz"]])
    with pytest.raises(OptionError, match="names no attribute"):
        plan_next(reports, 10, shares=[{}])
    with pytest.raises(CastellError, match="'d9' is not a value"):
        plan_next(reports, 10, shares=[{"d": "d9"}])
    for wrong in (5, {"c": "c1"}, [5], ["ab"]):
        with pytest.raises(OptionError, match="no list"):
            plan_next(reports, 10, tables=wrong)  # type: ignore[arg-type]
    for wrong in ({"d": "d1"}, 5):
        with pytest.raises(OptionError, match="no list of what is wanted"):
            plan_next(reports, 10, shares=wrong)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="names no attribute"):
        plan_next(reports, 10, shares=["d"])  # type: ignore[list-item]
    with pytest.raises(OptionError, match="has no value of 'd'"):
        plan_next(reports, 10, shares=[{"d": []}])
    for seed in (-1, "x", 1.5):
        with pytest.raises(OptionError, match="from 0 up"):
            plan_next(reports, 10, seed=seed)  # type: ignore[arg-type]
    bloom = Study(Schema([Attribute("a", ["x", "y"]), Attribute("b", ["x", "y"])]), 4.0, "bloom")
    with pytest.raises(MethodError):
        plan_next(bloom.randomize({"a": ["x"], "b": ["y"]}), 10)


def test_a_study_of_one_attribute_and_a_share_of_everybody() -> None:
    """Where there are no pairs its own table is wanted, and where nothing is open nothing changes.

    (Both had a gain that was no number, for which the design was changed.)
    """
    alone = Study(PEOPLE.schema.select(["a"]), 1.0)
    made = plan_next(alone.randomize({"a": ["a0", "a1", "a2"] * 100}, seed=1), 500)
    assert np.isfinite(made.gain)
    assert made.expected[1] < made.expected[0]
    assert "error of its only table" in str(made)
    everybody = plan_next(_reports(300), 100, shares=[{"d": ["d0", "d1"]}])
    assert everybody.gain == 0.0
    assert everybody.keeps_design


def test_progress_is_told() -> None:
    heard: list[float] = []
    plan_next(_reports(300), 300, tables=[["d"]], progress=heard.append)
    assert heard == sorted(heard)
    assert (heard[0], heard[-1]) == (0.0, 1.0)
