"""The estimator `auto`: never far from the best, and it says what it did."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import castell
from castell import Checked, Code, JointEstimate, Probability, Reports, Study
from castell.counting import MemoryCounts, folds_of
from castell.errors import ReportError
from castell.inference import model_averaging, pooled_table
from castell.inference.inversion import observe
from castell.inference.latent.model import learn
from castell.linear.operators import Floats
from tests.populations import (
    Population,
    ask,
    by_blocks,
    by_schema,
    collect,
    flat_codes,
    population,
    product,
    rectangular,
    schema,
    studies,
    whole_matrix,
)

PEOPLE = population((3, 4, 2), seed=2, sharpness=2.0)
APART = product({"a": [0.3, 0.5, 0.2], "b": [0.4, 0.3, 0.2, 0.1], "c": [0.35, 0.65]})
NAMES = ("a", "b", "c")


def _error(people: Population, study: Study, n: int, method: str, seeds: int) -> float:
    """The mean squared error of the whole table over several collections."""
    squares = []
    for seed in range(seeds):
        reports = collect(study, people.table, n, np.random.default_rng(seed))
        table = castell.estimate(reports, NAMES, method).probabilities
        squares.append(float(((table - people.table) ** 2).sum()))
    return float(np.mean(squares))


@pytest.mark.parametrize(
    ("people", "design", "epsilon"),
    [(PEOPLE, "independent", 1.0), (APART, "independent", 1.0), (APART, "pairs", 0.5)],
    ids=["classes", "apart", "apart and drawn"],
)
def test_with_much_noise_it_is_no_worse_than_independence(
    people: Population, design: str, epsilon: float
) -> None:
    study = Study(people.schema, epsilon, design)
    ours, theirs = (_error(people, study, 3000, m, 5) for m in ("auto", "independent"))
    assert ours < 1.5 * theirs


@pytest.mark.parametrize(("design", "method"), [("independent", "castell"), ("joint", "castell")])
def test_with_little_noise_it_is_as_good_as_inversion(design: str, method: str) -> None:
    study = Study(PEOPLE.schema, 21.0, design)
    ours, theirs = (_error(PEOPLE, study, 20_000, m, 4) for m in ("auto", method))
    assert ours < 1.3 * theirs
    assert ours < 0.2 * _error(PEOPLE, study, 20_000, "independent", 4)


def test_between_the_two_it_beats_both() -> None:
    study = Study(PEOPLE.schema, 4.5)
    error = {m: _error(PEOPLE, study, 4000, m, 5) for m in ("auto", "castell", "independent")}
    assert error["auto"] < error["castell"]
    assert error["auto"] < error["independent"]


# -- how strongly the model is believed ------------------------------------------------------------


def _deals(
    study: Study, truth: Floats, n: int, seed: int, base: Floats
) -> list[model_averaging.HeldOutFold]:
    counts = MemoryCounts(collect(study, truth, n, np.random.default_rng(seed)))
    deals = []
    for fold in folds_of(counts)[:3]:
        train, test = (observe(part, study.names) for part in (fold.training, fold.held_out))
        deals.append(model_averaging.HeldOutFold.of(train, test, base))
    return deals


def test_the_truth_is_believed_against_noise() -> None:
    study = Study(PEOPLE.schema, 1.0)
    for seed in range(8):
        found = model_averaging.average_models(
            [_deals(study, PEOPLE.table, 2000, seed, PEOPLE.table)]
        )
        # By chance something else may look better to the reports held out, but not by much.
        assert found.concentration > 100.0
        assert found.components[0].concentration == model_averaging.CONCENTRATIONS[0]


def test_a_wrong_table_is_not_believed_against_many_reports() -> None:
    study = Study(schema((3, 3)), 8.0)
    truth = np.diag([0.3, 0.3, 0.4]) * 0.7 + 0.3 / 9
    for seed in range(4):
        deals = _deals(study, truth, 50_000, seed, np.full((3, 3), 1 / 9))
        found = model_averaging.average_models([deals])
        assert found.concentration <= 30.0
        assert not found.only_model
        assert found.weight_of(0) == pytest.approx(1.0)


def test_of_two_models_the_better_one_is_believed() -> None:
    study = Study(PEOPLE.schema, 12.0)
    apart = np.einsum("a,b,c->abc", *(PEOPLE.margin((name,)) for name in NAMES))
    for truth, one, two in ((PEOPLE.table, 1, 0), (apart, 0, 1)):
        deals = [_deals(study, truth, 20_000, 0, table) for table in (apart, PEOPLE.table)]
        found = model_averaging.average_models(deals)
        assert found.weight_of(one) > 0.95
        assert found.weight_of(one) + found.weight_of(two) == pytest.approx(1.0)
    # One that is far worse is not looked at any further.
    assert len(model_averaging._logs(deals[1], 0.0)) == 1


def test_the_prior_leads_from_its_table_to_the_most_likely() -> None:
    study = Study(PEOPLE.schema, 9.0)
    reports = collect(study, PEOPLE.table, 3000, np.random.default_rng(0))
    observed = observe(MemoryCounts(reports), ("c", "a", "b"))
    base = APART.margin(("c", "a", "b"))
    likely = castell.estimate(reports, ("c", "a", "b"), "em", concentration=0.0).probabilities
    tables = [
        model_averaging.posterior_mode(observed, base, s, 1e-5) for s in (1e9, 300.0, 10.0, 0.0)
    ]
    np.testing.assert_allclose(tables[0], base, atol=1e-5)
    np.testing.assert_allclose(tables[-1], likely, atol=2e-3)
    gaps = [float(np.abs(np.log(np.maximum(t, 1e-9) / base)).sum()) for t in tables]
    assert gaps == sorted(gaps)


def test_what_hardly_any_reports_rule_out_is_nothing() -> None:
    deals = _deals(Study(PEOPLE.schema, 0.01), PEOPLE.table, 25, 0, APART.table)
    found = model_averaging.average_models([deals, deals])
    # Nothing but what is believed beforehand.
    for model in (0, 1):
        shares = np.array([c.weight for c in found.components if c.model == model])
        assert shares.sum() == pytest.approx(0.5)
        np.testing.assert_allclose(shares[1:] / shares[:-1], model_averaging.PRIOR_RATIO, rtol=1e-2)


def test_a_table_is_the_average_over_concentrations() -> None:
    study = Study(PEOPLE.schema, 9.0)
    reports = collect(study, PEOPLE.table, 3000, np.random.default_rng(0))
    observed = observe(MemoryCounts(reports), NAMES)
    models = (APART.table, PEOPLE.table)
    given = ((0, 300.0, 0.25), (0, 3.0, 0.5), (1, 30.0, 0.25))
    both = model_averaging.ModelAverage(tuple(model_averaging.Component(*each) for each in given))
    tables = [
        share * model_averaging.posterior_mode(observed, models[m], s, 1e-6)
        for m, s, share in given
    ]
    expected = model_averaging.finite_population_mean(observed, np.sum(tables, axis=0))
    np.testing.assert_allclose(both.table(observed, models, 1e-6), expected, atol=1e-6)
    assert both.concentration == pytest.approx(300.0**0.25 * 3.0**0.5 * 30.0**0.25)
    strongest = model_averaging.CONCENTRATIONS[0]
    assert model_averaging.ModelAverage((model_averaging.Component(0, strongest, 1.0),)).only_model
    assert not model_averaging.ModelAverage(
        (model_averaging.Component(1, strongest, 1.0),)
    ).only_model


# -- what these very respondents answered ----------------------------------------------------------


@pytest.mark.parametrize("design", [*studies(), "rectangular"])
def test_answers_behind_reports_by_bayes_rule(design: str) -> None:
    study = {**studies(), "rectangular": rectangular()}[design]
    people, prior = (population(study.schema.sizes, seed=seed).table for seed in (4, 5))
    reports = collect(study, people, 500, np.random.default_rng(0))
    joint = by_blocks(study, prior).ravel()[:, None] * whole_matrix(study)
    behind = (joint / joint.sum(axis=0))[:, flat_codes(reports)].mean(axis=1)
    found = model_averaging.finite_population_mean(
        observe(MemoryCounts(reports), study.names), prior
    )
    np.testing.assert_allclose(found, by_schema(study, behind), rtol=1e-9)
    assert found.sum() == pytest.approx(1.0)


def test_without_noise_they_are_the_reports_and_with_much_the_table() -> None:
    for epsilon, far in ((90.0, True), (0.01, False)):
        study = Study(PEOPLE.schema, epsilon)
        observed = observe(
            MemoryCounts(collect(study, PEOPLE.table, 400, np.random.default_rng(0))), NAMES
        )
        wanted = observed.table / 400 if far else APART.table
        np.testing.assert_allclose(
            model_averaging.finite_population_mean(observed, APART.table),
            wanted,
            atol=1e-9 if far else 1e-2,
        )


def test_a_model_that_has_a_cell_empty_is_not_surer_than_the_reports() -> None:
    """A gamma prior around 0 would be: reports of one in twenty would be called noise."""
    people = Population(schema((2, 2)), np.array([[0.9, 0.03], [0.02, 0.05]]))
    reports = collect(
        Study(people.schema, 6.0, "joint"), people.table, 10_000, np.random.default_rng(0)
    )
    observed = observe(MemoryCounts(reports), ("a", "b"))
    model = np.array([[0.95, 0.03], [0.02, 1e-9]])
    found = model_averaging.posterior_mode(observed, model, 0.3)
    assert found[1, 1] == pytest.approx(0.05, abs=0.015)
    assert model_averaging.posterior_mode(observed, model, 1000.0)[1, 1] < 0.01


def test_with_little_noise_respondents_are_told_from_people_like_them() -> None:
    # Answers that are independent in the population, but by chance not among 400 respondents.
    four = product({name: [0.3, 0.5, 0.2] for name in "abcd"})
    study, generator = Study(four.schema, 20.0), np.random.default_rng(3)
    error = {"auto": 0.0, "latent": 0.0, "castell": 0.0}
    for _ in range(3):
        people = generator.multinomial(400, four.table.ravel()).reshape(four.table.shape)
        reports = ask(study, people, generator)
        for method in error:
            table = castell.estimate(reports, study.names, method).probabilities
            error[method] += float(((table - people / 400) ** 2).sum())
    assert error["auto"] < 0.3 * error["latent"]
    assert error["auto"] < error["castell"]


def test_a_wide_table_with_much_noise_is_not_heaped_on_a_few_cells() -> None:
    sizes = (3, 4, 3, 4, 3, 4)
    people = product({f"q{i}": np.full(k, 1 / k).tolist() for i, k in enumerate(sizes)})
    study = Study(people.schema, 3.0)
    for seed in range(2):
        reports = collect(study, people.table, 10_000, np.random.default_rng(seed))
        observed = observe(MemoryCounts(reports), study.names)
        weakest = model_averaging.posterior_mode(
            observed, people.table, model_averaging.CONCENTRATIONS[-1]
        )
        assert weakest.max() < 0.005
        assert castell.estimate(reports, study.names).probabilities.max() < 0.005
        # What plain maximum likelihood makes of it.
        assert model_averaging.posterior_mode(observed, people.table, 0.0).max() > 0.02


def test_how_much_of_the_direct_table_in_closed_form() -> None:
    # Four cells, all of the difference in two of them, noise of a tenth of it.
    direct, model = np.array([0.4, 0.2, 0.3, 0.1]), np.array([0.3, 0.3, 0.3, 0.1])
    assert pooled_table.james_stein_weight(direct, model, 0.0) == 1.0
    assert pooled_table.james_stein_weight(direct, model, 0.002) == pytest.approx(
        1 - 0.1 * (1 + 2 * (2 / 3) ** 0.5)
    )
    assert pooled_table.james_stein_weight(direct, model, 0.02) == 0.0
    assert pooled_table.james_stein_weight(direct, direct, 0.0) == 0.0


@pytest.mark.parametrize(
    ("wrong", "least", "most"), [(0.0, 0.0, 0.02), (0.01, 0.1, 0.55), (0.1, 0.95, 1.0)]
)
def test_a_direct_table_is_believed_as_far_as_the_model_is_wrong(
    wrong: float, least: float, most: float
) -> None:
    generator, cells, each = np.random.default_rng(0), 60, 1e-4
    truth = generator.dirichlet(np.ones(cells))
    model = truth + wrong * generator.standard_normal(cells)
    found = []
    for _ in range(200):
        direct = truth + np.sqrt(each) * generator.standard_normal(cells)
        found.append(pooled_table.james_stein_weight(direct, model, cells * each))
    assert 0.0 <= min(found) <= max(found) <= 1.0
    assert least <= np.mean(found) <= most
    # No more than the share that errs least: what of the difference is the model's fault.
    bias = float(((model - truth) ** 2).sum())
    assert np.mean(found) <= bias / (bias + cells * each) + 0.02


# -- what it says ----------------------------------------------------------------------------------


@cache
def _reports(design: str, epsilon: float, n: int, seed: int = 0) -> Reports:
    study = Study(PEOPLE.schema, epsilon, design)
    return collect(study, PEOPLE.table, n, np.random.default_rng(seed))


def _codes(found: JointEstimate | Probability) -> list[Code]:
    return [reason.code for reason in found.reasons]


def test_reasons_say_what_was_chosen_and_why() -> None:
    joint = castell.estimate(_reports("independent", 21.0, 20_000), NAMES)
    first = joint.reasons[0]
    assert first.code is Code.PRIOR_AVERAGED
    assert first.numbers["latent"] == pytest.approx(1.0)
    assert first.numbers["concentration"] > 0.0
    assert joint.notes[0].startswith("maximum likelihood with a prior around the latent-class")
    assert "by cross-validation" in joint.notes[0]
    assert _codes(joint)[1:] == [Code.LATENT_CLASSES, Code.MODEL_ERROR, Code.REPORTS]
    drawn = castell.estimate(_reports("pairs", 3.0, 2000), NAMES)
    assert Code.NOT_REPORTED_TOGETHER in _codes(drawn)
    assert Code.ONLY_PAIRS_CHECKED in _codes(drawn)
    assert drawn.checked is Checked.PAIRS
    assert drawn.reasons[-1].numbers == {"together": 0, "n": 2000}


def test_nothing_is_said_of_associations_where_none_is_asked_for() -> None:
    for design in ("independent", "pairs", "singles"):
        model = castell.fit(_reports(design, 3.0, 2000))
        assert _codes(model.estimate("b")) == [Code.REPORTS]
        assert _codes(model.probability(b=["b0", "b1"])) == [Code.REPORTS]


def test_a_block_that_nobody_drew_yet_is_told_from_one_that_is_not_there() -> None:
    study = Study(PEOPLE.schema, 4.0, [["a", "b"], ["b", "c"], ["a", "c"]], draw=True)
    reports = collect(study, PEOPLE.table, 3000, np.random.default_rng(0))
    starts = (*study.design.starts, study.design.widths[0])
    column = reports.columns[0]
    kept = column[column < starts[2]]  # nobody drew a and c
    model = castell.fit(Reports(study, [kept], secure=True))
    found = model.estimate(["a", "c"])
    assert _codes(found)[-3:-1] == [Code.NOT_REPORTED_YET, Code.ASSOCIATION_UNKNOWN]
    assert found.checked is Checked.NOTHING
    assert "nobody has reported a and c together yet" in " ".join(found.notes)
    absent = Study(PEOPLE.schema, 4.0, [["a", "b"], ["b", "c"]], draw=True)
    reports = collect(absent, PEOPLE.table, 3000, np.random.default_rng(0))
    found = castell.fit(reports).estimate(["a", "c"])
    assert Code.NOT_REPORTED_TOGETHER in _codes(found)
    assert "no respondent was asked a and c together" in " ".join(found.notes)


def test_blocks_that_say_more_than_the_model_are_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    # A model that could not learn: one step from independence.
    monkeypatch.setattr("castell.estimators.auto.learn", lambda counts, *_: learn(counts, 2, 1, 1))
    reports = _reports("pairs", 8.0, 20_000)
    joint = castell.estimate(reports, NAMES[:2])
    first = joint.reasons[0]
    assert first.code is Code.BLOCKS_SHRUNK
    direct = castell.estimate(reports, NAMES[:2], "castell", post="simplex").probabilities
    model = castell.estimate(reports, NAMES[:2], "latent", classes=2, steps=1, starts=1)
    gap = direct - model.probabilities
    share = ((joint.probabilities - model.probabilities) * gap).sum() / (gap**2).sum()
    assert 0.5 < share < 1.0
    assert first.numbers["unbiased"] == pytest.approx(share)
    assert f"{share:.0%} the unbiased table" in str(first)
    np.testing.assert_allclose(joint.probabilities, model.probabilities + share * gap, atol=1e-12)


def test_a_table_too_large_to_be_likely_is_the_models(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = _reports("independent", 21.0, 20_000)
    monkeypatch.setattr("castell.estimators.auto.MOST_AVERAGED_CELLS", 8)
    model = castell.fit(reports)
    first = model.estimate(NAMES).reasons[0]
    assert (first.code, first.numbers) == (Code.TOO_LARGE, {"cells": 24})
    np.testing.assert_array_equal(
        model.estimate(NAMES).probabilities,
        castell.estimate(reports, NAMES, "latent").probabilities,
    )
    assert castell.fit(reports).probability(a="a0", c="c1").value > 0.0


def test_one_report_is_enough_and_none_is_not() -> None:
    study = Study(PEOPLE.schema, 3.0)
    one = Reports(study, [np.zeros(1, dtype=np.uint8)] * 3, secure=True)
    joint = castell.estimate(one, ["a", "b"])
    assert joint.probabilities.sum() == pytest.approx(1.0)
    nothing = Reports(study, [np.zeros(0, dtype=np.uint8)] * 3, secure=True)
    with pytest.raises(ReportError, match="there are no reports"):
        castell.fit(nothing)


# -- how far it may be off -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("design", "epsilon"), [("independent", 6.0), ("independent", 15.0), ("pairs", 4.0)]
)
def test_errors_are_of_the_right_order(design: str, epsilon: float) -> None:
    squares, claimed = [], []
    for seed in range(4):
        joint = castell.estimate(_reports(design, epsilon, 4000, seed + 50), ["a", "b"])
        squares.append((joint.probabilities - PEOPLE.margin(["a", "b"])) ** 2)
        claimed.append(joint.standard_errors**2)
        assert joint.standard_errors.min() > 0.0
    ratio = np.sqrt(np.mean(claimed) / np.mean(squares))
    assert 0.5 < ratio < 2.0
