"""What every result shows of itself: each method, on each design it reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from inspect import isabstract
from typing import Any

import numpy as np
import pytest

import castell
from castell import Conditional, JointEstimate, Model, Reports
from castell.display.one_line import MOST
from castell.estimators import reads
from castell.results.provenance import FromReports
from tests.contract.designs import STUDIES
from tests.populations import collect, population

CASES = [(m, d) for d, study in STUDIES.items() for m in castell.methods_for(study)]
each_case = pytest.mark.parametrize(("method", "design"), CASES)
each_design = pytest.mark.parametrize("design", STUDIES)

# The entries that every result has.
SOURCE = {"kind", "study", "digest", "method", "n", "epsilon", "public", "secure"}
ANSWER = SOURCE | {"level", "checked", "reasons", "notes"}


@cache
def _reports(design: str) -> Reports:
    study = STUDIES[design]
    people = population(study.schema.sizes, seed=4)
    return collect(study, people.table, 300, np.random.default_rng(3))


@cache
def _model(method: str, design: str) -> Model:
    return castell.fit(_reports(design), method)


def _askable(method: str, design: str) -> list[tuple[str, ...]]:
    """One attribute, and two if the method answers two."""
    study = STUDIES[design]
    one, two, *_ = study.names
    if not study.design.draw or reads(method).across:
        return [(one,), (two, one)]
    pairs = [block.names[:2] for block in study.design.blocks if len(block.names) > 1]
    return [(one,), *pairs[:1]]


@cache
def _answers(method: str, design: str) -> tuple[Any, ...]:
    model = _model(method, design)
    first, *others = _askable(method, design)
    (name,) = first
    value, another, *_ = model.study.schema[name].values
    share = model.probability({name: value})
    found: list[Any] = [
        model.estimate(first, post="simplex"),
        share,
        share.complement(),
        model.difference({name: value}, {name: another}),
    ]
    for one, two in others:
        given = {two: model.study.schema[two].values[0]}
        asked = {one: list(model.study.schema[one].values[:2])}
        found += [
            model.estimate((one, two)),
            model.conditional(one, given=given),
            model.conditional(asked, given=given),
        ]
    return tuple(found)


def _numbers(document: Any) -> Iterator[Any]:
    """Everything in a document that is no list and no mapping."""
    if isinstance(document, dict):
        assert all(isinstance(key, str) for key in document)
        for value in document.values():
            yield from _numbers(value)
    elif isinstance(document, list):
        for value in document:
            yield from _numbers(value)
    else:
        yield document


@each_case
def test_every_result_is_plain_json(method: str, design: str) -> None:
    for result in _answers(method, design):
        document = result.to_dict(0.9)
        assert json.loads(json.dumps(document, allow_nan=False)) == document
        assert {type(each) for each in _numbers(document)} <= {str, float, int, bool, type(None)}
        assert set(document) >= ANSWER
        facts = (document["method"], document["n"], document["level"], document["secure"])
        assert facts == (method, 300, 0.9, True)
        assert document["digest"] == STUDIES[design].digest
        assert document["epsilon"] == STUDIES[design].epsilon
        assert document["notes"] == [reason["text"] for reason in document["reasons"]]


@each_case
def test_what_is_in_the_document_is_what_python_has(method: str, design: str) -> None:
    for result in _answers(method, design):
        document = result.to_dict(0.8)
        low, high = result.conf_int(0.8)
        if isinstance(result, JointEstimate | Conditional):
            tables = (result.probabilities, result.standard_errors, low, high)
            names = ("probabilities", "standard_errors", "lower", "upper")
            for name, table in zip(names, tables, strict=True):
                np.testing.assert_array_equal(np.array(document[name], dtype=float), table)
        else:
            value = document["probability" if "where" in document else "difference"]
            assert value == result.value == float(result)
            assert (document["lower"], document["upper"]) == (low, high)
            assert document["standard_error"] == result.standard_error


@each_case
def test_numpy_takes_the_numbers_as_they_are(method: str, design: str) -> None:
    for result in _answers(method, design):
        if isinstance(result, JointEstimate | Conditional):
            np.testing.assert_array_equal(np.asarray(result), result.probabilities)
            assert np.shares_memory(np.asarray(result), result.probabilities)
            assert not np.asarray(result).flags.writeable
            changed = np.array(result)
            changed[...] = 0.0
            assert not np.shares_memory(changed, result.probabilities)
        else:
            assert np.asarray(result) == result.value
            assert np.asarray(result).shape == ()
        assert np.asarray(result, dtype=np.float32).dtype == np.float32
        with pytest.raises(ValueError, match="are a copy"):
            result.__array__(np.float32, copy=False)


@each_case
def test_every_result_is_one_short_line_and_a_whole_table(method: str, design: str) -> None:
    for result in (*_answers(method, design), _model(method, design)):
        line = repr(result)
        assert len(line) <= MOST
        assert "\n" not in line
        assert line.startswith(f"<{type(result).__name__} ")
        for fact in (f"method {method!r}", "n = 300", f"epsilon {STUDIES[design].epsilon:.4g}"):
            assert fact in line
        page = result._repr_html_()
        assert page.count("<table") == page.count("</table>") == 1
        assert "<caption" in page
        if not isinstance(result, Model):
            assert str(result) == result.summary()
            assert all(note[1:].rstrip(".") in _text(page) for note in result.notes)


def _text(page: str) -> str:
    from html import unescape

    return unescape(page)


@each_case
def test_a_model_says_what_was_fitted_to_what(method: str, design: str) -> None:
    document = _model(method, design).to_dict()
    assert set(document) == SOURCE | {"attributes", "values"}
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["attributes"] == list(STUDIES[design].names)


SCORED = castell.Schema(
    [
        castell.Attribute("years", bins=[0, 10, 20, 30], missing="skip"),
        castell.Attribute("smokes", ["no", "yes"]),
        castell.Attribute("health", ["poor", "fair", "good"], ordered=True),
        castell.Attribute("debt", bins=[0, 100, 1000], none="no debt"),
    ]
)


@cache
def _every_kind() -> tuple[Any, ...]:
    """A result of every kind that people are given."""
    study = castell.Study(SCORED, 9.0)
    people = {
        "years": np.random.default_rng(1).integers(0, 30, 2000),
        "smokes": np.tile(["no", "yes"], 1000),
        "health": np.tile(["poor", "fair", "good", "good"], 500),
        "debt": np.tile(["no debt", "50", "200", "700"], 500),
    }
    reports = study.randomize(people, seed=3)
    model = castell.fit(reports, "castell")
    smoker, other = {"smokes": "yes"}, {"smokes": "no"}
    comparison = model.compare({"health": "poor"}, given=smoker, versus=other)
    return (
        model.estimate(["smokes", "health"]),
        model.estimate_all(2),
        model.top(["smokes", "health"], 3),
        model.probability(smoker),
        model.difference(smoker, other),
        model.conditional("health", given=smoker),
        model.conditional("health", given="smokes"),
        model.answered("years"),
        model.having("debt"),
        model.mean("years", range=(-1, 40)),
        model.quantile("years"),
        model.smooth("health"),
        comparison,
        comparison.odds_ratio,
        model.association("smokes", "health"),
        model.trend("smokes", "health"),
        model.associations(),
        castell.regress("smokes ~ health", reports),
        castell.careless(reports, "smokes", known={"no": 0.9, "yes": 0.1}),
        castell.recover(reports, ["smokes"], 0.05),
        castell.synthesize(model, 2),
    )


def _leaves(kind: type[Any]) -> set[type[Any]]:
    below = kind.__subclasses__()
    return set().union(*map(_leaves, below)) | ({kind} if not isabstract(kind) else set())


def test_every_kind_of_result_is_looked_at() -> None:
    assert _leaves(FromReports) <= {type(result) for result in _every_kind()}


@pytest.mark.parametrize("place", range(21))
def test_every_kind_of_result_shows_itself_alike(place: int) -> None:
    result = _every_kind()[place]
    line = repr(result)
    assert line.startswith(f"<{type(result).__name__} ")
    assert len(line) <= MOST
    assert "\n" not in line
    document = result.to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert isinstance(document["kind"], str)
    if not isinstance(result, castell.Synthetic):  # its rows are frames, which show themselves
        assert result._repr_html_().count("<table") == 1
    if hasattr(result, "summary"):
        assert str(result) == result.summary()
    if isinstance(result, FromReports):
        assert set(document) >= ANSWER
        assert "INSECURE" in line
    if hasattr(result, "standard_errors") and not isinstance(result, castell.Comparison):
        assert np.asarray(result).shape == result.standard_errors.shape
    if hasattr(result, "standard_error") and not isinstance(result, castell.Quantile):
        assert np.asarray(result) == float(result)


@each_design
def test_reports_studies_and_statements_show_themselves_alike(design: str) -> None:
    reports = _reports(design)
    study = reports.study
    for noun in (reports, study, study.statement()):
        document = noun.to_dict()
        assert json.loads(json.dumps(document, allow_nan=False)) == document
        assert document["digest"] == study.digest
        assert len(repr(noun)) <= MOST
        assert repr(noun).startswith(f"<{type(noun).__name__} ")
        assert noun._repr_html_().count("<table") == 1
    codes = [column["codes"] for column in reports.to_dict()["columns"]]
    again = Reports(study, [np.array(each, dtype=np.uint64) for each in codes], secure=True)
    for one, two in zip(again.columns, reports.columns, strict=True):
        np.testing.assert_array_equal(one, two)
    # Every report is told of once: of its block, or of each.
    cells = reports._repr_html_().split("</td>")
    counted = [int(cell.rpartition(">")[2].replace(",", "")) for cell in cells[2::3]]
    many = len(study.design.hidden) if study.design.draw else 0
    assert set(counted[many:]) <= {300}
    assert sum(counted[:many]) == 300 * bool(many)


@each_design
def test_a_study_as_values_is_the_published_one(design: str) -> None:
    study = STUDIES[design]
    assert json.dumps(study.to_dict()) == json.dumps(json.loads(study.to_json()))
    assert castell.Study.from_json(json.dumps(study.to_dict())) == study
    study.to_dict()["attributes"].clear()
    assert castell.Study.from_json(study.to_json()) == study


def test_what_is_not_known_is_null_and_says_so() -> None:
    """Shares among a group that is estimated as empty, far below zero even."""
    model = _empty_group()
    found = model.conditional("b", given={"a": "a1"})
    assert np.isnan(found.probabilities).all()
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["probabilities"] == document["standard_errors"] == [None] * 3
    assert (document["lower"], document["upper"]) == ([0.0] * 3, [1.0] * 3)
    assert "not known" in found.summary()
    assert "not known" in found._repr_html_()


def _empty_group() -> Model:
    study = STUDIES["independent"]
    codes = [np.zeros(50, dtype=int), np.arange(50) % 3, np.arange(50) % 4]
    return castell.fit(Reports(study, codes, secure=True), "castell")


def test_seeded_reports_show_in_every_noun() -> None:
    study = STUDIES["independent"]
    answers = population((2, 3, 4), seed=4).answers(60, seed=0)
    reports = study.randomize(answers, seed=1)
    model = castell.fit(reports, "castell")
    shown: list[Any] = [reports, model, model.estimate("a"), model.probability(a="a0")]
    shown += [
        model.difference({"a": "a0"}, {"a": "a1"}),
        model.conditional("a", given={"b": "b0"}),
    ]
    for noun in shown:
        assert "INSECURE" in repr(noun)
        assert "INSECURE" in noun._repr_html_()
        assert noun.to_dict()["secure"] is False
        if not isinstance(noun, Reports | Model):
            assert "INSECURE" in str(noun)
