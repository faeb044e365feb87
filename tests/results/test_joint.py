"""The result: frozen, labelled, and the same in every frame."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import castell
from castell import Attribute, JointEstimate, Schema, Study
from castell.errors import OptionError, QueryError
from tests.populations import collect, population, product, schema, studies

PEOPLE = population((2, 3, 4), seed=4)
STUDIES = studies()


def _joint(design: str = "mixed", post: str = "raw", n: int = 300) -> JointEstimate:
    reports = collect(STUDIES[design], PEOPLE.table, n, np.random.default_rng(1))
    return castell.estimate(reports, ["c", "a"], "castell", post=post)


# -- what it says --------------------------------------------------------------------------------


def test_what_it_says_of_itself() -> None:
    joint = _joint()
    assert (joint.names, joint.shape) == (("c", "a"), (4, 2))
    assert (joint.method, joint.post, joint.n, joint.secure) == ("castell", "raw", 300, True)
    assert joint.epsilon == pytest.approx(4.0 + np.log(12))
    assert joint.spent == pytest.approx(4.0)  # the block (c, a), not the matrix of b


def test_what_is_spent_on_attributes_is_spent_on_their_blocks() -> None:
    study = STUDIES["clusters"]
    assert study.design.spent_on(["a"]) == study.design.spent_on(["c", "a"]) == pytest.approx(4.0)
    assert study.design.spent_on(["b", "a"]) == study.epsilon
    assert STUDIES["joint"].design.spent_on(["b"]) == STUDIES["joint"].epsilon


def test_a_cell_by_its_values() -> None:
    joint = _joint(post="simplex")
    assert joint.probability(a="a1", c="c2") == joint.probabilities[2, 1]
    with pytest.raises(QueryError, match="one value for each attribute"):
        joint.probability(a="a1")
    with pytest.raises(QueryError, match="one value for each attribute"):
        joint.probability(a="a1", c="c2", b="b0")
    with pytest.raises(QueryError, match="'c4' is not a value of 'c'"):
        joint.probability(a="a1", c="c4")


def test_frozen() -> None:
    joint = _joint(post="clip")
    for name in ("n", "probabilities", "method", "secure"):
        with pytest.raises(FrozenInstanceError):
            setattr(joint, name, None)
    for table in (joint.probabilities, joint.unprocessed, joint.standard_errors):
        with pytest.raises(ValueError, match="read-only"):
            table[0, 0] = 0.0


# -- intervals -----------------------------------------------------------------------------------


def test_intervals_belong_to_the_unprocessed_estimate() -> None:
    plain, done = _joint(n=15), _joint(n=15, post="simplex")
    np.testing.assert_array_equal(done.unprocessed, plain.probabilities)
    np.testing.assert_array_equal(done.standard_errors, plain.standard_errors)
    assert plain.probabilities.min() < 0
    low, high = done.conf_int()
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert (low <= done.probabilities).all()
    assert (done.probabilities <= high).all()
    raw_low, raw_high = plain.conf_int()
    # Shares lie between 0 and 1, and so do their intervals, even if the raw estimate does not.
    possible = np.clip(plain.probabilities, 0.0, 1.0)
    assert (raw_low >= 0).all()
    assert (raw_high <= 1).all()
    assert (raw_low <= possible).all()
    assert (possible <= raw_high).all()
    assert (raw_low < raw_high).all()
    least, most = plain.unbounded()
    assert (least <= plain.probabilities).all()
    assert (plain.probabilities <= most).all()
    assert least.min() < 0
    inside = (raw_low >= 0) & (raw_low <= done.probabilities)
    np.testing.assert_array_equal(low[inside], raw_low[inside])
    for level in (0, 1, 1.5, "high"):
        with pytest.raises(OptionError, match="between 0 and 1"):
            plain.conf_int(level)  # type: ignore[arg-type]


# -- project -------------------------------------------------------------------------------------


@pytest.mark.parametrize("post", ["raw", "clip", "simplex"])
@pytest.mark.parametrize("method", ["castell", "independent", "truncated"])
def test_project_is_the_sum(method: str, post: str) -> None:
    reports = collect(STUDIES["matrix"], PEOPLE.table, 300, np.random.default_rng(1))
    joint = castell.estimate(reports, ["c", "a", "b"], method, post=post)
    for names in (names for k in (1, 2, 3) for names in permutations("abc", k)):
        part = joint.project(names)
        gone = tuple(i for i, name in enumerate("cab") if name not in names)
        kept = [name for name in "cab" if name in names]
        order = [kept.index(name) for name in names]
        assert part.names == names
        for one, two in (
            (part.probabilities, joint.probabilities),
            (part.unprocessed, joint.unprocessed),
        ):
            np.testing.assert_allclose(one, two.sum(axis=gone).transpose(order), atol=1e-14)
        assert part.standard_errors.shape == part.shape
        assert np.isfinite(part.standard_errors).all()
    alone = joint.project("b")
    assert alone.names == ("b",)
    assert alone.standard_errors.max() < joint.standard_errors.sum()


def test_a_projection_says_what_was_spent_on_it() -> None:
    reports = collect(STUDIES["matrix"], PEOPLE.table, 300, np.random.default_rng(1))
    model = castell.fit(reports, "castell")
    part, asked = model.estimate(["a", "b", "c"]).project(["b"]), model.estimate(["b"])
    assert part.spent == asked.spent == pytest.approx(np.log(12))


def test_projections_that_are_none() -> None:
    joint = _joint()
    with pytest.raises(QueryError, match="the table has no 'b'"):
        joint.project(["a", "b"])
    with pytest.raises(QueryError, match="name each attribute once"):
        joint.project(["a", "a"])
    with pytest.raises(QueryError, match="at least one"):
        joint.project([])


# -- to take elsewhere ---------------------------------------------------------------------------

KINDS: dict[str, Any] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}


def _columns(frame: Any) -> dict[str, list[Any]]:
    if isinstance(frame, pa.Table):
        return dict(frame.to_pydict())
    return {name: list(frame[name]) for name in frame.columns}


@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_every_kind(kind: str) -> None:
    joint = _joint(post="simplex")
    frame = joint.to_frame(kind, level=0.8)
    assert isinstance(frame, KINDS[kind])
    columns = _columns(frame)
    assert list(columns) == ["c", "a", "probability", "standard_error", "lower", "upper"]
    low, high = joint.conf_int(0.8)
    for row in range(8):
        i, j = divmod(row, 2)
        assert (columns["c"][row], columns["a"][row]) == (f"c{i}", f"a{j}")
        assert columns["probability"][row] == joint.probabilities[i, j]
        assert columns["standard_error"][row] == joint.standard_errors[i, j]
        assert (columns["lower"][row], columns["upper"][row]) == (low[i, j], high[i, j])


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_out_is_of_the_kind_that_went_in(kind: str) -> None:
    answers = PEOPLE.answers(50, seed=0)
    frame = pa.table(answers) if kind == "pyarrow" else KINDS[kind](answers)
    reports = STUDIES["independent"].randomize(frame, seed=1)
    joint = castell.estimate(reports, ["a", "b"], "castell")
    assert isinstance(joint.to_frame(), KINDS[kind])
    assert isinstance(joint.project("b").to_frame(), KINDS[kind])
    assert isinstance(joint.to_frame("polars"), pl.DataFrame)


def test_without_a_kind_it_is_arrow_and_an_unknown_kind_is_refused() -> None:
    reports = STUDIES["independent"].randomize(PEOPLE.answers(50, seed=0), seed=1)
    joint = castell.estimate(reports, ["a"], "castell")
    assert isinstance(joint.to_frame(), pa.Table)
    with pytest.raises(OptionError, match="'excel' is no kind of frame: use 'pandas'"):
        joint.to_frame("excel")


def test_xarray() -> None:
    joint = _joint()
    data = joint.to_xarray(level=0.9)
    assert data["probability"].dims == ("c", "a")
    cell = data.sel(c="c2", a="a1")
    low, high = joint.conf_int(0.9)
    assert float(cell["probability"]) == joint.probabilities[2, 1]
    assert float(cell["standard_error"]) == joint.standard_errors[2, 1]
    assert (float(cell["lower"]), float(cell["upper"])) == (low[2, 1], high[2, 1])
    assert data.attrs["method"] == "castell"
    assert (data.attrs["n"], data.attrs["secure"]) == (300, 1)


def test_an_estimate_for_programs() -> None:
    joint = _joint(post="clip")
    document = json.loads(json.dumps(joint.to_dict(0.9)))
    low, high = joint.conf_int(0.9)
    tables = {
        "probabilities": joint.probabilities,
        "standard_errors": joint.standard_errors,
        "lower": low,
        "upper": high,
    }
    for name, table in tables.items():
        np.testing.assert_array_equal(np.array(document[name]), table)
    assert document["attributes"] == ["c", "a"]
    assert document["values"][1] == ["a0", "a1"]
    facts = {"method": "castell", "post": "clip", "n": 300, "secure": True, "level": 0.9}
    assert {name: document[name] for name in facts} == facts
    assert document["epsilon"] == joint.epsilon


def _awkward() -> JointEstimate:
    people = product({"probability": [0.3, 0.7], "b": [0.5, 0.25, 0.25], "upper": [0.5, 0.5]})
    study = Study(schema((2, 3, 2), ["probability", "b", "upper"]), 9.0)
    reports = collect(study, people.table, 200, np.random.default_rng(0))
    return castell.estimate(reports, ["probability", "b", "upper"], "castell")


@pytest.mark.parametrize("kind", KINDS)
def test_attributes_named_like_our_columns(kind: str) -> None:
    joint = _awkward()
    columns = _columns(joint.to_frame(kind))
    # The attributes still come first, in the order asked.
    assert list(columns) == [
        "probability (attribute)",
        "b",
        "upper (attribute)",
        "probability",
        "standard_error",
        "lower",
        "upper",
    ]
    np.testing.assert_array_equal(columns["probability"], joint.probabilities.ravel())
    assert columns["probability (attribute)"][:6] == ["probability0"] * 6


def test_attributes_named_like_our_variables_in_xarray() -> None:
    joint = _awkward()
    data = joint.to_xarray()
    sizes = [size for _, size in sorted(data.sizes.items())]
    assert sorted(sizes) == [2, 2, 3]
    np.testing.assert_array_equal(data["probability"].to_numpy(), joint.probabilities)


def test_a_changed_copy_knows_its_own_errors() -> None:
    joint = _joint()
    before = joint.standard_errors
    again = replace(joint, n=5)
    assert again.n == 5
    np.testing.assert_array_equal(again.standard_errors, before)


def test_no_two_attributes_end_up_in_one_column() -> None:
    names = ["probability", "probability (attribute)"]
    study = Study(Schema([Attribute(name, [0, 1]) for name in names]), 4.0)
    reports = study.randomize({name: [0, 1, 1] for name in names})
    assert len(castell.estimate(reports, names, "castell").to_frame().column_names) == 6
