"""Products over groups: their variance by enumeration and by simulation, and who chooses groups."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest

import castell
from castell import Study
from castell.counting import MemoryCounts
from castell.errors import CastellError, OptionError, StudyError
from castell.estimators.clusters import find_clusters
from castell.inference.inversion import Groups, observe, restrict
from castell.inference.joint_or_product import joint_is_better
from castell.inference.products import product_table, product_variance
from castell.linear.operators import Floats
from castell.linear.table import Table
from tests.populations import (
    Population,
    by_schema,
    collect,
    dense_inverse,
    observed_exactly,
    own_cluster,
    pairs,
    population,
    product,
    report_distribution,
    studies,
    whole_matrix,
)

PEOPLE = population((2, 3, 4), seed=4)
STUDIES = studies() | {"own cluster": own_cluster()}
GROUPS: list[Groups] = [
    [("a",), ("b",), ("c",)],
    [("a", "b"), ("c",)],
    [("b",), ("c", "a")],
    [("c", "b"), ("a",)],
    [("a", "b", "c")],
]

each_design = pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
each_grouping = pytest.mark.parametrize("groups", GROUPS, ids=str)


def _influence(study: Study, groups: Groups) -> tuple[Floats, Floats]:
    """The product of the groups' true tables, and what a report adds to it to first order.

    By brute force over all reports: the last axis of the second is the report.
    """
    adds = dense_inverse(study)
    margins, moves = [], []
    for group in groups:
        gone = tuple(i for i, name in enumerate("abc") if name not in group)
        margins.append(PEOPLE.table.sum(axis=gone, keepdims=True))
        moves.append(adds.sum(axis=gone, keepdims=True))
    whole = np.ones(PEOPLE.table.shape)
    total = np.zeros(adds.shape)
    for c in range(len(groups)):
        others = reduce(np.multiply, (m for k, m in enumerate(margins) if k != c), whole)
        total = total + others[..., None] * moves[c]
    return np.asarray(reduce(np.multiply, margins, whole)), total


@each_design
@each_grouping
def test_product_and_variance_are_those_of_every_possible_report(
    study: Study, groups: Groups
) -> None:
    table, adds = _influence(study, groups)
    observed = observed_exactly(study, PEOPLE.table)
    np.testing.assert_allclose(product_table(observed, groups), table, atol=1e-12)
    chances = report_distribution(study, PEOPLE.table).ravel()
    over_population = adds**2 @ chances - (adds @ chances) ** 2
    found = product_variance(observed, groups, "population")
    np.testing.assert_allclose(found, over_population, rtol=1e-9)
    # With the respondents fixed, each one's report varies about that one's own mean.
    matrix = whole_matrix(study)
    own = np.stack([by_schema(study, column) for column in matrix.T], axis=-1).reshape(24, -1)
    people = PEOPLE.table.ravel()
    over_respondents = (adds**2 @ own.T - (adds @ own.T) ** 2) @ people
    found = product_variance(observed, groups, "respondents")
    np.testing.assert_allclose(found, over_respondents, rtol=1e-9)


@pytest.mark.parametrize("design", ["independent", "joint"])
@pytest.mark.parametrize("groups", GROUPS[:3], ids=str)
def test_variance_is_what_repeated_collections_show(design: str, groups: Groups) -> None:
    study = studies(each=3.0)[design]
    n, rounds = 8000, 2500
    exact = observed_exactly(study, PEOPLE.table)
    generator = np.random.default_rng(21)
    chances = exact.table.ravel()
    drawn = generator.multinomial(n, chances / chances.sum(), rounds).astype(np.float64)
    tables = np.array(
        [product_table(exact.replace(one.reshape(exact.table.shape)), groups) for one in drawn]
    )
    expected = product_variance(exact, groups, "population") / n
    # A variance over R rounds is off by sqrt(2 / R) of itself, or 2.8 %. With 24 cells, 5.5 times
    # that happens once in a million; their mean is off by far less.
    ratio = tables.var(axis=0, ddof=1) / expected
    assert np.abs(ratio - 1).max() < 5.5 * np.sqrt(2 / rounds)
    assert abs(ratio.mean() - 1) < 0.04


def test_what_a_fit_says_is_what_the_groups_say() -> None:
    reports = collect(STUDIES["mixed"], PEOPLE.table, 500, np.random.default_rng(3))
    observed = observe(MemoryCounts(reports), ["b", "c", "a"])
    for method, options, groups in (
        ("castell", {}, [("a", "b", "c")]),
        ("independent", {}, [("a",), ("b",), ("c",)]),
        ("clusters", {"clusters": [["b", "c"]]}, [("a",), ("b", "c")]),
    ):
        for target in ("population", "respondents"):
            given: dict[str, Any] = {**options, "target": target}
            joint = castell.estimate(reports, ["b", "c", "a"], method, **given)
            held = restrict(groups, observed.names)
            np.testing.assert_allclose(
                joint.probabilities, product_table(observed, held), atol=1e-13
            )
            variance = product_variance(observed, held, target)
            np.testing.assert_allclose(joint.standard_errors**2, variance, atol=1e-15)


def test_groups_as_far_as_they_are_asked_for() -> None:
    groups = [("a", "c"), ("d", "b")]
    assert list(restrict(groups, ("b", "a"))) == [("a",), ("b",)]
    assert list(restrict(groups, ("x", "c", "a"))) == [("c", "a"), ("x",)]
    table = np.arange(6.0).reshape(2, 3)
    assert Table(("a", "b"), table).along(("b", "x", "a")).shape == (3, 1, 2)
    assert Table(("a", "b"), table).along(("b", "x", "a"))[2, 0, 1] == table[1, 2]


def test_an_unknown_target_is_refused() -> None:
    reports = collect(STUDIES["joint"], PEOPLE.table, 10, np.random.default_rng(3))
    for method in ("castell", "independent", "clusters", "hybrid"):
        with pytest.raises(OptionError, match="target is 'people': use 'population'"):
            castell.fit(reports, method, target="people")


# -- hybrid: castell or independent --------------------------------------------------------------

TIED = np.array([[0.45, 0.02, 0.03], [0.05, 0.05, 0.4]])
LOOSE = {"a": [0.6, 0.4], "b": [0.2, 0.5, 0.3]}


def _tied() -> Population:
    free = product(LOOSE)
    return Population(free.schema, TIED)


def _chosen(joint: castell.JointEstimate) -> str:
    note = joint.notes[0]
    # Where associations were given up the result says that its intervals do not contain that.
    assumed = "independent; the intervals do not" in " ".join(joint.notes)
    assert assumed == ("hybrid chose independent" in note)
    return note.split(":")[0].removeprefix("hybrid chose ")


def test_hybrid_goes_by_the_data() -> None:
    generator = np.random.default_rng(0)
    tied = collect(Study(_tied().schema, 6.0), TIED, 20000, generator)
    loose = collect(Study(_tied().schema, 1.0), product(LOOSE).table, 2000, generator)
    for reports, method in ((tied, "castell"), (loose, "independent")):
        joint = castell.estimate(reports, ["b", "a"], "hybrid")
        other = castell.estimate(reports, ["b", "a"], method)
        assert _chosen(joint) == method
        np.testing.assert_array_equal(joint.probabilities, other.probabilities)
        np.testing.assert_array_equal(joint.standard_errors, other.standard_errors)
        np.testing.assert_array_equal(joint.conf_int(), other.conf_int())


def test_the_choice_by_the_data_is_mostly_the_better_one() -> None:
    """Over many collections hybrid errs more like the better of the two than like the other.

    Not as little as the better one: of two binary attributes that are independent, one in seven
    tables looks dependent enough, and those are the noisy ones.
    """
    generator = np.random.default_rng(1)
    for people, epsilon, n in ((_tied(), 4.0, 5000), (product(LOOSE), 1.0, 2000)):
        study = Study(people.schema, epsilon)
        errors: dict[str, float] = dict.fromkeys(("castell", "independent", "hybrid"), 0.0)
        for _ in range(60):
            reports = collect(study, people.table, n, generator)
            for method in errors:
                table = castell.estimate(reports, study.names, method).probabilities
                errors[method] += float(((table - people.table) ** 2).sum())
        best, worst = sorted((errors["castell"], errors["independent"]))
        assert worst > 3 * best
        assert errors["hybrid"] < (best + worst) / 2


def test_expected_errors_are_those_of_the_two_estimates() -> None:
    observed = observed_exactly(Study(_tied().schema, 6.0), TIED)
    better, whole, split = joint_is_better(observed, [("a",), ("b",)])
    assert not better  # of a single report nothing can be said about dependence
    assert whole == pytest.approx(product_variance(observed, [("a", "b")], "population").sum())
    groups = [("a",), ("b",)]
    alone = product_variance(observed, groups, "population").sum()
    gap = ((TIED - np.outer(TIED.sum(axis=1), TIED.sum(axis=0))) ** 2).sum()
    assert split == pytest.approx(alone + max(gap - (whole - alone), 0.0))


@pytest.mark.parametrize(
    ("n", "choice"), [(60, "independent"), (63, "independent"), (64, "castell")]
)
def test_hybrid_goes_by_the_bounds(n: int, choice: str) -> None:
    # Two binary attributes, next to no budget: (1 + 1)^2 2^2 / n against 1/4.
    people = product({"a": [0.5, 0.5], "b": [0.5, 0.5]})
    study = Study(people.schema, 1e-5)
    reports = collect(study, people.table, n, np.random.default_rng(0))
    joint = castell.estimate(reports, ["a", "b"], "hybrid", rule="bounds")
    assert _chosen(joint) == choice


def test_the_bounds_take_what_was_spent_on_the_attributes_asked() -> None:
    # d = 3, w = 2: (1 + 2 / e^(eps/2))^2 9 / n against 1/3 - 1/9.
    study = STUDIES["matrix"]
    epsilon = 2.0 + np.log(12)  # what the matrix of b costs, by its worst column
    needed = (1 + 2 / np.exp(epsilon / 2)) ** 2 * 9 / (1 / 3 - 1 / 9)
    for n, choice in ((int(needed), "independent"), (int(needed) + 1, "castell")):
        reports = collect(study, PEOPLE.table, n, np.random.default_rng(0))
        assert _chosen(castell.estimate(reports, ["a", "b"], "hybrid", rule="bounds")) == choice


def test_hybrid_goes_by_the_width() -> None:
    reports = collect(STUDIES["independent"], PEOPLE.table, 50, np.random.default_rng(0))
    model = castell.fit(reports, "hybrid", rule="width", width=2)
    choices = [_chosen(model.estimate(names)) for names in (["a", "b"], ["a", "b", "c"])]
    assert choices == ["castell", "independent"]


@pytest.mark.parametrize(
    "options",
    [
        {"rule": "luck"},
        {"rule": "width"},
        {"width": 2},
        {"rule": "data", "width": 2},
        {"rule": "width", "width": "3"},
        {"target": "nobody"},
    ],
    ids=str,
)
def test_options_that_hybrid_does_not_know(options: dict[str, Any]) -> None:
    reports = collect(STUDIES["independent"], PEOPLE.table, 50, np.random.default_rng(0))
    with pytest.raises(OptionError):
        castell.estimate(reports, ["a", "b"], "hybrid", **options)


# -- clusters ------------------------------------------------------------------------------------


def _two_pairs() -> Population:
    second = np.array([[0.3, 0.05, 0.05], [0.02, 0.28, 0.3]])
    return pairs(np.array([[0.35, 0.1], [0.05, 0.5]]), second)


def test_clusters_are_found_where_they_were_planted() -> None:
    people = _two_pairs()
    reports = collect(Study(people.schema, 12.0), people.table, 20000, np.random.default_rng(2))
    found = {frozenset(group) for group in find_clusters(MemoryCounts(reports))}
    assert found == {frozenset("ac"), frozenset("bd")}
    joint = castell.estimate(reports, ["a", "b", "c", "d"], "clusters")
    assert joint.notes[0].startswith("clusters found in the reports: ")
    product_of_pairs = np.einsum(
        "ac,bd->abcd",
        castell.estimate(reports, ["a", "c"], "castell").probabilities,
        castell.estimate(reports, ["b", "d"], "castell").probabilities,
    )
    np.testing.assert_allclose(joint.probabilities, product_of_pairs, atol=1e-12)
    assert np.abs(joint.probabilities - people.table).max() < 0.02


def test_nothing_is_clustered_where_nothing_depends() -> None:
    people = product(LOOSE | {"c": [0.5, 0.25, 0.25]})
    reports = collect(Study(people.schema, 3.0), people.table, 3000, np.random.default_rng(2))
    assert list(find_clusters(MemoryCounts(reports))) == [("a",), ("b",), ("c",)]


def test_clusters_as_given_and_as_designed() -> None:
    generator = np.random.default_rng(0)
    plain = collect(STUDIES["independent"], PEOPLE.table, 300, generator)
    given = castell.estimate(plain, ["a", "b", "c"], "clusters", clusters=[["b", "a"]])
    assert given.notes[0] == "clusters as given: {b, a}, {c}"
    assert "independent" in given.notes[1]
    designed = collect(STUDIES["clusters"], PEOPLE.table, 300, generator)
    joint = castell.estimate(designed, ["a", "b", "c"], "clusters")
    assert joint.notes[0] == "clusters the blocks of the design: {c, a}, {b}"
    # A pair of the same cluster is castell's, a pair across is independent's.
    model = castell.fit(designed, "clusters")
    for names, method in ((["a", "c"], "castell"), (["a", "b"], "independent")):
        np.testing.assert_allclose(
            model.estimate(names).probabilities,
            castell.estimate(designed, names, method).probabilities,
            atol=1e-12,
        )


@pytest.mark.parametrize(
    ("clusters", "problem"),
    [
        ([["a", "x"]], "a cluster names 'x'"),
        ([["a", "b"], ["b", "c"]], "'b' is in two clusters"),
        ([["a", "a"]], "names one twice"),
        (["ab"], "'ab' is not a cluster"),
        ([[]], "is not a cluster"),
        ("abc", "'abc' is not a design"),
        (3, "3 is not a design"),
    ],
    ids=str,
)
def test_clusters_that_are_none(clusters: Any, problem: str) -> None:
    reports = collect(STUDIES["independent"], PEOPLE.table, 20, np.random.default_rng(0))
    with pytest.raises(StudyError, match=problem) as caught:
        castell.fit(reports, "clusters", clusters=clusters)
    assert isinstance(caught.value, CastellError)
