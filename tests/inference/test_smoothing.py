"""Smoothing of ordered attributes: closer where shares are smooth, no worse where they are not."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import castell
from castell import Attribute, Study
from castell.counting import MemoryCounts
from castell.errors import MethodError, QueryError
from castell.inference.smoothing import maximise_penalised, reports_of, roughness
from castell.linear.operators import Floats

SIZE = 16
X = np.arange(SIZE)
BELL = np.exp(-0.5 * ((X - 6) / 3.0) ** 2)
BELL /= BELL.sum()
JAGGED = np.where(X % 2 == 0, 1.0, 0.1)
JAGGED /= JAGGED.sum()
ATTRIBUTE = Attribute("a", range=[0, SIZE - 1])


def _reports(people: Floats, epsilon: float, n: int, seed: int) -> castell.Reports:
    codes = np.random.default_rng(seed).choice(SIZE, n, p=people)
    return Study([ATTRIBUTE], epsilon).randomize({"a": codes.tolist()}, seed=seed)


def _squares(people: Floats, epsilon: float, rounds: int) -> tuple[float, float, list[Any]]:
    """Mean squared errors with smoothing and without, and the results."""
    mine, plain, found = 0.0, 0.0, []
    for seed in range(rounds):
        model = castell.fit(_reports(people, epsilon, 2000, seed), "castell")
        one = model.smooth("a")
        mine += float(((one.probabilities - people) ** 2).sum())
        plain += float(((model.estimate("a").probabilities - people) ** 2).sum())
        found.append(one)
    return mine, plain, found


def test_a_smooth_distribution_is_estimated_closer() -> None:
    mine, plain, found = _squares(BELL, 2.0, 8)
    assert mine < 0.5 * plain
    assert all(each.penalty is not None for each in found)
    for each in found:
        assert each.probabilities.sum() == pytest.approx(1.0)
        assert each.probabilities.min() > 0.0


def test_a_jagged_one_is_left_as_it_is() -> None:
    mine, plain, found = _squares(JAGGED, 3.0, 8)
    assert mine < 1.1 * plain
    left = [each for each in found if each.penalty is None]
    assert len(left) >= 4
    assert left[0].probabilities.tolist() == left[0].table.tolist()
    assert "no smoothing" in left[0].notes[0]


def test_the_penalised_maximum_is_what_direct_search_finds() -> None:
    """For bins of unequal width, one open, beside a value that is not in the order."""
    attribute = Attribute("a", bins=[10, 20, 40, 80], missing="category")
    answers = [5, 12, 15, 25, 30, 33, 50, 90, None, 14] * 80
    counts = MemoryCounts(Study([attribute], 3.0).randomize({"a": answers}, seed=1))
    (view,) = reports_of(counts, "a")
    matrix, offset = roughness(attribute, list(range(5)))
    # Log densities on a line have no second differences, and "no answer" has none at all.
    line = np.append(0.3 * np.array([5.0, 15.0, 30.0, 60.0, 100.0]), 7.0)
    assert line @ matrix @ line == pytest.approx(0.0, abs=1e-18 + 1e-12 * float(line @ line))
    assert not matrix[5].any()

    def lost(free: Floats) -> float:
        h = np.append(free, 0.0)
        odds = np.exp(h + offset)
        log = view.counts @ np.log(view.chances @ (odds / odds.sum()))
        return float(-log + 25.0 * h @ matrix @ h / 2)

    best = np.append(minimize(lost, np.zeros(5), method="BFGS", tol=1e-10).x, 0.0)
    odds = np.exp(best + offset)
    found = maximise_penalised([view], 25.0 * matrix, offset)
    np.testing.assert_allclose(found, odds / odds.sum(), atol=2e-5)


@pytest.mark.parametrize("people", [BELL, JAGGED], ids=["bell", "jagged"])
def test_intervals_are_the_tables_made_to_contain_the_estimate(people: Floats) -> None:
    model = castell.fit(_reports(people, 2.0, 2000, 3), "castell")
    one, table = model.smooth("a"), model.estimate("a")
    low, high = one.conf_int(0.9)
    least, most = table.conf_int(0.9)
    inside = (least <= one.probabilities) & (one.probabilities <= most)
    assert inside.mean() > 0.5
    np.testing.assert_array_equal(low[inside], least[inside])
    np.testing.assert_array_equal(high[inside], most[inside])
    assert ((low <= one.probabilities) & (one.probabilities <= high)).all()


def test_drawn_designs_and_the_usual_verbs() -> None:
    schema = [ATTRIBUTE, Attribute("b", ["u", "v"]), Attribute("c", ["u", "v"])]
    codes = np.random.default_rng(1).choice(SIZE, 3000, p=BELL).tolist()
    answers = {"a": codes, "b": ["u", "v"] * 1500, "c": ["v"] * 3000}
    for design in ("pairs", "singles", "joint"):
        reports = Study(schema, 4.0, design).randomize(answers, seed=1)
        found = castell.fit(reports, "castell").smooth("a")
        assert np.abs(found.probabilities - BELL).max() < 0.05
    told = json.loads(json.dumps(found.to_dict(0.9)))
    assert (told["kind"], told["attribute"], len(told["lower"])) == ("smooth", "a", SIZE)
    assert repr(found).startswith("<SmoothShares a, smoothed: 16 shares")
    assert "95% interval" in str(found)
    assert found.to_frame("pandas").shape == (SIZE, 5)


def test_what_has_no_order_or_weights_is_refused() -> None:
    schema = [Attribute("b", ["u", "v", "w"]), ATTRIBUTE, Attribute("w", [1, 2], public=True)]
    answers = {"b": ["u", "v", "w"] * 50, "a": [1, 2, 3] * 50, "w": [1, 2, 1] * 50}
    reports = Study(schema, 6.0).randomize(answers, seed=1)
    with pytest.raises(QueryError, match="have no order"):
        castell.fit(reports, "castell").smooth("b")
    with pytest.raises(MethodError, match="weighted table is not smoothed"):
        castell.fit(reports, "castell", weights="w").smooth("a")
    bloom = Study(schema[:2], 9.0, "bloom").randomize({k: answers[k] for k in "ab"}, seed=1)
    with pytest.raises(MethodError, match="no report tells 'a' by itself"):
        castell.fit(bloom, "lopub").smooth("a")
