"""Means and quantiles of binned and ordered answers; shares of those who answered."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from castell import Attribute, MatrixResponse, Schema, Study, fit
from castell.errors import OptionError, QueryError
from castell.inference.group_mean import GroupMean, one_sided
from castell.inference.intervals import Bounds, Normal
from castell.inference.shares import Shares

GENERATOR = np.random.default_rng(11)
N = 4_000
AGES = np.minimum(18 + GENERATOR.gamma(2.0, 12.0, N).astype(int), 99)
PAY = np.round(GENERATOR.uniform(0, 100, N), 1)
SMOKES = np.where(GENERATOR.random(N) < np.where(AGES < 45, 0.6, 0.2), "now", "never")
HEALTH: Any = GENERATOR.choice(["poor", "fair", "good"], N, p=[0.2, 0.5, 0.3])
SAID: Any = np.where(GENERATOR.random(N) < 0.1, "no answer", HEALTH)
KIDS = GENERATOR.poisson(1.3, N).clip(0, 5)
BINS: dict[str, Any] = {"bins": [18, 30, 45, 60], "range": [18, 99], "unit": "years"}
SCHEMA = Schema(
    [
        Attribute("age", **BINS),
        Attribute("pay", bins=[0, 10, 40, 100], rounding="unbiased"),
        Attribute("smokes", ["never", "now"]),
        Attribute("health", ["poor", "fair", "good"], ordered=True, also=["no answer"]),
        Attribute("kids", range=[0, 5]),
        Attribute("ok", type="boolean"),
    ]
)
ANSWERS: dict[str, Any] = {
    **{"age": AGES, "pay": PAY, "smokes": SMOKES, "health": SAID, "kids": KIDS},
    "ok": AGES > 50,
}


def nearly_certain(size: int) -> MatrixResponse:
    """As good as no noise: what is then estimated is what was answered."""
    return MatrixResponse([[2**46 if i == k else 1 for k in range(size)] for i in range(size)])


@pytest.fixture(scope="module")
def plain() -> Any:
    study = Study(SCHEMA, channels={a.name: nearly_certain(a.size) for a in SCHEMA})
    return fit(study.randomize(ANSWERS, seed=1), "castell")


@pytest.fixture(scope="module")
def noisy() -> Any:
    return fit(Study(SCHEMA, epsilon=12.0).randomize(ANSWERS, seed=1), "castell")


NOW = {"smokes": "now"}


# -- without noise it is the plain counterpart ---------------------------------------------------


@pytest.mark.parametrize("given", [None, NOW, {"smokes": "now", "ok": [False, True]}])
def test_a_mean_without_noise_is_the_mean(plain: Any, given: Any) -> None:
    among = np.full(N, True) if given is None else SMOKES == "now"
    kids = KIDS[among]
    mean = plain.mean("kids", given=given)
    assert mean.value == pytest.approx(kids.mean(), abs=1e-8)
    # The error of a mean, of a fixed number of people or of as many as happen to be in the group.
    assert mean.standard_error == pytest.approx(kids.std() / len(kids) ** 0.5, rel=1e-6)
    low, high = mean.conf_int()
    assert (low + high) / 2 == pytest.approx(kids.mean(), abs=2e-3)
    assert (high - low) / 2 / mean.standard_error == pytest.approx(1.96, abs=0.01)
    assert mean.bounds == pytest.approx((kids.mean(), kids.mean()), abs=1e-8)
    assert float(plain.mean("ok", given={"smokes": "now"})) == pytest.approx(
        (AGES > 50)[SMOKES == "now"].mean(), abs=1e-8
    )


def test_bins_put_everybody_in_the_middle_and_say_so(plain: Any) -> None:
    lower = np.array([18, 30, 45, 60])
    upper = np.array([29, 44, 59, 99])
    code = np.searchsorted(lower, AGES, side="right") - 1
    mean = plain.mean("age")
    assert mean.value == pytest.approx(((lower + upper) / 2)[code].mean(), abs=1e-8)
    assert mean.bounds == pytest.approx((lower[code].mean(), upper[code].mean()), abs=1e-8)
    # The interval holds the truth, which the bins alone cannot tell; the noise's does not.
    low, high = mean.conf_int()
    assert low < mean.bounds[0] <= AGES.mean() <= mean.bounds[1] < high
    least, most = mean.noise_conf_int()
    assert low < least < mean.value < most < high
    assert not least <= AGES.mean() <= most
    told = mean.summary()
    assert "years" in told
    assert "the bins alone leave open" in told
    assert "of sampling and noise alone" in told
    # One-sided at each end: bounds are far apart.
    error = (mean.bounds[0] - low) / 1.6449
    assert error == pytest.approx(lower[code].std() / N**0.5, rel=0.02)


def test_quantiles_without_noise(plain: Any) -> None:
    for q in (0.1, 0.25, 0.5, 0.9):
        kids = plain.quantile("kids", q)
        assert kids.value == np.quantile(KIDS, q, method="inverted_cdf")
        among = plain.quantile("kids", q, given=NOW)
        assert among.value == np.quantile(KIDS[SMOKES == "now"], q, method="inverted_cdf")
    health = HEALTH[SAID != "no answer"]
    order = {"poor": 0, "fair": 1, "good": 2}
    median = int(np.quantile([order[h] for h in health], 0.5, method="inverted_cdf"))
    found = plain.quantile("health")
    assert found.value == found.label == list(order)[median]
    assert found.conf_int() == (found.value, found.value)
    assert np.isnan(found.standard_error)
    age = plain.quantile("age")
    low, high = age.bounds
    assert low <= np.median(AGES) <= high
    assert low <= age.value <= high + 1
    assert age.conf_int() == (low, high)
    least, most = age.noise_conf_int()
    assert low <= least < age.value < most <= high + 1
    assert age.standard_error == pytest.approx((most - least) / 3.92, rel=1e-3)


def test_a_quantile_by_hand() -> None:
    study = Study([Attribute("a", bins=[10, 20, 30])], channels={"a": nearly_certain(4)})
    model = fit(study.randomize({"a": [5] * 25 + [15] * 50 + [25] * 15 + [40] * 10}), "castell")
    # 25 below 10, 75 below 20: the middle of the bin.
    assert model.quantile("a", 0.5).value == pytest.approx(15.0)
    assert model.quantile("a", 0.30).value == pytest.approx(11.0)
    assert model.quantile("a", 0.8).label == "20 to 29"
    last = model.quantile("a", 0.95)
    assert np.isnan(last.value)
    assert last.bounds == (30.0, np.inf)
    assert "which has no end" in last.summary()
    assert json.loads(json.dumps(last.to_dict()))["upper"] is None
    low, high = model.quantile("a", 0.5).conf_int(0.9999)
    assert (low, high) == (10.0, 19.0)


def test_woodruffs_interval_by_wilsons(plain: Any) -> None:
    """Without noise the interval of a share is Wilson's: at which values it holds q."""
    study = Study([Attribute("kids", range=[0, 5])], channels={"kids": nearly_certain(6)})
    kids = [0] * 9 + [1] * 6 + [2] * 5 + [3] * 12 + [4] * 4 + [5] * 4
    model = fit(study.randomize({"kids": kids}), "castell")
    n, z = len(kids), 1.959963984540054
    share = np.array([np.mean(np.array(kids) <= k) for k in range(5)])
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    for q in (0.2, 0.35, 0.5, 0.8):
        low = int(np.argmax(np.append(middle + reach, 2) >= q))
        high = int(np.argmax(np.append(middle - reach, 2) >= q))
        found = model.quantile("kids", q)
        assert found.conf_int() == (low, high)
        assert low <= float(found.value) <= high
        assert low < high
    assert plain.quantile("age").conf_int(0.999)[0] <= plain.quantile("age").value


# -- with noise ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["castell", "auto"])
def test_answers_with_noise_are_near(method: str) -> None:
    reports = Study(SCHEMA, epsilon=30.0).randomize(ANSWERS, seed=2)
    model = fit(reports, method)
    assert abs(model.mean("pay").value - PAY.mean()) < 5.2 * model.mean("pay").standard_error
    given = model.mean("pay", given=NOW)
    assert abs(given.value - PAY[SMOKES == "now"].mean()) < 5.2 * given.standard_error
    document = json.loads(json.dumps(given.to_dict()))
    assert document["kind"] == "mean"
    assert document["lower"] <= document["mean"] <= document["upper"]
    assert document["given"] == {"smokes": ["now"]}
    assert model.quantile("kids", given=NOW).conf_int()[0] <= np.median(KIDS[SMOKES == "now"])
    assert "Mean" in repr(given)
    assert "Quantile" in repr(model.quantile("age"))


def test_coverage_of_means_quantiles_and_answered_shares() -> None:
    """300 collections: at least 88 and at most 99.4 of 100 hold the truth where 95 should, which
    chance alone breaks less than once in a million."""
    schema = Schema([SCHEMA["pay"], SCHEMA["smokes"], SCHEMA["health"], SCHEMA["kids"]])
    study = Study(schema, epsilon=8.0)
    shares = np.array([0.2, 0.5, 0.3])
    truths = {"pay": 50.0, "given": 100 / 3, "kids": 2.5, "poor": 0.2}
    held = dict.fromkeys([*truths, "median"], 0)
    for seed in range(300):
        made = np.random.default_rng(1000 + seed)
        n = 1_000
        pay = made.uniform(0, 100, n)
        smokes = np.where(made.random(n) < 1 - pay / 100, "now", "never")
        health = made.choice(["poor", "fair", "good"], n, p=shares)
        said = np.where(made.random(n) < 0.2, "no answer", health)
        kids = made.integers(0, 6, n)
        answers = {"pay": pay, "smokes": smokes, "health": said, "kids": kids}
        model = fit(study.randomize(answers, seed=seed), "castell")
        answered = model.answered("health")
        found = {
            "pay": model.mean("pay").conf_int(),
            "given": model.mean("pay", given=NOW).conf_int(),
            "kids": model.mean("kids").conf_int(),
            "poor": tuple(end[0] for end in answered.conf_int()),
        }
        for key, (low, high) in found.items():
            held[key] += low <= truths[key] <= high
        held["median"] += model.quantile("health").value == "fair" or bool(
            {"fair"} & set(model.quantile("health").conf_int())
        )
    median = held.pop("median")
    assert all(0.88 * 300 <= many <= 0.994 * 300 for many in held.values()), held
    assert median >= 0.88 * 300


def test_bounds_of_those_who_did_not_answer(plain: Any, noisy: Any) -> None:
    answered = plain.answered("health")
    kept = SAID != "no answer"
    for k, value in enumerate(("poor", "fair", "good")):
        assert answered.probabilities[k] == pytest.approx((SAID[kept] == value).mean(), abs=1e-8)
        low, high = (end[k] for end in answered.bounds(0.95))
        # None of those who did not answer has it, or all of them; the truth lies between.
        assert low < (value == SAID).mean() < (value == HEALTH).mean()
        assert (value == HEALTH).mean() < (value == SAID).mean() + (~kept).mean() < high
    assert answered.probabilities.sum() == pytest.approx(1.0)
    wide, narrow = noisy.answered("health").bounds(0.99), noisy.answered("health").bounds(0.5)
    assert (wide[0] < narrow[0]).all()
    assert (wide[1] > narrow[1]).all()
    assert "of those who answered" in answered.summary()
    assert "bounds for everybody" in answered.summary()
    assert answered.to_dict()["kind"] == "answered"
    assert list(answered.to_frame("pandas")["health"]) == ["poor", "fair", "good"]


def test_a_usual_way_not_to_answer_is_no_answer() -> None:
    asked = Attribute("smokes", ["yes", "Prefer not to say", "no"])
    study = Study([asked], channels={"smokes": nearly_certain(3)})
    model = fit(study.randomize({"smokes": ["yes", "no", "no", "Prefer not to say"] * 50}))
    assert model.answered("smokes").values == ("yes", "no")
    assert model.answered("smokes").probabilities[0] == pytest.approx(1 / 3, abs=1e-6)


# -- what cannot be asked ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: m.mean("smokes"), "no numbers, and has no mean"),
        (lambda m: m.mean("agee"), "no attribute"),
        (lambda m: m.mean("age", given={"age": 20}), "asked for and given"),
        (lambda m: m.mean("kids", range=(0, 9)), "no open bins"),
        (lambda m: m.quantile("smokes"), "have no order"),
        (lambda m: m.quantile("pay"), "rounded at random"),
        (lambda m: m.quantile("age", 1.0), "between 0 and 1"),
        (lambda m: m.quantile("age", "0.5"), "between 0 and 1"),
        (lambda m: m.answered("kids"), "everybody answers"),
        (lambda m: m.mean("age").conf_int(1.5), "level"),
        (lambda m: m.quantile("age").conf_int(0), "level"),
    ],
)
def test_what_has_no_answer_is_refused(noisy: Any, ask: Any, message: str) -> None:
    with pytest.raises((QueryError, OptionError), match=message):
        ask(noisy)


def test_open_bins_need_a_range_for_a_mean() -> None:
    study = Study([Attribute("age", bins=[18, 60])], channels={"age": nearly_certain(3)})
    model = fit(study.randomize({"age": [10, 30, 70, 30] * 20}), "castell")
    with pytest.raises(QueryError, match="the bin 'under 18' of 'age' has no end"):
        model.mean("age")
    with pytest.raises(QueryError, match="does not hold all bins"):
        model.mean("age", range=(0, 50))
    mean = model.mean("age", range=(0, 100))
    assert mean.bounds == pytest.approx(((0 + 18 + 60 + 18) / 4, (17 + 59 + 100 + 59) / 4))
    days = Study([Attribute("d", period="month", range=["2024-01", "2024-03"])], epsilon=3.0)
    model = fit(days.randomize({"d": ["2024-02-01"] * 200}), "castell")
    assert model.quantile("d").value == "2024-02"
    with pytest.raises(QueryError, match="is of days"):
        model.mean("d")


# -- the formula ---------------------------------------------------------------------------------


def test_imbens_and_manskis_interval_covers_every_truth_between_the_bounds() -> None:
    from statistics import NormalDist

    normal = NormalDist()
    for width in (0.0, 0.3, 1.0, 4.0):
        reach = one_sided(width, 0.9)
        # The truth at an end is held if the estimate of that end is not too far inside.
        assert normal.cdf(reach + width) - normal.cdf(-reach) == pytest.approx(0.9, abs=1e-9)


def test_fiellers_interval_of_scores_by_simulation() -> None:
    """Group shares and scores whose covariance is known: 4,000 draws, 95 of 100 held."""
    generator = np.random.default_rng(5)
    shares = np.array([0.1, 0.05, 0.15])
    spread = generator.normal(size=(3, 3)) * 0.01
    covariance = spread @ spread.T + np.eye(3) * 1e-4
    scores = np.array([1.0, 5.0, 2.0])
    truth = scores @ shares / shares.sum()
    draws = generator.multivariate_normal(shares, covariance, 4_000)
    held = 0
    for drawn in draws:
        ratio = GroupMean(Shares(drawn, Normal(np.diag(covariance)), (covariance,)), False)
        low, high = ratio.interval(scores, 0.95)
        held += low <= truth <= high
    assert abs(held - 3_800) < 5.2 * (4_000 * 0.95 * 0.05) ** 0.5


def test_shares_known_up_to_bounds_give_the_extreme_means() -> None:
    low, high = np.array([0.1, 0.2, 0.0]), np.array([0.3, 0.4, 0.5])
    shares = Shares(np.array([0.2, 0.3, 0.2]), Bounds(lambda _: (low, high)), ())
    scores = np.array([0.0, 1.0, 10.0])
    grid = [np.linspace(a, b, 21) for a, b in zip(low, high, strict=True)]
    every = np.array(np.meshgrid(*grid)).reshape(3, -1)
    means = scores @ every / every.sum(axis=0)
    found = GroupMean(shares, False).interval(scores, 0.95)
    assert found == pytest.approx((means.min(), means.max()), abs=1e-9)


# -- as they are shown ---------------------------------------------------------------------------


def test_frames_keep_the_order(noisy: Any) -> None:
    joint = noisy.estimate(["age", "smokes"])
    frame = joint.to_frame("pandas")
    assert frame["age"].cat.ordered
    assert list(frame["age"].cat.categories) == list(SCHEMA["age"].values)
    assert (frame["age"].min(), frame["age"].max()) == ("18 to 29", "60 to 99")
    assert not hasattr(frame["smokes"], "cat")
    polars = joint.to_frame("polars")
    assert polars["age"].dtype.categories.to_list() == list(SCHEMA["age"].values)
    arrow = joint.to_frame("pyarrow")
    assert arrow.schema.field("age").type.ordered
    assert arrow["age"].to_pylist() == frame["age"].tolist() == polars["age"].to_list()
    people = noisy.sample(5, ["age", "health"], seed=1, backend="pandas")
    assert people["health"].cat.ordered
