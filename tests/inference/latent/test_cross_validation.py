"""What held-out reports choose: ties that are there, and whole reports where they tell more."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import castell
from castell import Attribute, Schema, Study
from castell.counting import MemoryCounts
from castell.counting.folds import FOLDS, folds_of
from castell.inference.latent import cross_validation as trials
from castell.inference.latent.cross_validation import (
    TabledFolds,
    affordable_report_steps,
    cross_validate,
)
from castell.inference.latent.em import EarlyStopping, OverRelaxedEM, e_step
from castell.inference.latent.mixture import Mixture, Start, random_start, shrink_margins
from castell.inference.latent.model import fit_starts, learn
from castell.inference.latent.report_rows import distinct, report_rows
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.sufficient_statistics import LeafTable, sufficient_statistics
from castell.inference.reasons import Code
from castell.linear.operators import Floats
from tests.coarse_studies import coarse_studies
from tests.populations import (
    Population,
    collect,
    drawn_studies,
    population,
    product,
    rectangular,
    studies,
)


def _half_apart() -> Population:
    """Two attributes that go together, and two that go with nothing."""
    together = np.array([[0.35, 0.05, 0.05], [0.05, 0.1, 0.4]])
    one, two = np.array([0.5, 0.3, 0.2]), np.array([0.25, 0.25, 0.25, 0.25])
    table = np.einsum("ab,c,d->abcd", together, one, two)
    return Population(population((2, 3, 3, 4), seed=0).schema, table)


@pytest.mark.parametrize("design", ["independent", "pairs"])
def test_attributes_that_go_with_nothing_are_let_go(design: str) -> None:
    people = _half_apart()
    study = Study(people.schema, 8.0 if design == "independent" else 4.0, design)
    shrinkage, plainly, loose = [], [], []
    for seed in range(3):
        reports = collect(study, people.table, 20_000, np.random.default_rng(seed))
        fitted = learn(MemoryCounts(reports), None, None, 6)
        shrinkage.append(fitted.hyperparameters.shrinkage)
        loose.append(_far(fitted.table(people.schema.names), people.table))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trials, "SETTINGS", replace(SETTINGS, sweeps=0))
            plain = learn(MemoryCounts(reports), None, None, 6)
            assert set(plain.hyperparameters.shrinkage) == {1.0}
            plainly.append(_far(plain.table(people.schema.names), people.table))
    kept, gone = np.mean(shrinkage, axis=0)[:2], np.mean(shrinkage, axis=0)[2:]
    assert kept.min() > 0.85
    assert gone.max() < 0.5
    assert np.mean(loose) < 0.9 * np.mean(plainly)


def _far(one: Floats, two: Floats) -> float:
    return float(((one - two) ** 2).sum())


def test_what_goes_with_nothing_is_said() -> None:
    people = _half_apart()
    reports = collect(Study(people.schema, 16.0), people.table, 20_000, np.random.default_rng(1))
    fitted = learn(MemoryCounts(reports), None, None, 3)
    names = people.schema.names
    alone = [n for n, tie in zip(names, fitted.hyperparameters.shrinkage, strict=True) if tie == 0]
    assert alone, "this collection has attributes whose association is not found; else take another"
    code = Code.ASSOCIATION_NOT_FOUND
    said = {r.names for r in fitted.reasons(names) if r.code is code}
    assert said == {p for p in combinations(names, 2) if set(p) & set(alone)}
    # And only of what is asked: the two that go together are not spoken of.
    assert not any(r.code is code for r in fitted.reasons(("a", "b")))


@pytest.mark.parametrize("design", ["independent", "pairs"])
def test_margins_are_those_that_held_out_reports_ask_for(design: str) -> None:
    people = population((2, 3, 4), seed=4)
    generator = np.random.default_rng(2)
    margins = [generator.dirichlet(3 * np.ones(size)) for size in people.schema.sizes]
    truth = random_start(margins, 3, 0.8, generator)
    other = [generator.dirichlet(3 * np.ones(size)) for size in people.schema.sizes]
    wrong = shrink_margins(truth, other, 0.3)
    study = Study(people.schema, 6.0, design)
    reports = collect(study, truth.table(range(3)), 20_000, generator)
    counts = MemoryCounts(reports)
    every = sufficient_statistics(counts)
    dealt = TabledFolds.of(every, folds_of(counts))
    kept, _ = trials._choose_margin_shrinkage(dealt, Start(6, 0.3), (truth,) * FOLDS)
    share, mended = trials._choose_margin_shrinkage(dealt, Start(6, 0.3), (wrong,) * FOLDS)
    first = mended.unstack()[0]
    # The truth is not given up for what reports say of it; what is wrong is mended.
    assert kept <= 0.5 < share
    for attribute in range(3):
        near, far = (np.abs(m.table([attribute]) - margins[attribute]) for m in (first, wrong))
        assert near.max() < 0.5 * far.max()
    # A fit has the margins of its hyper-parameters: with a share of 1 the most likely ones.
    hyperparameters = replace(cross_validate(counts, every, None, None), report_steps=0)
    (best,) = trials.fit_margins(every, people.schema.sizes)
    gaps = []
    for asked in (0.0, 0.5, 1.0):
        (fitted,) = fit_starts(
            replace(hyperparameters, margin_shrinkage=asked), every, None, best, 1
        )
        own = fitted.weights @ fitted.profiles
        gaps.append(float(np.abs(own - np.concatenate(best)).max()))
    assert gaps[2] < 1e-6 < gaps[0]
    assert gaps[1] == pytest.approx(gaps[0] / 2, rel=0.05)


def test_margins_of_leaves_are_fitted_with_the_associations() -> None:
    schema = population((2, 3, 4), seed=4).schema
    generator = np.random.default_rng(2)
    margins = [generator.dirichlet(3 * np.ones(size)) for size in schema.sizes]
    truth = random_start(margins, 3, 1.5, generator)
    study = coarse_studies(schema)["all kinds"]
    reports = collect(study, truth.table(range(3)), 1000, generator)
    # Numbers as they are expected: no noise, so that what is left is bias.
    tables = [
        table.with_counts(1e6 * table.report_probabilities(truth))
        for table in sufficient_statistics(MemoryCounts(reports))
    ]
    (alone,) = trials.fit_margins(tables, schema.sizes)
    wrong = shrink_margins(truth, [np.full(k, 1.0 / k) for k in schema.sizes], 0.5)
    (likely,) = trials.likely_margins(Mixture.stack([wrong]), tables, (), (alone,))
    off = [
        max(float(np.abs(one - two).max()) for one, two in zip(found, margins, strict=True))
        for found in (alone, likely)
    ]
    assert off[0] > 0.03
    assert off[1] < 0.002
    # Blocks that ask finely are asked for the margins of independent attributes.
    fine = [table for table in tables if not isinstance(table, LeafTable)]
    assert fine
    assert trials.likely_margins(Mixture.stack([wrong]), fine, (), (alone,)) == (alone,)


def _threes() -> tuple[Schema, Floats]:
    """Yes/no questions whose pairs say nothing: the third of each three is the parity of two."""
    answers = np.array([[a, b, a ^ b] for a in (0, 1) for b in (0, 1)])
    table = np.full((2, 2, 2), 0.02 / 4)
    table[tuple(answers.T)] = 0.98 / 4
    names = ("a", "b", "c", "d", "e")
    # And two more that go along with the first, so that there is something to start from.
    along = np.array([[0.9, 0.1], [0.2, 0.8]])
    full = np.einsum("abc,ad,ae->abcde", table, along, along)
    return Schema(Attribute(name, ("no", "yes")) for name in names), full


def test_whole_reports_tell_what_pairs_do_not() -> None:
    schema, table = _threes()
    reports = collect(Study(schema, 15.0), table, 6000, np.random.default_rng(0))
    fitted = learn(MemoryCounts(reports), None, None, 3)
    assert fitted.hyperparameters.report_steps > 0
    assert "through all reports" in str(fitted.reasons(("a", "b"))[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trials, "SETTINGS", replace(SETTINGS, report_work=0))
        pairs = learn(MemoryCounts(reports), None, None, 3)
    assert pairs.hyperparameters.report_steps == 0
    truth = table.sum(axis=(3, 4))
    close, far = (np.abs(f.table(["a", "b", "c"]) - truth).max() for f in (fitted, pairs))
    assert close < 0.03
    assert far > 0.1


@pytest.mark.parametrize("most", [0, 1 << 22])
@pytest.mark.parametrize("design", [*studies(), "rectangular"])
def test_rows_are_the_reports(design: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    few = replace(SETTINGS, most_possible_reports=most)
    monkeypatch.setattr("castell.inference.latent.report_rows.SETTINGS", few)
    study = {**studies(), "rectangular": rectangular()}[design]
    people = population(study.schema.sizes, seed=4)
    reports = collect(study, people.table, 50, np.random.default_rng(0))
    rows = report_rows(MemoryCounts(reports))
    came, times = np.unique(np.stack(reports.columns), axis=1, return_counts=True)
    if most:
        # Equal ones are put together.
        np.testing.assert_array_equal(rows.codes, came)
        np.testing.assert_array_equal(rows.times, times)
        assert distinct(study.design, 50) >= len(times)
    else:
        found = sorted(map(tuple, rows.codes.T.tolist()))
        assert found == sorted(zip(*(c.tolist() for c in reports.columns), strict=True))
        np.testing.assert_array_equal(rows.times, np.ones(50))
        assert distinct(study.design, 50) == 50
    held = [study.names[a] for block in rows.attributes for a in block]
    assert held == [name for block in study.design.blocks for name in block.names]


@pytest.mark.parametrize("design", [*studies(), "rectangular"])
def test_reports_put_together_say_the_same(design: str) -> None:
    study = {**studies(), "rectangular": rectangular()}[design]
    people = population(study.schema.sizes, seed=4)
    counts = MemoryCounts(collect(study, people.table, 5000, np.random.default_rng(0)))
    generator = np.random.default_rng(1)
    margins = [generator.dirichlet(np.ones(size)) for size in study.schema.sizes]
    one, two = (random_start(margins, 3, 0.5, generator) for _ in range(2))
    together = report_rows(counts)
    with pytest.MonkeyPatch.context() as patch:
        none = replace(SETTINGS, most_possible_reports=0)
        patch.setattr("castell.inference.latent.report_rows.SETTINGS", none)
        apart = report_rows(counts)
    assert together.codes.shape[1] < apart.codes.shape[1] == 5000
    found, expected = e_step(one, [together]), e_step(one, [apart])
    np.testing.assert_allclose(found.classes, expected.classes, rtol=1e-4)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-4)
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-6)
    shares = np.linspace(0, 1, 5)
    np.testing.assert_allclose(
        together.log_likelihood_between(0, one, two, shares),
        apart.log_likelihood_between(0, one, two, shares),
        rtol=1e-6,
    )


def test_rows_are_read_only_where_they_tell_more_and_are_not_too_many() -> None:
    people = population((2, 3, 4), seed=4)
    counts = MemoryCounts(
        collect(studies()["independent"], people.table, 100, np.random.default_rng(0))
    )
    assert affordable_report_steps(counts, 6, 5) > 1000
    with pytest.MonkeyPatch.context() as patch:
        # No more than 24 different reports of two, three and four values.
        patch.setattr(trials, "SETTINGS", replace(SETTINGS, report_work=24 * 3 * 6 * 5 * 9))
        assert affordable_report_steps(counts, 6, 5) == 0
        patch.setattr(trials, "SETTINGS", replace(SETTINGS, report_work=24 * 3 * 6 * 5 * 10))
        assert affordable_report_steps(counts, 6, 5) == 10
        few = replace(SETTINGS, most_possible_reports=23)
        patch.setattr("castell.inference.latent.report_rows.SETTINGS", few)
        assert affordable_report_steps(counts, 6, 5) == 0
        patch.setattr(trials, "SETTINGS", replace(SETTINGS, report_work=100 * 3 * 6 * 5 * 10))
        assert affordable_report_steps(counts, 6, 5) == 10
    with pytest.MonkeyPatch.context() as patch:
        small = replace(SETTINGS, most_block_cells=3)
        patch.setattr("castell.inference.latent.report_rows.SETTINGS", small)
        assert affordable_report_steps(counts, 6, 5) == 0
    drawn = collect(drawn_studies()["pairs"], people.table, 100, np.random.default_rng(0))
    assert affordable_report_steps(MemoryCounts(drawn), 6, 5) == 0
    joint = collect(studies()["joint"], people.table, 100, np.random.default_rng(0))
    assert affordable_report_steps(MemoryCounts(joint), 6, 5) == 0
    two = Study(population((2, 3), seed=0).schema, 4.0)
    pair = collect(two, population((2, 3), seed=0).table, 100, np.random.default_rng(0))
    assert affordable_report_steps(MemoryCounts(pair), 6, 5) == 0


def test_what_is_held_out_and_what_is_not_are_all() -> None:
    people = population((2, 3, 4), seed=4)
    counts = MemoryCounts(
        collect(studies()["independent"], people.table, 300, np.random.default_rng(0))
    )
    every = sufficient_statistics(counts)
    dealt = TabledFolds.of(every, folds_of(counts))
    seen, unseen = dealt.rows
    np.testing.assert_array_equal(seen.times.sum(axis=1) + unseen.times.sum(axis=1), counts.n)
    for rows, fold in zip(unseen.unstack(), folds_of(counts), strict=True):
        alone = report_rows(fold.held_out)
        np.testing.assert_array_equal(rows.codes, alone.codes)
        np.testing.assert_array_equal(rows.times, alone.times)
    for whole, one, two in zip(every, dealt.training_tables, dealt.held_out_tables, strict=True):
        assert one.counts.shape == (FOLDS, *whole.counts.shape)
        np.testing.assert_array_equal(np.stack([whole.counts] * FOLDS), one.counts + two.counts)
        np.testing.assert_array_equal(two.counts.sum(axis=0), whole.counts)
    assert unseen.times.sum() == counts.n


@pytest.mark.parametrize("n", [1, 2, 3])
def test_next_to_no_reports(n: int) -> None:
    people = population((2, 3, 4), seed=4)
    reports = collect(studies()["independent"], people.table, n, np.random.default_rng(0))
    hyperparameters = cross_validate(
        MemoryCounts(reports), sufficient_statistics(MemoryCounts(reports)), None, None
    )
    assert hyperparameters.report_steps == 0
    joint = castell.estimate(reports, ["a", "b"], "latent")
    assert joint.probabilities.sum() == pytest.approx(1.0)


def test_what_was_asked_for_is_not_chosen() -> None:
    people = population((2, 3, 4), seed=4)
    reports = collect(studies()["independent"], people.table, 500, np.random.default_rng(0))
    joint = castell.estimate(reports, ["a", "b"], "latent", classes=3, steps=4, starts=2)
    assert joint.notes[0] == "2 mixtures of 3 latent classes, 4 EM steps each, as asked"


@pytest.mark.parametrize(("design", "epsilon"), [("independent", 8.0), ("pairs", 3.0)])
def test_independence_that_holds_is_hardly_ever_left(design: str, epsilon: float) -> None:
    """The rule is about a composite likelihood, so it is held to simulations, not to theory."""
    people = product(
        {"a": [0.3, 0.7], "b": [0.5, 0.2, 0.3], "c": [0.1, 0.2, 0.3, 0.4], "d": [0.25] * 4}
    )
    study = Study(people.schema, epsilon, design)
    left = 0
    for seed in range(40):
        reports = collect(study, people.table, 3000, np.random.default_rng(1000 + seed))
        counts = MemoryCounts(reports)
        left += cross_validate(counts, sufficient_statistics(counts), None, None).steps > 0
    # 8 of 100 at most, when it was measured; 15 of 40 would be chance less than once in a million.
    assert left < 15


def _looks(stopping: EarlyStopping, values: list[float]) -> int | None:
    """The step after which it stops, at a look every five steps; None if it does not."""
    for look, value in enumerate(values, 1):
        if stopping.is_over(5 * look, value):
            return 5 * look
    return None


def test_a_fit_stops_where_it_has_not_gained_for_long() -> None:
    rising = [float(k) for k in range(200)]
    assert _looks(EarlyStopping(1000), rising) is None
    # A peak at step 5 is waited for through the patience, a later one for half as many steps more.
    assert _looks(EarlyStopping(1000), [1.0] + [0.0] * 30) == 5 + SETTINGS.patience + 5
    late = rising[:40] + [0.0] * 60
    assert _looks(EarlyStopping(1000), late) == 5 * 40 + 5 * 40 // 2 + 5


def test_a_fit_that_cannot_reach_its_rival_is_given_up() -> None:
    slow = [100.0 - 1000.0 / k for k in range(1, 200)]  # never above 100
    alone = _looks(EarlyStopping(1000), slow)
    assert alone is None
    beaten = _looks(EarlyStopping(1000, rival=200.0), slow)
    assert beaten is not None
    assert 2 * SETTINGS.patience <= beaten < 500
    # Not where it is ahead, nor where it would get there in the steps that are left.
    assert _looks(EarlyStopping(1000, rival=50.0), slow) is None
    steady = [0.1 * k for k in range(1, 200)]
    assert _looks(EarlyStopping(1000, rival=19.0), steady) is None
    assert _looks(EarlyStopping(500, rival=19.0), steady[:100]) == 2 * SETTINGS.patience
    # Nor where it gains more and more, as fits do that have to leave independence first.
    rising = [1000.0 / (1.0 + np.exp((100 - k) / 20)) for k in range(1, 200)]
    assert _looks(EarlyStopping(1000, rival=950.0), rising) is None
    # Nor soon: a start near independence takes some steps to leave it.
    assert _looks(EarlyStopping(1000, rival=1e9), slow) == 2 * SETTINGS.patience


@pytest.mark.parametrize(("design", "epsilon"), [("pairs", 6.0), ("cover", 8.0)])
def test_giving_up_saves_steps_and_changes_no_choice(
    design: str, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = Schema([Attribute(name, [f"{name}{v}" for v in range(6)]) for name in "abcd"])
    generator = np.random.default_rng(3)
    # Six answers that mostly agree ask for many classes.
    first = generator.integers(0, 6, 4000)
    same = [np.where(generator.random(4000) < 0.8, first, (first + k) % 6) for k in range(4)]
    answers = dict(
        zip(
            "abcd",
            ([schema[n].values[v] for v in c] for n, c in zip("abcd", same, strict=True)),
            strict=True,
        )
    )
    reports = Study(schema, epsilon, design).randomize(answers, seed=2)
    counts = MemoryCounts(reports)
    every = sufficient_statistics(counts)
    taken: list[int] = []
    real = OverRelaxedEM.step

    def step(em: OverRelaxedEM) -> float:
        taken[-1] += 1
        return real(em)

    monkeypatch.setattr(OverRelaxedEM, "step", step)
    found = []
    for patient in (False, True):
        if patient:
            monkeypatch.setattr(EarlyStopping, "_is_beaten", lambda *_: False)
        taken.append(0)
        found.append(cross_validate(counts, every, None, None))
    one, two = found
    assert (one.start, one.steps, one.shrinkage) == (two.start, two.steps, two.shrinkage)
    for left, right in zip(one.fold_models, two.fold_models, strict=True):
        np.testing.assert_array_equal(left.profiles, right.profiles)
    assert taken[0] < taken[1]
