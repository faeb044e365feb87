"""The parts of LoPub and LoCop, each against something computed another way."""

from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

import castell
from castell import Study
from castell.channels import bloom_filters
from castell.counting import MemoryCounts
from castell.errors import MethodError, OptionError, StudyError
from castell.estimators.lopub import mutual_information
from castell.inference.bloom_filters import Filters, Shares, bits_of
from castell.inference.copula import correlation, cuts, nearest_correlation, tables
from castell.inference.copula import sample as copula_sample
from castell.inference.junction_tree import Clique, cliques, sample
from castell.inference.signed_lasso import candidates, descend
from castell.study.design import Design
from tests.populations import collect, population, schema

# -- rates and likelihoods of Bloom filters ------------------------------------------------------


def _filters(n: int = 400, each: float = 4.0, seed: int = 0) -> tuple[Study, Any, Filters]:
    people = population((2, 3, 4), seed=4)
    study = Study(schema((2, 3, 4)), 3 * each, "bloom")
    reports = collect(study, people.table, n, np.random.default_rng(seed))
    return study, reports, Filters.of(MemoryCounts(reports))


def test_bits_are_unpacked_lowest_first() -> None:
    rows = bits_of(np.array([1, 2**63, 6], dtype=np.uint64))
    assert [np.flatnonzero(row).tolist() for row in rows] == [[0], [63], [1, 2]]


def test_likelihoods_are_products_over_bits() -> None:
    study, reports, filters = _filters(30)
    for k, block in enumerate(study.design.blocks):
        channel: Any = block.channel
        keep, flip = channel.same / channel.total, channel.other / channel.total
        logs = filters.logs[block.names[0]]
        for i, code in enumerate(reports.columns[k][np.lexsort(reports.columns)].tolist()):
            direct = np.array(
                [
                    sum(np.log(keep if (code >> b & 1) == (b in bits) else flip) for b in range(64))
                    for bits in channel.filters
                ]
            )
            np.testing.assert_allclose(logs[i] - logs[i].max(), direct - direct.max(), atol=1e-4)


def test_the_order_of_the_reports_changes_no_bit() -> None:
    """Sums of many small numbers depend on their order; sampled rows would show it."""
    study, reports, filters = _filters(3_000)
    start = np.full((2, 3, 4), 1.0 / 24)
    table = filters.em(study.names, start, 1e-5, 50)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(3_000)
        shuffled = castell.Reports(
            study, [column[order] for column in reports.columns], secure=False
        )
        other = Filters.of(MemoryCounts(shuffled))
        np.testing.assert_array_equal(other.em(study.names, start, 1e-5, 50), table)


def test_rates_are_unbiased() -> None:
    people = population((2, 3, 4), seed=4)
    study, _, filters = _filters(60_000)
    for k, block in enumerate(study.design.blocks):
        channel: Any = block.channel
        margin = people.margin([block.names[0]])
        flip = channel.other / channel.total
        room = 6 * 0.5 / np.sqrt(60_000) / (1 - 2 * flip)
        assert np.abs(filters.rates[block.names[0]] - channel.matrix @ margin).max() < room, k


def test_em_finds_the_most_likely_table() -> None:
    """Against a general solver on the likelihood written out."""
    _, _, filters = _filters(300)
    start = np.full((2, 3), 1 / 6)
    found = filters.em(["a", "b"], start, 0.0, 3000)
    likely = np.exp(filters.logs["a"].astype(float))[:, :, None]
    likely = likely * np.exp(filters.logs["b"].astype(float))[:, None, :]
    likely = likely.reshape(300, 6)

    def loss(free: Any) -> float:
        pi = np.exp(free - free.max())
        return -float(np.log(likely @ (pi / pi.sum())).sum())

    best = optimize.minimize(loss, np.zeros(6), method="BFGS").x
    best = np.exp(best - best.max())
    np.testing.assert_allclose(found.ravel(), best / best.sum(), atol=3e-3)
    some = filters.em_of(["a", "b"], Shares.of(start), 0.0, 3000)
    np.testing.assert_allclose(some.table((2, 3)), found, atol=1e-3)


def test_em_stops_when_nothing_moves() -> None:
    _, _, filters = _filters(300)
    start = np.full((2, 3), 1 / 6)
    once = filters.em(["a", "b"], start, 0.0, 1)
    np.testing.assert_array_equal(filters.em(["a", "b"], start, 1.0, 50), once)
    assert np.abs(filters.em(["a", "b"], start, 0.0, 50) - once).max() > 1e-3


def test_em_of_wide_tables_is_that_of_their_halves() -> None:
    _, _, filters = _filters(200)
    start = np.full((2, 3, 4), 1 / 24)
    wide = filters.em(["a", "b", "c"], start, 0.0, 5)
    few = filters.em_of(["a", "b", "c"], Shares.of(start), 0.0, 5)
    np.testing.assert_allclose(few.table((2, 3, 4)), wide, atol=1e-5)


@pytest.mark.parametrize("penalty", [0.0, 0.2, 1.0])
def test_lasso_finds_the_minimum(penalty: float) -> None:
    """Against a general solver with every column written out."""
    _, _, filters = _filters(500, 3.0)
    names = ["a", "b", "c"]
    found = filters.lasso(names, penalty)
    wanted = np.concatenate([filters.rates[name] for name in names])
    columns = np.array(
        [
            np.concatenate([filters.matrices[n][:, k] for n, k in zip(names, c, strict=True)])
            for c in product(range(2), range(3), range(4))
        ]
    ).T

    def loss(x: Any) -> float:
        return float(((columns @ x - wanted) ** 2).sum() / 2 + penalty * x.sum())

    # A non-negative Lasso is a non-negative least-squares problem with the penalty as a shift.
    gram, right = columns.T @ columns, columns.T @ wanted - penalty
    done = optimize.minimize(
        loss, np.full(24, 1 / 24), jac=lambda x: gram @ x - right, bounds=[(0, None)] * 24,
        method="L-BFGS-B", options={"maxiter": 20_000, "ftol": 1e-15, "gtol": 1e-10},
    )  # fmt: skip
    chosen = np.ravel_multi_index(tuple(found.codes.T), (2, 3, 4))
    part = columns[:, chosen]
    size = np.linalg.lstsq(part.T @ part, part.T @ wanted - penalty, rcond=None)[0]
    assert (size > 0).all()
    x = np.zeros(24)
    x[chosen] = size
    assert loss(x) <= loss(done.x) + 1e-6
    assert found.shares == pytest.approx(size / size.sum(), abs=1e-6)
    # Sparse: no more combinations than there are rates that differ.
    assert len(chosen) <= 2 + 3 + 4 - 2


def test_lasso_of_one_attribute_tells_its_margin() -> None:
    people = population((2, 3, 4), seed=4)
    _, _, filters = _filters(60_000)
    (margin,) = filters.margins(["c"], 0.0)
    np.testing.assert_allclose(margin, people.margin(["c"]), atol=0.03)


def test_a_penalty_that_leaves_nothing_leaves_one_combination() -> None:
    _, _, filters = _filters(50)
    found = filters.lasso(["a", "b"], 1e6)
    assert found.shares.tolist() == [1.0]


# -- LoPub as a whole ----------------------------------------------------------------------------


def test_lopub_sees_an_association_and_lasso_alone_does_not_know_it() -> None:
    table = np.array([[0.4, 0.1], [0.1, 0.4]])
    study = Study(schema((2, 2)), 8.0, "bloom")
    reports = collect(study, table, 40_000, np.random.default_rng(5))
    for joint in ("lasso+em", "em"):
        found = castell.estimate(reports, ["a", "b"], "lopub", joint=joint, rows=200_000)
        np.testing.assert_allclose(found.probabilities, table, atol=0.02)
    # Margins of a half each, and nothing else: Lasso fits them with as few cells as it can.
    alone = castell.estimate(reports, ["a", "b"], "lopub", joint="lasso").probabilities
    np.testing.assert_allclose(alone.sum(axis=0), [0.5, 0.5], atol=0.05)
    assert np.abs(alone - table).max() > 0.05


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"joint": "guess"}, "joint is 'guess'"),
        ({"phi": -1}, "phi is -1"),
        ({"penalty": "much"}, "penalty is 'much'"),
        ({"close": float("nan")}, "close is nan"),
        ({"steps": 0}, "steps is 0"),
        ({"rows": 0}, "rows is 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], said: str) -> None:
    _, reports, _ = _filters(20)
    with pytest.raises(OptionError, match=said):
        castell.fit(reports, "lopub", **options)


def test_lopub_refuses_matrices_beside_filters() -> None:
    own = Study(schema((2, 2)), channels={"a": [[0.8, 0.2], [0.3, 0.7]]}, shares={"b": 4.0})
    filters = Study(schema((2, 2)), 8.0, "bloom")
    mixed = Design((own.design.blocks[0], filters.design.blocks[1]))
    study = Study(schema((2, 2)), design=mixed)
    reports = study.randomize({"a": ["a0"] * 9, "b": ["b1"] * 9})
    with pytest.raises(MethodError, match="no method reads that"):
        castell.fit(reports, "lopub")
    with pytest.raises(StudyError, match="the reports of 'a' are no Bloom filters"):
        Filters.of(MemoryCounts(reports))


def test_lopub_reads_files(tmp_path: Any) -> None:
    study, reports, _ = _filters(500)
    reports.save(tmp_path / "reports.parquet")
    scan = castell.scan_reports(tmp_path / "reports.parquet", study)
    one, two = (castell.fit(r, "lopub").estimate(["a", "c"]) for r in (reports, scan))
    np.testing.assert_array_equal(one.probabilities, two.probabilities)


def test_hash_functions_are_the_same_for_everyone() -> None:
    one, two = (Study(schema((2, 3)), e, "bloom").design.blocks[1].channel for e in (1.0, 5.0))
    assert one.document()["filters"] == two.document()["filters"]
    assert one.document()["filters"] == [list(b) for b in bloom_filters("b", ["b0", "b1", "b2"])]


def test_mutual_information() -> None:
    generator = np.random.default_rng(0)
    table = generator.dirichlet(np.ones(12)).reshape(3, 4)
    entropies = [stats.entropy(table.sum(axis=k)) for k in (0, 1)]
    assert mutual_information(table) == pytest.approx(sum(entropies) - stats.entropy(table.ravel()))
    assert mutual_information(np.outer([0.2, 0.8], [0.5, 0.5])) == pytest.approx(0.0, abs=1e-12)


# -- junction trees ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_cliques_hold_every_edge_and_intersect_on_the_run(seed: int) -> None:
    generator = np.random.default_rng(seed)
    names = "abcdefg"[: generator.integers(1, 8)]
    edges = [pair for pair in combinations(names, 2) if generator.random() < 0.35]
    found = cliques(names, edges)
    assert {name for clique in found for name in clique.names} == set(names)
    for edge in edges:
        assert any(set(edge) <= set(clique.names) for clique in found)
    for one, two in combinations(found, 2):
        assert not set(one.names) <= set(two.names)
        assert not set(two.names) <= set(one.names)
    seen: set[str] = set()
    for k, clique in enumerate(found):
        assert set(clique.known) == seen & set(clique.names)
        # What is known of a clique lies in one clique before it.
        assert not clique.known or any(set(clique.known) <= set(c.names) for c in found[:k])
        seen |= set(clique.names)


def test_rows_follow_the_cliques_tables() -> None:
    generator = np.random.default_rng(1)
    first = generator.dirichlet(np.ones(6)).reshape(2, 3)
    given = generator.dirichlet(np.ones(4), 3)  # of c given b
    second = first.sum(axis=0)[:, None] * given
    order = [Clique(("a", "b"), ()), Clique(("b", "c"), ("b",))]
    rows = sample(order, [Shares.of(first), Shares.of(second)], 400_000, generator)
    keys = np.ravel_multi_index((rows["a"], rows["b"], rows["c"]), (2, 3, 4))
    table = np.bincount(keys, minlength=24).reshape(2, 3, 4) / 400_000
    expected = first[:, :, None] * given
    assert np.abs(table - expected).max() < 6 * 0.5 / np.sqrt(400_000)


def test_values_a_clique_does_not_know_are_drawn_as_if_nothing_were_known() -> None:
    order = [Clique(("a",), ()), Clique(("a", "b"), ("a",))]
    one = Shares(np.array([[0], [1]]), np.array([0.5, 0.5]))
    two = Shares(np.array([[0, 1], [0, 2]]), np.array([0.3, 0.7]))
    rows = sample(order, [one, two], 20_000, np.random.default_rng(0))
    for value in (0, 1):
        share = (rows["b"][rows["a"] == value] == 2).mean()
        assert share == pytest.approx(0.7, abs=0.03)


# -- the copula ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_copula_tables_are_rectangles_of_the_normal(seed: int) -> None:
    generator = np.random.default_rng(seed)
    one, two = generator.dirichlet(np.ones(3)), generator.dirichlet(np.ones(4))
    found = tables(one, two)
    assert found.shape[1:] == (3, 4)
    np.testing.assert_allclose(found[len(found) // 2], np.outer(one, two), atol=1e-12)
    for k in (3, 20, 44):
        rho = np.linspace(-0.97, 0.97, 49)[k]
        normal = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]])
        ends_a, ends_b = ([-9.0, *cuts(m), 9.0] for m in (one, two))
        direct = np.array(
            [
                [
                    normal.cdf([b1, b2]) - normal.cdf([a1, b2]) - normal.cdf([b1, a2])
                    + normal.cdf([a1, a2])
                    for a2, b2 in pairwise(ends_b)
                ]
                for a1, b1 in pairwise(ends_a)
            ]
        )  # fmt: skip
        np.testing.assert_allclose(found[k], direct, atol=2e-4)


@pytest.mark.parametrize("rho", [-0.9, -0.3, 0.0, 0.5, 0.85])
def test_correlations_are_found_again(rho: float) -> None:
    one, two = np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.1, 0.2, 0.1])
    matrix = np.array([[1, rho], [rho, 1]])
    rows = copula_sample([one, two], matrix, 400_000, np.random.default_rng(2))
    keys = np.ravel_multi_index(tuple(rows), (3, 4))
    table = np.bincount(keys, minlength=12).reshape(3, 4) / 400_000
    assert np.abs(table.sum(axis=1) - one).max() < 6 * 0.5 / np.sqrt(400_000)
    assert correlation(table, one, two) == pytest.approx(rho, abs=0.015)


def test_a_value_nobody_has_does_no_harm() -> None:
    one, two = np.array([0.5, 0.0, 0.5]), np.array([1.0, 0.0])
    assert np.isfinite(correlation(np.outer(one, two), one, two))


def test_a_matrix_that_is_none_of_correlations_is_repaired() -> None:
    broken = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    assert np.linalg.eigvalsh(broken).min() < 0
    whole = nearest_correlation(broken)
    np.testing.assert_allclose(np.diag(whole), 1.0)
    assert np.linalg.eigvalsh(whole).min() > 0
    good = np.array([[1.0, 0.3], [0.3, 1.0]])
    np.testing.assert_allclose(nearest_correlation(good), good, atol=1e-12)


@pytest.mark.parametrize("design", ["independent", "joint", [["c", "a"], ["b"]]])
def test_locop_works_on_any_design_and_sees_association(design: Any) -> None:
    asked = schema((2, 3, 4))
    matrix = np.array([[1.0, 0.6, 0.4], [0.6, 1.0, -0.5], [0.4, -0.5, 1.0]])
    margins = [np.array([0.4, 0.6]), np.array([0.3, 0.4, 0.3]), np.array([0.4, 0.3, 0.2, 0.1])]
    generator = np.random.default_rng(0)
    codes = copula_sample(margins, nearest_correlation(matrix), 60_000, generator)
    answers = {
        a.name: np.array(a.values, dtype=object)[c] for a, c in zip(asked, codes, strict=True)
    }
    keys = np.ravel_multi_index(tuple(codes), (2, 3, 4))
    truth = np.bincount(keys, minlength=24).reshape(2, 3, 4) / 60_000
    reports = Study(asked, 12.0, design).randomize(answers, seed=1)
    found = castell.estimate(reports, ["a", "b", "c"], "locop").probabilities
    assert np.abs(found - truth).max() < 0.02
    product_of_margins = np.einsum("i,j,k->ijk", *margins)
    assert np.abs(product_of_margins - truth).max() > 0.05


# -- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "design"), [("lopub", "bloom"), ("locop", "independent")])
def test_standard_errors_are_about_how_estimates_scatter(method: str, design: str) -> None:
    """The spread over forty collections next to what one of them says of itself."""
    margins = np.array([[0.12, 0.28], [0.18, 0.42]])  # independent: neither method has a bias
    study = Study(schema((2, 2)), 8.0, design)
    found = []
    for k in range(40):
        reports = collect(study, margins, 2000, np.random.default_rng(k))
        found.append(castell.estimate(reports, ["a", "b"], method))
    scatter = np.std([joint.probabilities for joint in found], axis=0)
    said = np.mean([joint.standard_errors for joint in found[:3]], axis=0)
    assert (said > scatter / 2).all()
    assert (said < scatter * 2).all()


# -- LoPub as published --------------------------------------------------------------------------


def test_coordinate_descent_solves_the_lasso() -> None:
    """Every optimality condition of the signed Lasso with an intercept, on a full-rank problem."""
    generator = np.random.default_rng(5)
    columns, wanted = generator.random((40, 6)), 100.0 * generator.normal(size=40)
    penalty = 1.5
    found = descend(columns, wanted, penalty, sweeps=5000)
    assert (found < 0).any()
    centred = columns - columns.mean(axis=0)
    slope = centred.T @ (wanted - wanted.mean() - centred @ found) / len(wanted)
    np.testing.assert_allclose(slope[found > 0], penalty, rtol=1e-2)
    np.testing.assert_allclose(slope[found < 0], -penalty, rtol=1e-2)
    assert (np.abs(slope[found == 0]) <= penalty * 1.01).all()
    assert (descend(columns, wanted, 1e6) == 0).all()


def test_published_candidates_of_one_attribute_are_its_margin() -> None:
    people = population((2, 3, 4), seed=4)
    _, _, filters = _filters(60_000)
    for name in ("a", "b", "c"):
        found = candidates(filters, [name])
        table = found.table([filters.matrices[name].shape[1]])
        assert table.sum() == pytest.approx(1.0)
        assert np.abs(table - people.margin([name])).max() < 0.08


def test_lopub_as_published_is_a_variant() -> None:
    _, reports, _ = _filters(3000)
    found = castell.fit(reports, "lopub", variant="published").estimate(["a", "b"]).probabilities
    ours = castell.fit(reports, "lopub").estimate(["a", "b"]).probabilities
    assert found.sum() == pytest.approx(1.0)
    assert np.abs(found - ours).max() > 1e-3
    with pytest.raises(OptionError, match="use one of ours, published"):
        castell.fit(reports, "lopub", variant="mine")
    with pytest.raises(OptionError, match="leave them out"):
        castell.fit(reports, "lopub", variant="published", close=0.1)
    with pytest.raises(OptionError, match="phi is -1"):
        castell.fit(reports, "lopub", variant="published", phi=-1)
