"""Models that were saved or pickled answer as before, to the last bit, and files run nothing."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
import zipfile
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import castell
import castell.results.model
from castell import Model, Reports, Study
from castell.counting import Counts
from castell.errors import CastellError, ReportError
from castell.extend import table_method
from castell.inference.latent.mixture import Mixture
from castell.results.plain_values import NotPlainError, Writer, read
from tests.coarse_studies import coarse_studies
from tests.contract.designs import STUDIES
from tests.populations import collect, population

CASES = [(m, d) for d, study in STUDIES.items() for m in castell.methods_for(study)]


@cache
def _reports(design: str, n: int = 300) -> Reports:
    study = STUDIES[design]
    people = population(study.schema.sizes, seed=4)
    return collect(study, people.table, n, np.random.default_rng(3))


def same_answers(one: Model, two: Model) -> int:
    """Refuses any difference; says how many questions were answered."""
    assert (one.method, one.study, one.source.to_dict()) == (
        two.method,
        two.study,
        two.source.to_dict(),
    )
    answered = 0
    names = one.study.names
    for asked in (some for k in (1, 2, 3) for some in combinations(names, k)):
        try:
            mine = one.estimate(asked)
        except CastellError as error:
            with pytest.raises(type(error)):
                two.estimate(asked)
            continue
        theirs = two.estimate(asked)
        np.testing.assert_array_equal(mine.probabilities, theirs.probabilities)
        np.testing.assert_array_equal(mine.conf_int(), theirs.conf_int())
        assert (mine.reasons, mine.secure, mine.verdict) == (
            theirs.reasons,
            theirs.secure,
            theirs.verdict,
        )
        cell = {name: one.study.schema[name].values[0] for name in asked}
        assert one.probability(cell).to_dict() == two.probability(cell).to_dict()
        answered += 1
    return answered


@pytest.mark.parametrize(("method", "design"), CASES)
def test_saved_and_loaded_it_answers_the_same(method: str, design: str, tmp_path: Path) -> None:
    model = castell.fit(_reports(design), method)
    path = tmp_path / "m.castell"
    model.save(path)
    assert same_answers(model, castell.load_model(path))


def _refuse_to_fit(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(f"castell.estimators.{method}.learn", refuse)
    monkeypatch.setattr("castell.inference.latent.model.mixture_error", refuse)


@pytest.mark.parametrize(("method", "design"), [("auto", "drawn cover"), ("latent", "independent")])
def test_what_was_fitted_is_not_fitted_again(
    method: str, design: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = castell.fit(_reports(design), method)
    model.save(tmp_path / "m.castell")
    _refuse_to_fit(method, monkeypatch)
    assert same_answers(model, castell.load_model(tmp_path / "m.castell"))
    assert same_answers(model, pickle.loads(pickle.dumps(model)))  # noqa: S301
    assert same_answers(model, copy.deepcopy(model))


def test_a_file_of_another_version_is_fitted_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    model = castell.fit(_reports("drawn pairs"), "latent")
    monkeypatch.setattr(castell.results.model, "VERSION", "0.0.7")
    model.save(tmp_path / "old.castell")
    monkeypatch.undo()
    assert same_answers(model, castell.load_model(tmp_path / "old.castell"))
    assert "castell 0.0.7 wrote the file" in caplog.text


def test_stages_options_and_the_mark_are_kept(tmp_path: Path) -> None:
    schema = STUDIES["independent"].schema
    first, then = Study(schema, 3.0, "pairs"), Study(schema, 2.0, "singles")
    answers = population(schema.sizes, seed=4).answers(200, seed=1)
    stages = [first.randomize(answers), then.randomize(answers, seed=3)]
    model = castell.fit(stages, "latent", classes=2, steps=3)
    model.save(tmp_path / "m.castell")
    again = castell.load_model(tmp_path / "m.castell")
    assert again.earlier == (first,)
    assert not again.counts.secure
    assert "INSECURE" in repr(again)
    assert again.options == {"classes": 2, "steps": 3}
    assert same_answers(model, again)


def test_blocks_that_ask_coarsely_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fine = STUDIES["independent"]
    coarse = coarse_studies(fine.schema)["three to one"]
    people = population(fine.schema.sizes, seed=4).table
    parts = [collect(s, people, 300, np.random.default_rng(3)) for s in (fine, coarse)]
    model = castell.fit(parts, "latent")
    model.save(tmp_path / "m.castell")
    _refuse_to_fit("latent", monkeypatch)
    assert same_answers(model, castell.load_model(tmp_path / "m.castell"))


def _answer(model: Model) -> list[float]:
    found: list[float] = model.estimate(model.study.names[:2]).probabilities.ravel().tolist()
    return found


def test_a_model_goes_to_another_process() -> None:
    model = castell.fit(_reports("independent"), "auto")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_answer, (model,)) == _answer(model)


@pytest.mark.parametrize("method", ["castell", "auto", "em"])
def test_an_estimate_is_pickled_with_its_errors_and_reasons(method: str) -> None:
    joint = castell.fit(_reports("independent"), method).estimate(["b", "a"])
    twin = pickle.loads(pickle.dumps(joint))  # noqa: S301
    assert twin.to_dict() == joint.to_dict()
    assert twin.project("a").to_dict() == joint.project("a").to_dict()


@table_method
def even(counts: Counts, names: Any) -> Any:
    """Every cell alike."""
    sizes = [counts.study.schema[name].size for name in names]
    return np.full(sizes, 1 / np.prod(sizes))


def test_a_method_of_ones_own_is_pickled_but_has_no_file(tmp_path: Path) -> None:
    model = castell.fit(_reports("independent"), even)
    with pytest.raises(ReportError, match="pickle the model instead"):
        model.save(tmp_path / "m.castell")
    assert list(tmp_path.iterdir()) == []
    twin = copy.copy(model)
    assert twin.estimate("a").probabilities.tolist() == [0.5, 0.5]


# -- files that are wrong --------------------------------------------------------------------------


def _changed(path: Path, name: str, content: bytes) -> None:
    with zipfile.ZipFile(path) as file:
        every = {each: file.read(each) for each in file.namelist()}
    with zipfile.ZipFile(path, "w") as file:
        for each, old in {**every, name: content}.items():
            file.writestr(each, old)


def test_wrong_files_are_refused_in_one_line(tmp_path: Path) -> None:
    model = castell.fit(_reports("independent"), "castell")
    path = tmp_path / "m.castell"
    with pytest.raises(ReportError, match="there is no file"):
        castell.load_model(path)
    with pytest.raises(ReportError, match="is a folder"):
        model.save(tmp_path)
    with pytest.raises(ReportError, match="there is no folder"):
        model.save(tmp_path / "no" / "m.castell")
    path.write_bytes(b"not a model")
    with pytest.raises(ReportError, match="holds no model"):
        castell.load_model(path)
    model.save(path)
    document = json.loads(zipfile.ZipFile(path).read("model.json"))
    for key, value, said in (
        ("format", 99, "of format 99"),
        ("kind", "cup", "is a cup"),
        ("n", [7], "do not belong together"),
        ("method", "no such", "there is no method"),
    ):
        _changed(path, "model.json", json.dumps({**document, key: value}).encode())
        with pytest.raises(CastellError, match=said):
            castell.load_model(path)
    model.save(path)
    _changed(path, "study-0.json", STUDIES["joint"].to_json().encode())
    with pytest.raises(ReportError, match="belongs to another study"):
        castell.load_model(path)
    model.save(path)
    _changed(path, "reports-0.parquet", b"PAR1")
    with pytest.raises(ReportError, match="holds no model"):
        castell.load_model(path)


@pytest.mark.parametrize(
    "document",
    [
        {"class": ["subprocess", "Popen"], "fields": {"args": "true"}},
        {"class": ["castell.counting.parquet", "ParquetCounts"], "fields": {}},
        {"class": ["castell.inference.latent.mixture", "average"], "fields": {}},
        {"class": ["castell.inference.latent.mixture", "np"], "fields": {}},
        {"class": ["castell.inference.latent.mixture", "Mixture"], "fields": {"weights": 1}},
        {"class": ["castell.inference.no_such", "Mixture"], "fields": {}},
        {"call": "print"},
        [1, 2],
    ],
)
def test_a_file_can_name_nothing_but_values(document: Any) -> None:
    with pytest.raises(NotPlainError):
        read(document, [])


def test_a_forged_state_is_not_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = castell.fit(_reports("drawn pairs"), "latent")
    path = tmp_path / "m.castell"
    model.save(path)
    document = json.loads(zipfile.ZipFile(path).read("model.json"))
    document["learned"] = {"class": ["os", "system"], "fields": {"command": "true"}}
    _changed(path, "model.json", json.dumps(document).encode())
    assert same_answers(model, castell.load_model(path))
    assert "what was kept does not suit" in caplog.text


def test_values_come_back_as_they_were() -> None:
    values = {
        "a": (1, 2.5, None, True, "x"),
        frozenset({"b", "c"}): [np.arange(3), np.float64(0.1), {1, 2}],
        "m": Mixture(np.ones(2) / 2, np.ones((2, 3)), (3,)),
    }
    writer = Writer()
    back = read(json.loads(json.dumps(writer.write(values))), writer.arrays)
    assert list(back) == list(values)
    assert back["a"] == values["a"]
    assert type(back["a"]) is tuple
    mixture = back["m"]
    assert isinstance(mixture, Mixture)
    assert mixture.sizes == (3,)
    assert isinstance(back[frozenset({"b", "c"})][1], np.float64)
    for wrong in (print, object(), np.array([object()]), lambda: 1):
        with pytest.raises(NotPlainError):
            Writer().write(wrong)
