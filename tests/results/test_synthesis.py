"""Synthetic people in several files: honest together, near to the model, held to tables."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import castell
from castell import Attribute, Schema, Study
from castell.errors import OptionError, QueryError
from castell.inference.student_t import student_quantile
from castell.population import SCHEMA, health_survey
from castell.results.synthesize import synthesize
from castell.results.synthetic_files import combine
from tests.contract.designs import STUDIES
from tests.populations import collect, population

TINY = Schema([Attribute("a", ["no", "yes"]), Attribute("b", list("xyz"))])


@pytest.mark.parametrize("freedom", [1.0, 2.5, 30.0, 1e5])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_students_t(freedom: float, level: float) -> None:
    assert student_quantile(level, freedom) == pytest.approx(stats.t.ppf(0.5 + level / 2, freedom))


def test_the_rules_by_hand() -> None:
    found = combine([1.0, 2.0, 3.0], [0.1, 0.2, 0.3])
    assert found.value == 2.0
    assert found.standard_error == pytest.approx(np.sqrt(4 / 3 * 1.0 - 0.2))
    ratio = 4 / 3 / 0.2
    assert found.freedom == pytest.approx(max(1.0, 2 * (1 - 1 / ratio) ** 2))
    low, high = found.conf_int(0.9)
    reach = stats.t.ppf(0.95, found.freedom) * found.standard_error
    assert (low, high) == pytest.approx((2.0 - reach, 2.0 + reach))
    # What lies between files is less than drawing rows explains: the rows' own variance is used.
    assert combine([1.0, 1.0], [0.04, 0.04]).standard_error == pytest.approx(0.2)
    # Of four times as many rows as people reported: as uncertain as those people's answers.
    assert combine([1.0, 1.0], [0.01, 0.01], 4.0).standard_error == pytest.approx(0.2)
    assert combine([1.0, 3.0], [0.0, 0.0]).freedom == 1.0
    with pytest.raises(OptionError, match="two files or more"):
        combine([1.0], [0.1])


def test_intervals_of_several_files_cover_the_truth() -> None:
    """60 collections at epsilon 1: two standard errors of one file alone cover half as often."""
    study = Study(Schema([Attribute("a", ["no", "yes"])]), 1.0)
    truth, n = 0.3, 500
    generator = np.random.default_rng(2)
    inside = alone = 0
    for k in range(60):
        answers = np.where(generator.random(n) < truth, "yes", "no")
        model = castell.fit(study.randomize({"a": answers}, seed=k), "castell")
        made = synthesize(model, n, files=6, seed=k)
        low, high = made.share({"a": "yes"}).conf_int()
        inside += low <= truth <= high
        share = float(np.mean(made.files[0]["a"].to_pylist() == np.array("yes")))
        alone += abs(share - truth) <= 1.96 * np.sqrt(share * (1 - share) / n)
    assert inside / 60 > 0.85
    assert alone / 60 < 0.7


@pytest.mark.parametrize("method", ["auto", "latent", "independent"])
def test_files_are_near_to_the_model(method: str) -> None:
    study = STUDIES["drawn pairs"] if "drawn pairs" in STUDIES else STUDIES["independent"]
    people = population(study.schema.sizes, seed=4)
    model = castell.fit(collect(study, people.table, 2000, np.random.default_rng(3)), method)
    made = synthesize(model, 40_000, seed=1)
    assert [each.width for each in made.near] == [1, 2, 3]
    # Auto's tables also heed their own reports, so only its single attributes are as the rows.
    for each in made.near if method != "auto" else made.near[:1]:
        assert each.distance < 3.0 * each.by_chance + (0.01 if method == "auto" else 0.0)


def test_a_file_is_held_to_tables() -> None:
    reports = Study(SCHEMA, 6.0, "cover").randomize(health_survey(3000), seed=1)
    model = castell.fit(reports)
    tables = [model.estimate(names, post="simplex") for names in (["smokes", "health"], ["age"])]
    made = synthesize(model, 2000, tables=tables, seed=1)
    for table in tables:
        found = castell.tabulate(SCHEMA, made.files[0], table.names)
        assert np.abs(found - table.probabilities).max() < 5 / 2000
    free = synthesize(model, 2000, seed=1)
    found = castell.tabulate(SCHEMA, free.files[0], ["smokes", "health"])
    assert np.abs(found - tables[0].probabilities).max() > 5 / 2000  # so it had to be done


def test_what_it_says_of_itself() -> None:
    reports = Study(TINY, 4.0).randomize(
        {"a": ["no", "yes"] * 300, "b": list("xyzxzz") * 100}, seed=7
    )
    model = castell.fit(reports, "castell")
    made = synthesize(model, 100, files=2, seed=3)
    document = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert (document["files"], document["n"], document["reports"]) == (2, 100, 600)
    assert "Nobody is in these rows" in str(made)
    assert "combine" in made.words[-1]
    one = synthesize(model, 100, "b", seed=3)
    assert "make several" in one.words[-1]
    assert one.files[0].column_names == ["b"]
    again = synthesize(model, 100, "b", seed=3)
    assert one.files[0].equals(again.files[0])
    found = made.share({"a": ["no"], "b": ["x", "y"]})
    assert found.to_dict()["files"] == 2
    with pytest.raises(QueryError, match="'c' is not in the files"):
        made.share({"c": "x"})


def test_what_cannot_be_made() -> None:
    study = Study(TINY, 4.0)
    model = castell.fit(study.randomize({"a": ["no"] * 9, "b": list("xyz") * 3}, seed=7), "castell")
    table = model.estimate(["a", "b"])
    with pytest.raises(OptionError, match="from 1 up"):
        synthesize(model, 10, files=0)
    with pytest.raises(OptionError, match="cannot all have the same tables"):
        synthesize(model, 10, files=2, tables=[table])
    with pytest.raises(OptionError, match="holds 'b', which the file does not"):
        synthesize(model, 10, ["a"], tables=[table])
    with pytest.raises(OptionError, match="cannot be sampled"):
        synthesize(model, 0)
    other = Study(TINY, 3.0, "singles").randomize({"a": ["no"] * 9, "b": list("xyz") * 3}, seed=7)
    first = Study(TINY, 4.0, "singles").randomize({"a": ["no"] * 9, "b": list("xyz") * 3}, seed=7)
    with pytest.raises(OptionError, match="several stages are not resampled"):
        synthesize(castell.fit([first, other], "latent"), 10, files=2)
