"""Public attributes beside blocks that are drawn: in every report, estimated with all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import castell
from castell import Attribute, Schema, Study
from castell.cli.app import app
from castell.counting import samples_of
from castell.counting.counts import MemoryCounts
from castell.device.device_file import Keep
from castell.device.report import blocks_reported, make_report
from castell.device.respondent import Respondent
from castell.errors import CastellError, TableTooLargeError
from castell.planning.card import card
from castell.planning.planner import plan

SCHEMA = Schema(
    [
        Attribute("region", ["north", "south", "west"], public=True),
        Attribute("smokes", ["never", "before", "now"]),
        Attribute("drawn", ["a", "b"], public=True),  # as the column of the draw is called
        Attribute("sick", ["no", "yes"]),
        Attribute("rich", ["no", "some", "yes"]),
    ]
)


def people(n: int, seed: int = 1) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(seed)
    region, arm = chance.choice(3, n, p=[0.5, 0.3, 0.2]), chance.integers(0, 2, n)
    smokes = (chance.choice(3, n, p=[0.5, 0.3, 0.2]) + (chance.random(n) < 0.2) * region) % 3
    sick = (chance.random(n) < 0.1 + 0.2 * smokes + 0.2 * (region == 2)).astype(int)
    rich = np.minimum(chance.integers(0, 3, n) + sick, 2)
    codes = {"region": region, "smokes": smokes, "drawn": arm, "sick": sick, "rich": rich}
    return {name: np.array(SCHEMA[name].values)[code] for name, code in codes.items()}


def test_it_says_what_so_many_will_show(tmp_path: Path) -> None:
    """A plan expects parts of people in each public group, of sets that hold two together often."""
    asked = [Attribute(f"a{k}", [str(i) for i in range(3 + k)]) for k in range(4)]
    study = Study(Schema([SCHEMA["region"], *asked]), 6.0, sample=3)
    (tmp_path / "study.json").write_text(study.to_json())
    ran = CliRunner().invoke(app, ["check", str(tmp_path / "study.json"), "-n", "1501"])
    assert ran.exit_code == 0, ran.output
    assert "1,501" in ran.output


@pytest.mark.parametrize("design", ["cover", "pairs", "singles", [["sick"], ["smokes", "rich"]]])
def test_it_costs_nothing_and_is_in_every_report(design: Any) -> None:
    options: dict[str, Any] = {} if isinstance(design, str) else {"draw": True}
    study = Study(SCHEMA, 3.0, design, **options)
    without = Study(SCHEMA.hidden, 3.0, design, **options)
    assert study.design.exact_epsilon == without.design.exact_epsilon
    assert study.design.hidden == without.design.blocks
    assert study.design.starts == without.design.starts
    assert study.statement().exposures == without.statement().exposures
    assert study.statement().together == without.statement().together
    assert study.design.columns == ("drawn", "region", "drawn'")
    assert study.design.widths == (*without.design.widths, 3, 2)
    assert Study.from_json(study.to_json()) == study
    frame = people(500)
    reports = study.randomize(frame)
    for column, name in ((1, "region"), (2, "drawn")):
        shown = np.array(SCHEMA[name].values)[reports.columns[column]]
        assert (shown == frame[name]).all()
    assert reports._repr_html_().count(">public</td>") == 2


def test_one_person_reports_what_was_drawn_and_what_is_public() -> None:
    study = Study(SCHEMA, 3.0, "pairs")
    given = {"region": "west", "smokes": "now", "drawn": "b", "sick": "yes", "rich": "some"}
    for number in range(6):
        key = bytes([number]) * 32
        codes = make_report(study, given, key).codes
        assert codes[1:] == (2, 1)
        drawn, *public = blocks_reported(study, codes)
        assert public == [3, 4]
        moved = make_report(study, {**given, "region": "north", "drawn": "a"}, key).codes
        assert moved == (codes[0], 0, 0)
        asked = {*study.design.blocks[drawn].names, "region", "drawn"}
        # Nobody has to answer what was not drawn, but all that is public.
        few = {name: value for name, value in given.items() if name in asked}
        assert make_report(study, few, key).codes == codes
        del few["region"]
        with pytest.raises(CastellError, match="no answer for 'region'"):
            make_report(study, few, key)

    class Memory(Keep):
        def __init__(self) -> None:
            self.kept: dict[str, object] = {}

        def update(self, name, change):  # type: ignore[no-untyped-def]
            self.kept[name] = change(self.kept.get(name))
            return self.kept[name]

    person = Respondent(study, Memory())
    assert {"region", "drawn"} < set(person.asked)
    assert len(person.asked) == 4


def test_samples_hold_the_block_and_what_is_public() -> None:
    study, n = Study(SCHEMA, 3.0, "pairs"), 3000
    reports = study.randomize(people(n), seed=3)
    found = samples_of(MemoryCounts(reports))
    assert [sample.study.names for sample in found] == [
        (*block.names, "region", "drawn") for block in study.design.hidden
    ]
    assert sum(sample.n for sample in found) == n
    code, region, arm = (np.asarray(c).astype(int) for c in reports.columns)
    ends = (*study.design.starts, study.design.widths[0])
    for i, sample in enumerate(found):
        mine = (code >= ends[i]) & (code < ends[i + 1])
        rows = np.stack([code[mine] - ends[i], region[mine], arm[mine]])
        (batch,) = list(sample.batches([0, 1, 2]))
        order = [np.lexsort(columns) for columns in (rows, np.stack(batch))]
        assert (rows[:, order[0]] == np.stack(batch)[:, order[1]]).all()
        (only,) = list(sample.batches([2]))
        assert np.bincount(only[0]).tolist() == np.bincount(arm[mine]).tolist()


@pytest.mark.parametrize("design", ["cover", "singles"])
def test_the_unbiased_estimate_is_that_of_each_group_put_together(design: str) -> None:
    """Within a public value the reports are those of a study without it."""
    frame = people(4000)
    study = Study(SCHEMA, 4.0, design)
    reports = study.randomize(frame, seed=5)
    model = castell.fit(reports, "castell")
    alone = Study(SCHEMA.hidden, 4.0, design)
    columns = [np.asarray(c) for c in reports.columns]
    found = model.estimate(["region", "sick"]).probabilities
    shares = np.bincount(columns[1]) / 4000
    assert np.abs(model.estimate("region").probabilities - shares).max() < 1e-12
    for code in range(3):
        mine = castell.Reports(alone, [columns[0][columns[1] == code]], secure=False)
        parts = samples_of(MemoryCounts(mine))
        holding = [s for s in parts if "sick" in s.study.names]
        table = castell.fit(mine, "castell").estimate("sick").probabilities
        # Weights of samples go by all reports there, by those of the group here: near, not equal.
        exact = len(holding) == 1
        among = found[code] / found[code].sum()
        assert np.abs(among - table).max() < (1e-12 if exact else 0.02)


@pytest.mark.parametrize("method", ["auto", "latent", "castell"])
def test_estimates_are_near_the_truth_and_say_what_is_public(method: str) -> None:
    frame = people(20_000)
    study = Study(SCHEMA, 5.0, "cover")
    model = castell.fit(study.randomize(frame, seed=2), method)
    joint = model.estimate(["region", "smokes", "sick"])
    truth = np.zeros(joint.probabilities.shape)
    codes = [np.array([SCHEMA[n].values.index(v) for v in frame[n]]) for n in joint.names]
    np.add.at(truth, tuple(codes), 1.0 / 20_000)
    assert np.abs(joint.probabilities - truth).max() < 0.02
    low, high = joint.conf_int(0.999)
    assert ((low <= truth) & (truth <= high)).mean() > 0.9
    assert joint.checked == "whole"
    assert "region public" in joint.summary()
    # What is public is known of everybody, whatever they drew.
    region = model.estimate("region")
    assert np.abs(region.probabilities - truth.sum(axis=(1, 2))).max() < 1e-4
    assert region.standard_errors.max() < 1.001 * np.sqrt(0.25 / 20_000)


def test_it_is_planned_with_and_on_the_card() -> None:
    study = Study(SCHEMA, 3.0, "pairs")
    made = plan(study, 3000, attributes=["region", "smokes"])
    drawn = next(row for row in made.designs if row.study.design.draw)
    assert drawn.study.schema.public == ("region", "drawn")
    kinds = card(study).mechanism()
    assert [round(k["chance_drawn"], 3) for k in kinds] == [0.333, 0.333, 0.333, 1.0, 1.0]
    assert "one of 3 sets of questions, drawn" in str(card(study))


def test_too_many_combinations_are_refused_before_they_are_counted() -> None:
    wide = [Attribute(f"p{i}", [str(k) for k in range(900)], public=True) for i in range(3)]
    asked = [Attribute("a", ["no", "yes"]), Attribute("b", ["no", "yes"])]
    study = Study(Schema([*wide, *asked]), 2.0, "singles")
    row = {a.name: ["1"] for a in wide} | {"a": ["no"], "b": ["no"]}
    with pytest.raises(TableTooLargeError, match="p0 x p1 x p2"):
        castell.fit(study.randomize(row), "castell").estimate("a")
