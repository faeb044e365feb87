"""What every estimator must hold. A new file in `estimators/` is tested as it stands."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from functools import cache
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest

import castell
from castell import Model, Reports, Study, estimators
from castell.errors import OptionError, ReportError, TableTooLargeError
from castell.estimators import describe
from tests.populations import (
    collect,
    population,
    product,
    schema,
    studies,
)

PEOPLE = population((2, 3, 4), seed=4)
NAMES = ("a", "b", "c")


def _designs(method: str) -> list[str]:
    """What a method is tested on: all designs that it reads where everybody reports everything."""
    return [name for name in [*studies(), "bloom"] if method in castell.methods_for(_study(name))]


def _home(method: str, design: str = "independent") -> str:
    """One design for a method: the one given, if it reads it."""
    return design if design in _designs(method) else _designs(method)[0]


def _study(design: str, each: float = 2.0) -> Study:
    known = studies(each)
    return known[design] if design in known else Study(schema((2, 3, 4)), 3 * each, design)


each_method = pytest.mark.parametrize("method", castell.methods())
each_case = pytest.mark.parametrize(
    ("method", "design"), [(m, d) for m in castell.methods() for d in _designs(m)]
)


@cache
def _reports(design: str, n: int = 600, seed: int = 12) -> Reports:
    return collect(_study(design), PEOPLE.table, n, np.random.default_rng(seed))


@cache
def _model(method: str, design: str, n: int = 600, seed: int = 12) -> Model:
    return castell.fit(_reports(design, n, seed), method)


# -- tables --------------------------------------------------------------------------------------


@each_case
def test_one_axis_for_each_attribute_in_the_order_asked(method: str, design: str) -> None:
    straight = _model(method, design).estimate(NAMES)
    assert straight.method == method
    assert straight.n == 600
    for names in permutations(NAMES):
        joint = _model(method, design).estimate(names)
        order = [NAMES.index(name) for name in names]
        assert joint.names == names
        assert joint.probabilities.shape == joint.shape == tuple((2, 3, 4)[i] for i in order)
        for one, two in (
            (joint.probabilities, straight.probabilities),
            (joint.standard_errors, straight.standard_errors),
        ):
            np.testing.assert_allclose(one, two.transpose(order), atol=1e-10)
    for name, size in zip(NAMES, (2, 3, 4), strict=True):
        assert _model(method, design).estimate(name).shape == (size,)


@each_case
def test_estimates_come_near_the_truth_where_it_is_easy(method: str, design: str) -> None:
    # Independent attributes, much budget, many reports: no method has an excuse.
    people = product({"a": [0.3, 0.7], "b": [0.5, 0.2, 0.3], "c": [0.4, 0.3, 0.2, 0.1]})
    study = _study(design, 4.0)
    reports = collect(study, people.table, 60000, np.random.default_rng(0))
    joint = castell.estimate(reports, ["c", "a"], method)
    np.testing.assert_allclose(joint.probabilities, people.margin(["c", "a"]), atol=0.015)


@each_case
def test_standard_errors(method: str, design: str) -> None:
    joint = _model(method, design).estimate(["c", "b"])
    errors = joint.standard_errors
    assert errors.shape == joint.shape
    assert np.isfinite(errors).all()
    assert (errors >= 0).all()
    assert errors.max() > 0
    again = _model(method, design).estimate(["c", "b"])
    np.testing.assert_array_equal(again.standard_errors, errors)
    np.testing.assert_array_equal(again.probabilities, joint.probabilities)


@each_case
@pytest.mark.parametrize("post", ["raw", "clip", "simplex"])
def test_intervals_of_higher_levels_hold_those_of_lower(
    method: str, design: str, post: str
) -> None:
    # So much noise that a step afterwards moves cells out of their own intervals.
    reports = collect(_study(design, 0.5), PEOPLE.table, 60, np.random.default_rng(12))
    joint = castell.estimate(reports, NAMES, method, post=post)
    ends = [joint.conf_int(level) for level in (0.5, 0.9, 0.95, 0.999)]
    for (low, high), (lower, higher) in pairwise(ends):
        assert low.shape == high.shape == joint.shape
        assert (lower <= low).all()
        assert (low <= high).all()
        assert (high <= higher).all()
    # Each holds the number it belongs to, whatever was done to it since, if that can be a share.
    possible = np.clip(joint.probabilities, 0.0, 1.0)
    for low, high in ends:
        assert low.min() >= 0.0
        assert high.max() <= 1.0
        assert (low - 1e-12 <= possible).all()
        assert (possible <= high + 1e-12).all()


@each_case
@pytest.mark.parametrize("post", ["clip", "simplex"])
def test_post_processing_gives_distributions(method: str, design: str, post: str) -> None:
    for n in (20, 600):
        joint = _model(method, design, n).estimate(NAMES, post=post)
        assert joint.post == post
        assert joint.probabilities.min() >= 0.0
        assert joint.probabilities.sum() == pytest.approx(1.0, abs=1e-10)
        raw = _model(method, design, n).estimate(NAMES)
        np.testing.assert_array_equal(joint.unprocessed, raw.probabilities)


@each_case
def test_project_sums(method: str, design: str) -> None:
    joint = _model(method, design).estimate(NAMES)
    part = joint.project(["c", "a"])
    np.testing.assert_allclose(part.probabilities, joint.probabilities.sum(axis=1).T, atol=1e-12)
    assert part.standard_errors.shape == (4, 2)
    assert np.isfinite(part.standard_errors).all()
    assert part.method == method


@each_case
def test_results_and_models_are_frozen(method: str, design: str) -> None:
    model = _model(method, design)
    joint = model.estimate(["a", "b"])
    with pytest.raises(FrozenInstanceError):
        model.method = "other"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        joint.n = 1  # type: ignore[misc]
    for table in (joint.probabilities, joint.unprocessed, joint.standard_errors):
        assert not table.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            table[0, 0] = 1.0


# -- single cells --------------------------------------------------------------------------------


@each_case
@pytest.mark.parametrize(("n", "seed"), [(1, 0), (25, 0), (600, 12)])
def test_a_cell_is_the_tables_cell(method: str, design: str, n: int, seed: int) -> None:
    model = _model(method, design, n, seed)
    for names in (("b",), ("c", "a"), ("b", "c", "a")):
        joint = model.estimate(names)
        found = np.empty(joint.shape)
        for cell in np.ndindex(*joint.shape):
            values = {a.name: a.values[i] for a, i in zip(joint.attributes, cell, strict=True)}
            answer = model.probability(values)
            found[cell] = answer.value
            low, high = answer.conf_int()
            assert np.isfinite(answer.standard_error)
            assert answer.standard_error >= 0
            assert low <= high
        np.testing.assert_allclose(found, joint.probabilities, atol=1e-9)


@each_case
def test_values_that_all_count(method: str, design: str) -> None:
    model = _model(method, design)
    # Everybody, up to noise that a method may cut off.
    sure = model.probability(a=["a0", "a1"], c=["c0", "c1", "c2", "c3"])
    assert sure.value == pytest.approx(1.0, abs=1e-9)
    assert sure.standard_error == pytest.approx(0.0, abs=1e-6)
    some = model.probability(b=["b0", "b1"])
    rest = model.probability(b="b2")
    assert some.value + rest.value == pytest.approx(1.0, abs=1e-9)


@each_method
def test_a_cell_of_any_width_needs_no_table(method: str) -> None:
    asked = schema([2] * 40, [f"q{i}" for i in range(40)])
    study = Study(asked, 40 * 5.0, _home(method))
    generator = np.random.default_rng(0)
    answers = {a.name: [a.values[i] for i in generator.integers(0, 2, 60)] for a in asked}
    model = castell.fit(study.randomize(answers, seed=0), method)
    found = model.probability({a.name: a.values[0] for a in asked})
    assert np.isfinite(found.value)
    assert np.isfinite(found.standard_error)
    with pytest.raises(TableTooLargeError, match=f"{2**40:,} cells.*model\\.probability"):
        model.estimate(study.names)


# -- where there is next to nothing --------------------------------------------------------------


@each_case
def test_one_report_is_enough(method: str, design: str) -> None:
    joint = castell.estimate(_reports(design, n=1), NAMES, method)
    assert np.isfinite(joint.probabilities).all()
    assert np.isfinite(joint.standard_errors).all()
    low, high = joint.conf_int()
    assert (low <= high).all()
    assert joint.summary()


@each_case
def test_heavy_noise_is_no_reason_to_fail(method: str, design: str) -> None:
    study = _study(design, 0.01)
    reports = collect(study, PEOPLE.table, 40, np.random.default_rng(2))
    model = castell.fit(reports, method)
    joint = model.estimate(NAMES, post="simplex")
    assert joint.probabilities.sum() == pytest.approx(1.0, abs=1e-9)
    assert np.isfinite(joint.standard_errors).all()
    assert np.isfinite(model.probability(a="a0", b="b1", c="c2").standard_error)


@each_case
def test_no_reports_are_an_error_that_says_so(method: str, design: str) -> None:
    study = _study(design)
    nothing = Reports(study, [np.zeros(0, dtype=int) for _ in study.design.blocks], secure=True)
    with pytest.raises(ReportError, match="there are no reports"):
        castell.fit(nothing, method)


@each_method
def test_empty_cells(method: str) -> None:
    # So much budget that nearly all fifty report what they answer.
    study = _study(_home(method), 10.0)
    answers = {"a": ["a1"] * 50, "b": ["b2"] * 50, "c": ["c3"] * 50}
    joint = castell.estimate(study.randomize(answers, seed=0), NAMES, method)
    assert joint.probabilities.argmax() == 23
    assert np.isfinite(joint.standard_errors).all()


@each_method
def test_one_attribute_is_a_study(method: str) -> None:
    study = Study(schema((5,)), 2.0, _home(method))
    people = np.array([0.4, 0.3, 0.2, 0.05, 0.05])
    reports = collect(study, people, 20000, np.random.default_rng(0))
    model = castell.fit(reports, method)
    joint = model.estimate("a")
    np.testing.assert_allclose(joint.probabilities, people, atol=0.04)
    assert joint.standard_errors.max() < 0.02


# -- what is said --------------------------------------------------------------------------------


@each_method
def test_seeded_reports_are_marked(method: str) -> None:
    study = _study(_home(method, "matrix"))
    answers = PEOPLE.answers(80, seed=0)
    for seed, secure in ((3, False), (None, True)):
        model = castell.fit(study.randomize(answers, seed=seed), method)
        joint = model.estimate(["a", "b"])
        assert joint.secure is joint.project("a").secure is secure
        assert model.probability(a="a0").secure is secure
        assert ("INSECURE" in joint.summary()) is not secure


@each_method
def test_unknown_options_are_errors(method: str) -> None:
    reports = _reports(_home(method))
    with pytest.raises(OptionError, match="has no option 'colour'"):
        castell.fit(reports, method, colour="red")
    with pytest.raises(OptionError, match="no post-processing 'wash'"):
        castell.estimate(reports, "a", method, post="wash")


@each_method
def test_a_method_is_described_in_a_line(method: str) -> None:
    line = describe(method)
    assert 20 < len(line) < 100
    assert line.endswith(".")


# -- the folder is the registry ------------------------------------------------------------------

EVERYBODY = '''"""Everybody: all cells alike, whatever the reports say."""

from functools import partial

import numpy as np

from castell.inference.method import Fitted, Solution
from castell.inference.shares import Shares
from castell.inference.intervals import Normal


def fit(counts, *, scale=1.0):
    return Fitted(counts, partial(_joint, counts.study, scale), _cell)


def _joint(study, scale, names, max_cells):
    shape = [study.schema[name].size for name in names]
    table = np.full(shape, scale / np.prod(shape))
    return Solution(table, lambda names: Normal(np.zeros([study.schema[n].size for n in names])))


def _cell(queries):
    zeros = np.zeros(len(queries))
    return Shares(zeros + 0.5, Normal(zeros), (np.diag(zeros),))
'''


@pytest.fixture
def dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "everybody.py").write_text(EVERYBODY)
    (tmp_path / "_shared.py").write_text("")
    monkeypatch.setattr(estimators, "__path__", [*estimators.__path__, str(tmp_path)])
    estimators.forget()
    yield "everybody"
    sys.modules.pop("castell.estimators.everybody", None)
    estimators.__dict__.pop("everybody", None)
    monkeypatch.undo()
    estimators.forget()


def test_a_file_in_the_folder_is_a_method(dropped: str) -> None:
    assert dropped in castell.methods()
    assert "_shared" not in castell.methods()
    assert list(castell.methods()) == sorted(castell.methods())
    joint = castell.estimate(_reports("joint"), ["c", "a"], dropped, scale=2.0)
    assert joint.method == dropped
    np.testing.assert_array_equal(joint.probabilities, np.full((4, 2), 0.25))
    assert describe(dropped) == "Everybody: all cells alike, whatever the reports say."
    with pytest.raises(OptionError, match=r"has no option 'size': .*Known are scale"):
        castell.fit(_reports("joint"), dropped, size=3)


def test_the_methods_of_the_paper_are_there() -> None:
    assert {"castell", "independent", "clusters", "hybrid", "truncated"} <= set(castell.methods())
    with pytest.raises(OptionError, match=r"no method 'everybody'.*Known are auto, castell"):
        castell.fit(_reports("joint"), "everybody")
