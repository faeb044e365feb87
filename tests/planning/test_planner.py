"""A plan: what it predicts comes true, what it returns is enough, and all of it is said."""

from __future__ import annotations

import dataclasses
import json
import re
from decimal import Decimal
from importlib.util import find_spec
from math import inf, sqrt
from typing import Any

import numpy as np
import pytest

import castell
from castell import Attribute, Plan, Schema, Study, plan
from castell.channels.protocol import predicted_variance
from castell.errors import AnswerError, CastellError, OptionError, QueryError
from castell.inference.association_error import GROUPS
from castell.planning.coarser_domains import proposals
from castell.planning.designs import cramers_v, proposed_clusters
from castell.planning.expected_samples import SOME_SAMPLES
from castell.planning.forecast import Outlook, odds_ratio
from castell.planning.population import People, Uniform, population_of
from castell.planning.simulation import collect, simulate
from castell.planning.targets import TableTarget, targets_of, usual_tables
from castell.population import SCHEMA, health_survey
from castell.study.design import lens_on

STUDY = Study(SCHEMA, 4.0, name="health")
ANSWERS = health_survey(3000)
PAIR = ["smokes", "health"]
UNEQUAL = Schema(
    [
        Attribute(f"a{i}", [str(v) for v in range(size)])
        for i, size in enumerate((2, 9, 2, 3, 7, 2, 2, 2))
    ]
)
YES = Schema([Attribute("cheats", ["no", "yes"]), Attribute("sex", ["Female", "Male"])])


@pytest.fixture(scope="module")
def usual() -> Plan:
    return plan(STUDY, 3000)


@pytest.fixture(scope="module")
def asked() -> Plan:
    return plan(STUDY, 3000, attributes=PAIR, like=ANSWERS)


# -- what is predicted ----------------------------------------------------------------------------


def test_one_share_without_association_is_warners_formula() -> None:
    """Var = (1/4 + q (1 - q) / (p - q)^2) / n for a share of a half, in Wilson's interval."""
    study = Study(YES, 2.0)
    forecast = Outlook(study, Uniform(YES), "castell").at(10_000)
    p = study.design.blocks[0].channel.best_guess
    variance = (0.25 + p * (1 - p) / (2 * p - 1) ** 2) / 10_000
    assert forecast.half_width(["cheats"]) == pytest.approx(1.959964 * sqrt(variance), rel=0.005)


@pytest.mark.parametrize("design", ["independent", "pairs", "cover", "joint"])
def test_unbiased_predictions_come_true(design: str) -> None:
    """Forty collections: their mean half-width is known to one or two per cent."""
    like = population_of(SCHEMA, ANSWERS)
    study = Study(SCHEMA, 6.0, design)
    forecast = Outlook(study, like, "castell").at(4000)
    told = simulate(study, like, 4000, (), 40, "castell", seed=5)
    for width in (1, 2):
        tables = usual_tables(SCHEMA, width)
        found = sum(t.half_width(forecast) for t in tables) / len(tables)
        assert found == pytest.approx(told[f"{width}-way"], rel=0.05)


def test_predictions_come_true_for_sets_that_few_draw() -> None:
    """Seventy sets of unequal sizes, two people each: some draw none, and variances are read from
    next to nothing. Taken as of large samples it is off by 7 %."""
    study, like = Study(UNEQUAL, 4.0, sample=4), Uniform(UNEQUAL)
    forecast = Outlook(study, like, "castell").at(140)
    told = simulate(study, like, 140, (), 12, "castell", seed=3, widths=(1,))
    tables = usual_tables(UNEQUAL, 1)
    predicted = sum(table.half_width(forecast) for table in tables) / len(tables)
    assert predicted == pytest.approx(told["1-way"], rel=0.04)


def test_some_samples_stand_for_all_and_none_is_forgotten() -> None:
    study = Study(UNEQUAL, 4.0, sample=4)
    samples = Outlook(study, Uniform(UNEQUAL), "castell").samples
    for names in (("a1",), ("a1", "a4"), ("a0", "a2", "a7")):
        holding = [block for block in study.design.blocks if set(names) <= set(block.names)]
        known = sum(1 / predicted_variance(lens_on(block, names)) for block in holding) / 70
        seen = samples.expected_views(names)
        assert seen.known == pytest.approx(known, rel=1e-6)
        assert seen.chance == pytest.approx(len(holding) / 70, rel=1e-6)
        assert len(seen.some) == min(len(holding), SOME_SAMPLES)


@pytest.mark.parametrize(
    ("draw", "n", "repeats"), [({"design": "pairs"}, 5000, 2), ({"sample": 4}, 500, 4)]
)
def test_predictions_for_auto_come_true(draw: dict[str, Any], n: int, repeats: int) -> None:
    """Also where few draw each of many sets: what these tell of a model is put together."""
    like = population_of(SCHEMA, ANSWERS)
    study = Study(SCHEMA, 4.0, **draw)
    forecast = Outlook(study, like).at(n)
    told = simulate(study, like, n, (), repeats, "auto", seed=5)
    for width in (1, 2, 3):
        tables = usual_tables(SCHEMA, width)
        found = sum(t.half_width(forecast) for t in tables) / len(tables)
        assert found == pytest.approx(told[f"{width}-way"], rel=0.3)


def test_shares_differences_and_conditionals_come_true() -> None:
    like = population_of(SCHEMA, ANSWERS)
    for where in (
        {"where": {"health": ["poor", "fair"], "smokes": "now"}},
        {"where": {"health": "poor"}, "versus": {"smokes": "now"}},
        {"where": {"health": ["poor", "fair"]}, "given": {"smokes": ["now", "before"]}},
    ):
        found = plan(STUDY, 20_000, like=like, method="castell", **where)
        (label,) = found.asked
        (asked,) = targets_of(SCHEMA, None, where["where"], where.get("versus"), where.get("given"))
        told = simulate(found.study, like, 20_000, (asked,), 20, "castell", seed=2, widths=())
        assert found.error == pytest.approx(told[label], rel=0.06)


def test_more_people_and_more_epsilon_never_hurt() -> None:
    like = population_of(SCHEMA, ANSWERS)
    widths = [
        [
            Outlook(Study(SCHEMA, e, "pairs"), like).at(n).half_width(PAIR)
            for n in (500, 5000, 50_000)
        ]
        for e in (1.0, 2.0, 4.0)
    ]
    table = np.array(widths)
    assert (np.diff(table, axis=0) < 0).all()
    assert (np.diff(table, axis=1) < 0).all()


def test_a_pilot_of_one_is_spoken_of_as_such() -> None:
    found = plan(Study(YES, 2.0), 100, like={"cheats": ["no"], "sex": ["Male"]})
    assert "a population like 1 answer that was given" in found.summary()


def test_one_respondent_and_one_attribute() -> None:
    alone = Study(Schema([Attribute("x", ["a", "b", "c"])]), 1.0)
    found = plan(alone, 1)
    assert found.error <= 0.5
    assert found.power is None
    assert [row.name for row in found.designs] == ["independent"]


def test_a_pilot_of_a_few_shows_no_association_by_itself() -> None:
    """Associations of thirty people are mostly chance, and are not taken for the population's."""
    generator = np.random.default_rng(0)
    codes = {a.name: generator.integers(0, a.size, 30) for a in SCHEMA}
    found = Outlook(STUDY, People(SCHEMA, codes)).associations
    noise, sizes = found.noise("smokes", "health"), found.factors.sizes
    assert noise is not None
    independence = noise.residuals(1_000, sizes, np.zeros_like(sizes))
    missed = independence.differences**2 - independence.variances
    assert missed[:GROUPS].mean() < 0.03


# -- what is recommended --------------------------------------------------------------------------


def test_the_recommended_design_is_first_and_better_than_independent(usual: Plan) -> None:
    rows = {row.name: row for row in usual.designs}
    assert usual.best.error < rows["independent"].error / 2
    assert usual.best.error <= 1.02 * min(r.error for r in usual.designs if r.tells_associations)
    assert usual.reason.startswith(usual.design)
    assert "times shorter than independent" in usual.reason
    assert usual.method == "auto"


def test_singles_are_never_recommended_for_tables_of_several(usual: Plan) -> None:
    singles = next(row for row in usual.designs if row.name == "singles")
    assert not singles.tells_associations
    assert "bounds that no number" in str(usual)
    alone = plan(STUDY, 3000, attributes=["health"])
    assert alone.best.tells_associations


def test_what_is_asked_for_gets_the_budget(asked: Plan) -> None:
    assert asked.design_name == "clusters, own shares"
    assert asked.best.kind is not None
    assert asked.best.kind.clusters == (("smokes", "health"),)
    assert sum(map(Decimal, map(str, asked.shares.values()))) == Decimal(4)
    assert asked.shares["smokes"] > 10 * asked.shares["age"]
    assert asked.study.epsilon <= 4.0
    assert asked.study.epsilon == pytest.approx(4.0, abs=1e-6)


def test_the_present_design_is_among_those_compared() -> None:
    own = Study(SCHEMA, None, shares={a.name: 0.3 + 0.1 * i for i, a in enumerate(SCHEMA)})
    names = [row.name for row in plan(own, 2000).designs]
    assert "as written" in names


def test_clusters_are_proposed_where_answers_go_together() -> None:
    schema = Schema([Attribute(name, ["x", "y"]) for name in "abcd"])
    generator = np.random.default_rng(1)
    a, c = generator.integers(0, 2, 4000), generator.integers(0, 2, 4000)
    b = np.where(generator.random(4000) < 0.9, a, 1 - a)
    people = People(schema, {"a": a, "b": b, "c": c, "d": generator.integers(0, 2, 4000)})
    assert cramers_v(people.table(["a", "b"])) == pytest.approx(0.8, abs=0.05)
    assert proposed_clusters(schema, people, 4.0) == (("a", "b"),)
    assert proposed_clusters(schema, Uniform(schema), 4.0) == ()


# -- what is solved -------------------------------------------------------------------------------


def test_the_n_returned_reaches_and_nine_tenths_do_not() -> None:
    like = population_of(SCHEMA, ANSWERS)
    found = plan(STUDY, error=0.03, epsilon=4.0, attributes=PAIR, like=like, method="castell")
    assert found.solved == "n"
    target = TableTarget(("smokes", "health"))

    def reached(n: int) -> float:
        return simulate(found.study, like, n, (target,), 60, "castell", 3, widths=())[target.label]

    assert reached(found.n) == pytest.approx(0.03, rel=0.02)
    assert reached(round(0.9 * found.n)) > 0.0303
    assert found.tradeoff is None


def test_the_epsilon_returned_reaches_and_nine_tenths_do_not() -> None:
    found = plan(STUDY, 4000, error=0.05, attributes=PAIR, method="castell")
    assert found.solved == "epsilon"
    assert found.error <= 0.05
    assert found.best.kind is not None
    less = found.best.kind.study(SCHEMA, Decimal(str(round(0.9 * found.epsilon, 4))), "x")
    assert Outlook(less, Uniform(SCHEMA), "castell").at(4000).half_width(PAIR) > 0.05
    target = TableTarget(("smokes", "health"))

    def reached(study: Study) -> float:
        people = Uniform(SCHEMA)
        return simulate(study, people, 4000, (target,), 20, "castell", 3, widths=())[target.label]

    assert reached(found.study) == pytest.approx(0.05, rel=0.02)
    assert reached(less) > 0.0505


def test_with_an_error_alone_there_is_a_trade_off() -> None:
    found = plan(Study(YES, 2.0), error=0.05)
    assert found.tradeoff is not None
    people = [n for _, n in found.tradeoff.points]
    assert None not in people
    assert people == sorted(people, reverse=True)  # type: ignore[type-var]
    assert (2.0, found.n) in found.tradeoff.points


def test_with_neither_there_is_a_curve() -> None:
    found = plan(Study(YES, 2.0))
    assert (found.n, found.solved) == (3000, "curve")
    *_, first, _, _, _, last = found.summary().splitlines()
    points = {(p["n"], p["epsilon"]): p["half_width"] for p in found.points}
    assert first.split() == ["300", *(f"{100 * points[300, e]:.1f}" for e in (0.5, 1, 2, 4, 8))]
    assert last.split()[0] == "30,000"
    assert found.to_dict()["curve"] == list(found.points)
    assert plan(Study(YES, 2.0), 3000).to_dict()["curve"] is None


def test_who_does_not_answer_is_invited_too() -> None:
    plain = plan(Study(YES, 2.0), error=0.05, epsilon=2.0)
    some = plan(Study(YES, 2.0), error=0.05, epsilon=2.0, response=0.5)
    assert some.reports >= plain.reports
    assert some.n == pytest.approx(2 * plain.n, rel=0.01)
    careless = plan(Study(YES, 2.0), error=0.05, epsilon=2.0, careless=0.2)
    assert careless.n == pytest.approx(plain.n / 0.8**2, rel=0.05)


def test_what_is_impossible_is_said_with_what_is_possible() -> None:
    with pytest.raises(OptionError, match=r"no epsilon reaches.*sampling alone.*people at epsilon"):
        plan(Study(YES, 2.0), 100, error=0.01)
    with pytest.raises(OptionError, match=r"no number of respondents reaches") as refused:
        plan(Study(YES, 0.001), error=0.0001, epsilon=0.001)
    told = re.search(
        r"the nearest is ±([\d.]+) points, with 1,000,000,000 people, or ±0.01 points at epsilon "
        r"([\d.]+)$",
        str(refused.value),
    )
    assert told is not None
    # What is named as the nearest can be had, and is no better than it says.
    nearest, epsilon = (float(number) for number in told.groups())
    assert plan(Study(YES, 0.001), 10**9, epsilon=0.001).error == pytest.approx(
        nearest / 100, rel=0.05
    )
    assert plan(Study(YES, 1.0), 10**9, epsilon=epsilon).error == pytest.approx(1e-4, rel=0.02)
    # Neither epsilon nor people are enough: then there is nothing else to name.
    with pytest.raises(OptionError, match=r"the nearest is ±[\d.]+ points, with 1,0.* people$"):
        plan(Study(YES, 1.0), error=1e-6, epsilon=1.0)
    with pytest.raises(OptionError, match=r"sampling alone leaves .* the nearest is that$"):
        plan(Study(YES, 1.0), 1_000, error=1e-6)


def test_an_error_that_is_missed_names_what_would_reach_it() -> None:
    missed = plan(Study(YES, 2.0), 500, error=0.05, epsilon=2.0)
    assert missed.nearest is not None
    assert missed.nearest.n is not None
    assert missed.nearest.epsilon is not None
    assert plan(Study(YES, 2.0), missed.nearest.n, epsilon=2.0).error <= 0.05
    assert plan(Study(YES, 2.0), 500, epsilon=missed.nearest.epsilon).error <= 0.05
    told = (
        f"{missed.nearest.n:,} people at this epsilon, or epsilon {missed.nearest.epsilon:g} with"
    )
    assert told in missed.summary()
    assert missed.to_dict()["nearest"] == {"n": missed.nearest.n, "epsilon": missed.nearest.epsilon}
    reached = plan(Study(YES, 2.0), 50_000, error=0.05, epsilon=2.0)
    assert reached.nearest is None
    assert "±5.0 points is reached" in reached.summary()
    hopeless = plan(Study(YES, 0.01), 20, error=1e-7, epsilon=0.01)
    assert "Nothing would reach it." in hopeless.summary()


def test_simulations_correct_what_was_solved() -> None:
    found = plan(Study(YES, 2.0), error=0.05, epsilon=2.0, attributes=["cheats"], simulate=3)
    assert found.best.simulated["cheats"] == pytest.approx(0.05, rel=0.03)
    assert "(simulated)" in found.summary()


# -- what can be told apart -----------------------------------------------------------------------


def test_a_difference_of_the_size_told_is_found_with_its_power() -> None:
    """Two halves that differ by what is told: the unbiased difference is 2.8 errors from zero."""
    study = Study(YES, 4.0, "joint")
    n = 2000
    apart = Outlook(study, Uniform(YES)).at(n).detectable_difference("cheats", "sex")
    truth = 0.25 + apart / 4 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    cells = np.repeat(np.arange(4), np.rint(truth.ravel() * 1e6).astype(int))
    codes = np.unravel_index(cells, (2, 2))
    people = People(YES, {"cheats": np.asarray(codes[0]), "sex": np.asarray(codes[1])})
    found = 0
    for seed in range(200):
        joint = castell.estimate(collect(study, people, n, seed), ["cheats", "sex"], "castell")
        table = joint.probabilities
        phi = table[0, 0] * table[1, 1] - table[0, 1] * table[1, 0]
        # The standard error of phi under no association.
        error = apart / 4 / (1.959964 + 0.841621)
        found += abs(phi) > 1.959964 * error
    assert 0.65 < found / 200 < 0.93
    assert odds_ratio(0.5) == pytest.approx(9.0)
    assert odds_ratio(1.0) == inf


# -- how it is said -------------------------------------------------------------------------------


def test_it_is_plain_frozen_and_shown(usual: Plan, asked: Plan) -> None:
    document = json.loads(json.dumps(asked.to_dict(), allow_nan=False))
    assert document["design"] == asked.design == "clusters"
    assert document["designs"][0]["asked"].keys() == {"smokes x health"}
    with pytest.raises(dataclasses.FrozenInstanceError):
        usual.n = 5  # type: ignore[misc]
    frame = usual.to_frame("pyarrow")
    assert frame.num_rows == len(usual.designs)
    assert frame["recommended"].to_pylist() == [True] + [False] * (len(usual.designs) - 1)
    assert "sample = 3" in usual._repr_html_()
    assert repr(usual).startswith("<Plan ")
    assert usual.design == "sample = 3"


def test_epsilon_is_said_in_the_terms_people_have(usual: Plan, asked: Plan) -> None:
    text = usual.summary()
    most = max(usual.exposures, key=lambda e: e.best_guess)
    assert f"right for {round(100 * most.best_guess)}, instead of" in text
    assert "Published epsilons around it: Apple, emoji (2017): epsilon 4" in text
    assert [d["who"] for d in usual.to_dict()["published_epsilons"]] == ["Apple", "Google"]
    # Whoever is not asked for keeps next to nothing, and that is said.
    assert asked.shares
    assert set(asked.unasked) == set(SCHEMA.names) - set(PAIR)
    assert f"{', '.join(asked.unasked)}: not asked for, so told badly" in asked.summary()
    assert usual.unasked == ()


def test_the_picture_marks_the_plan(asked: Plan) -> None:
    chart = asked.plot().to_dict()
    assert f"{asked.n:,} people: ±{100 * asked.error:.2g} points" in json.dumps(
        chart, ensure_ascii=False
    )
    epsilons = {row["epsilon"] for row in asked.points}
    assert {0.5, 1.0, 2.0, 4.0, 8.0} == epsilons


def test_the_picture_of_what_is_certain_and_of_one_attribute() -> None:
    certain = plan(Study(YES, 2.0), 100, where={"sex": ["Female", "Male"]})
    assert certain.error == 0.0
    assert certain.plot().to_dict()["layer"]
    one = plan(Study(Schema([YES["sex"]]), 2.0), 100)
    assert "its only table" in json.dumps(one.plot().to_dict())


def test_the_page_has_the_questions_the_risk_and_no_markup_of_others() -> None:
    schema = Schema([Attribute("a<b>", ["<i>no</i>", "yes"], "Is 1 < 2?"), *list(YES)[1:]])
    text = plan(Study(schema, 2.0, name="<script>"), 500).to_html()
    assert "<script>" not in text
    assert "<i>" not in text
    assert "Is 1 &lt; 2?" in text
    assert "Risk for one respondent" in text
    assert text.startswith("<!doctype html>")
    assert "Published epsilons around it" in text
    assert "Differential_Privacy_Overview.pdf" in text  # and where they are published
    assert ("<svg" in text) == (find_spec("vl_convert") is not None)


def test_coarser_values_are_offered_with_their_gain() -> None:
    schema = Schema([Attribute("job", [f"j{i}" for i in range(24)]), *YES])
    generator = np.random.default_rng(2)
    job = np.minimum(generator.geometric(0.4, 5000) - 1, 23)
    codes: dict[str, Any] = {"job": job}
    codes |= {a.name: generator.integers(0, 2, 5000) for a in YES}
    found = plan(Study(schema, 3.0), 2000, like=People(schema, codes), attributes=["job", "sex"])
    assert found.coarser
    best = found.coarser[0]
    assert best.name == "job"
    assert best.after < 0.95 * best.before
    assert sorted(v for group in best.groups for v in group) == sorted(schema["job"].values)
    first = " + ".join(best.put_together[0])
    assert f"'job' with {best.how} ({first}" in found.summary()


def test_a_refusal_is_put_together_with_no_answer() -> None:
    values = [str(i) for i in range(5)]
    job = Attribute("job", values, also=["prefer not to say"])
    schema = Schema([job, Attribute("four", values[:4], also=["prefer not to say"]), *YES])
    codes = {name: np.arange(600) % schema[name].size for name in schema.names}
    codes["job"] = np.array([0, 1, 2, *[0] * 97] * 6)  # 3, 4 and the refusal are nobody's
    offered = dict(proposals(People(schema, codes), "job"))
    groups = {how: [each.tolist() for each in found] for how, found in offered.items()}
    assert groups["rare values merged"] == [[0], [1, 2, 3, 4], [5]]
    assert groups["neighbours merged"] == [[0, 1], [2, 3], [4], [5]]
    # Four answers are as coarse as they can be.
    assert proposals(People(schema, codes), "four") == []


def test_a_question_with_a_long_name_has_a_number_in_the_table() -> None:
    where = {"cheats": "yes", "sex": ["Female", "Male"]}
    found = plan(Study(YES, 2.0), 100, where=[where, {"cheats": "no"}])
    title = next(line for line in found.summary().splitlines() if line.startswith("design "))
    assert "question 1  cheats = no  best guess" in title
    assert f"question 1: {found.asked[0]}." in found.summary()
    assert f"question 1: {found.asked[0]}." in found.to_html()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"n": 10, "error": 3}, "3 points are 0.03"),
        ({"n": 10, "error": 70}, "0.03 is three points"),
        ({"n": 10, "error": 0.6}, "0.03 is three points"),
        ({"n": 0}, "n is 0"),
        ({"n": True}, "n is True"),
        ({"n": 10, "error": 0.7}, "the error is 0.7"),
        ({"error": "3"}, "the error is '3'"),
        ({"n": 10, "response": 0.0}, "response is 0.0"),
        ({"n": 10, "careless": 1.0}, "careless is 1.0"),
        ({"n": 10, "simulate": -1}, "simulate is -1"),
        ({"n": 10, "method": "em"}, "method is 'em'"),
        ({"n": 10, "seed": "x"}, "seed is 'x'"),
        ({"n": 10, "attributes": 5}, "attributes is 5"),
        ({"n": 10, "epsilon": 99.0}, "epsilon is 99"),
        ({"n": 10, "epsilon": 1e-12}, "no design can be had at epsilon 1e-12"),
        ({"n": 10, "versus": {"sex": "Male"}}, "no share to compare.*--where"),
        (
            {"n": 10, "where": {"sex": "Male"}, "given": {"sex": "Male"}},
            "'sex' is asked for and given",
        ),
        ({"n": 10, "where": {"sex": []}}, "no value of 'sex' counts"),
        (
            {
                "n": 1,
                "where": {"sex": "Male"},
                "given": {"cheats": "no"},
                "versus": {"sex": "Male"},
            },
            "both versus and given",
        ),
    ],
)
def test_what_cannot_be_planned_is_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(OptionError, match=told):
        plan(Study(YES, 2.0), **options)


def test_a_schema_is_no_study() -> None:
    with pytest.raises(OptionError, match="this is no study"):
        plan(YES, 10)  # type: ignore[arg-type]


def test_a_pilot_of_one_has_no_groups_to_compare() -> None:
    like = {"cheats": ["no"], "sex": ["Male"]}
    found = plan(Study(YES, 2.0), 500, like=like)
    assert found.power is not None
    assert found.power.difference == 1.0
    assert "no association is found" in found.summary()


def test_other_populations() -> None:
    reports = STUDY.randomize(ANSWERS, seed=1)
    model = castell.fit(reports, "independent")
    told = [
        population_of(SCHEMA, like) for like in (model, model.estimate(PAIR), castell.fit(reports))
    ]
    for people in told:
        seen = people.table(["smokes"])
        assert seen == pytest.approx(castell.tabulate(SCHEMA, ANSWERS, ["smokes"]), abs=0.2)
        assert people.known
    with pytest.raises(AnswerError, match="like: "):
        population_of(SCHEMA, {**ANSWERS, "smokes": ["pipe"] * 3000})
    with pytest.raises(OptionError, match="no answers"):
        population_of(SCHEMA, {name: [] for name in SCHEMA.names})
    with pytest.raises(OptionError, match="other attributes"):
        population_of(YES, model)


def test_a_pilot_may_have_asked_some_of_the_questions() -> None:
    some = {name: ANSWERS[name] for name in ("health", "smokes")}
    people = population_of(SCHEMA, some, partly=True)
    both = castell.tabulate(SCHEMA, ANSWERS, ["health", "smokes"])
    size = SCHEMA["age"].size
    told = people.table(["smokes", "age", "health"])
    assert told == pytest.approx(np.broadcast_to(both.T[:, None, :] / size, told.shape))
    assert people.table(["age"]) == pytest.approx(np.full(size, 1.0 / size))
    sampled = population_of(SCHEMA, some, 0.1, partly=True).sample(20_000, np.random.default_rng(0))
    assert set(sampled) == set(SCHEMA.names)
    assert np.bincount(sampled["age"]) / 20_000 == pytest.approx(np.full(size, 1 / size), abs=0.02)
    smokers = np.bincount(sampled["smokes"]) / 20_000
    expected = 0.9 * both.sum(axis=0) + 0.1 / both.shape[1]
    assert smokers == pytest.approx(expected, abs=0.02)
    found = plan(STUDY, 2000, like=some, careless=0.1)
    assert "uniform where it was not asked: " in found.likely
    assert "age" in found.likely
    # Elsewhere what is missing is refused, and so is a pilot of other questions.
    with pytest.raises(AnswerError, match="no column"):
        population_of(SCHEMA, some)
    with pytest.raises(AnswerError, match="no column"):
        plan(STUDY, 2000, like={"shoes": ["large"]})


def test_impossible_combinations_stay_so() -> None:
    schema = Schema(list(YES), [{"cheats": "yes", "sex": "Male"}])
    people = population_of(schema)
    assert people.table(["cheats", "sex"])[1, 1] == 0.0
    widths = Outlook(Study(schema, 2.0), people).at(1000).table(["cheats", "sex"])
    assert widths[1, 1] == 0.0
    assert (widths.ravel()[:3] > 0.0).all()


def test_a_table_too_large_or_unknown_is_refused() -> None:
    wide = Schema([Attribute(f"a{i}", [str(k) for k in range(40)]) for i in range(3)])
    with pytest.raises(OptionError, match="64,000 cells"):
        plan(Study(wide, 4.0), 100, attributes=wide.names)
    with pytest.raises(CastellError):
        plan(STUDY, 100, attributes=["smoke"])
    assert issubclass(QueryError, CastellError)
