"""Tables that are moved to agree: exactly, by the least, and for the better."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import castell
from castell import JointEstimate, Reports, Study
from castell.errors import QueryError
from castell.inference.intervals import Normal
from castell.inference.reasons import Code
from castell.inference.support import Support
from castell.linear.operators import Floats
from castell.results.consistency import consistent, shared_sets
from tests.populations import collect, drawn_studies, population, schema

SIZES = dict(zip("abcde", (2, 3, 4, 2, 3), strict=True))
STUDY = Study(schema(tuple(SIZES.values())), 5.0)
PEOPLE = population((2, 3, 4), seed=4)
FAMILY = [("b", "a"), ("b", "c"), ("a", "c"), ("c",)]


def _estimate(names: tuple[str, ...], table: Floats, variance: float = 1.0) -> JointEstimate:
    return JointEstimate(
        attributes=STUDY.schema.select(names),
        probabilities=table,
        unprocessed=table,
        spread=lambda kept: Normal(np.full([SIZES[name] for name in kept], variance)),
        method="castell",
        post="raw",
        study=STUDY,
        n=100,
        secure=True,
        support=lambda kept: Support(kept, 100, 100, True, {}),
    )


def _random(names: tuple[str, ...], generator: np.random.Generator, noise: float) -> JointEstimate:
    shape = [SIZES[name] for name in names]
    table = noise * generator.standard_normal(shape)
    table += (1.0 - table.sum()) / table.size
    return _estimate(names, table, float(generator.uniform(0.1, 10.0)))


def _disagreement(family: list[JointEstimate]) -> float:
    """The largest difference of two tables on any margin they share, the sum among them."""
    worst = max((abs(float(j.probabilities.sum()) - 1.0) for j in family), default=0.0)
    for one, two in combinations(family, 2):
        shared = sorted(set(one.names) & set(two.names))
        for width in range(1, len(shared) + 1):
            for names in combinations(shared, width):
                gap = one.project(names).probabilities - two.project(names).probabilities
                worst = max(worst, float(np.abs(gap).max()))
    return worst


names_of_tables = st.lists(
    st.lists(st.sampled_from("abcde"), min_size=1, max_size=4, unique=True).map(tuple),
    min_size=1,
    max_size=7,
)


@settings(deadline=None, max_examples=60)
@given(names_of_tables, st.integers(0, 2**32), st.sampled_from([1e-3, 1.0, 1e3]))
def test_any_family_agrees_after_it(sets: list[tuple[str, ...]], seed: int, noise: float) -> None:
    generator = np.random.default_rng(seed)
    family = [_random(names, generator, noise) for names in sets]
    moved = consistent(family)
    assert [joint.names for joint in moved] == sets
    assert _disagreement(moved) <= 1e-12 * max(1.0, noise)
    for before, after in zip(family, moved, strict=True):
        np.testing.assert_array_equal(after.probabilities, after.unprocessed)
        # What nobody shares is left alone.
        others = [joint.names for joint in family if joint is not before]
        if not any(set(names) & set(before.names) for names in others):
            np.testing.assert_allclose(after.probabilities, before.probabilities, atol=1e-12)
    # And once is enough.
    for once, twice in zip(moved, consistent(moved), strict=True):
        size = 1e-11 * max(1.0, noise)
        np.testing.assert_allclose(twice.probabilities, once.probabilities, atol=size)


@settings(deadline=None, max_examples=25)
@given(names_of_tables, st.integers(0, 2**32))
def test_it_is_the_least_move(sets: list[tuple[str, ...]], seed: int) -> None:
    """Against a general solver of the same least squares problem.

    Cells that err apart, each with variance 1: a margin of r cells to one has variance r.
    """
    generator = np.random.default_rng(seed)
    family = [
        replace(_random(names, generator, 1.0), spread=partial(_of_cells, names)) for names in sets
    ]
    tables = np.concatenate([joint.probabilities.ravel() for joint in family])
    rules = _rules(family)
    moved = np.concatenate([joint.probabilities.ravel() for joint in consistent(family)])
    # The projection onto { x : rules x = 0 and every table's sum kept }.
    # Rules that follow from others leave singular values of nothing but rounding.
    least = tables - np.linalg.pinv(rules, rcond=1e-10) @ (rules @ tables)
    np.testing.assert_allclose(moved, least, atol=1e-9)


def _of_cells(names: tuple[str, ...], kept: tuple[str, ...]) -> Normal:
    gone = float(np.prod([SIZES[name] for name in names if name not in kept]))
    return Normal(np.full([SIZES[name] for name in kept], gone))


def _rules(family: list[JointEstimate]) -> Floats:
    """A row for each difference that must be nothing, a column for each cell of each table."""
    ends = np.cumsum([0, *(joint.probabilities.size for joint in family)])
    rows = [np.zeros((1, ends[-1]))]
    for i, k in combinations(range(len(family)), 2):
        shared = sorted(set(family[i].names) & set(family[k].names))
        difference = np.zeros((int(np.prod([SIZES[name] for name in shared])), ends[-1]))
        for which, sign in ((i, 1.0), (k, -1.0)):
            joint = family[which]
            for cell, values in enumerate(np.ndindex(*joint.shape)):
                own = tuple(values[joint.names.index(name)] for name in shared)
                row = int(np.ravel_multi_index(own, [SIZES[n] for n in shared])) if shared else 0
                difference[row, ends[which] + cell] = sign
        rows.append(difference)
    return np.concatenate(rows)


def test_the_average_is_weighted_by_precision() -> None:
    one = _estimate(("a",), np.array([0.2, 0.8]), variance=1.0)
    two = _estimate(("a",), np.array([0.6, 0.4]), variance=3.0)
    for joint in consistent([one, two]):
        np.testing.assert_allclose(joint.probabilities, [0.3, 0.7])
    certain = replace(one, spread=lambda _: Normal(np.zeros(2)))
    for joint in consistent([two, certain]):
        np.testing.assert_allclose(joint.probabilities, [0.2, 0.8])


def test_which_sets_are_shared() -> None:
    def found(*sets: str) -> list[str]:
        return ["".join(sorted(s)) for s in shared_sets(sets)]

    assert found("ab", "bc", "cd") == ["", "b", "c"]
    assert found("abc", "bcd", "cde") == ["", "c", "bc", "cd"]
    assert found("ab", "abc", "ab") == ["", "ab"]
    assert found("abc", "abd", "acd") == ["", "a", "ab", "ac", "ad"]
    assert found("ab", "cd") == [""]
    assert found() == [""]


# -- estimates -------------------------------------------------------------------------------------


@cache
def _reports(design: str) -> Reports:
    epsilon = {"independent": 6.0, "noisy": 3.0, "clear": 12.0}
    drawn = drawn_studies().get(design)
    study = drawn or Study(PEOPLE.schema, epsilon[design])
    return collect(study, PEOPLE.table, 2000, np.random.default_rng(0))


@pytest.mark.parametrize("design", ["independent", "pairs", "singles"])
def test_tables_of_one_model_agree_by_themselves(design: str) -> None:
    model = castell.fit(_reports(design), "latent", starts=2)
    family = [model.estimate(names) for names in (*FAMILY, ("c", "a", "b"))]
    assert _disagreement(family) <= 1e-12
    assert consistent(family) == family  # the very same: nothing was moved, nothing is noted


@pytest.mark.parametrize(
    ("method", "design"),
    [
        ("em", "independent"),
        ("hybrid", "independent"),
        ("truncated", "noisy"),
        ("auto", "clear"),
        ("castell", "pairs"),
    ],
)
def test_tables_made_one_by_one_are_made_to(method: str, design: str) -> None:
    model = castell.fit(_reports(design), method)
    all_three = [] if method == "castell" else [("c", "a", "b")]
    family = [model.estimate(names) for names in FAMILY + all_three]
    assert _disagreement(family) > 1e-6
    moved = castell.consistent(family)
    assert _disagreement(moved) <= 1e-12
    for before, after in zip(family, moved, strict=True):
        assert (after.names, after.method, after.n) == (before.names, method, 2000)
        stayed = np.array_equal(after.probabilities, before.probabilities)
        assert after.notes[: len(before.notes)] == before.notes
        assert stayed or after.reasons[-1].code is Code.MADE_CONSISTENT
        assert stayed or "moved to agree" in after.summary()
        assert not after.probabilities.flags.writeable
        # The intervals move along and stay as wide.
        np.testing.assert_array_equal(after.standard_errors, before.standard_errors)
        low, high = after.unbounded()
        assert (low <= after.probabilities).all()
        assert (after.probabilities <= high).all()


@pytest.mark.parametrize("method", ["castell", "independent"])
def test_inverted_tables_of_full_reports_agree_already(method: str) -> None:
    model = castell.fit(_reports("independent"), method)
    family = [model.estimate(names) for names in (*FAMILY, ("a", "b", "c"))]
    assert consistent(family) == family


def test_agreeing_makes_them_better() -> None:
    study = Study(PEOPLE.schema, 2.0, "pairs")
    before: list[float] = []
    after: list[float] = []
    for seed in range(60):
        reports = collect(study, PEOPLE.table, 3000, np.random.default_rng(seed))
        model = castell.fit(reports, "castell")
        family = [model.estimate(names) for names in combinations("abc", 2)]
        truth = [PEOPLE.margin(joint.names) for joint in family]
        for squares, joints in ((before, family), (after, consistent(family))):
            squares.append(
                sum(
                    float(((joint.probabilities - table) ** 2).sum())
                    for joint, table in zip(joints, truth, strict=True)
                )
            )
    gain = np.array(before) - np.array(after)
    assert gain.mean() > 0.03 * np.mean(before)
    assert gain.mean() / (gain.std(ddof=1) / np.sqrt(len(gain))) > 5.0


# -- what is refused -------------------------------------------------------------------------------


def test_what_cannot_be_made_to_agree() -> None:
    one = _random(("a", "b"), np.random.default_rng(0), 1.0)
    two = _random(("b", "c"), np.random.default_rng(1), 1.0)
    with pytest.raises(QueryError, match=r"post-processed \(simplex\): give raw"):
        consistent([one, replace(two, post="simplex")])
    with pytest.raises(QueryError, match="different reports, 100 and 99 of them"):
        consistent([one, replace(two, n=99)])
    with pytest.raises(QueryError, match="different reports"):
        consistent([one, replace(two, secure=False)])
    other = Study(STUDY.schema, 4.0)
    with pytest.raises(QueryError, match="different studies"):
        consistent([one, replace(two, study=other)])
    nothing: Any = one.probabilities
    with pytest.raises(QueryError, match="a ndarray is no estimate"):
        consistent([one, nothing])


def test_none_and_one() -> None:
    one = _random(("a", "b"), np.random.default_rng(0), 1.0)
    assert consistent([]) == []
    assert consistent([one]) == [one]
