"""The error of a model's answers: Hoeffding's decomposition, beta^2, and what is left open."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import pytest

import castell
from benchmarks.along_associations import collect_row
from castell import Study
from castell.counting import MemoryCounts
from castell.inference.association_error import AssociationError, Rates
from castell.inference.intervals import Normal
from castell.inference.margin_bounds import bounds
from castell.inference.margins import Codes, Margins
from castell.inference.model_error import DirectEstimate, ModelError, UnbiasedPairs
from castell.inference.queries import Query
from castell.inference.support import Checked, support
from castell.linear.operators import Floats
from castell.linear.table import Table
from tests.populations import collect, drawn_studies, population, studies

PEOPLE = population((2, 3, 4), seed=4, sharpness=2.0)
NAMES = ("a", "b", "c")
PAIRS = {
    frozenset("ab"): Rates(0.04, 0.25),
    frozenset("ac"): Rates(0.09, 0.04),
    frozenset("bc"): Rates(0.0, 1.5),
}
ERROR = AssociationError(Rates(0.01, 0.5), PAIRS)


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


def _oracle(
    f: Floats,
    table: Floats,
    margins: Margins,
    shown: Floats | None = None,
    noise_of_pairs: float = 0.0,
) -> float:
    """V(f) from the definition: components of f, the unbiased errors of its main effects, and its
    associations, in the model's table or in one that reports have `shown`, of each pair with an
    error of its own."""
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
    rates = {(i, k): ERROR.of(NAMES[i], NAMES[k]) for i, k in combinations(range(3), 2)}
    pairs = {p: _variance(parts[p], own) for p in rates}
    missed = sum(rates[p].absolute * norm for p, norm in pairs.items())
    rest = max(plain, model) - main - sum(pairs.values())

    def association(of: Floats) -> float:
        means = {p: float((parts[p] * of).sum()) for p in rates}
        return float(sum(np.sqrt(rates[p].relative) * mean for p, mean in means.items()) ** 2)

    relative = association(table)
    if shown is not None:
        relative = max(relative, association(shown) + noise_of_pairs)
    return noise + missed + ERROR.overall.absolute * rest + relative


@pytest.mark.parametrize("design", [*studies(), *drawn_studies()])
def test_the_error_of_cells_and_groups_is_that_of_the_definition(design: str) -> None:
    study = {**studies(), **drawn_studies()}[design]
    if study.schema.sizes != (2, 3, 4):
        return  # a study of its own attributes; its channels are in the others
    margins = _margins(design)
    error, table = ModelError(margins, ERROR), PEOPLE.table
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


@pytest.mark.parametrize("further", [0.0, 0.3])
def test_what_reports_show_of_a_question_counts_as_its_association(further: float) -> None:
    """A model with little association, and reports that show more, or leave it open."""
    margins = _margins("independent")
    error, shown = ModelError(margins, ERROR), PEOPLE.table
    own = [PEOPLE.margin([name]) for name in NAMES]
    table = (1.0 - further) * np.einsum("a,b,c->abc", *own) + further * shown
    share, unbiased = _share(table), _share(shown)
    direct = UnbiasedPairs(
        lambda pair, _: DirectEstimate(PEOPLE.margin(pair), np.full((), 1e-3)),
        lambda queries, _: DirectEstimate(np.array([unbiased(queries[0])]), np.full((1, 1), 1e-3)),
    )

    def noise(inside: tuple[Codes, ...]) -> float:
        """The variance of each pair, times the square of what the third attribute leaves."""
        left = [float(margin[codes].sum()) for margin, codes in zip(own, inside, strict=True)]
        pairs = combinations(range(3), 2)
        return 1e-3 * sum(
            ERROR.of(NAMES[i], NAMES[k]).relative * left[3 - i - k] ** 2 for i, k in pairs
        )

    found = error.table(NAMES, table, direct)
    cell = (np.array([1]), np.array([2]), np.array([3]))
    for inside in (cell, (np.array([1]), np.array([0, 2]), np.array([1, 2, 3]))):
        f = np.zeros(table.shape)
        f[np.ix_(*inside)] = 1.0
        wanted = _oracle(f, table, margins, shown, noise(inside))
        query: Query = dict(zip(NAMES, inside, strict=True))
        spread, covariances = error.shares([query], share, direct)
        assert spread.variance[0] == pytest.approx(wanted, rel=1e-6)
        assert max(float(c[0, 0]) for c in covariances) == pytest.approx(wanted, rel=1e-6)
        if inside is cell:
            assert found.variance[1, 2, 3] == pytest.approx(wanted, rel=1e-6)


def test_a_model_that_reports_contradict_errs_by_as_much() -> None:
    """An unbiased share far from the model's, of an association that is said to be well known."""
    margins = _margins("independent", 100_000)
    sure = ModelError(margins, AssociationError(Rates(1e-9, 1e-9), {}))
    table = np.outer([0.5, 0.5], [0.2, 0.3, 0.5])
    direct = DirectEstimate(table + 0.1 * np.outer([1, -1], [1, 0, -1]), np.full(table.shape, 1e-6))
    off = 0.1**2 - 1e-6
    agreed = sure.table(["a", "b"], table, whole=DirectEstimate(table, direct.variance))
    found = sure.table(["a", "b"], table, whole=direct)
    grown = (found.variance - agreed.variance)[:, [0, 2]]
    np.testing.assert_allclose(grown, off, rtol=1e-3)
    np.testing.assert_allclose(found.variance[:, 1], agreed.variance[:, 1], rtol=1e-6)
    queries: list[Query] = [{"a": np.array([0]), "b": np.array([k])} for k in (0, 1)]
    share = Table(("a", "b"), table).share
    whole = DirectEstimate(direct.values[0, :2], 1e-6 * np.eye(2))
    spread, covariances = sure.shares(queries, share, whole=whole)
    np.testing.assert_allclose(spread.variance, found.variance[0, :2], rtol=1e-3)
    difference = max(float(np.array([1, -1]) @ c @ np.array([1, -1])) for c in covariances)
    assert difference == pytest.approx(off, rel=0.05)


def _share(table: Floats) -> Callable[[Query], float]:
    return Table(tuple(NAMES), table).share


def test_the_covariance_is_that_of_any_combination() -> None:
    """Shares of different attributes, combined: the definition, once more."""
    margins = _margins("independent")
    error, table = ModelError(margins, ERROR), PEOPLE.table
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
    error = ModelError(margins, ERROR)
    table = PEOPLE.margin(["b"])
    alone = castell.fit(margins.counts, "castell").estimate("b")
    np.testing.assert_allclose(error.table(["b"], table).errors, alone.standard_errors, rtol=1e-9)


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


@pytest.mark.parametrize(
    ("design", "epsilon", "n"), [("cover", 4.0, 960), ("independent", 7.0, 3000)]
)
def test_intervals_hold_the_truth_of_questions_along_strong_associations(
    design: str, epsilon: float, n: int
) -> None:
    """Fair's survey: young people who married a few years ago, and the like.

    Groups of values at random do not show how much of a strong association a model leaves out.
    """
    row = ("fair", design, epsilon, n, 5)
    hits = [answer[0] for seed in range(row[-1]) for answer in collect_row((row, seed))["auto"]]
    assert np.mean(hits) >= 0.88


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
