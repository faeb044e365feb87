"""Bins from the reports of the first respondents: the best ones, by brute force, and bad input."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import castell
from castell import Attribute, Study
from castell.channels import PartitionResponse
from castell.cli.app import app
from castell.errors import OptionError, QueryError
from castell.planning.adaptive_bins import _best_ends, _cost

FINE = Attribute("age", bins=range(20, 90, 5), range=[18, 99], unit="years", question="How old?")
OPEN = Attribute("pay", bins=[0, 10, 20, 40, 80], also=["prefer not to say"], missing="category")
AGES = np.minimum(18 + np.random.default_rng(1).gamma(2.0, 9.0, 6000).astype(int), 99)


def reports(attribute: Attribute = FINE, epsilon: float = 3.0) -> castell.Reports:
    numbers = AGES if attribute is FINE else AGES - 30
    return Study([attribute], epsilon).randomize({attribute.name: numbers}, seed=2)


@pytest.mark.parametrize("by", ["shares", "width"])
@pytest.mark.parametrize("groups", [2, 3, 5])
def test_no_other_edges_are_better(by: str, groups: int) -> None:
    chance = np.random.default_rng(groups)
    shares, limits = chance.dirichlet(np.ones(9)), np.cumsum(chance.random(10))

    def total(ends: tuple[int, ...]) -> float:
        pairs = zip((0, *ends[:-1]), ends, strict=True)
        return sum(_cost(by, shares, limits, start, end) for start, end in pairs)

    every = [(*some, 9) for some in combinations(range(1, 9), groups - 1)]
    found = _best_ends(9, groups, lambda i, k: _cost(by, shares, limits, i, k))
    assert total(tuple(found)) == pytest.approx(min(map(total, every)), abs=1e-12)
    assert len(found) == groups
    assert found == sorted(set(found))


def test_bins_are_where_people_are() -> None:
    plan = castell.plan_bins(reports(), "age", 5)
    true = np.histogram(AGES, bins=[*map(float, plan.bins), 100.0])[0] / len(AGES)
    even = np.histogram(AGES, bins=np.linspace(18, 100, 6))[0] / len(AGES)
    assert (true**2).sum() < 0.8 * (even**2).sum()
    assert np.abs(np.array(plan.shares) - true).max() < 5 * max(plan.standard_errors)
    assert sum(plan.shares) == pytest.approx(1.0)
    # Edges are some of the first ones, and the attribute is asked as before.
    assert set(plan.bins) <= {"18", *map(str, range(20, 90, 5))}
    assert plan.attribute.question == "How old?"
    assert plan.attribute.scale is not None
    again = Study.from_toml(f'epsilon = 1.0\n[[attribute]]\nname = "age"\n{plan.toml}')
    assert again.schema["age"].values == plan.attribute.values
    assert [again.schema["age"].code(age) for age in (18, 99)] == [0, 4]
    narrow = castell.plan_bins(reports(), "age", 5, by="width")
    limits = np.array([*map(float, narrow.bins), 100.0])
    widths = np.diff(limits)[np.searchsorted(limits, AGES, side="right") - 1]
    assert widths.mean() < 100 / 5


def test_open_ends_fractions_and_ways_not_to_answer_stay() -> None:
    plan = castell.plan_bins(reports(OPEN), "pay", 3)
    assert plan.attribute.values[-1] == "prefer not to say"
    assert plan.attribute.missing == "category"
    assert plan.attribute.values[0].startswith("under ")
    assert "range" not in plan.toml
    halves = Attribute("x", bins=[0.5, 1, 1.5, 2], range=[0, 3], missing="skip")
    made = Study([halves], 3.0).randomize({"x": [0.2, 0.7, 1.2, 1.7, 2.5, None] * 300}, seed=1)
    plan = castell.plan_bins(made, "x", 2)
    assert plan.attribute.may_skip
    assert len(plan.attribute.values) == 3
    text = f'epsilon = 1.0\n[[attribute]]\nname = "x"\nmissing = "skip"\n{plan.toml}'
    assert Study.from_toml(text).schema["x"].values == plan.attribute.values


def test_it_says_what_it_is() -> None:
    plan = castell.plan_bins(reports(), "age", 4)
    assert repr(plan) == "<BinPlan of 'age': 4 bins, n = 6,000, by shares>"
    assert "4 of 15 bins" in str(plan)
    assert plan.toml in str(plan)
    assert json.loads(json.dumps(plan.to_dict()))["bins"] == list(plan.bins)


@pytest.mark.parametrize(
    ("attribute", "options", "problem"),
    [
        (FINE, {"bins": 1}, "from 2 to 14"),
        (FINE, {"bins": 15}, "from 2 to 14"),
        (FINE, {"bins": 2.5}, "from 2 to 14"),
        (FINE, {"bins": "3"}, "from 2 to 14"),
        (FINE, {"by": "size"}, "shares, width"),
        (OPEN, {"bins": 3, "by": "width"}, "open at its ends"),
    ],
)
def test_what_makes_no_bins_is_told(
    attribute: Attribute, options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(OptionError, match=problem):
        castell.plan_bins(reports(attribute), attribute.name, **options)


def test_only_bins_are_put_together() -> None:
    made = Study([Attribute("a", ["x", "y"])], 1.0).randomize({"a": ["x", "y"] * 20})
    with pytest.raises(QueryError, match="has no bins"):
        castell.plan_bins(made, "a", 2)
    with pytest.raises(castell.CastellError, match="b"):
        castell.plan_bins(made, "b", 2)


def test_on_the_command_line(tmp_path: Path) -> None:
    made = reports()
    made.study.save(tmp_path / "study.json")
    made.save(tmp_path / "reports.parquet")
    places = [str(tmp_path / "study.json"), str(tmp_path / "reports.parquet")]
    ran = CliRunner().invoke(app, ["plan-bins", *places, "age", "--bins", "4"])
    assert ran.exit_code == 0, ran.output
    assert castell.plan_bins(made, "age", 4).toml in ran.output
    ran = CliRunner().invoke(app, ["plan-bins", *places, "age", "--by", "width", "--json"])
    assert json.loads(ran.output)["by"] == "width"


def test_none_stays_an_answer() -> None:
    asked = Attribute("debt", bins=range(10, 100, 10), range=[0, 99], none="no debt", also=["?"])
    said = ["no debt", "5", "15", "55", "?"] * 400
    plan = castell.plan_bins(
        Study([asked], epsilon=4.0).randomize({"debt": said}, seed=1), "debt", 3
    )
    assert plan.attribute.values[-2:] == ("no debt", "?")
    assert plan.attribute.none_code == 3


# -- asked again, and estimated together -----------------------------------------------------------


def test_the_next_study_reports_the_new_bins_and_keeps_the_values() -> None:
    plan = castell.plan_bins(reports(), "age", 5, by="width")
    then = plan.next_study()
    first = Study([FINE], 3.0)
    assert then.schema == first.schema
    assert float(then.epsilon) == pytest.approx(float(first.epsilon), abs=1e-9)
    (block,) = then.design.blocks
    channel = block.channel
    assert isinstance(channel, PartitionResponse)
    # What is in one new bin is reported alike.
    edges = [float(edge) for edge in plan.bins]
    starts = [18.0, *range(20, 90, 5)]
    groups = [
        [k for k, at in enumerate(starts) if sum(e <= at for e in edges) == g + 1] for g in range(5)
    ]
    assert [list(leaf[0]) for leaf in channel.leaves] == groups
    assert Study.from_json(then.to_json()).digest == then.digest
    assert float(plan.next_study(1.0).epsilon) == pytest.approx(1.0, abs=1e-9)


def test_ways_not_to_answer_are_reported_by_themselves() -> None:
    plan = castell.plan_bins(reports(OPEN), "pay", 3)
    (block,) = plan.next_study().design.blocks
    assert isinstance(block.channel, PartitionResponse)
    assert block.channel.leaves[-1] == ((OPEN.size - 1,),)


def test_both_studies_say_more_of_a_mean_than_the_new_bins_alone() -> None:
    """The many tell how many are in each bin, the first where in it."""
    chance, held, shorter = np.random.default_rng(3), 0, 0
    fine = Attribute("age", bins=range(20, 100, 2), range=[18, 100], type="number")
    first_study = Study([fine], 3.0)
    for seed in range(12):
        ages = np.minimum(18 + chance.gamma(2.0, 9.0, 5000), 99.0)
        first = first_study.randomize({"age": ages[:1000]}, seed=seed)
        plan = castell.plan_bins(first, "age", 6, by="width")
        then = plan.next_study().randomize({"age": ages[1000:]}, seed=seed)
        low, high = castell.fit([first, then]).mean("age").conf_int(0.99)
        held += low <= ages.mean() <= high
        alone = Study([plan.attribute], 3.0).randomize({"age": ages[1000:]}, seed=seed)
        least, most = castell.fit(alone, "castell").mean("age").conf_int(0.99)
        shorter += high - low < most - least
    assert held >= 9
    assert shorter == 12


def test_what_cannot_be_asked_again_says_so() -> None:
    two = Study([FINE, Attribute("sex", ["f", "m"])], 3.0)
    made = two.randomize({"age": AGES, "sex": ["f", "m"] * 3000}, seed=1)
    with pytest.raises(QueryError, match="of one randomised attribute"):
        castell.plan_bins(made, "age", 4).next_study()
    skipped = Attribute("age", bins=range(20, 90, 5), range=[18, 99], missing="skip")
    seen = Study([skipped], 3.0).randomize({"age": AGES}, seed=1)
    with pytest.raises(QueryError, match="is seen to"):
        castell.plan_bins(seen, "age", 4).next_study()


def test_the_command_line_writes_the_next_study(tmp_path: Path) -> None:
    study = Study([FINE], 3.0)
    (tmp_path / "study.json").write_text(study.to_json())
    reports().save(tmp_path / "first.parquet")
    place, then = (
        [str(tmp_path / "study.json"), str(tmp_path / "first.parquet")],
        tmp_path / "then.json",
    )
    ask = ["plan-bins", *place, "age", "--bins", "4", "--then", str(then)]
    ran = CliRunner().invoke(app, ask)
    assert ran.exit_code == 0
    assert f"wrote {then}" in ran.output
    made = Study.load(then)
    made.randomize({"age": AGES}, seed=3).save(tmp_path / "then.parquet")
    asked = ["estimate", *place, "--mean", "age", "--also", f"{then}={tmp_path / 'then.parquet'}"]
    told = CliRunner().invoke(app, [*asked, "--json"])
    assert told.exit_code == 0
    assert json.loads(told.output)["mean"] == pytest.approx(AGES.mean(), abs=3.0)
    again = CliRunner().invoke(app, ask)
    assert "is there already" in str(again.exception)
