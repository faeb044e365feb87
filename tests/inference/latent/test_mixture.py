"""Mixtures of products: against sums written out, and Bayes' rule respondent by respondent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from castell.inference.latent import report_rows as rows
from castell.inference.latent.em import (
    CountedTable,
    Expectation,
    OverRelaxedEM,
    Statistics,
    composite_log_likelihood,
    e_step,
    margins_step,
    stack_tables,
)
from castell.inference.latent.mixture import (
    Mixture,
    average,
    random_start,
    shrink_margins,
    shrink_to_margins,
)
from castell.inference.latent.report_rows import ReportRows
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.sufficient_statistics import BlockTable, PairTables
from castell.linear.operators import Dense, Floats, Uniform
from tests.populations import kronecker

SIZES = (2, 3, 4, 2)
STARTS = np.cumsum((0, *SIZES))


def mixture(classes: int, seed: int, sizes: tuple[int, ...] = SIZES) -> Mixture:
    generator = np.random.default_rng(seed)
    parts = [generator.dirichlet(np.ones(size), classes) for size in sizes]
    return Mixture(generator.dirichlet(np.ones(classes)), np.concatenate(parts, axis=1), sizes)


def whole(model: Mixture) -> Floats:
    """Everything a mixture says, cell by cell."""
    table = np.zeros(model.sizes)
    starts = np.cumsum((0, *model.sizes))
    for k, weight in enumerate(model.weights):
        for cell in np.ndindex(*model.sizes):
            chance = weight
            for start, value in zip(starts, cell, strict=False):
                chance *= model.profiles[k, start + value]
            table[cell] += chance
    return table


# -- what it says ----------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [1, 2, 5])
@pytest.mark.parametrize(
    "attributes", [(0,), (3, 1), (1, 2, 0), (2, 0, 3, 1)], ids=lambda a: "".join(map(str, a))
)
def test_tables_are_margins_in_the_order_asked(classes: int, attributes: tuple[int, ...]) -> None:
    model = mixture(classes, seed=classes)
    gone = tuple(i for i in range(4) if i not in attributes)
    kept = [i for i in range(4) if i in attributes]
    wanted = whole(model).sum(axis=gone).transpose([kept.index(a) for a in attributes])
    np.testing.assert_allclose(model.table(attributes), wanted, atol=1e-15)


def test_shares_are_sums_of_cells() -> None:
    model, every = mixture(3, seed=1), whole(mixture(3, seed=1))
    asked = {2: np.array([0, 3]), 0: np.array([1]), 1: np.array([0, 1])}
    wanted = every[np.ix_([1], [0, 1], [0, 3], [0, 1])].sum()
    assert model.share(asked) == pytest.approx(wanted, abs=1e-15)
    assert model.share({1: np.arange(3)}) == pytest.approx(1.0)


def test_an_average_of_mixtures_is_one() -> None:
    one, two = mixture(2, seed=1), mixture(4, seed=2)
    both = average([one, two])
    np.testing.assert_allclose(whole(both), (whole(one) + whole(two)) / 2, atol=1e-15)
    leaning = average([one, two], [0.9, 0.1])
    np.testing.assert_allclose(whole(leaning), 0.9 * whole(one) + 0.1 * whole(two), atol=1e-15)
    assert both.weights.sum() == pytest.approx(1.0)


def test_people_drawn_from_it_are_like_it() -> None:
    model, people = mixture(3, seed=4, sizes=(2, 3, 2)), 40_000
    columns = model.sample(people, np.random.default_rng(0))
    flat = np.ravel_multi_index(tuple(columns), model.sizes)
    counts = np.bincount(flat, minlength=12).reshape(model.sizes)
    expected = whole(model) * people
    # Chi squared with 11 degrees of freedom: above 55 in less than one of ten million.
    assert ((counts - expected) ** 2 / expected).sum() < 55.0


def test_a_start_has_the_margins_and_classes_that_differ() -> None:
    margins = [np.array([0.2, 0.8]), np.array([0.5, 0.3, 0.2]), np.array([0.97, 0.02, 0.01, 0.0])]
    start = random_start(margins, 6, 0.3, np.random.default_rng(0))
    for i, margin in enumerate(margins):
        np.testing.assert_allclose(start.table([i]), margin, atol=1e-5)
        assert start.parts[i].std(axis=0).max() > 0.001
    assert (start.profiles > 0.0).all()
    alone = random_start(margins, 1, 0.0, np.random.default_rng(0))
    np.testing.assert_allclose(alone.table([0, 1]), np.outer(*margins[:2]), atol=1e-6)


# -- what reports say of it ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Seen:
    """Some attributes, seen together by some people, each through its own dense matrix or all
    through one: the posterior of class and values by Bayes' rule, person after person."""

    attributes: tuple[int, ...]
    matrix: Floats  # a row for each combination of answers, a column for each report
    reports: Sequence[int]

    def e_step(self, model: Mixture) -> Expectation:
        classes, values = np.zeros(len(model.weights)), np.zeros_like(model.profiles)
        log = 0.0
        sizes = [model.sizes[a] for a in self.attributes]
        starts = np.cumsum((0, *model.sizes))
        for report in self.reports:
            joint = np.zeros((len(model.weights), *sizes))
            for k, *cell in product(range(len(model.weights)), *map(range, sizes)):
                chance = model.weights[k]
                for a, value in zip(self.attributes, cell, strict=True):
                    chance *= model.profiles[k, starts[a] + value]
                row = int(np.ravel_multi_index(tuple(cell), sizes))
                joint[(k, *cell)] = chance * self.matrix[row, report]
            log += float(np.log(joint.sum()))
            joint /= joint.sum()
            for k, *cell in product(range(len(model.weights)), *map(range, sizes)):
                share = joint[(k, *cell)]
                classes[k] += share
                for a, value in zip(self.attributes, cell, strict=True):
                    values[k, starts[a] + value] += share
        return Expectation(classes, values, np.asarray(log))


def stochastic(rows: int, columns: int, generator: np.random.Generator) -> Floats:
    return generator.dirichlet(np.ones(columns), rows)


def agree(found: Expectation, wanted: Expectation) -> None:
    np.testing.assert_allclose(found.classes, wanted.classes, rtol=1e-10)
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-10, atol=1e-12)
    assert found.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-12)


@pytest.mark.parametrize(
    ("attributes", "outputs"), [((1,), 3), ((0, 3), 4), ((2, 0), 11), ((3, 1, 0), 5)]
)
def test_a_block_by_bayes_rule(attributes: tuple[int, ...], outputs: int) -> None:
    generator = np.random.default_rng(outputs)
    model, rows = mixture(3, seed=9), int(np.prod([SIZES[a] for a in attributes]))
    matrix = stochastic(rows, outputs, generator)
    reports = generator.integers(outputs, size=25).tolist()
    counts = np.bincount(reports, minlength=outputs).astype(float)
    block = BlockTable(attributes, Dense(matrix.T), counts)
    agree(e_step(model, [block]), Seen(attributes, matrix, reports).e_step(model))


def pairs_seen(
    reports: NDArray[np.int64], matrices: list[Floats], apart: list[tuple[int, int]]
) -> tuple[PairTables, list[Seen]]:
    """The reports of four attributes as tables of pairs, and pair by pair."""
    outputs = [matrix.shape[1] for matrix in matrices]
    ends = np.cumsum((0, *outputs))
    counts = np.zeros((ends[-1], ends[-1]))
    seen = []
    for i, k in apart:
        for row in reports:
            counts[ends[i] + row[i], ends[k] + row[k]] += 1
            counts[ends[k] + row[k], ends[i] + row[i]] += 1
        both = reports[:, i] * outputs[k] + reports[:, k]
        seen.append(Seen((i, k), kronecker([matrices[i], matrices[k]]), both.tolist()))
    return PairTables(tuple(Dense(matrix.T) for matrix in matrices), counts), seen


@pytest.mark.parametrize(
    "apart", [list(combinations(range(4), 2)), [(0, 1), (0, 2), (1, 3), (2, 3)]], ids=str
)
def test_pairs_by_bayes_rule(apart: list[tuple[int, int]]) -> None:
    generator = np.random.default_rng(5)
    outputs = (2, 4, 4, 3)
    matrices = [stochastic(*shape, generator) for shape in zip(SIZES, outputs, strict=True)]
    reports = np.stack([generator.integers(k, size=20) for k in outputs], axis=1)
    statistics, seen = pairs_seen(reports, matrices, apart)
    model = mixture(3, seed=2)
    each = [one.e_step(model) for one in seen]
    summed = Expectation(
        np.sum([e.classes for e in each], axis=0),
        np.sum([e.values for e in each], axis=0),
        np.sum([e.log_likelihood for e in each]),
    )
    agree(e_step(model, [statistics]), summed)
    assert composite_log_likelihood(model, [statistics, statistics]) == pytest.approx(
        2 * summed.log_likelihood
    )


@pytest.mark.parametrize("few", [0, 3, 64], ids=["picked", "both", "indicators"])
@pytest.mark.parametrize("step", [7, 4096])
def test_whole_reports_by_bayes_rule(few: int, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "SETTINGS", replace(SETTINGS, few_codes=few, rows_at_once=step))
    generator = np.random.default_rng(7)
    blocks, outputs = ((1,), (3, 0), (2,)), (3, 6, 5)
    cells = [int(np.prod([SIZES[a] for a in block])) for block in blocks]
    matrices = [stochastic(*shape, generator) for shape in zip(cells, outputs, strict=True)]
    codes = np.stack([generator.integers(k, size=30) for k in outputs]).astype(np.int32)
    times = generator.integers(1, 4, size=30)
    forward = tuple(Dense(matrix.T) for matrix in matrices)
    statistics = ReportRows(blocks, forward, codes, times.astype(np.float64))
    model = mixture(3, seed=2)
    # The same reports, each as often as it came.
    whole_codes = np.ravel_multi_index(tuple(np.repeat(codes, times, axis=1)), outputs).tolist()
    wanted = Seen((1, 3, 0, 2), kronecker(matrices), whole_codes).e_step(model)
    found = e_step(model, [statistics])
    np.testing.assert_allclose(found.classes, wanted.classes, rtol=1e-5)
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-5, atol=1e-6)
    assert found.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-6)
    other = mixture(3, seed=3)
    each = [np.exp(statistics.logs(m)) for m in (model, other)]
    mixed = [times @ np.log(each[0] + t * (each[1] - each[0])) for t in (0.0, 0.3, 1.0)]
    between = statistics.log_likelihood_between(0, model, other, np.array([0.0, 0.3, 1.0]))
    np.testing.assert_allclose(between, mixed, rtol=1e-6)
    assert between[0] == pytest.approx(wanted.log_likelihood, rel=1e-6)


@pytest.mark.parametrize("attribute", range(4))
def test_chances_are_linear_in_a_tie(attribute: int) -> None:
    model, generator = mixture(3, seed=4), np.random.default_rng(1)
    tables: list[CountedTable] = [
        BlockTable((0, 2), Dense(stochastic(8, 5, generator).T), np.ones(5)),
        PairTables(tuple(Uniform(k, 0.7, 0.3 / (k - 1)) for k in SIZES), np.ones((11, 11))),
    ]
    # The others may be shrunk in part, it makes no difference.
    shrinkage = np.array([0.5, 1.0, 0.2, 0.9])
    ends = []
    for tie in (0.0, 1.0, 0.3):
        shrinkage[attribute] = tie
        ends.append(
            [table.report_probabilities(shrink_to_margins(model, shrinkage)) for table in tables]
        )
    for table, low, high, between in zip(tables, *ends, strict=True):
        if isinstance(table, PairTables):
            # But for an attribute with itself, which nobody counts.
            own = slice(STARTS[attribute], STARTS[attribute + 1])
            for one in (low, high, between):
                one[own, own] = 0.0
        np.testing.assert_allclose(between, low + 0.3 * (high - low), rtol=1e-12)


@pytest.mark.parametrize("attribute", range(4))
def test_likelihoods_between_two_ties(attribute: int) -> None:
    generator = np.random.default_rng(3)
    outputs = (2, 4, 4, 3)
    matrices = [stochastic(*shape, generator) for shape in zip(SIZES, outputs, strict=True)]
    reports = np.stack([generator.integers(k, size=20) for k in outputs], axis=1)
    pairs, _ = pairs_seen(reports, matrices, list(combinations(range(4), 2)))
    block = BlockTable((0, 2), Dense(stochastic(8, 5, generator).T), generator.random(5) * 9)
    shrinkage, shares = np.array([0.5, 1.0, 0.2, 0.9]), np.array([0.0, 0.4, 1.0])
    models = []
    for tie in shares:
        shrinkage[attribute] = tie
        models.append(shrink_to_margins(mixture(3, seed=4), shrinkage))
    for table in (pairs, block):
        found = table.log_likelihood_between(attribute, models[0], models[-1], shares)
        wanted = np.array([composite_log_likelihood(model, [table]) for model in models])
        # Up to a constant, and nothing at all where the attribute is not concerned.
        np.testing.assert_allclose(found - found[0], wanted - wanted[0], rtol=1e-9, atol=1e-9)
    unmoved = not block.log_likelihood_between(attribute, models[0], models[2], shares).any()
    assert unmoved == (attribute not in (0, 2))


def test_a_loosened_mixture_keeps_its_margins() -> None:
    model = mixture(3, seed=4)
    loose = shrink_to_margins(model, (0.0, 1.0, 0.5, 1.0))
    for a in range(4):
        np.testing.assert_allclose(loose.table([a]), model.table([a]))
    np.testing.assert_allclose(loose.table([1, 3]), model.table([1, 3]))
    alone = np.multiply.outer(model.table([0]), model.table([1, 2]))
    assert np.abs(model.table([0, 1, 2]) - alone).max() > 0.01
    partly = shrink_to_margins(model, (1.0, 1.0, 0.5, 1.0)).table([1, 2])
    np.testing.assert_allclose(loose.table([0, 1, 2]), np.multiply.outer(loose.table([0]), partly))


def test_the_same_margins_apart() -> None:
    model = mixture(3, seed=4)
    expected = np.einsum("a,b,c->abc", *(model.table([a]) for a in (2, 0, 3)))
    np.testing.assert_allclose(model.independent_table((2, 0, 3)), expected)
    np.testing.assert_allclose(model.independent_table((1,)), model.table([1]))


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_margins_are_drawn_as_far_as_asked(share: float) -> None:
    model, generator = mixture(3, seed=4), np.random.default_rng(5)
    wanted = [generator.dirichlet(np.ones(k)) for k in SIZES]
    # An empty value stays next to empty, it does not break the others.
    wanted[1][0], wanted[1][1] = 0.0, wanted[1][0] + wanted[1][1]
    drawn = shrink_margins(model, wanted, share)
    np.testing.assert_array_equal(drawn.weights, model.weights)
    for a, other in enumerate(wanted):
        between = (1.0 - share) * model.table([a]) + share * other
        np.testing.assert_allclose(drawn.table([a]), between, atol=1e-3)
    if share == 0.0:
        np.testing.assert_allclose(drawn.profiles, model.profiles, atol=1e-12)
    else:
        assert np.abs(drawn.table([0, 2]) - model.table([0, 2])).max() > 0.01


# -- the way up ------------------------------------------------------------------------------------


def some_statistics(seed: int, kept: float = 0.5) -> list[CountedTable]:
    """Reports of a mixture: overlapping blocks, of which a share is `kept` as answered."""
    generator = np.random.default_rng(seed)
    truth = mixture(4, seed=seed)
    found: list[CountedTable] = []
    for attributes, n in (((0, 1), 3000), ((2, 3), 2000), ((1, 2), 1000), ((0,), 500)):
        cells = int(np.prod([SIZES[a] for a in attributes]))
        forward = Uniform(cells, kept, (1.0 - kept) / (cells - 1))
        chances = forward.dense() @ truth.table(attributes).ravel()
        counts = generator.multinomial(n, chances / chances.sum()).astype(float)
        found.append(BlockTable(attributes, forward, counts))
    return found


def plain(
    start: Mixture, statistics: Sequence[Statistics], steps: int
) -> tuple[Mixture, list[float]]:
    """Plain steps: the first of every over-relaxed EM."""
    model, logs = start, []
    for _ in range(steps):
        em = OverRelaxedEM(model, statistics)
        em.step()
        logs.append(em.log_likelihood)
        model = em.mixture
    return model, logs


def test_a_step_is_what_was_expected() -> None:
    start, statistics = mixture(3, seed=1), some_statistics(0)
    after, _ = plain(start, statistics, 1)
    expected = e_step(start, statistics)
    classes, values = expected.classes, expected.values
    np.testing.assert_allclose(after.weights, classes / np.sum(classes), rtol=1e-9)
    for a, part in enumerate(after.parts):
        own = values[:, STARTS[a] : STARTS[a + 1]]
        np.testing.assert_allclose(part, own / own.sum(axis=1, keepdims=True), rtol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_plain_steps_never_lead_downwards(seed: int) -> None:
    _, logs = plain(mixture(3, seed=seed + 10), some_statistics(seed), 60)
    assert np.diff(logs).min() >= -1e-8
    assert logs[-1] > logs[0] + 1.0


@pytest.mark.parametrize("seed", range(4))
def test_margins_alone_never_lead_downwards(seed: int) -> None:
    start, statistics = mixture(3, seed=seed + 10), some_statistics(seed)
    model, logs = start, []
    for _ in range(60):
        em = OverRelaxedEM(model, statistics, margins_step)
        em.step()
        logs.append(em.log_likelihood)
        model = em.mixture
    assert np.diff(logs).min() >= -1e-8
    assert logs[-1] > logs[0] + 1.0
    # Classes stay as large, and differ in what they did: their odds of any two values, relative to
    # one another.
    np.testing.assert_allclose(model.weights, start.weights)
    for before, after in zip(start.parts, model.parts, strict=True):
        ratios = [np.log(part[1:] / part[0]) for part in (before, after)]
        apart = [r - r[:, :1] for r in ratios]
        np.testing.assert_allclose(apart[0], apart[1], atol=1e-6)


@pytest.mark.parametrize("kept", [0.5, 0.95], ids=["noisy", "clear"])
@pytest.mark.parametrize("seed", range(2))
def test_longer_strides_get_at_least_as_far(seed: int, kept: float) -> None:
    # With little noise long strides lead downwards now and then, and are taken back.
    statistics, start = some_statistics(seed, kept), mixture(3, seed=seed + 10)
    slow, _ = plain(start, statistics, 300)
    em, logs = OverRelaxedEM(start, statistics), []
    for _ in range(300):
        em.step()
        logs.append(em.log_likelihood)
        assert em.mixture.weights.sum() == pytest.approx(1.0)
        assert em.mixture.profiles.min() >= 0.0
        for part in em.mixture.parts:
            np.testing.assert_allclose(part.sum(axis=1), 1.0)
    # What it gives back it never keeps: each log is that of a mixture it stands on.
    assert np.diff(logs).min() >= -1e-8
    assert logs[-1] >= composite_log_likelihood(slow, statistics) - 1e-6
    # And it is much further on after a tenth of the steps than plain ones are.
    assert logs[40] > composite_log_likelihood(plain(start, statistics, 40)[0], statistics)


@pytest.mark.parametrize("kept", [0.5, 0.95], ids=["noisy", "clear"])
def test_several_mixtures_take_the_steps_each_takes_alone(kept: float) -> None:
    # Each with reports of its own, and each takes its own steps back.
    reports = [some_statistics(seed, kept) for seed in range(3)]
    starts = [mixture(3, seed=seed + 10) for seed in range(3)]
    both = OverRelaxedEM(Mixture.stack(starts), stack_tables(reports))
    alone = [OverRelaxedEM(*each) for each in zip(starts, reports, strict=True)]
    taken_back = 0
    for _ in range(60):
        both.step()
        for each in alone:
            each.step()
        taken_back += len({round(float(eta), 9) for eta in both._eta}) > 1
        for one, other in zip(both.mixture.unstack(), alone, strict=True):
            np.testing.assert_allclose(one.weights, other.mixture.weights, atol=1e-7)
            np.testing.assert_allclose(one.profiles, other.mixture.profiles, atol=1e-7)
    assert both.log_likelihood == pytest.approx(sum(each.log_likelihood for each in alone))
    assert taken_back or kept == 0.5


def test_the_same_reports_serve_several_mixtures() -> None:
    generator = np.random.default_rng(3)
    matrices = [stochastic(size, size + 1, generator) for size in SIZES]
    codes = np.stack([generator.integers(size + 1, size=40) for size in SIZES]).astype(np.int32)
    rows = ReportRows(
        tuple((a,) for a in range(4)),
        tuple(Dense(matrix.T) for matrix in matrices),
        codes,
        np.ones(40),
    )
    models = [mixture(3, seed=seed) for seed in range(5)]
    statistics: list[Statistics] = [rows, *some_statistics(1)]
    found = e_step(Mixture.stack(models), statistics)
    for i, model in enumerate(models):
        alone = e_step(model, statistics)
        np.testing.assert_allclose(found.classes[i], alone.classes, rtol=1e-5)
        np.testing.assert_allclose(found.values[i], alone.values, rtol=1e-5, atol=1e-6)
        assert found.log_likelihood[i] == pytest.approx(float(alone.log_likelihood), rel=1e-6)


def test_a_step_says_what_the_one_before_gained() -> None:
    em = OverRelaxedEM(mixture(2, seed=3), some_statistics(1))
    assert em.step() == np.inf
    before = em.log_likelihood
    gained = em.step()
    assert gained == pytest.approx(em.log_likelihood - before)
    assert gained > 0.0


def test_a_share_of_nothing_can_be_left() -> None:
    # A class that everybody left, and a value nobody had, are small but never gone.
    start = mixture(2, seed=0, sizes=(2,))
    reports: list[CountedTable] = [BlockTable((0,), Uniform(2, 1.0, 0.0), np.array([50.0, 0.0]))]
    lost, _ = plain(start, reports, 5)
    assert 0.0 < lost.profiles.min() < 1e-10
    back: list[CountedTable] = [BlockTable((0,), Uniform(2, 1.0, 0.0), np.array([0.0, 50.0]))]
    found, _ = plain(lost, back, 5)
    np.testing.assert_allclose(found.table([0]), [0.0, 1.0], atol=1e-9)
