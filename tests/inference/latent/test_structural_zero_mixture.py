"""Mixtures on what is possible: against the table of everything, and what rules do to a fit."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

import castell
from castell import Attribute, Schema, Study
from castell.counting import MemoryCounts
from castell.inference.chisquare import tail
from castell.inference.latent import structural_zero_mixture
from castell.inference.latent.em import e_step
from castell.inference.latent.mixture import Mixture
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.structural_zero_likelihood import (
    PossibleTable,
    possible_tables,
    worth_without_noise,
)
from castell.inference.latent.structural_zero_mixture import RestrictedMixture, restrict
from castell.inference.raking import rake
from castell.linear.operators import Floats
from tests.populations import collect

SIZES = (3, 4, 2, 3, 2)
NAMES = "abcde"
RULES: list[dict[str, object]] = [
    {"a": "0", "b": ["0", "1"]},
    {"b": "!3", "c": "1", "d": "0"},
    {"d": "1", "e": "0"},
]


def schema(rules: list[dict[str, object]] = RULES) -> Schema:
    return Schema([Attribute(n, range(s)) for n, s in zip(NAMES, SIZES, strict=True)], rules)


def mask() -> Floats:
    found = np.ones(SIZES)
    found[0, :2] = 0.0
    found[:, :3, 1, 0] = 0.0
    found[:, :, :, 1, 0] = 0.0
    return found


def mixture(classes: int, seed: int) -> Mixture:
    generator = np.random.default_rng(seed)
    parts = [generator.dirichlet(np.ones(size), classes) for size in SIZES]
    return Mixture(generator.dirichlet(np.ones(classes)), np.concatenate(parts, axis=1), SIZES)


def plain(model: Mixture) -> RestrictedMixture:
    return RestrictedMixture(model, tuple(NAMES), schema().impossible)


# -- what it says ----------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [1 << 22, 30])
@pytest.mark.parametrize("classes", [1, 2, 7])
def test_tables_are_the_mixture_on_what_is_possible(
    classes: int, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is asked for, and however few classes are looked at at once."""
    few = replace(SETTINGS, most_numbers=room)
    monkeypatch.setattr(structural_zero_mixture, "SETTINGS", few)
    model = plain(mixture(classes, seed=classes))
    whole = model.mixture.table(range(5)) * mask()
    whole /= whole.sum()
    for width in range(1, 6):
        for some in combinations((3, 0, 4, 1, 2), width):
            gone = tuple(k for k in range(5) if k not in some)
            wanted = whole.sum(axis=gone).transpose([sorted(some).index(k) for k in some])
            found = model.table(some)
            np.testing.assert_allclose(found, wanted, atol=1e-12)
            assert (found[wanted == 0.0] == 0.0).all()


@pytest.mark.parametrize("seed", range(5))
def test_shares_are_sums_of_the_table(seed: int) -> None:
    model = plain(mixture(4, seed))
    whole = model.table(range(5))
    generator = np.random.default_rng(seed)
    for _ in range(20):
        asked = {
            int(k): np.sort(generator.choice(SIZES[k], generator.integers(1, SIZES[k] + 1), False))
            for k in generator.choice(5, generator.integers(1, 6), replace=False)
        }
        inside = np.ix_(*(asked.get(k, np.arange(size)) for k, size in enumerate(SIZES)))
        assert model.share(asked) == pytest.approx(whole[inside].sum(), abs=1e-12)


def test_nobody_impossible_is_drawn_and_all_others_as_often_as_told() -> None:
    model = plain(mixture(3, seed=2))
    people = 100_000
    columns = model.sample(people, np.random.default_rng(1))
    drawn = np.zeros(SIZES)
    np.add.at(drawn, tuple(columns), 1)
    assert drawn[mask() == 0.0].sum() == 0
    expected = people * model.table(range(5))
    common = expected > 5
    statistic = float(((drawn - expected)[common] ** 2 / expected[common]).sum())
    assert tail(statistic, int(common.sum())) > 1e-6


def test_a_code_without_a_chance_is_never_drawn() -> None:
    class Last:
        def random(self, many: int) -> Floats:
            return np.full(many, np.nextafter(1.0, 0.0))

    rows = np.array([[0.3, 0.7, 0.0], [0.1, 0.2, 0.0], [0.0, 5e-324, 0.0]])
    assert structural_zero_mixture._sample_codes(rows, Last()).tolist() == [1, 1, 1]  # type: ignore[arg-type]


def test_without_rules_it_is_the_mixture_itself() -> None:
    model = mixture(3, seed=0)
    assert restrict(model, schema([])) is model


# -- margins ---------------------------------------------------------------------------------------


def test_margins_are_kept_where_the_rules_let_them() -> None:
    model = mixture(5, seed=3)
    some = schema([{"a": "0", "b": ["0", "1"]}])
    found = restrict(model, some)
    cut = RestrictedMixture(model, tuple(NAMES), some.impossible)
    moved = [
        [float(np.abs(m.table([a]) - model.table([a])).max()) for a in range(5)]
        for m in (found, cut)
    ]
    assert max(moved[1]) > 0.02
    assert max(moved[0]) < 0.2 * max(moved[1])


def test_margins_that_contradict_the_rules_are_met_half_way() -> None:
    """More husbands than men: nobody can be made of that, and nothing breaks down."""
    asked = [Attribute("role", ["husband", "other"]), Attribute("sex", ["female", "male"])]
    few = Schema(asked, [{"role": "husband", "sex": "female"}])
    model = Mixture(np.ones(1), np.array([[0.5, 0.5, 0.6, 0.4]]), (2, 2))
    table = restrict(model, few).table([0, 1])
    assert table[0, 0] == 0.0
    assert table.sum() == pytest.approx(1.0)
    assert 0.38 < table[0].sum() < 0.5
    assert 0.4 < table[:, 1].sum() < 0.52
    raked = rake(np.array([[0.0, 0.2], [0.3, 0.2]]), [np.array([0.5, 0.5]), np.array([0.6, 0.4])])
    assert raked[0, 0] == 0.0
    assert 0.4 < raked[0].sum() < 0.5
    assert 0.4 < raked[:, 1].sum() < 0.5


def test_one_class_is_quasi_independence() -> None:
    """The odds ratio is 1 among cells that are possible."""
    asked = [Attribute("x", range(3)), Attribute("y", range(3))]
    zeros = Schema(asked, [{"x": 0, "y": 0}])
    model = Mixture(np.ones(1), np.array([[0.2, 0.3, 0.5, 0.3, 0.3, 0.4]]), (3, 3))
    table = restrict(model, zeros).table([0, 1])
    assert table[0, 0] == 0.0
    for one, two in product(range(3), repeat=2):
        if table[one, two] and table[2, 2] and (one, two) != (2, 2):
            odds = table[one, two] * table[2, 2] / (table[one, 2] * table[2, two])
            assert odds == pytest.approx(1.0)
    first, second = np.array([0.2, 0.3, 0.5]), np.array([0.3, 0.3, 0.4])
    raked = rake(np.where(np.eye(3) * [1, 0, 0] > 0, 0.0, np.outer(first, second)), [first, second])
    np.testing.assert_allclose(raked.sum(axis=1), first, atol=2e-3)
    np.testing.assert_allclose(raked.sum(axis=0), second, atol=2e-3)


def test_twenty_questions_that_depend_on_one() -> None:
    rest = [Attribute(f"q{i}", ["not asked", "a", "b"]) for i in range(20)]
    rules: list[dict[str, object]] = [{"first": "no", a.name: "!not asked"} for a in rest]
    asked = Schema([Attribute("first", ["no", "yes"]), *rest], rules)
    sizes = asked.sizes
    generator = np.random.default_rng(0)
    parts = [generator.dirichlet(np.ones(size), 4) for size in sizes]
    model = RestrictedMixture(
        Mixture(np.full(4, 0.25), np.concatenate(parts, axis=1), sizes),
        asked.names,
        asked.impossible,
    )
    columns = model.sample(2000, generator)
    no = columns[0] == 0
    assert all((column[no] == 0).all() for column in columns[1:])
    assert model.table([0, 5, 9])[0, 1:].sum() == 0.0
    assert model.share({0: np.array([0]), 7: np.array([1])}) == 0.0


# -- the fit ---------------------------------------------------------------------------------------


def test_a_rule_is_a_report_without_noise() -> None:
    """Bayes' rule, cell by cell."""
    model = mixture(3, seed=1)
    possible = (np.arange(12).reshape(3, 4) % 5 > 0).astype(float)
    known = PossibleTable((0, 1), possible.ravel(), np.array([100.0]))
    found = e_step(model, [known])
    chance, classes, values = 0.0, np.zeros(3), np.zeros((3, sum(SIZES)))
    for c, one, two in product(range(3), range(3), range(4)):
        each = model.weights[c] * model.parts[0][c, one] * model.parts[1][c, two]
        each *= possible[one, two]
        chance += each
        classes[c] += each
        values[c, one] += each
        values[c, 3 + two] += each
    np.testing.assert_allclose(found.classes, 100 * classes / chance)
    np.testing.assert_allclose(found.values, 100 * values / chance)
    assert found.log_likelihood == pytest.approx(100 * np.log(chance))
    assert known.report_probabilities(model)[0] == pytest.approx(chance)
    other = mixture(3, seed=1)
    other.profiles[:, :3] = other.profiles[:, [1, 2, 0]]
    ends = [known.report_probabilities(m)[0] for m in (model, other)]
    between = known.log_likelihood_between(0, model, other, np.array([0.0, 0.25, 1.0]))
    np.testing.assert_allclose(
        between, 100 * np.log([ends[0], 0.75 * ends[0] + 0.25 * ends[1], ends[1]])
    )
    assert not known.log_likelihood_between(4, model, other, np.array([0.0, 1.0])).any()
    assert known.with_counts(np.array([7.0])).counts[0] == 7.0


def test_a_rule_counts_for_what_the_reports_are_worth() -> None:
    table = np.full(SIZES, 1.0 / np.prod(SIZES))
    worth = {}
    for epsilon in (2.0, 40.0):
        study = Study(schema(), epsilon)
        counts = MemoryCounts(collect(study, table, 1000, np.random.default_rng(0)))
        worth[epsilon] = worth_without_noise(counts, "b")
        known = possible_tables(counts)
        assert [each.attributes for each in known] == [(0, 1), (1, 2, 3), (3, 4)]  # type: ignore[attr-defined]
        assert all(each.counts[0] <= 1000 for each in known)
        assert possible_tables(counts, 0.1)[0].counts[0] == pytest.approx(known[0].counts[0] / 10)
        assert possible_tables(counts, 0.0) == []
    assert worth[2.0] < 100
    assert 900 < worth[40.0] <= 1000


@pytest.mark.parametrize("design", ["cover", "independent"])
def test_rules_make_a_fit_better(design: str) -> None:
    """Over five collections of a population in which they hold, in all pairs together."""
    generator = np.random.default_rng(8)
    table = mixture(3, seed=8).table(range(5)) * mask()
    table /= table.sum()
    errors = {True: 0.0, False: 0.0}
    for _ in range(5):
        with_rules = Study(schema(), 4.0, design)
        without = Study(schema([]), 4.0, design)
        reports = collect(without, table, 4000, generator)
        for ruled, study in ((True, with_rules), (False, without)):
            same = castell.Reports(study, reports.columns, secure=False)
            model = castell.fit(same, "latent", starts=3)
            for pair in combinations(range(5), 2):
                gone = tuple(k for k in range(5) if k not in pair)
                found = model.estimate([NAMES[k] for k in pair]).probabilities
                errors[ruled] += float(np.abs(found - table.sum(axis=gone)).sum())
    assert errors[True] < errors[False]
