"""Synthetic respondents: distributed as the model says, in labels, of any number of attributes."""

from __future__ import annotations

from functools import cache, reduce
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import castell
from castell import Model, Reports, Study
from castell.errors import OptionError, QueryError, ReportError, TableTooLargeError
from castell.estimators import reads
from castell.inference.chisquare import tail
from castell.inference.postprocess import simplex
from castell.linear.operators import Floats
from castell.results import synthetic_people
from tests.contract.designs import STUDIES
from tests.populations import collect, population, schema

CASES = [(m, d) for d, study in STUDIES.items() for m in castell.methods_for(study)]
each_case = pytest.mark.parametrize(("method", "design"), CASES)
# A fit is judged wrong by chance less than once in a million; the seeds are fixed besides.
CHANCE = 1e-7
PEOPLE = 20_000


@cache
def _reports(design: str) -> Reports:
    study = STUDIES[design]
    people = population(study.schema.sizes, seed=4)
    return collect(study, people.table, 400, np.random.default_rng(3))


@cache
def _model(method: str, design: str) -> Model:
    return castell.fit(_reports(design), method)


def _names(method: str, design: str) -> tuple[str, ...]:
    """All attributes, or those of a block where a method answers no more."""
    study = STUDIES[design]
    if not study.design.draw or reads(method).across:
        return study.names
    return max((block.names for block in study.design.blocks), key=len)


def _counted(study: Study, frame: Any, names: tuple[str, ...]) -> Floats:
    """How many of a sample are in each cell."""
    return PEOPLE * castell.tabulate(castell.Schema(study.schema.select(names)), frame, names)


def _distance(counts: Floats, expected: Floats) -> float:
    """The p-value of Pearson's test; cells that hold hardly anybody are put together."""
    seen, wanted = counts.ravel(), expected.ravel() * counts.sum()
    rare = wanted < 5.0
    if rare.any():
        seen = np.append(seen[~rare], seen[rare].sum())
        wanted = np.append(wanted[~rare], wanted[rare].sum())
    kept = wanted > 1e-9 * PEOPLE
    if seen[~kept].any():
        return 0.0  # drawn, what cannot be
    statistic = float(((seen - wanted)[kept] ** 2 / wanted[kept]).sum())
    return tail(statistic, max(int(kept.sum()) - 1, 1))


@each_case
def test_a_sample_has_the_models_distribution(method: str, design: str) -> None:
    model, names = _model(method, design), _names(method, design)
    frame = model.sample(PEOPLE, names[::-1], seed=7)
    assert frame.column_names == list(names[::-1])
    # `auto` draws from the latent-class model that its tables have as their prior.
    source = _model("latent", design) if method == "auto" else model
    table = simplex(source.estimate(names).unprocessed)
    if method == "independent":
        margins = [simplex(model.estimate(name).unprocessed) for name in names]
        table = np.asarray(reduce(np.multiply.outer, margins))
    assert _distance(_counted(model.study, frame, names), table) > CHANCE


def test_the_test_sees_a_sample_that_is_off() -> None:
    """Two attributes drawn apart, which go together in the model."""
    model = _model("castell", "independent")
    table = model.estimate(("a", "b", "c"), post="simplex").probabilities
    frame = model.sample(PEOPLE, seed=7).to_pydict()
    assert _distance(_counted(model.study, frame, ("a", "b", "c")), table) > CHANCE
    frame["a"] = frame["a"][::-1]
    assert _distance(_counted(model.study, frame, ("a", "b", "c")), table) < CHANCE


@pytest.mark.parametrize("method", ["auto", "latent", "independent", "locop"])
def test_any_number_of_attributes_can_be_sampled(method: str) -> None:
    asked = schema([2] * 40, [f"q{i}" for i in range(40)])
    study = Study(asked, 40 * 3.0)
    generator = np.random.default_rng(0)
    answers = {a.name: [a.values[i] for i in generator.integers(0, 2, 60)] for a in asked}
    model = castell.fit(study.randomize(answers, seed=0), method)
    frame = model.sample(50, seed=1)
    assert (frame.num_rows, frame.column_names) == (50, list(asked.names))


def test_a_table_too_large_to_draw_from_is_refused_with_the_way_out() -> None:
    asked = schema([2] * 40, [f"q{i}" for i in range(40)])
    study = Study(asked, 40 * 3.0)
    answers = {a.name: [a.values[0], a.values[1]] * 30 for a in asked}
    model = castell.fit(study.randomize(answers, seed=0), "castell")
    with pytest.raises(TableTooLargeError, match=r"name fewer attributes.*method 'latent'"):
        model.sample(10)
    assert model.sample(10, ["q0", "q3"]).num_rows == 10


@pytest.mark.parametrize(
    "kind", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"]
)
def test_a_sample_is_of_the_kind_the_answers_came_in(kind: Any) -> None:
    answers = kind(population((2, 3, 4), seed=4).answers(60, seed=0))
    model = castell.fit(STUDIES["independent"].randomize(answers, seed=1), "castell")
    frame = model.sample(30, ["c", "a"])
    assert type(frame) is type(answers)
    assert list(getattr(frame, "column_names", frame.columns)) == ["c", "a"]
    assert set(map(str, frame["c"].to_pylist() if kind is pa.table else frame["c"])) <= set(
        STUDIES["independent"].schema["c"].values
    )
    assert isinstance(model.sample(30, backend="polars"), pl.DataFrame)
    # It can be asked the same questions again.
    assert len(STUDIES["independent"].randomize(model.sample(30), seed=1)) == 30


def test_a_seed_repeats_and_none_does_not() -> None:
    model = _model("latent", "independent")
    assert model.sample(200, seed=3).equals(model.sample(200, seed=3))
    assert not model.sample(200, seed=3).equals(model.sample(200, seed=4))
    assert not model.sample(200).equals(model.sample(200))


def test_many_people_are_sampled_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic_people, "_STEP", 64)
    for method in ("latent", "castell"):
        assert _model(method, "independent").sample(1000, "a").num_rows == 1000
    frame = _model("latent", "independent").sample(PEOPLE, seed=1)
    table = _model("latent", "independent").estimate(("a", "b", "c")).probabilities
    assert _distance(_counted(STUDIES["independent"], frame, ("a", "b", "c")), table) > CHANCE


@pytest.mark.parametrize("people", [0, -3, 2.5, True, "10", None])
def test_a_number_of_people_is_a_whole_number(people: Any) -> None:
    with pytest.raises(OptionError, match="people cannot be sampled: give a whole number"):
        _model("castell", "independent").sample(people)


@pytest.mark.parametrize("method", ["latent", "castell"])
def test_more_people_than_can_be_held_are_refused_before_they_are_sampled(method: str) -> None:
    with pytest.raises(
        OptionError, match="1,000,000,000,000 people with 3 attributes are too many"
    ):
        _model(method, "independent").sample(10**12, ["a", "b", "c"])


@pytest.mark.parametrize("seed", [-1, 2.5, True, "x"])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(OptionError, match=r"the seed is .*: give a whole number from 0 up"):
        _model("castell", "independent").sample(5, seed=seed)


def test_attributes_that_cannot_be_sampled() -> None:
    with pytest.raises(QueryError, match="no attribute 'z'"):
        _model("latent", "independent").sample(5, ["z"])
    with pytest.raises(QueryError, match="asked for twice"):
        _model("latent", "independent").sample(5, ["a", "a"])
    with pytest.raises(QueryError, match="no respondent reported"):
        _model("castell", "drawn singles").sample(5, ["a", "b"])


@pytest.mark.parametrize("method", ["auto", "latent"])
def test_what_nobody_reported_is_not_sampled(method: str) -> None:
    """A model would only be guessing."""
    study = STUDIES["drawn singles"]
    only_a = Reports(study, [np.zeros(50, dtype=int)], secure=True)
    model = castell.fit(only_a, method)
    assert model.sample(5, "a").num_rows == 5
    with pytest.raises(ReportError, match="nobody reported"):
        model.sample(5)
