"""Public attributes: in every report as they are, outside epsilon, and nothing else is."""

from __future__ import annotations

from decimal import Decimal
from math import inf, log
from typing import Any

import numpy as np
import pytest

import castell
from castell import Attribute, Schema, Study
from castell.channels import ClearResponse, KaryResponse, PartitionResponse
from castell.collector.store.stage_rows import StageRows
from castell.device.report import make_report
from castell.errors import ChannelError, SchemaError, StudyError
from castell.planning.card import card
from castell.planning.planner import plan
from castell.planning.shuffled import delta_at, shuffled
from castell.study.design import Block, Design
from castell.study.later_stages import next_stage
from castell.study.promise import Promise
from castell.study.public_attributes import small_cells
from tests.small_plans import plan_from_little

REGION = Attribute("region", ["north", "south", "west"], public=True)
SMOKES = Attribute("smokes", ["never", "before", "now"])
SICK = Attribute("sick", ["no", "yes"])
ARM = Attribute("arm", ["a", "b"], public=True)
SCHEMA = Schema([REGION, SMOKES, ARM, SICK])
TOML = """
epsilon = 3.0
[[attribute]]
name = "region"
values = ["north", "south"]
public = true
[[attribute]]
name = "sick"
values = ["no", "yes"]
"""


def answers(n: int, seed: int = 1) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(seed)
    region, arm = chance.choice(3, n, p=[0.6, 0.35, 0.05]), chance.integers(0, 2, n)
    smokes = chance.choice(3, n, p=[0.5, 0.3, 0.2])
    sick = (chance.random(n) < 0.1 + 0.1 * smokes + 0.3 * arm).astype(int)
    codes = {"region": region, "smokes": smokes, "arm": arm, "sick": sick}
    return {name: np.array(SCHEMA[name].values)[code] for name, code in codes.items()}


def test_epsilon_is_that_of_the_others_alone() -> None:
    for design in ("independent", "joint", [["sick", "smokes"]]):
        with_it = Study(SCHEMA, 3.0, design)
        without = Study(SCHEMA.hidden, 3.0, design)
        assert with_it.design.exact_epsilon == without.design.exact_epsilon
        assert with_it.design.hidden == without.design.blocks
        assert with_it.design.spent_on(["region"]) == 0.0
        assert with_it.design.spent_on(SCHEMA.names) == with_it.epsilon
    # Whoever forgets to leave it out gets infinity.
    assert float(ClearResponse(3).exact_epsilon) == inf


def test_reports_hold_it_as_it_is_and_nothing_else() -> None:
    study, frame = Study(SCHEMA, 1.0), answers(2000)
    shown = study.randomize(frame).to_frame("pandas")
    assert (shown["region"].to_numpy() == frame["region"]).all()
    assert (shown["arm"].to_numpy() == frame["arm"]).all()
    assert (shown["sick"].to_numpy() != frame["sick"]).mean() > 0.2
    key = bytes(range(32))
    given = {"region": "west", "smokes": "now", "arm": "b", "sick": "no"}
    codes = make_report(study, given, key).codes
    assert (codes[0], codes[2]) == (2, 1)
    # What is drawn for the others does not depend on it.
    moved = make_report(study, {**given, "region": "north", "arm": "a"}, key).codes
    assert (moved[1], moved[3]) == (codes[1], codes[3])


def test_it_is_published_and_in_the_digest() -> None:
    study = Study(SCHEMA, 3.0)
    again = Study.from_json(study.to_json())
    assert again == study
    assert again.schema.public == ("region", "arm")
    plain = Study(Schema([Attribute("region", REGION.values), SICK]), 3.0)
    assert Study(Schema([REGION, SICK]), 3.0).digest != plain.digest
    assert Study.from_toml(TOML).schema.public == ("region",)
    assert "public" not in plain.content["attributes"][0]


def test_what_hides_nothing_is_refused() -> None:
    with pytest.raises(SchemaError, match="all attributes are public"):
        Study(Schema([REGION, ARM]), 1.0)
    blocks = tuple(Block((a.name,), (a.size,), ClearResponse(a.size)) for a in (REGION, ARM))
    with pytest.raises(SchemaError, match="all attributes are public"):
        Study(Schema([REGION, ARM]), design=Design(blocks))


def _design(*blocks: tuple[Attribute, object]) -> Design:
    return Design(tuple(Block((a.name,), (a.size,), channel) for a, channel in blocks))  # type: ignore[arg-type]


def test_nothing_is_sent_in_clear_that_is_not_declared() -> None:
    coin = KaryResponse(2, 3, 1)
    with pytest.raises(StudyError, match="sent as it is, or is declared"):
        Study(Schema([SMOKES, SICK]), channels={"smokes": ClearResponse(3), "sick": coin})
    with pytest.raises(StudyError, match="sent as it is, or is declared"):
        Study(Schema([REGION, SICK]), design=_design((REGION, KaryResponse(3, 3, 1)), (SICK, coin)))
    both = Block(("region", "arm"), (3, 2), ClearResponse(6))
    with pytest.raises(StudyError, match="sent as it is, or is declared"):
        Study(
            Schema([REGION, ARM, SICK]),
            design=Design((both, Block(("sick",), (2,), coin))),
        )
    drawn = _design((REGION, ClearResponse(3)), (SICK, coin))
    with pytest.raises(StudyError, match="before a block that is drawn"):
        Study(Schema([REGION, SICK]), design=Design(drawn.blocks, draw=True))
    twice = (drawn.blocks[1], drawn.blocks[0], drawn.blocks[0])
    with pytest.raises(StudyError, match="sent twice"):
        Study(Schema([REGION, SICK]), design=Design(twice, draw=True))
    leaves = PartitionResponse((3,), (((0, 1),), ((2,),)), coin)
    coarse = (Block(("smokes",), (3,), leaves), drawn.blocks[0])
    with pytest.raises(StudyError, match="asks coarsely is reported beside others"):
        Study(Schema([REGION, SMOKES]), design=Design(coarse, draw=True))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"design": [["region", "sick"], ["smokes"]], "draw": True}, "has a cluster"),
        ({"design": "cover", "shares": {"region": 1.0}}, "has a share"),
        ({"design": "bloom"}, "the design is 'bloom'"),
        ({"shares": {"region": 1.0}}, "has a share"),
        ({"channels": {"region": [[0.8, 0.1, 0.1]] * 3}}, "has a channel"),
        ({"channels": {("smokes", "arm"): [[1.0]]}}, "has a channel"),
        ({"design": [["region", "sick"]]}, "has a cluster"),
    ],
)
def test_what_would_hide_or_draw_it_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(StudyError, match=problem):
        Study(SCHEMA, 3.0, **options)


@pytest.mark.parametrize("given", [1, "true", None])
def test_public_is_true_or_false(given: object) -> None:
    with pytest.raises(SchemaError, match="public is"):
        Attribute("region", ["a", "b"], public=given)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [1, 0, True, 2.0, "3", 2**60])
def test_a_channel_in_clear_has_a_size(size: object) -> None:
    with pytest.raises(ChannelError, match="a public attribute of"):
        ClearResponse(size)  # type: ignore[arg-type]


def test_the_statement_leaves_it_out_and_says_so() -> None:
    study = Study(SCHEMA, 3.0)
    told, without = study.statement(), Study(SCHEMA.hidden, 3.0).statement()
    assert told.exposures == without.exposures
    assert told.together == without.together
    assert told.to_dict()["public"] == ["region", "arm"]
    assert "public    region, arm: outside epsilon" in str(told)
    assert any("'region', 'arm'" in line and "not cover" in line for line in told.words())
    assert any("found among the reports" in line for line in told.words())
    assert without.to_dict()["public"] == []
    assert not any("ublic" in line for line in without.words())


def test_the_card_says_so() -> None:
    made = card(Study(SCHEMA, 3.0), 1000)
    document = made.to_dict()
    assert [entry["public"] for entry in document["collected"]] == [True, False, True, False]
    kinds = {entry["kind"]: entry["epsilon"] for entry in document["mechanism"]}
    assert kinds["clear"] is None
    assert document["privacy_loss"]["epsilon"] == Study(SCHEMA, 3.0).epsilon
    assert "region (3, public)" in str(made)
    assert "found among the reports" in str(made)


def test_reports_hide_only_among_those_with_the_same_public_values() -> None:
    study = Study(SCHEMA, 3.0)
    among = shuffled(study, 100_000)
    assert among.epsilon == among.local == study.epsilon
    assert "alone" in among.sentence()
    hidden = Study(SCHEMA.hidden, 3.0)
    assert shuffled(hidden, 100_000).epsilon < 1.0
    assert delta_at(study, 100_000, 1.0) == pytest.approx(delta_at(hidden, 1, 1.0))
    assert delta_at(hidden, 100_000, 1.0) < 1e-6 < delta_at(study, 100_000, 1.0)


def test_few_people_in_many_public_cells_are_warned_of() -> None:
    assert small_cells(SCHEMA, 60) is None
    told = small_cells(SCHEMA, 59)
    assert told is not None
    assert "6 combinations of public values (region, arm)" in told
    assert small_cells(SCHEMA.hidden, 1) is None


def test_it_is_no_part_of_a_plan() -> None:
    made = plan(Study(SCHEMA, 3.0), 3000)
    assert {e.name for e in made.exposures} == {"smokes", "sick"}
    assert made.best.study.schema.public == ("region", "arm")
    for row in made.designs:
        assert abs(row.study.epsilon - 3.0) < 1e-6


def test_a_promise_covers_what_is_randomised() -> None:
    """Every device checks it."""
    promised = Study(SCHEMA, 3.0, staged=Promise(Decimal(3)))
    assert Study.from_json(promised.to_json()) == promised
    assert Study(SCHEMA, 3.0, staged=True) == promised
    with pytest.raises(StudyError, match=r"costs epsilon 3, above|costs epsilon 2\.9"):
        Study(SCHEMA, 3.0, staged=Promise(Decimal("2.9")))


@pytest.mark.parametrize("design", ["independent", "pairs"])
def test_a_next_stage_has_what_is_public_in_every_report(
    design: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan_from_little(monkeypatch)
    first = Study(SCHEMA, 3.0, design, name="staged", staged=True)
    reports = first.randomize(answers(2000), seed=1)
    made = castell.plan_next(reports, 3000)
    then = made.planned
    assert then.identity == first.identity
    assert then.promise is not None
    assert then.promise.after == (first.digest,)
    assert then.design.draw
    assert then.design.exact_epsilon <= first.design.exact_epsilon
    assert {b.names for b in then.design.public} == {("region",), ("arm",)}
    assert {n for b in then.design.hidden for n in b.names} == {"smokes", "sick"}
    assert not any(block.is_coarse for block in then.design.blocks)
    assert Study.from_json(then.to_json()) == then
    more = answers(3000, seed=2)
    model = castell.fit([reports, then.randomize(more, seed=2)])
    # Public answers of both stages are known as they are.
    both = {k: np.concatenate([v, more[k]]) for k, v in answers(2000).items()}
    for names in (["arm"], ["arm", "region"]):
        table = model.estimate(names).probabilities
        np.testing.assert_allclose(table, castell.tabulate(SCHEMA, both, names), atol=1e-9)
    joint = model.estimate(["arm", "sick"])
    low, high = joint.conf_int(0.999)
    truth = castell.tabulate(SCHEMA, both, ["arm", "sick"])
    assert ((low <= truth) & (truth <= high)).all()


def test_a_store_keeps_the_public_answers_of_every_stage() -> None:
    first = Study(SCHEMA, 3.0, "pairs", name="staged", staged=True)
    wide = Block(("smokes", "sick"), (3, 2), KaryResponse.with_epsilon(6, 3.0))
    then = next_stage(first, Design((wide, *first.design.public), draw=True))
    rows = StageRows([first, then])
    for stage, codes in ((0, (5, 2, 1)), (1, (3, 0, 1))):
        packed = rows.pack(codes, stage)
        assert len(packed) == rows.size
        columns = rows.columns([packed, packed], stage)
        assert [column.tolist() for column in columns] == [[code] * 2 for code in codes]


def test_tables_of_public_and_randomised_attributes() -> None:
    study, frame = Study(SCHEMA, 4.0), answers(20_000)
    reports = study.randomize(frame, seed=3)
    truth = castell.tabulate(SCHEMA, frame, ["arm", "sick"])
    for method in castell.methods_for(study):
        model = castell.fit(reports, method)
        shares = model.estimate("region").probabilities
        held = castell.tabulate(SCHEMA, frame, ["region"])
        assert np.abs(shares - held).max() < (0.02 if method in ("latent", "locop") else 1e-12)
        if method not in ("independent", "clusters", "locop"):
            found = model.estimate(["arm", "sick"])
            assert np.abs(found.probabilities - truth).max() < 0.03, method
    found = castell.fit(reports, "castell").estimate(["arm", "sick"])
    assert found.to_dict()["public"] == ["region", "arm"]
    assert "arm public" in found.summary()
    # The rows of a public attribute are as certain as a sample of that size.
    row = castell.fit(reports, "castell").conditional("sick", given={"arm": "b"})
    low, high = row.conf_int(0.99999)
    assert (low <= truth[1] / truth[1].sum()).all()
    assert (high >= truth[1] / truth[1].sum()).all()


def test_a_value_that_nobody_has_is_no_accident() -> None:
    study, frame = Study(SCHEMA, 4.0), answers(1500)
    frame["region"] = np.where(frame["region"] == "west", "south", frame["region"])
    reports = study.randomize(frame, seed=4)
    for method in castell.methods_for(study):
        model = castell.fit(reports, method)
        found = model.probability(region="west", sick="yes")
        assert abs(found.value) < 1e-3
        assert np.isfinite(found.standard_error)
        assert np.isfinite(model.estimate(["region", "smokes", "sick"]).standard_errors).all()


def test_two_matrices_for_two_arms_are_fitted_together() -> None:
    """A split sample: one schema, a study for each arm with a matrix of its own."""
    studies = [Study(Schema([ARM, SICK]), epsilon) for epsilon in (1.0, log(39.0))]
    frame, parts = answers(40_000), []
    for arm, study in zip("ab", studies, strict=True):
        mine = {name: frame[name][frame["arm"] == arm] for name in ("arm", "sick")}
        parts.append(study.randomize(mine, seed=5))
    both = castell.fit(parts, "castell")
    assert both.counts.n == 40_000
    truth = castell.tabulate(SCHEMA, frame, ["arm", "sick"])
    for k, (arm, part) in enumerate(zip("ab", parts, strict=True)):
        own = castell.fit(part, "castell").conditional("sick", given={"arm": arm})
        # Among those of an arm only its own reports count.
        pooled = both.conditional("sick", given={"arm": arm})
        assert pooled.probabilities == pytest.approx(own.probabilities, abs=1e-12)
        assert own.probabilities == pytest.approx(truth[k] / truth[k].sum(), abs=0.05)
