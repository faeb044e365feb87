"""Weights where each respondent drew a block, and in `auto`: against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castell
from castell import Attribute, Schema, Study
from castell.counting import samples_of
from castell.counting.counts import MemoryCounts
from castell.errors import MethodError, OptionError, QueryError
from castell.inference.pooled_table import sources
from castell.inference.reasons import Code

SCHEMA = Schema(
    [
        Attribute("g", ["a", "b"], public=True),
        Attribute("x", ["0", "1", "2"]),
        Attribute("y", ["0", "1"]),
        Attribute("z", ["0", "1"]),
    ]
)
N, VILLAGES = 1600, 40
VILLAGE = np.repeat(np.arange(VILLAGES), N // VILLAGES)


def people(seed: int) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(seed)
    near = chance.normal(0.0, 0.1, VILLAGES)[VILLAGE]
    g = (chance.random(N) < 0.7).astype(int)
    x = (chance.random(N) < 0.3 + near + 0.1 * g).astype(int) + (chance.random(N) < 0.3)
    y = (chance.random(N) < 0.2 + 0.2 * x).astype(int)
    codes = {"g": g, "x": x, "y": y, "z": chance.integers(0, 2, N)}
    return {name: np.array(SCHEMA[name].values)[code] for name, code in codes.items()}


STUDY = Study(SCHEMA, 4.0, "pairs")
FRAME = people(1)
REPORTS = STUDY.randomize(FRAME, seed=1)
WEIGHTS = np.where(FRAME["g"] == "a", 3.0, 1.0)


def by_hand(weights: np.ndarray, group: tuple[str, ...], cell: int) -> tuple[float, float]:
    """The average of the samples' weighted means, and its variance over villages, in loops."""
    counts = MemoryCounts(REPORTS)
    samples = list(samples_of(counts))
    drawn = np.asarray(REPORTS.columns[0]).astype(int)
    estimate, moved = 0.0, np.zeros(N)
    for source in sources(counts, [group]):
        k = next(i for i, sample in enumerate(samples) if sample is source.reports)
        block, start = STUDY.design.hidden[k], STUDY.design.starts[k]
        matrix = np.array(block.channel.weights(), dtype=float) / block.channel.total
        inverse = np.linalg.inv(matrix.T)
        # What each code adds to each answer of the block, summed over what is not asked.
        keep = [block.names.index(name) for name in group]
        table = inverse.reshape(*block.sizes, -1)
        gone = tuple(i for i in range(len(block.sizes)) if i not in keep)
        rows = table.sum(axis=gone).reshape(-1, inverse.shape[1])
        held = (drawn >= start) & (drawn < start + block.channel.outputs)
        added = rows[cell][drawn[held] - start]
        own = float((weights[held] * added).sum() / weights[held].sum())
        share = source.weights[group]
        estimate += share * own
        moved[held] += share * weights[held] * (added - own) / weights[held].sum()
    sums = np.array([moved[v == VILLAGE].sum() for v in range(VILLAGES)])
    return estimate, float(VILLAGES / (VILLAGES - 1) * ((sums - sums.mean()) ** 2).sum())


@pytest.mark.parametrize(("group", "cell"), [(("x",), 1), (("y",), 1), (("x", "y"), 3)])
def test_drawn_blocks_are_weighted_as_by_hand(group: tuple[str, ...], cell: int) -> None:
    model = castell.fit(REPORTS, "castell", weights=WEIGHTS, clusters=VILLAGE)
    joint = model.estimate(group)
    value, variance = by_hand(WEIGHTS, group, cell)
    assert joint.probabilities.ravel()[cell] == pytest.approx(value, abs=1e-12)
    assert joint.standard_errors.ravel()[cell] == pytest.approx(np.sqrt(variance), abs=1e-12)
    places = np.unravel_index(cell, joint.shape)
    asked = {n: SCHEMA[n].values[int(c)] for n, c in zip(group, places, strict=True)}
    share = model.probability(asked)
    assert share.value == pytest.approx(value, abs=1e-12)
    assert share.standard_error == pytest.approx(np.sqrt(variance), abs=1e-12)
    assert Code.DESIGN_BASED in [told.code for told in joint.reasons]


def test_equal_weights_change_no_estimate() -> None:
    plain = castell.fit(REPORTS, "castell")
    even = castell.fit(REPORTS, "castell", weights=np.full(N, 7.0))
    for names in (["x"], ["x", "y"], ["g", "y"], ["g"]):
        one, two = plain.estimate(names), even.estimate(names)
        assert np.abs(one.probabilities - two.probabilities).max() < 1e-12
        # Errors by linearisation and those of the channels are estimates of one thing.
        assert np.abs(two.standard_errors / one.standard_errors - 1.0).max() < 0.15


def test_what_is_public_is_known_of_everybody() -> None:
    model = castell.fit(REPORTS, "castell", weights=WEIGHTS)
    share = (WEIGHTS * (FRAME["g"] == "a")).sum() / WEIGHTS.sum()
    assert model.estimate("g").probabilities[0] == pytest.approx(share, abs=1e-12)
    raked = castell.fit(REPORTS, "castell", weights=WEIGHTS, rake={"g": {"a": 0.5, "b": 0.5}})
    assert raked.estimate("g").probabilities == pytest.approx([0.5, 0.5], abs=1e-9)
    assert raked.estimate("g").standard_errors.max() < 1e-9
    strata = castell.fit(REPORTS, "castell", strata="g")
    assert strata.estimate("y").standard_errors.max() > 0.0


def test_each_attribute_alone_is_the_same_with_independence() -> None:
    one = castell.fit(REPORTS, "castell", weights=WEIGHTS, clusters=VILLAGE)
    two = castell.fit(REPORTS, "independent", weights=WEIGHTS, clusters=VILLAGE)
    for name in SCHEMA.names:
        mine, other = one.estimate(name), two.estimate(name)
        np.testing.assert_allclose(mine.probabilities, other.probabilities, atol=1e-12)
        np.testing.assert_allclose(mine.standard_errors, other.standard_errors, atol=1e-12)
    apart = two.estimate(["x", "y"])
    margins = np.outer(two.estimate("x").probabilities, two.estimate("y").probabilities)
    np.testing.assert_allclose(apart.probabilities, margins, atol=1e-12)


def test_weighted_draws_err_as_they_say() -> None:
    """Over 40 samples of villages; the spread of so many estimates is known within 11 %."""
    found, errors = [], []
    for seed in range(40):
        frame = people(100 + seed)
        weights = np.where(frame["g"] == "a", 3.0, 1.0)
        reports = STUDY.randomize(frame, seed=seed)
        model = castell.fit(reports, "castell", weights=weights, clusters=VILLAGE)
        share = model.probability(x="1")
        found.append(share.value)
        errors.append(share.standard_error)
    assert 0.55 < np.mean(errors) / np.std(found) < 2.0


def test_nobody_with_a_weight_is_told() -> None:
    drawn = np.asarray(REPORTS.columns[0])
    weights = np.where(drawn < STUDY.design.starts[1], 0.0, 1.0)  # none of the first block
    with pytest.raises(MethodError, match="weigh 0"):
        castell.fit(REPORTS, "castell", weights=weights).estimate(["x", "y"])
    with pytest.raises(OptionError, match="randomised"):
        castell.fit(REPORTS, "castell", strata="x")


# -- auto ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", ["independent", "pairs"])
def test_auto_weighs_too(design: str) -> None:
    reports = Study(SCHEMA, 6.0, design).randomize(FRAME, seed=4)
    options: dict[str, Any] = {"weights": WEIGHTS, "clusters": VILLAGE}
    auto, plain = castell.fit(reports, **options), castell.fit(reports, "castell", **options)
    one, two = auto.estimate(["x", "y"]), plain.estimate(["x", "y"])
    assert (one.probabilities >= 0.0).all()
    assert one.probabilities.sum() == pytest.approx(1.0)
    low, high = one.conf_int()
    least, most = two.conf_int()
    # Those by design where they contain the estimate; else they reach to it.
    inside = (least <= one.probabilities) & (one.probabilities <= most)
    assert inside.mean() > 0.5
    assert (low[inside] == least[inside]).all()
    assert (high[inside] == most[inside]).all()
    assert ((low <= one.probabilities) & (one.probabilities <= high)).all()
    codes = [told.code for told in one.reasons]
    assert Code.WEIGHTED_SHRUNK in codes
    assert Code.DESIGN_BASED in codes
    assert "weighted unbiased table" in one.summary()
    share = auto.probability(x="1", y="1")
    assert share.value == pytest.approx(float(one.probabilities[1, 1]), abs=1e-12)
    assert share.conf_int() == pytest.approx((low[1, 1], high[1, 1]), abs=1e-4)
    alone = auto.estimate("x")
    assert np.abs(alone.probabilities - plain.estimate("x").probabilities).max() < 1e-12
    among = auto.conditional({"y": "1"}, given={"x": "1"})
    assert among.conf_int()[0][0] < among.probabilities[0] < among.conf_int()[1][0]


def test_auto_shrinks_what_goes_with_nothing_and_keeps_what_does() -> None:
    chance = np.random.default_rng(2)
    a = chance.integers(0, 2, 3000)
    schema = Schema([Attribute(n, ["0", "1"]) for n in "abc"])
    frame = {"a": a, "b": a ^ (chance.random(3000) < 0.1), "c": chance.integers(0, 2, 3000)}
    texts = {name: column.astype(int).astype(str) for name, column in frame.items()}
    model = castell.fit(Study(schema, 6.0).randomize(texts, seed=3), weights=np.ones(3000))

    def unbiased(*names: str) -> float:
        told = model.estimate(names).reasons
        return next(t.numbers["unbiased"] for t in told if t.code is Code.WEIGHTED_SHRUNK)

    assert unbiased("a", "b") > 0.9
    assert unbiased("a", "c") < 0.5


def test_auto_says_what_it_cannot_weigh() -> None:
    reports = Study(SCHEMA, 6.0, "singles").randomize(FRAME, seed=4)
    with pytest.raises(MethodError, match="leave the weights out"):
        castell.fit(reports, weights=WEIGHTS).estimate(["x", "y"])
    assert castell.fit(reports, weights=WEIGHTS).estimate(["g", "x"]).probabilities.sum() > 0.99


@pytest.mark.parametrize("names", [("x",), ("x", "z"), ("g", "y"), ("g",)])
def test_scores_of_drawn_blocks_have_the_estimate_as_their_mean_and_its_error(
    names: tuple[str, ...],
) -> None:
    model = castell.fit(REPORTS, "castell")
    frame = model.scores(names, backend="pandas")
    assert list(frame["g"]) == list(FRAME["g"])
    scores = frame[[column for column in frame if " = " in column]].to_numpy()
    found = model.estimate(names)
    assert scores.mean(axis=0) == pytest.approx(found.probabilities.ravel(), abs=1e-12)
    errors = scores.std(axis=0, ddof=1) / np.sqrt(N)
    assert errors == pytest.approx(found.standard_errors.ravel(), rel=0.03)


def test_scores_of_drawn_blocks_are_weighted_by_whoever_weighs_them() -> None:
    """As survey software does: to first order the mean is the weighted estimate."""
    frame = castell.fit(REPORTS, "castell").scores(["x", "y"], backend="pandas")
    scores = frame[[column for column in frame if " = " in column]].to_numpy()
    found = castell.fit(REPORTS, "castell", weights=WEIGHTS, clusters=VILLAGE).estimate(["x", "y"])
    mean = WEIGHTS @ scores / WEIGHTS.sum()
    # Exactly it is the ratio of two estimates; they differ by a product of two errors.
    assert np.abs(mean - found.probabilities.ravel()).max() < 0.2 * found.standard_errors.min()


def test_scores_that_nobody_can_give_are_refused() -> None:
    asked = castell.fit(STUDY.randomize(FRAME, seed=2), "castell")
    with pytest.raises(QueryError, match="x and y and z together: ask for attributes that some"):
        asked.scores(["x", "y", "z"])
    other = Study(SCHEMA, 2.0, "pairs")
    two = castell.fit([study.randomize(FRAME, seed=3) for study in (STUDY, other)])
    with pytest.raises(QueryError, match="several studies: ask for the scores of each"):
        two.scores(["x"])
