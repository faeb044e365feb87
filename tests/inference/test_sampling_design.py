"""Weights, strata, clusters and raking: R's survey without noise, coverage with it."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest
from scipy import stats

import castell
from castell import Attribute, Reports, Study
from castell.errors import MethodError, OptionError, QueryError
from castell.inference.student_t import student_quantile

LABELS = {
    "stratum": ["A", "B", "C"],
    "region": ["north", "south", "west"],
    "sex": ["f", "m"],
    "smokes": ["never", "before", "now"],
    "sick": ["no", "yes"],
}
PUBLIC = ("stratum", "region", "sex")
MARGINS = {"region": {"north": 0.4, "south": 0.35, "west": 0.25}, "sex": {"f": 0.52, "m": 0.48}}


def people() -> tuple[dict[str, list[str]], list[int], np.ndarray]:
    """120 respondents by a rule, which R was given as d.csv: answers, cluster and weight."""
    rows = range(120)
    cluster = [i // 3 % 5 + 1 for i in rows]
    codes = {
        "stratum": [i % 3 for i in rows],
        "region": [(i * 3 + i // 5) % 7 % 3 for i in rows],
        "sex": [(i // 2 + i % 5) % 2 for i in rows],
        "smokes": [(i * i + i // 4 + 3 * c) % 7 % 3 for i, c in zip(rows, cluster, strict=True)],
        "sick": [int((i * 5 + i // 7 + c) % 9 < 4) for i, c in zip(rows, cluster, strict=True)],
    }
    answers = {name: [LABELS[name][code] for code in codes[name]] for name in LABELS}
    return answers, cluster, np.array([1 + i * 7 % 11 / 4 for i in rows])


ANSWERS, CLUSTER, WEIGHT = people()


def study(epsilon: float = 64.0) -> Study:
    """With epsilon 32 for each attribute a report is another value once in 10^13 times."""
    asked = [Attribute(name, v, public=name in PUBLIC) for name, v in LABELS.items()]
    return Study(asked, epsilon)


def reports() -> Reports:
    return study().randomize(ANSWERS, seed=1)


# R 4.2.2, survey 4.1.1 (Debian's r-cran-survey), with d.csv as `people` makes it:
#   d <- read.csv("d.csv", stringsAsFactors=TRUE)
#   d$smokes <- factor(d$smokes, levels=c("never","before","now"))
#   both <- svydesign(ids=~psu, strata=~stratum, weights=~weight, data=d, nest=TRUE)
#   weighted <- svydesign(ids=~1, weights=~weight, data=d)
#   stratified <- svydesign(ids=~1, strata=~stratum, weights=~weight, data=d)
#   clustered <- svydesign(ids=~interaction(stratum,psu), weights=~weight, data=d)
#   svymean(~smokes, both); SE(svymean(~smokes, both)); degf(both)   # and the others
SMOKES = [0.308973172987974, 0.279370952821462, 0.411655874190564]
NAMED = [f"{s}{c}" for s, c in zip(ANSWERS["stratum"], CLUSTER, strict=True)]
DESIGNS: dict[str, tuple[dict[str, Any], list[float], int]] = {
    "both": (
        {"strata": "stratum", "clusters": CLUSTER},
        [0.0486321237764656, 0.0328044260218757, 0.0349232962724559],
        12,
    ),
    "weighted": ({}, [0.0443328652031461, 0.0446357341125252, 0.0477024592870137], 119),
    "stratified": (
        {"strata": ANSWERS["stratum"]},
        [0.0446518313844524, 0.0448538733297155, 0.0480246317943951],
        117,
    ),
    "clustered": (
        {"clusters": NAMED},
        [0.0455058737912872, 0.0323090902158617, 0.0333577300854726],
        14,
    ),
}


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("method", ["castell", "independent"])
def test_without_noise_shares_and_errors_are_those_of_rs_survey(name: str, method: str) -> None:
    given, errors, freedom = DESIGNS[name]
    model = castell.fit(reports(), method, weights=WEIGHT, **given)
    found = model.estimate("smokes")
    assert found.probabilities == pytest.approx(SMOKES, abs=1e-8)
    assert found.standard_errors == pytest.approx(errors, abs=1e-8)
    assert model.fitted.sampling is not None
    assert model.fitted.sampling.freedom == freedom
    shares = [model.probability(smokes=value) for value in LABELS["smokes"]]
    assert [share.value for share in shares] == pytest.approx(SMOKES, abs=1e-8)
    assert [share.standard_error for share in shares] == pytest.approx(errors, abs=1e-8)
    (note,) = (each for each in found.reasons if each.code is castell.Code.DESIGN_BASED)
    assert note.numbers["freedom"] == freedom
    assert "degrees of freedom" in found.summary()


def both(method: str = "castell", **more: Any) -> castell.Model:
    given: dict[str, Any] = {"weights": WEIGHT, "strata": "stratum", "clusters": CLUSTER}
    return castell.fit(reports(), method, **given, **more)


def test_tables_ratios_and_differences_are_those_of_rs_survey() -> None:
    # svymean(~interaction(smokes,sick,lex.order=TRUE), both)
    table = both().estimate(["smokes", "sick"])
    shares = [0.175763182238668, 0.133209990749306, 0.190564292321924]
    shares += [0.0888066604995375, 0.296947271045328, 0.114708603145236]
    errors = [0.0348043874755141, 0.0237951818692132, 0.0183222215611429]
    errors += [0.0260266698292918, 0.0374589391220768, 0.0187851673649597]
    assert table.probabilities.ravel() == pytest.approx(shares, abs=1e-8)
    assert table.standard_errors.ravel() == pytest.approx(errors, abs=1e-8)
    # svyratio(~I(smokes=="now" & sick=="yes"), ~I(sick=="yes"), both)
    ratio = both().conditional({"smokes": "now"}, given={"sick": "yes"})
    assert ratio.probabilities == pytest.approx([0.340659340659341], abs=1e-8)
    assert ratio.standard_errors == pytest.approx([0.0542536342800128], abs=1e-8)
    # svycontrast(svymean(~I(as.numeric(smokes=="now"))+I(as.numeric(sick=="yes")), both), c(1,-1))
    apart = both().difference({"smokes": "now"}, {"sick": "yes"})
    assert apart.value == pytest.approx(0.0749306197964847, abs=1e-8)
    assert apart.standard_error == pytest.approx(0.0496165254077883, abs=1e-8)


def test_a_weighted_mean_without_noise_is_hajeks_with_its_linearised_error() -> None:
    """svymean of a number, by its formula in loops (R's numbers above are of shares)."""
    chance = np.random.default_rng(8)
    x = chance.choice([0, 1, 2, 5], 120, p=[0.4, 0.3, 0.2, 0.1])
    asked = Study([Attribute("visits", ["0", "1", "2", "5"])], 30.0)
    seen = asked.randomize({"visits": x.astype(str)}, seed=2)
    stratum = np.array(ANSWERS["stratum"])
    more: dict[str, Any] = {"strata": stratum, "clusters": CLUSTER}
    found = castell.fit(seen, "castell", weights=WEIGHT, **more).mean("visits")
    mean = float((WEIGHT * x).sum() / WEIGHT.sum())
    assert found.value == pytest.approx(mean, abs=1e-8)
    pulls, named, variance = WEIGHT * (x - mean) / WEIGHT.sum(), np.array(NAMED), 0.0
    for each in sorted(set(stratum)):
        here = sorted({name for name, s in zip(NAMED, stratum, strict=True) if s == each})
        sums = np.array([pulls[named == name].sum() for name in here])
        variance += len(here) / (len(here) - 1) * float(((sums - sums.mean()) ** 2).sum())
    assert found.standard_error == pytest.approx(np.sqrt(variance), abs=1e-8)


def test_means_and_comparisons_reach_as_far_as_students_t() -> None:
    """Their intervals widen with few clusters, as those of shares do (12 degrees of freedom)."""
    model = both()
    assert model.fitted.sampling is not None
    reach = student_quantile(0.95, model.fitted.sampling.freedom)
    groups = {"given": {"sex": "f"}, "versus": {"sex": "m"}}
    difference = model.compare({"sick": "yes"}, **groups).difference
    low, high = difference.conf_int(0.95)
    assert (high - low) / 2 == pytest.approx(reach * difference.standard_error)
    tail = 2 * stats.t.sf(abs(difference.value) / difference.standard_error, 12)
    assert difference.p_value == pytest.approx(tail)
    hours = [Attribute("hours", [0, 1, 2]), Attribute("sex", ["f", "m"])]
    answers = {"hours": [k % 3 for k in range(120)], "sex": ANSWERS["sex"]}
    seen = Study(hours, 60.0).randomize(answers, seed=1)
    mean = castell.fit(seen, "castell", weights=WEIGHT, clusters=NAMED).mean("hours")
    low, high = mean.conf_int(0.95)
    reach = student_quantile(0.95, 14)
    assert (high - low) / 2 == pytest.approx(reach * mean.standard_error)


def test_raked_shares_and_errors_are_those_of_rs_survey() -> None:
    # N <- sum(d$weight)
    # known <- c("(Intercept)"=N, regionsouth=N*.35, regionwest=N*.25, sexm=N*.48)
    # raked <- calibrate(both, ~region+sex, population=known, calfun="raking", epsilon=1e-14)
    # svymean(~smokes, raked); weights(raked)[1:6]
    found = both(rake=MARGINS).estimate("smokes")
    shares = [0.3171036359063, 0.266746935700121, 0.416149428393579]
    errors = [0.0499721551908694, 0.034588677326708, 0.0342170505378557]
    assert found.probabilities == pytest.approx(shares, abs=1e-8)
    assert found.standard_errors == pytest.approx(errors, abs=1e-8)
    assert "raked" in found.summary()
    weights = [0.937023597312729, 2.48358184376805, 1.58046117330694]
    weights += [3.04239255526304, 2.1731375394736, 1.30388252368416]
    assert castell.rake(reports(), MARGINS, WEIGHT)[:6] == pytest.approx(weights, abs=1e-8)
    by_columns = castell.rake(ANSWERS, MARGINS, WEIGHT)
    assert by_columns == pytest.approx(castell.rake(reports(), MARGINS, WEIGHT), abs=1e-12)
    # What is raked to has no error left.
    assert both(rake=MARGINS).estimate("region").standard_errors == pytest.approx([0.0] * 3)
    assert both(rake=MARGINS).estimate("region").probabilities == pytest.approx([0.4, 0.35, 0.25])


def test_equal_weights_change_hardly_anything() -> None:
    """n / (n - 1) is all that a simple random sample has in common with no design at all."""
    seen = study(4.0).randomize(ANSWERS, seed=3)
    for method in ("castell", "independent"):
        plain = castell.fit(seen, method).estimate(["region", "smokes", "sick"])
        equal = castell.fit(seen, method, weights=[2.0] * 120).estimate(plain.names)
        assert equal.probabilities == pytest.approx(plain.probabilities, abs=1e-12)
        larger = np.sqrt(120 / 119)
        assert equal.standard_errors == pytest.approx(plain.standard_errors * larger, abs=1e-10)
    one, two = (castell.fit(seen, "castell", **w) for w in ({}, {"weights": [1] * 120}))
    ends = [m.estimate("smokes").conf_int(0.95) for m in (one, two)]
    assert np.abs(np.array(ends[0]) - np.array(ends[1])).max() < 0.01


def test_errors_of_products_are_those_of_a_jackknife() -> None:
    """Leaving out one cluster at a time is another way to the same errors (Rao and Shao)."""
    seen = study(6.0).randomize(ANSWERS, seed=5)
    model = castell.fit(seen, "independent", weights=WEIGHT, clusters=NAMED)
    asked = ["smokes", "sick"]
    found = model.estimate(asked)
    apart = []
    for name in sorted(set(NAMED)):
        kept = np.where(np.array(NAMED) == name, 0.0, WEIGHT)
        apart.append(castell.fit(seen, "independent", weights=kept).estimate(asked).probabilities)
    jackknife = np.sqrt(14 / 15 * ((np.array(apart) - found.probabilities) ** 2).sum(axis=0))
    assert found.standard_errors == pytest.approx(jackknife, rel=0.1)


def test_scores_have_the_estimate_as_their_mean_and_its_error() -> None:
    seen = study(3.0).randomize(ANSWERS, seed=7)
    model = castell.fit(seen, "castell", weights=WEIGHT, strata="stratum", clusters=CLUSTER)
    frame = model.scores(["sick", "smokes"], backend="pandas")
    assert list(frame["region"]) == ANSWERS["region"]
    scores = frame[[column for column in frame if " = " in column]]
    assert list(scores)[1] == "sick = no, smokes = before"
    found = model.estimate(["sick", "smokes"])
    mean = WEIGHT @ scores.to_numpy() / WEIGHT.sum()
    assert mean == pytest.approx(found.probabilities.ravel(), abs=1e-12)
    plain = castell.fit(seen, "castell").estimate(["sick", "smokes"])
    assert scores.to_numpy().mean(axis=0) == pytest.approx(plain.probabilities.ravel(), abs=1e-12)
    with pytest.raises(QueryError):
        model.scores(["sick", "smokes"], max_cells=3)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 30, 119, 2000, 2001, 10_000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_students_quantiles(freedom: int, level: float) -> None:
    known = stats.t.ppf(0.5 + level / 2, freedom)
    assert student_quantile(level, freedom) == pytest.approx(known, rel=1e-10)
    assert student_quantile(level, inf) == pytest.approx(stats.norm.ppf(0.5 + level / 2))


# -- simulated designs -----------------------------------------------------------------------------

SHARES = np.array([0.1, 0.25, 0.4, 0.6])  # of "yes" in four strata
SIZES = np.array([0.4, 0.3, 0.2, 0.1])  # of the strata in the population
DRAWN = np.array([6, 6, 10, 14])  # clusters: small strata with large shares are oversampled
EACH = 12


def collected(seed: int) -> tuple[Reports, dict[str, Any]]:
    chance = np.random.default_rng(seed)
    strata = np.repeat(np.arange(4), DRAWN * EACH)
    clusters = np.repeat(np.arange(DRAWN.sum()), EACH)
    # Clusters differ: a beta distribution about the share of their stratum.
    middle = np.repeat(SHARES, DRAWN)
    share = chance.beta(12 * middle, 12 * (1 - middle))[clusters]
    sick = np.where(chance.random(len(strata)) < share, "yes", "no")
    drinks = np.where(chance.random(len(strata)) < 0.2 + 0.5 * (sick == "yes"), "yes", "no")
    asked = Study(
        [
            Attribute("stratum", list("abcd"), public=True),
            Attribute("sick", ["no", "yes"]),
            Attribute("drinks", ["no", "yes"]),
        ],
        4.0,
    )
    answers = {"stratum": np.array(list("abcd"))[strata], "sick": sick, "drinks": drinks}
    weights = (SIZES / (DRAWN * EACH))[strata]
    made = asked.randomize(answers, seed=seed)
    return made, {"weights": weights, "strata": "stratum", "clusters": clusters}


def test_weighted_shares_are_covered_as_often_as_they_should() -> None:
    truth = float(SIZES @ SHARES)
    drinks = 0.2 + 0.5 * truth
    held: dict[str, list[bool]] = {}

    def look(name: str, ends: tuple[float, float], true: float) -> None:
        held.setdefault(name, []).append(bool(ends[0] <= true <= ends[1]))

    for seed in range(700):
        made, given = collected(seed)
        model = castell.fit(made, "castell", **given)
        table = model.estimate(["sick", "drinks"])
        low, high = table.conf_int(0.95)
        look("cell", (low[1, 1], high[1, 1]), 0.7 * truth)
        look("share", model.probability(sick="yes").conf_int(0.95), truth)
        look("drinks", model.probability(drinks="yes").conf_int(0.95), drinks)
        apart = model.difference({"sick": "yes"}, {"drinks": "yes"})
        look("difference", apart.conf_int(0.95), truth - drinks)
        # Without the design most intervals miss.
        plain = castell.fit(made, "castell").probability(sick="yes")
        look("no design", plain.conf_int(0.95), truth)
    covered = {name: float(np.mean(each)) for name, each in held.items()}
    assert covered.pop("no design") < 0.5
    for name, share in covered.items():
        assert 0.93 <= share <= 0.97, (name, share)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"weights": [1.0] * 119}, "weights has 119 entries for 120 reports"),
        ({"weights": [-1.0] + [1.0] * 119}, "report 1 has -1.0, and 1 of 120"),
        ({"weights": [1.0, np.nan] + [1.0] * 118}, "report 2 has nan"),
        ({"weights": [1.0] * 119 + [inf]}, "report 120 has inf"),
        ({"weights": [0.0] * 120}, "the weights sum to 0"),
        ({"weights": ["x"] * 120}, "no numbers"),
        ({"weights": [[1.0]] * 120}, "is no column"),
        ({"weights": 3.0}, "is no column"),
        ({"weights": "stratum"}, "no numbers"),
        ({"weights": "weight"}, "weights names 'weight', which is no attribute"),
        ({"strata": "smokes"}, "strata names 'smokes', which is randomised"),
        ({"clusters": "sick"}, "clusters names 'sick', which is randomised"),
        ({"strata": [None] + ["a"] * 119}, "1 entries are missing, the first for report 1"),
        ({"clusters": [1.0] * 119 + [np.nan]}, "1 entries are missing, the first for report 120"),
        ({"clusters": ["a"] * 120}, "1 of 1 strata have one cluster"),
        ({"strata": ["a"] + ["b"] * 119}, "1 of 2 strata have one cluster"),
        ({"strata": "stratum", "clusters": ANSWERS["stratum"]}, "3 of 3 strata have one cluster"),
        ({"rake": {}}, "rake has no margins"),
        ({"rake": [1]}, "rake has no margins"),
        ({"rake": {"sick": {"no": 0.5, "yes": 0.5}}}, "which is randomised"),
        ({"rake": {"size": {"no": 0.5, "yes": 0.5}}}, "which is no attribute"),
        ({"rake": {"sex": {"f": 1.0}}}, "'sex' has no margin"),
        ({"rake": {"sex": {"f": -0.5, "m": 1.5}}}, "sex = f has -0.5"),
        ({"rake": {"sex": {"f": np.nan, "m": 1.5}}}, "sex = f has nan"),
        ({"rake": {"sex": {"f": 0.0, "m": 0.0}}}, "sums to 0"),
        ({"rake": {"region": {"north": 0.5, "south": 0.5}}}, "says nothing of west"),
        ({"rake": {"sex": {"f": 0.5, "m": 0.4, "x": 0.1}}}, "no report has sex = x"),
        ({"weights": WEIGHT, "target": "respondents"}, "means nothing for weighted reports"),
    ],
)
def test_what_is_no_design_is_refused(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(OptionError, match=problem.replace("(", r"\(")):
        castell.fit(reports(), "castell", **given)


def test_margins_that_contradict_each_other_are_refused() -> None:
    people = {"a": ["x", "y"] * 20, "b": ["u", "v"] * 20}
    with pytest.raises(OptionError, match="still off"):
        castell.rake(people, {"a": {"x": 0.5, "y": 0.5}, "b": {"u": 0.9, "v": 0.1}})
    with pytest.raises(OptionError, match="no column 'c'"):
        castell.rake(people, {"c": {"x": 0.5, "y": 0.5}})
    with pytest.raises(OptionError, match="differ in length"):
        castell.rake({**people, "b": ["u"]}, {"a": {"x": 1, "y": 1}, "b": {"u": 1, "v": 1}})
    with pytest.raises(OptionError, match="3 entries for 40"):
        castell.rake(people, {"a": {"x": 1, "y": 1}}, [1, 2, 3])
    with pytest.raises(OptionError, match="sum to 0"):
        castell.rake(people, {"a": {"x": 1, "y": 1}}, [0] * 40)


def test_what_does_not_weigh_is_refused_and_not_ignored() -> None:
    for method in ("latent", "em", "truncated", "hybrid"):
        with pytest.raises(MethodError, match="use auto, castell or independent"):
            castell.fit(reports(), method, weights=WEIGHT)
    model = both()
    with pytest.raises(MethodError, match="not saved"):
        model.save("never.castell")
    other = study(4.0).randomize(ANSWERS, seed=2)
    with pytest.raises(OptionError, match="reports of several studies"):
        castell.fit([reports(), other], "castell", weights=[1.0] * 240)
    counted = castell.tally(reports())
    with pytest.raises(OptionError, match="have no order"):
        castell.fit(counted, "castell", weights=WEIGHT)
    # By public attributes a tally is as good.
    by_name = [castell.fit(each, "castell", strata="stratum") for each in (counted, reports())]
    one, two = (model.estimate("smokes").standard_errors for model in by_name)
    assert one == pytest.approx(two, abs=1e-12)
    # The method's own option of that name stays its own.
    assert castell.fit(reports(), "clusters", clusters=[["smokes", "sick"]]).method == "clusters"
    table = both("independent").estimate(["smokes", "sick"])
    assert table.verdict is castell.Verdict.UNKNOWN


def test_a_weight_may_be_a_public_attribute() -> None:
    asked = [Attribute("weight", [1, 2.5], public=True), Attribute("sick", ["no", "yes"])]
    made = Study(asked, 32.0).randomize(
        {"weight": [1, 2.5, 2.5, 1], "sick": ["yes", "no", "yes", "no"]}, seed=1
    )
    found = castell.fit(made, "castell", weights="weight").estimate("sick")
    assert found.probabilities == pytest.approx([0.5, 0.5], abs=1e-9)


def test_one_report_has_no_error() -> None:
    made = Study([Attribute("a", ["x", "y"])], 2.0).randomize({"a": ["x"]}, seed=1)
    with pytest.raises(OptionError, match="one cluster"):
        castell.fit(made, "castell", weights=[1.0])
