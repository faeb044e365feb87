"""Inverted tables and single cells, against the dense matrix of the whole study."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

import castell
from castell import Study
from castell.counting import MemoryCounts
from castell.errors import CastellError, QueryError, ReportError, TableTooLargeError
from castell.inference.inversion import Observed, observe, parts_of
from castell.inference.products import product_variance
from castell.linear.operators import Floats
from tests.populations import (
    by_schema,
    collect,
    dense_inverse,
    flat_codes,
    observed_exactly,
    own_cluster,
    population,
    rectangular,
    report_distribution,
    report_shape,
    reports_of,
    schema,
    studies,
    tiny,
    whole_matrix,
)

PEOPLE = population((2, 3, 4), seed=4)


SQUARE = studies() | {"own cluster": own_cluster()}
ALL = SQUARE | {"rectangular": rectangular()}
SUBSETS = [names for width in (1, 2, 3) for names in permutations("abc", width)]

each_square = pytest.mark.parametrize("study", SQUARE.values(), ids=SQUARE)
each_design = pytest.mark.parametrize("study", ALL.values(), ids=ALL)


def _reports(study: Study, n: int = 400) -> castell.Reports:
    return collect(study, PEOPLE.table, n, np.random.default_rng(11))


# -- tables --------------------------------------------------------------------------------------


@each_square
def test_castell_is_the_dense_inverse_summed_over_the_rest(study: Study) -> None:
    reports = _reports(study)
    seen = np.bincount(flat_codes(reports), minlength=int(np.prod(report_shape(study))))
    whole = by_schema(study, np.linalg.solve(whole_matrix(study).T, seen / len(reports)))
    model = castell.fit(reports, "castell")
    for names in SUBSETS:
        gone = tuple(i for i, name in enumerate("abc") if name not in names)
        kept = sorted(names)
        oracle = whole.sum(axis=gone).transpose([kept.index(name) for name in names])
        np.testing.assert_allclose(model.estimate(names).probabilities, oracle, atol=1e-10)


@each_design
def test_marginalising_and_estimating_commute(study: Study) -> None:
    model = castell.fit(_reports(study), "castell")
    whole = model.estimate(["b", "c", "a"])
    assert whole.probabilities.sum() == pytest.approx(1.0, abs=1e-10)
    for names in SUBSETS:
        asked, projected = model.estimate(names), whole.project(names)
        assert asked.names == projected.names == names
        np.testing.assert_allclose(asked.probabilities, projected.probabilities, atol=1e-10)
        np.testing.assert_allclose(asked.standard_errors, projected.standard_errors, atol=1e-10)
        np.testing.assert_allclose(asked.conf_int(), projected.conf_int(), atol=1e-10)


@each_design
def test_the_order_of_attributes_only_permutes_axes(study: Study) -> None:
    model = castell.fit(_reports(study), "castell")
    straight = model.estimate(["a", "b", "c"])
    for names in permutations("abc"):
        turned, order = model.estimate(names), ["abc".index(name) for name in names]
        assert turned.shape == turned.probabilities.shape == tuple(straight.shape[i] for i in order)
        for one, two in (
            (turned.probabilities, straight.probabilities),
            (turned.standard_errors, straight.standard_errors),
            (turned.conf_int()[0], straight.conf_int()[0]),
            (turned.conf_int()[1], straight.conf_int()[1]),
        ):
            np.testing.assert_allclose(one, two.transpose(order), atol=1e-12)


@pytest.mark.parametrize(
    ("design", "each"),
    [("independent", (30, 30, 30)), ("joint", (10, 10, 10)), ([["c", "a"]], (15, 30, 15))],
    ids=["independent", "joint", "clusters"],
)
def test_no_noise_gives_the_empirical_table_back(
    design: str | list[list[str]], each: tuple[int, int, int]
) -> None:
    study = Study(PEOPLE.schema, None, design, shares=dict(zip("abc", each, strict=True)))
    answers = PEOPLE.answers(300, seed=2)
    for target in ("population", "respondents"):
        joint = castell.estimate(
            study.randomize(answers, seed=3), ["c", "b"], "castell", target=target
        )
        truth = castell.tabulate(study.schema, answers, ["c", "b"])
        np.testing.assert_allclose(joint.probabilities, truth, atol=1e-8)
        # What is left is what anybody's sample has, and nothing if only they are meant.
        plain = np.sqrt(truth * (1 - truth) / 300) if target == "population" else 0 * truth
        np.testing.assert_allclose(joint.standard_errors, plain, atol=1e-4)


# -- unbiased, exactly ---------------------------------------------------------------------------


@each_design
def test_the_expected_reports_give_the_truth(study: Study) -> None:
    blank = observe(MemoryCounts(_reports(study, n=1)), ["c", "a", "b"])
    truth = PEOPLE.margin(["c", "a", "b"])
    expected = blank.expected_frequencies(truth)
    brute = report_distribution(study, PEOPLE.table)
    np.testing.assert_allclose(expected, brute.reshape(expected.shape), atol=1e-14)
    found = blank.replace(expected.reshape(blank.table.shape)).invert()
    np.testing.assert_allclose(found, truth, atol=1e-10)


def test_reports_in_the_expected_proportions_give_the_truth() -> None:
    study = tiny()
    truth = np.array([[1, 0, 3], [2, 4, 0]]) / 10
    counts = np.rint(report_distribution(study, truth) * 4 * 20 * 10).astype(int)
    reports = reports_of(study, counts)
    assert len(reports) == 800
    np.testing.assert_allclose(
        castell.estimate(reports, ["b", "a"], "castell").probabilities, truth.T, atol=1e-12
    )


# -- variances, by going through every outcome ---------------------------------------------------


def _outcomes(study: Study, size: int, target: str) -> dict[tuple[int, ...], tuple[Floats, Floats]]:
    """The estimate and its squared standard errors for every sequence of `size` reports."""
    shape, found = report_shape(study), {}
    for codes in product(range(int(np.prod(shape))), repeat=size):
        counts = np.bincount(codes, minlength=int(np.prod(shape))).reshape(shape)
        joint = castell.estimate(reports_of(study, counts), study.names, "castell", target=target)
        found[codes] = joint.probabilities, joint.standard_errors**2
    return found


def test_variance_over_the_population_is_exact() -> None:
    study, truth = tiny(), population((2, 3), seed=8).table
    chances = report_distribution(study, truth).ravel()
    outcomes = _outcomes(study, 1, "population")
    mean = sum(chances[y] * table for (y,), (table, _) in outcomes.items())
    square = sum(chances[y] * table**2 for (y,), (table, _) in outcomes.items())
    observed = observed_exactly(study, truth)
    np.testing.assert_allclose(mean, truth, atol=1e-12)
    np.testing.assert_allclose(observed.second_moment(), square, atol=1e-12)
    variance = product_variance(observed, [study.names], "population")
    np.testing.assert_allclose(variance, square - truth**2, atol=1e-12)
    # Of two reports: half of it. What is estimated from them is half of that again on average,
    # as with any sample variance that divides by n.
    outcomes = _outcomes(study, 2, "population")
    guessed = sum(chances[y] * chances[z] * v for (y, z), (_, v) in outcomes.items())
    np.testing.assert_allclose(guessed, variance / 4, atol=1e-12)


def test_variance_over_the_respondents_is_exact() -> None:
    study = tiny()
    matrix = whole_matrix(study)  # the blocks are in the order of the schema
    people = [0, 5]  # who answered (a0, b0) and (a1, b2)
    truth = np.bincount(people, minlength=6).reshape(2, 3) / len(people)
    mean, square = np.zeros((2, 3)), np.zeros((2, 3))
    for codes, (table, _) in _outcomes(study, 2, "respondents").items():
        chance = np.prod([matrix[x, y] for x, y in zip(people, codes, strict=True)])
        mean, square = mean + chance * table, square + chance * table**2
    np.testing.assert_allclose(mean, truth, atol=1e-12)
    observed = observed_exactly(study, truth)
    variance = product_variance(observed, [study.names], "respondents") / len(people)
    np.testing.assert_allclose(variance, square - truth**2, atol=1e-12)


def test_the_moment_slope_is_the_slope_of_the_mean_square_on_the_estimate() -> None:
    # Independent answers and many reports: the blocks' margins then say all there is to say.
    truth = PEOPLE.table.sum(axis=(1, 2))[:, None, None] * np.full((1, 3, 4), 1 / 12)
    for study in SQUARE.values():
        adds = dense_inverse(study).reshape(24, -1)
        observed = observed_exactly(study, truth)
        shares = report_distribution(study, truth).ravel()
        one, two, three = ((adds**k * shares).sum(axis=1) for k in (1, 2, 3))
        oracle = (three - one * two) / (two - one**2)
        many = observed.replace(observed.table * 1e12)
        np.testing.assert_allclose(many.moment_slope().ravel(), oracle, rtol=1e-6)


# -- single cells --------------------------------------------------------------------------------

QUERIES = [
    {"a": ["a1"]},
    {"c": ["c0", "c3"]},
    {"c": ["c2"], "a": ["a0"]},
    {"b": ["b0", "b2"], "a": ["a1"], "c": ["c1"]},
    {"a": ["a0", "a1"], "b": ["b1"], "c": ["c0", "c1", "c2"]},
]


@each_square
@pytest.mark.parametrize("target", ["population", "respondents"])
def test_probability_is_the_sum_of_cells_with_its_error(study: Study, target: str) -> None:
    reports = _reports(study)
    model = castell.fit(reports, "castell", target=target)
    adds = dense_inverse(study)
    for query in QUERIES:
        found = model.probability({name: set(values) for name, values in query.items()})
        codes = [
            [a.code(v) for v in query[a.name]] if a.name in query else range(a.size)
            for a in study.schema
        ]
        each = adds[np.ix_(*codes)].sum(axis=(0, 1, 2))[flat_codes(reports)]
        lost = each.mean() ** 2 if target == "population" else each.mean()
        variance = ((each**2).mean() - lost) / len(reports)
        assert found.value == float(found) == pytest.approx(each.mean(), abs=1e-10)
        assert found.standard_error == pytest.approx(np.sqrt(max(variance, 0)), abs=1e-10)
        table = model.estimate(list(query)).probabilities
        cells = np.ix_(*([study.schema[n].code(v) for v in vs] for n, vs in query.items()))
        assert found.value == pytest.approx(table[cells].sum(), abs=1e-10)


@each_design
@pytest.mark.parametrize("target", ["population", "respondents"])
def test_probability_of_one_cell_is_the_tables_cell(study: Study, target: str) -> None:
    model = castell.fit(_reports(study), "castell", target=target)
    for names in (("b",), ("c", "a"), ("c", "b", "a")):
        joint = model.estimate(names)
        low, high = joint.conf_int(0.9)
        for cell in np.ndindex(*joint.shape):
            values = {a.name: a.values[i] for a, i in zip(joint.attributes, cell, strict=True)}
            found = model.probability(values)
            assert found.value == pytest.approx(joint.probabilities[cell], abs=1e-10)
            assert found.standard_error == pytest.approx(joint.standard_errors[cell], abs=1e-10)
            assert found.conf_int(0.9) == pytest.approx((low[cell], high[cell]), abs=1e-9)


def test_a_cell_of_thirty_attributes_needs_no_table() -> None:
    asked = schema([2] * 30, [f"q{i}" for i in range(30)])
    study = Study(asked, 30 * 6.0)
    generator = np.random.default_rng(0)
    # Everybody agrees with themselves most of the time.
    leaning = generator.random((400, 1)) < 0.5
    yes = (generator.random((400, 30)) < 0.03) ^ leaning
    answers = {a.name: np.where(yes[:, i], *a.values).tolist() for i, a in enumerate(asked)}
    reports = study.randomize(answers, seed=1)
    inverses = [
        np.linalg.inv(np.array(block.channel.weights()) / block.channel.total)
        for block in study.design.blocks
    ]
    each = np.prod(
        [inverse[1, column] for inverse, column in zip(inverses, reports.columns, strict=True)],
        axis=0,
    )
    model = castell.fit(reports, "castell")
    found = model.probability({a.name: a.values[1] for a in asked})
    assert found.value == pytest.approx(each.mean(), rel=1e-9)
    assert found.standard_error == pytest.approx(each.std() / 20, rel=1e-9)
    low, high = found.conf_int()
    share = float(np.mean((~yes).all(axis=1)))
    assert share > 0.1
    assert low < share < high
    with pytest.raises(TableTooLargeError, match=r"1,073,741,824 cells.*model\.probability"):
        model.estimate(study.names)


def test_questions_that_cannot_be_answered() -> None:
    model = castell.fit(_reports(SQUARE["independent"]), "castell")
    with pytest.raises(QueryError, match="no attribute 'd'"):
        model.probability(d="d0")
    with pytest.raises(QueryError, match=r"'a9' is not a value of 'a'.*Known are a0, a1"):
        model.probability(a="a9")
    with pytest.raises(QueryError, match="no value of 'a' counts"):
        model.probability(a=[])
    with pytest.raises(QueryError, match="no attribute was asked for"):
        model.probability()
    with pytest.raises(QueryError, match="asked for twice"):
        model.probability({"a": "a0"}, a="a1")
    with pytest.raises(CastellError, match="is not a value"):
        model.probability(a=None)
    with pytest.raises(QueryError, match="asked for twice"):
        model.estimate(["a", "b", "a"])
    with pytest.raises(QueryError, match="no attribute 'x'"):
        model.estimate("x")
    # A value that is named twice is still one value.
    assert model.probability(a=["a0", "a0"]).value == model.probability(a="a0").value


# -- blocks that are matrices, and what cannot be ------------------------------------------------


def test_observed_keeps_what_it_is_asked() -> None:
    study = SQUARE["mixed"]
    observed = observe(MemoryCounts(_reports(study)), ["b", "a"])
    assert (observed.names, observed.shape, observed.n) == (("b", "a"), (3, 2), 400)
    # The block (c, a) comes first, seen only as far as a is asked for.
    assert [part.names for part in observed.parts] == [("a",), ("b",)]
    there = np.arange(6.0).reshape(3, 2)
    back = observed.in_order_asked(observed.in_block_order(there))
    np.testing.assert_array_equal(back, there)


def test_no_reports_are_no_estimate() -> None:
    study = SQUARE["joint"]
    nothing = reports_of(study, np.zeros(report_shape(study), dtype=int))
    with pytest.raises(ReportError, match="there are no reports"):
        castell.estimate(nothing, ["a"], "castell")
    with pytest.raises(ReportError, match="there are no reports"):
        castell.fit(nothing, "castell").probability(a="a0")


def test_one_report_is_enough_to_estimate() -> None:
    study = SQUARE["mixed"]
    joint = castell.estimate(_reports(study, n=1), ["c", "b"], "castell")
    assert joint.probabilities.sum() == pytest.approx(1.0, abs=1e-10)
    low, high = joint.conf_int()
    assert np.isfinite(low).all()
    assert (low <= high).all()


def test_an_empty_table_is_never_divided_by() -> None:
    study = SQUARE["independent"]
    observed = Observed(
        study, study.schema.attributes, parts_of(study, study.names), np.ones((2, 3, 4)), 24
    )
    # No report tells anything: everybody equally likely.
    np.testing.assert_allclose(observed.invert(), np.full((2, 3, 4), 1 / 24), atol=1e-12)
