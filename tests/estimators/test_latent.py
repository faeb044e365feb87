"""The estimator `latent`: close where it should be, on every design, and of any width."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import castell
from castell import Attribute, Reports, Schema, Study
from castell.errors import OptionError, QueryError, ReportError
from castell.linear.operators import Floats
from tests.populations import collect, population, product, schema

PEOPLE = population((3, 4, 2, 3), seed=2, sharpness=2.0)
NAMES = ("a", "b", "d")


def _distance(one: Floats, two: Floats) -> float:
    return 0.5 * float(np.abs(one - two).sum())


@cache
def _reports(design: str, epsilon: float, n: int = 20_000, seed: int = 0) -> Reports:
    study = Study(PEOPLE.schema, epsilon, design)
    return collect(study, PEOPLE.table, n, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("design", "epsilon"),
    [("independent", 12.0), ("joint", 6.0), ("pairs", 4.0), ("cover", 4.0)],
)
def test_close_to_the_truth_where_people_fall_into_classes(design: str, epsilon: float) -> None:
    reports, truth = _reports(design, epsilon), PEOPLE.margin(NAMES)
    joint = castell.estimate(reports, NAMES, "latent")
    # How far it is if every association is left out: from the truth itself, so noise is no excuse.
    margins = [PEOPLE.margin([name]) for name in NAMES]
    apart = _distance(np.einsum("a,b,d->abd", *margins), truth)
    assert apart > 0.1
    assert _distance(joint.probabilities, truth) < 0.5 * apart
    assert joint.probabilities.min() >= 0.0
    assert joint.probabilities.sum() == pytest.approx(1.0)


def test_single_attributes_say_nothing_of_two() -> None:
    joint = castell.estimate(_reports("singles", 3.0), NAMES, "latent")
    for name in NAMES:
        margin = joint.project(name).probabilities
        np.testing.assert_allclose(margin, PEOPLE.margin([name]), atol=0.03)
    apart = np.einsum("a,b,d->abd", *(joint.project(name).probabilities for name in NAMES))
    assert _distance(joint.probabilities, apart) < 0.02


@pytest.mark.parametrize("design", ["independent", "pairs"])
def test_nothing_is_seen_where_nothing_is(design: str) -> None:
    people = product({"a": [0.3, 0.7], "b": [0.5, 0.2, 0.3], "c": [0.4, 0.3, 0.2, 0.1]})
    study = Study(people.schema, 4.0, design)
    squares, apart = [], []
    for seed in range(4):
        reports = collect(study, people.table, 20_000, np.random.default_rng(seed))
        joint = castell.estimate(reports, ["a", "b", "c"], "latent")
        plain = castell.estimate(reports, ["a", "b", "c"], "independent")
        squares.append(float(((joint.probabilities - people.table) ** 2).sum()))
        apart.append(float(((plain.probabilities - people.table) ** 2).sum()))
    assert np.mean(squares) < 3.0 * np.mean(apart)


def test_who_reported_only_some_attributes_counts_for_those() -> None:
    study = Study(schema((2, 4, 3)), 3.0, [["a", "b"], ["b", "c"]], draw=True)
    people = population((2, 4, 3), seed=1)
    every = collect(study, people.table, 60_000, np.random.default_rng(0)).columns[0]
    start = study.design.starts[1]
    first, second = every[every < start], every[every >= start]
    # Few of the first block: the margin they share comes from the second.
    few = Reports(study, [np.concatenate([first[::1000], second])], secure=True)
    margin = castell.estimate(few, ["a", "b"], "latent").project("b").probabilities
    np.testing.assert_allclose(margin, people.margin(["b"]), atol=0.02)
    alone = Reports(study, [first[::1000]], secure=True)
    lonely = castell.estimate(alone, ["a", "b"], "latent").project("b").probabilities
    near, far = (_distance(m, people.margin(["b"])) for m in (margin, lonely))
    assert near < 0.5 * far
    # Of what nobody reported nothing is known, and that is said, not guessed.
    with pytest.raises(ReportError, match="nobody reported c yet"):
        castell.estimate(alone, "c", "latent")


# -- any width -------------------------------------------------------------------------------------


@cache
def _wide() -> Reports:
    """Two kinds of people and forty yes-or-no questions that they answer differently."""
    generator, n = np.random.default_rng(0), 2000
    kind = generator.random(n) < 0.5
    names = [f"q{i}" for i in range(40)]
    answers = {
        name: np.where((generator.random(n) < 0.9) == kind, "yes", "no").tolist() for name in names
    }
    study = Study(Schema([Attribute(name, ["no", "yes"]) for name in names]), 160.0)
    return study.randomize(answers, seed=1)


def test_forty_attributes_without_a_table() -> None:
    model = castell.fit(_wide(), "latent")
    ten = {f"q{i}": "yes" for i in range(10)}
    found = model.probability(ten)
    # Half of the people, each answer with 0.9: as a product of margins it would be 0.001. Pairs
    # do not say more than that there is an association, so closer than a factor it is not.
    assert 0.5 < found.value / (0.5 * 0.9**10) < 2.0
    assert 0.0 < found.standard_error < 0.1
    forty = {f"q{i}": "yes" for i in range(40)}
    assert 1e-6 < model.probability(forty).value < 0.2
    either = model.probability({f"q{i}": ["yes", "no"] for i in range(40)})
    assert either.value == pytest.approx(1.0)
    with pytest.raises(QueryError):
        model.estimate(list(forty))


def test_a_cell_is_the_tables_and_so_is_its_error() -> None:
    model = castell.fit(_reports("pairs", 4.0, 2000), "latent", classes=4, steps=10, starts=2)
    joint = model.estimate(["b", "a"])
    one = model.probability(a="a2", b="b1")
    assert one.value == pytest.approx(joint.probabilities[1, 2])
    assert one.standard_error == pytest.approx(joint.standard_errors[1, 2])
    two = model.probability(a="a2", b=["b1", "b3"])
    assert two.value == pytest.approx(joint.probabilities[[1, 3], 2].sum())


# -- how it is made --------------------------------------------------------------------------------


@pytest.mark.parametrize("design", ["independent", "pairs"])
def test_two_fits_are_one(design: str) -> None:
    reports = _reports(design, 6.0, 1000)
    one, two = (castell.estimate(reports, NAMES, "latent", starts=2) for _ in range(2))
    np.testing.assert_array_equal(one.probabilities, two.probabilities)
    np.testing.assert_array_equal(one.standard_errors, two.standard_errors)
    assert one.notes == two.notes


def test_tables_agree_on_what_they_share() -> None:
    model = castell.fit(_reports("independent", 12.0, 1000), "latent", starts=2)
    wide = model.estimate(["d", "c", "b", "a"])
    for names in (["a", "b"], ["b", "d"], ["c"], ["a", "d", "c"]):
        part = model.estimate(names)
        np.testing.assert_allclose(
            part.probabilities, wide.project(names).probabilities, atol=1e-14
        )
        np.testing.assert_allclose(
            part.standard_errors, wide.project(names).standard_errors, rtol=1e-9
        )


def test_what_was_left_open_is_chosen_and_said() -> None:
    reports = _reports("independent", 12.0)
    said = castell.estimate(reports, NAMES, "latent", classes=5, steps=7, starts=3).notes
    assert "3 mixtures of 5 latent classes, 7 EM steps each" in said[0]
    said = castell.estimate(reports, NAMES, "latent", classes=5).notes
    assert "12 mixtures of 5 latent classes" in said[0]
    said = castell.estimate(reports, NAMES, "latent", steps=9).notes
    assert "9 EM steps each" in said[0]
    assert "by cross-validation" in said[0]


@pytest.mark.parametrize("value", [0, -1, 1.5, "3", True])
@pytest.mark.parametrize("option", ["classes", "steps", "starts"])
def test_options_are_whole_numbers_from_1_up(option: str, value: object) -> None:
    with pytest.raises(OptionError, match=f"{option} is"):
        castell.fit(_reports("pairs", 4.0, 2000), "latent", **{option: value})


def test_no_reports() -> None:
    study = Study(PEOPLE.schema, 4.0, "pairs")
    nothing = Reports(study, [np.empty(0, dtype=np.uint16)], secure=True)
    with pytest.raises(ReportError, match="there are no reports"):
        castell.fit(nothing, "latent")


# -- how far it may be off -------------------------------------------------------------------------


@pytest.mark.parametrize(("design", "epsilon"), [("independent", 9.0), ("pairs", 3.0)])
def test_errors_are_of_the_right_order(design: str, epsilon: float) -> None:
    squares, claimed = [], []
    for seed in range(8):
        reports = _reports(design, epsilon, 3000, seed + 50)
        joint = castell.estimate(reports, ["a", "b"], "latent", classes=6, steps=15, starts=3)
        squares.append((joint.probabilities - PEOPLE.margin(["a", "b"])) ** 2)
        claimed.append(joint.standard_errors**2)
        assert joint.standard_errors.min() > 0.0
    ratio = np.sqrt(np.mean(claimed) / np.mean(squares))
    assert 0.5 < ratio < 2.0
