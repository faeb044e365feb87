"""Questions that few answered, that ask for everybody, or that no report holds."""

from __future__ import annotations

import numpy as np
import pytest

import castell
from castell import Attribute, Model, Study
from castell.counting import Counts
from castell.errors import OptionError, QueryError
from castell.extend import table_method
from castell.inference.goodness_of_fit import Verdict
from castell.inference.reasons import Code
from castell.inference.support import Checked
from castell.linear.operators import Floats

ASKED = [Attribute("x", ["no", "yes"]), Attribute("y", ["no", "yes"]), Attribute("z", list("abc"))]
METHODS = ("castell", "auto", "latent", "em")
WITHOUT_NOISE = {"independent": 60.0, "joint": 25.0, "pairs": 25.0}


def _model(design: str, epsilon: float, yes: float, n: int, seed: int, method: str) -> Model:
    generator = np.random.default_rng(seed)
    answers = {
        a.name: [a.values[int(c)] for c in codes]
        for a, codes in zip(
            ASKED,
            (generator.random(n) < yes, generator.random(n) < 0.7, generator.integers(0, 3, n)),
            strict=True,
        )
    }
    reports = Study(ASKED, epsilon, design).randomize(answers, seed=seed)
    return castell.fit(reports, method)


@pytest.mark.parametrize("design", WITHOUT_NOISE)
@pytest.mark.parametrize("method", METHODS)
def test_where_all_of_a_few_answered_alike_no_interval_is_a_point(design: str, method: str) -> None:
    epsilon = WITHOUT_NOISE[design]
    reports = Study(ASKED, epsilon, design).randomize(
        {"x": ["yes"] * 30, "y": ["yes"] * 30, "z": list("abc") * 10}, seed=1
    )
    if method not in castell.methods_for(reports.study):
        pytest.skip("it does not read the design")
    model = castell.fit(reports, method)
    ends = [
        model.probability(x="yes", y="yes").conf_int(),
        model.probability(x="no", y="yes").conf_int(),
        model.conditional({"x": "yes"}, given={"y": "yes"}).conf_int(),
        model.difference({"x": "yes"}, {"x": "no"}).conf_int(),
        model.difference({"x": "yes"}, {"y": "no"}).conf_int(),
        model.estimate(["x", "y"]).conf_int(),
    ]
    for low, high in ends:
        assert np.min(np.asarray(high) - np.asarray(low)) > 0.05
    # Two shares that are one less the other: twice the interval of one.
    share, apart = model.probability(x="yes"), model.difference({"x": "yes"}, {"x": "no"})
    assert apart.conf_int()[0] == pytest.approx(2.0 * share.conf_int()[0] - 1.0, abs=1e-4)


@pytest.mark.parametrize("method", ["castell", "auto"])
def test_rare_answers_of_few_are_covered(method: str) -> None:
    """Three of a hundred, sixty respondents and next to no noise, 250 collections."""
    many, held = 250, np.zeros(2)
    for seed in range(many):
        model = _model("independent", 60.0, 0.03, 60, seed, method)
        low, high = model.difference({"x": "yes"}, {"x": "no"}).conf_int()
        held[0] += low <= 2 * 0.03 - 1 <= high
        least, most = model.conditional({"x": "yes"}, given={"y": "yes"}).conf_int()
        held[1] += float(least[0]) <= 0.03 <= float(most[0])
    # Before, 70 % and 63 %. Six standard errors below 95 %.
    assert (held / many > 0.95 - 6 * np.sqrt(0.05 * 0.95 / many)).all()


@pytest.mark.parametrize(("n", "epsilon"), [(60, 0.6), (8, 0.3)])
def test_a_difference_is_an_interval_inside_its_range(n: int, epsilon: float) -> None:
    for seed in range(100):
        model = _model("independent", epsilon, 0.3, n, seed, "castell")
        low, high = model.difference({"x": "yes"}, {"y": "yes"}).conf_int()
        assert -1.0 <= low < high <= 1.0


def test_a_part_of_a_table_has_its_own_reasons() -> None:
    for method in ("auto", "latent", "independent"):
        model = _model("singles", 4.0, 0.5, 3_000, 1, method)
        part, whole = model.estimate(["x", "y"]).project("x"), model.estimate("x")
        assert part.checked is whole.checked is Checked.WHOLE
        assert part.reasons == whole.reasons
        assert part.verdict is whole.verdict
    three = _model("pairs", 4.0, 0.5, 3_000, 1, "auto").estimate(["x", "y", "z"])
    two = three.project(["x", "y"])
    assert (three.checked, two.checked) == (Checked.PAIRS, Checked.WHOLE)
    assert Code.ONLY_PAIRS_CHECKED not in {r.code for r in two.reasons}
    assert dict(two.reasons[-1].numbers)["together"] < 3_000
    none = _model("singles", 4.0, 0.5, 3_000, 1, "auto").estimate(["x", "y", "z"])
    assert Code.ASSOCIATION_UNKNOWN in {r.code for r in none.project(["x", "y"]).reasons}


@pytest.mark.parametrize("method", ["castell", "auto", "latent", "independent"])
def test_a_difference_of_what_different_people_reported(method: str) -> None:
    model = _model("singles", 4.0, 0.5, 3_000, 2, method)
    found = model.difference({"x": "yes"}, {"y": "yes"})
    one, two = model.probability(x="yes"), model.probability(y="yes")
    assert found.checked is Checked.WHOLE
    assert found.value == pytest.approx(one.value - two.value, abs=1e-9)
    error = np.hypot(one.standard_error, two.standard_error)
    assert found.standard_error == pytest.approx(error, rel=1e-6)
    low, high = found.conf_int()
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.05)
    assert {r.code for r in found.reasons} == {Code.REPORTS}


def test_questions_about_everybody() -> None:
    model = _model("singles", 4.0, 0.5, 2_000, 3, "auto")
    everybody = model.difference({"x": ["no", "yes"]}, {"y": ["no", "yes"]})
    assert (everybody.value, everybody.standard_error) == (0.0, 0.0)
    rest = model.difference({"x": ["no", "yes"]}, {"y": "yes"})
    assert rest.value == pytest.approx(1.0 - model.probability(y="yes").value)
    for method in ("castell", "auto", "latent"):
        model = _model("singles", 4.0, 0.5, 2_000, 3, method)
        among, share = model.conditional("x", given={"y": ["no", "yes"]}), model.probability(x="no")
        assert among.probabilities[0] == pytest.approx(share.value, abs=1e-9)
        assert (among.conf_int()[0][0], among.conf_int()[1][0]) == pytest.approx(
            share.conf_int(), abs=1e-3
        )
        assert (among.checked, among.reasons) == (share.checked, share.reasons)
        sure = model.conditional({"x": ["no", "yes"]}, given={"y": "yes"})
        assert (sure.probabilities[0], sure.standard_errors[0]) == (1.0, 0.0)
        assert np.ravel(sure.conf_int()).tolist() == [1.0, 1.0]


def test_where_nobody_reported_both_independence_is_not_relied_on() -> None:
    answers = {"x": ["no", "yes"] * 1_500, "y": ["no", "yes"] * 1_500, "z": ["a"] * 3_000}
    model = castell.fit(Study(ASKED, 4.0, "singles").randomize(answers, seed=1), "independent")
    low, high = model.estimate(["x", "y"]).conf_int()
    assert low[0, 0] < 0.02
    assert high[0, 0] > 0.47
    share = model.probability(x="no", y="no")
    assert share.conf_int()[1] > 0.47
    assert Code.ASSOCIATION_UNKNOWN in {r.code for r in share.reasons}
    assert Code.INDEPENDENCE_ASSUMED not in {r.code for r in share.reasons}


def test_a_share_that_the_reports_contradict_says_so() -> None:
    answers = {"x": ["no", "yes"] * 5_000, "y": ["no", "yes"] * 5_000, "z": ["a", "b"] * 5_000}
    reports = Study(ASKED, 12.0).randomize(answers, seed=1)
    model = castell.fit(reports, "independent")
    share, among = model.probability(x="no", y="no"), model.conditional("x", given={"y": "no"})
    for found in (share, among):
        assert found.reasons[0].code is Code.SHARE_CONTRADICTED
        assert "DOUBTFUL" in found.summary()
    assert model.estimate(["x", "y"]).verdict is Verdict.DOUBTFUL
    for method in ("auto", "castell"):
        fine = castell.fit(reports, method).probability(x="no", y="no")
        assert Code.SHARE_CONTRADICTED not in {r.code for r in fine.reasons}
    apart = _model("independent", 12.0, 0.5, 5_000, 4, "independent").probability(x="no", y="no")
    assert Code.SHARE_CONTRADICTED not in {r.code for r in apart.reasons}


def test_one_attribute_is_tested_too() -> None:
    reports = Study(ASKED, 9.0).randomize(
        {"x": ["yes"] * 900 + ["no"] * 100, "y": ["no"] * 1_000, "z": ["a"] * 1_000}, seed=1
    )

    @table_method
    def half(counts: Counts, names: tuple[str, ...]) -> Floats:
        sizes = [counts.study.schema[name].size for name in names]
        return np.full(sizes, 1.0 / np.prod(sizes))

    assert castell.fit(reports, half).estimate("x").verdict is Verdict.DOUBTFUL
    for method in ("castell", "auto", "latent", "em", "independent", "hybrid"):
        assert castell.fit(reports, method).estimate("x").verdict is Verdict.FITS


@pytest.mark.parametrize("method", ["hybrid", "clusters", "truncated", "independent", "auto"])
def test_one_attribute_has_no_note_about_associations(method: str) -> None:
    model = _model("independent", 6.0, 0.4, 500, 5, method)
    assert {r.code for r in model.estimate("x").reasons} <= {Code.REPORTS}
    assert {r.code for r in model.probability(x="yes").reasons} <= {Code.REPORTS}


@pytest.mark.parametrize("level", [0, -0.5, 95, "95", None])
def test_a_level_is_checked_where_there_are_bounds_only(level: object) -> None:
    joint = _model("singles", 4.0, 0.5, 500, 6, "auto").estimate(["x", "y"])
    for ask in (joint.conf_int, joint.unbounded):
        with pytest.raises(OptionError, match="give one between 0 and 1"):
            ask(level)  # type: ignore[arg-type]


@pytest.mark.parametrize("names", [None, 3, [3], [None]])
def test_what_names_no_attributes_is_refused(names: object) -> None:
    model = _model("independent", 6.0, 0.4, 100, 7, "castell")
    with pytest.raises(QueryError):
        model.estimate(names)  # type: ignore[arg-type]
    with pytest.raises(QueryError):
        model.estimate(["x", "y"]).project(names)  # type: ignore[arg-type]
