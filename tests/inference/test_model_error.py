"""The error of a model's answers: Hoeffding's decomposition, beta^2, and what is left open."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import pytest

import castell
from castell import Study
from castell.counting import MemoryCounts
from castell.inference.intervals import Normal
from castell.inference.inversion import Query
from castell.inference.latent.cross_fit_error import mixture_error
from castell.inference.latent.model import learn
from castell.inference.margins import Margins
from castell.inference.model_error import (
    PRIOR,
    AssociationError,
    ModelError,
    Residuals,
    association_error,
    groups_of,
    squared_error,
)
from castell.inference.model_intervals import bounds
from castell.inference.support import Checked, support
from castell.linear.operators import Floats
from castell.linear.table import Table
from tests.populations import collect, drawn_studies, population, studies

PEOPLE = population((2, 3, 4), seed=4, sharpness=2.0)
NAMES = ("a", "b", "c")
BETA = AssociationError(0.01, {frozenset("ab"): 0.04, frozenset("ac"): 0.09, frozenset("bc"): 0.0})


def _margins(design: str, n: int = 4000) -> Margins:
    study = {**studies(), **drawn_studies()}[design]
    return Margins(MemoryCounts(collect(study, PEOPLE.table, n, np.random.default_rng(0))))


def _components(f: Floats, margins: list[Floats]) -> dict[tuple[int, ...], Floats]:
    """Hoeffding's decomposition of a function, by inclusion and exclusion of its means."""
    found: dict[tuple[int, ...], Floats] = {}
    axes = range(f.ndim)
    for size in range(f.ndim + 1):
        for kept in combinations(axes, size):
            mean = f
            for axis in axes:
                if axis not in kept:
                    shape = [-1 if k == axis else 1 for k in axes]
                    weight = margins[axis].reshape(shape)
                    mean = (mean * weight).sum(axis=axis, keepdims=True)
            for smaller in [s for s in found if set(s) < set(kept)]:
                mean = mean - found[smaller]
            found[kept] = mean
    return found


def _variance(component: Floats, margins: list[Floats]) -> float:
    weight = np.ones([1] * component.ndim)
    for axis, margin in enumerate(margins):
        shape = [-1 if k == axis else 1 for k in range(component.ndim)]
        weight = weight * margin.reshape(shape)
    return float((np.broadcast_to(component**2, weight.shape) * weight).sum())


def _oracle(f: Floats, table: Floats, margins: Margins) -> float:
    """V(f) from the definition: components of f, and the unbiased errors of its main effects."""
    own = [table.sum(axis=tuple(k for k in range(3) if k != axis)) for axis in range(3)]
    parts = _components(f, own)
    noise = 0.0
    for axis, name in enumerate(NAMES):
        effect = parts[(axis,)].ravel()
        codes = [np.array([i]) for i in range(len(effect))]
        covariance = np.array(
            [[margins.covariance(name, one, two) for two in codes] for one in codes]
        )
        noise += float(effect @ covariance @ effect)
    main = sum(_variance(parts[(k,)], own) for k in range(3))
    plain = sum(_variance(part, own) for key, part in parts.items() if key)
    model = float((f**2 * table).sum() - (f * table).sum() ** 2)
    pairs = {p: _variance(parts[p], own) for p in combinations(range(3), 2)}
    missed = sum(BETA.of(NAMES[i], NAMES[k]) * norm for (i, k), norm in pairs.items())
    rest = max(plain, model) - main - sum(pairs.values())
    return noise + missed + BETA.overall * rest


@pytest.mark.parametrize("design", [*studies(), *drawn_studies()])
def test_the_error_of_cells_and_groups_is_that_of_the_definition(design: str) -> None:
    study = {**studies(), **drawn_studies()}[design]
    if study.schema.sizes != (2, 3, 4):
        return  # a study of its own attributes; its channels are in the others
    margins = _margins(design)
    error, table = ModelError(margins, BETA), PEOPLE.table
    found = error.table(NAMES, table)
    for cell in ((0, 0, 0), (1, 2, 3), (0, 1, 2)):
        f = np.zeros(table.shape)
        f[cell] = 1.0
        assert found.variance[cell] == pytest.approx(_oracle(f, table, margins), rel=1e-6)
    inside = (np.array([1]), np.array([0, 2]), np.array([1, 2, 3]))
    query: Query = dict(zip(NAMES, inside, strict=True))
    f = np.zeros(table.shape)
    f[np.ix_(*inside)] = 1.0
    spread, _ = error.shares([query], _share(table))
    assert spread.variance[0] == pytest.approx(_oracle(f, table, margins), rel=1e-6)


def _share(table: Floats) -> Callable[[Query], float]:
    return Table(tuple(NAMES), table).share


def test_the_covariance_is_that_of_any_combination() -> None:
    """Shares of different attributes, combined: the definition, once more."""
    margins = _margins("independent")
    error, table = ModelError(margins, BETA), PEOPLE.table
    one: Query = {"a": np.array([1]), "b": np.array([0, 2])}
    two: Query = {"c": np.array([1, 3]), "b": np.array([0, 1]), "a": np.array([1])}
    _, covariances = error.shares([one, two], _share(table))
    for weights in ((1.0, -1.0), (1.0, -0.3), (0.5, 2.0)):
        f = np.zeros(table.shape)
        for weight, query in zip(weights, (one, two), strict=True):
            inside = [query.get(n, np.arange(k)) for n, k in zip(NAMES, table.shape, strict=True)]
            f[np.ix_(*inside)] += weight
        w = np.array(weights)
        largest = max(float(w @ c @ w) for c in covariances)
        assert largest == pytest.approx(_oracle(f, table, margins), rel=1e-6)


def test_an_attribute_alone_errs_as_its_unbiased_margin() -> None:
    margins = _margins("pairs")
    error = ModelError(margins, BETA)
    table = PEOPLE.margin(["b"])
    alone = castell.fit(margins.counts, "castell").estimate("b")
    np.testing.assert_allclose(error.table(["b"], table).errors, alone.standard_errors, rtol=1e-9)


# -- beta ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("noise", [0.02, 0.2])
def test_beta_is_found_up_to_what_noise_leaves_open(beta: float, noise: float) -> None:
    generator = np.random.default_rng(0)
    variances = np.full(2000, noise**2)
    differences = generator.normal(0.0, np.sqrt(beta**2 + noise**2), 2000)
    found = squared_error([Residuals(differences, variances, np.ones(2000))], PRIOR**2)
    # The standard error of a variance from 2000 squares, and half of it for caution.
    reach = 5 * (beta**2 + noise**2) * np.sqrt(2 / 2000)
    assert beta**2 - reach <= found <= beta**2 + reach + 1e-4


def test_without_reports_it_is_what_is_known_beforehand() -> None:
    # An exponential has a standard deviation of its mean, and half of it is added.
    assert squared_error([], PRIOR**2) == pytest.approx(1.5 * PRIOR**2, rel=0.05)
    nothing = association_error({})
    assert nothing.of("a", "b") == nothing.overall


def test_a_pair_that_stands_out_has_a_beta_of_its_own() -> None:
    generator = np.random.default_rng(1)

    def seen(beta: float, noise: float) -> list[Residuals]:
        differences = generator.normal(0.0, np.sqrt(beta**2 + noise**2), 200)
        return [Residuals(differences, np.full(200, noise**2), np.full(200, 0.2))]

    pairs = {frozenset((f"q{i}", f"q{i + 1}")): seen(0.02, 0.02) for i in range(20)}
    odd, blind = frozenset("xy"), frozenset("yz")
    found = association_error({**pairs, odd: seen(0.5, 0.02), blind: seen(0.0, 5.0)})
    assert found.pairs[odd] > 0.1
    assert max(found.pairs[pair] for pair in pairs) < 0.005
    # Of a pair whose reports say nothing, the overall one is believed.
    assert found.pairs[blind] == pytest.approx(1.5 * found.overall, rel=0.2)


def test_groups_have_mean_zero_and_variance_one() -> None:
    generator = np.random.default_rng(0)
    for margin in ([0.5, 0.5], [0.7, 0.2, 0.1], [0.97, 0.01, 0.01, 0.01], [0.1] * 10):
        groups = groups_of(np.array(margin), generator)
        np.testing.assert_allclose(groups @ margin, 0.0, atol=1e-12)
        np.testing.assert_allclose(groups**2 @ margin, 1.0, atol=1e-9)


@pytest.mark.parametrize("design", ["independent", "pairs", "joint", "clusters", "cover", "cyclic"])
def test_beta_of_a_model_is_how_far_it_is_off(design: str) -> None:
    """A model that is stopped early misses associations; beta tells how much, without the truth."""
    study = {**studies(2.0), **drawn_studies()}[design]
    people = population(study.schema.sizes, seed=4, sharpness=2.0)
    found, truth = [], []
    for seed in range(3):
        counts = MemoryCounts(collect(study, people.table, 30_000, np.random.default_rng(seed)))
        fitted = learn(counts, 3, None, 1)
        found.append(
            mixture_error(
                counts, fitted.mixture, fitted.hyperparameters, fitted.fold_models
            ).overall
        )
        off = []
        generator = np.random.default_rng(9)
        for one, two in combinations(range(3), 2):
            mine = fitted.mixture.table([one, two])
            gap = people.margin([study.names[one], study.names[two]]) - mine
            u, v = (groups_of(mine.sum(axis=1 - k), generator) for k in (0, 1))
            off.append(np.einsum("ka,ab,kb->k", u, gap, v))
        truth.append(float((np.concatenate(off) ** 2).mean()))
    # Within a factor of two of what it is, or above it: it is cautious, and knows noise.
    assert np.mean(found) >= 0.5 * np.mean(truth)
    assert np.sqrt(np.mean(found)) <= 4 * np.sqrt(np.mean(truth)) + 0.05


# -- coverage --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("design", "epsilon", "n"),
    [("independent", 6.0, 4000), ("independent", 16.0, 4000), ("pairs", 4.0, 3000),
     ("cover", 3.0, 3000)],
)  # fmt: skip
@pytest.mark.parametrize("method", ["auto", "latent", "em"])
def test_intervals_of_models_hold_the_truth(
    design: str, epsilon: float, n: int, method: str
) -> None:
    """Cells, and groups of one to four attributes; fixed seeds."""
    people = population((2, 3, 4, 3), seed=11, sharpness=1.5)
    study = Study(people.schema, epsilon, design)
    if method not in castell.methods_for(study):
        assert method == "em"
        return
    names = study.names
    cells, groups, width, other = [], [], [], []
    for seed in range(8):
        reports = collect(study, people.table, n, np.random.default_rng(seed))
        model, unbiased = castell.fit(reports, method), castell.fit(reports, "castell")
        for some in (names[:2], names[1:3], names[:3]):
            truth = people.margin(some)
            low, high = model.estimate(some).conf_int()
            cells += ((low <= truth) & (truth <= high)).ravel().tolist()
            if len(some) == 2 or not study.design.draw:
                least, most = unbiased.estimate(some).conf_int()
                width += (high - low).ravel().tolist()
                other += (most - least).ravel().tolist()
        for k in (1, 2, 3, 4):
            for codes in product((0, 1), repeat=k):
                query = {
                    name: [f"{name}{c}", f"{name}{c + 1}"] if people.schema[name].size > 2
                    else f"{name}{c}"
                    for name, c in zip(names[:k], codes, strict=True)
                }  # fmt: skip
                inside = [
                    [c, c + 1] if people.schema[name].size > 2 else [c]
                    for name, c in zip(names[:k], codes, strict=True)
                ]
                share = float(people.margin(names[:k])[np.ix_(*inside)].sum())
                ends = model.probability(query).conf_int()
                groups.append(ends[0] <= share <= ends[1])
    assert np.mean(cells) >= 0.92
    assert np.mean(groups) >= 0.92
    # Not bought by uselessness: an unbiased interval is at most lengthened to hold the estimate.
    assert np.median(width) <= 1.03 * np.median(other)


# -- what nobody can know --------------------------------------------------------------------------


def test_frechets_bounds() -> None:
    sure = Normal(np.zeros(1))
    low, high = bounds([(np.array([0.7]), sure), (np.array([0.6]), sure)]).ends(0.95)
    assert (low[0], high[0]) == pytest.approx((0.3, 0.6))
    low, high = bounds([(np.array([0.2]), sure)] * 3).ends(0.95)
    assert (low[0], high[0]) == pytest.approx((0.0, 0.2))
    # What the shares leave open is added, at a level parted among them.
    unsure = Normal(np.array([1e-4]))
    low, high = bounds([(np.array([0.7]), unsure), (np.array([0.6]), unsure)]).ends(0.95)
    assert (low[0], high[0]) == pytest.approx((0.3 - 2 * 0.0224, 0.6224), abs=1e-3)


def test_support_counts_who_reported_what() -> None:
    study = Study(PEOPLE.schema, 4.0, [["a", "b"], ["b", "c"]], draw=True)
    counts = MemoryCounts(collect(study, PEOPLE.table, 1000, np.random.default_rng(0)))
    whole, missing = support(counts, ("a", "b")), support(counts, ("c", "a", "b"))
    assert whole.together + support(counts, ("c", "b")).together == 1000
    assert (whole.checked, whole.designed) == (Checked.WHOLE, True)
    assert (missing.checked, missing.designed, missing.together) == (Checked.NOTHING, False, 0)
    assert missing.unknown == ("c", "a")
    assert missing.cliques() == [("a", "b"), ("c",)]
    pairs = Study(PEOPLE.schema, 4.0, "pairs")
    counts = MemoryCounts(collect(pairs, PEOPLE.table, 1000, np.random.default_rng(0)))
    assert support(counts, NAMES).checked is Checked.PAIRS
    everybody = MemoryCounts(collect(studies()["joint"], PEOPLE.table, 9, np.random.default_rng(0)))
    assert support(everybody, NAMES).together == 9
