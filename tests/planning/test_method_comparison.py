"""Every method and design tried on answers that are known."""

from __future__ import annotations

import json

import numpy as np
import pytest

from castell import Attribute, Schema, Study
from castell.errors import AnswerError
from castell.estimators import methods_for
from castell.planning import method_comparison
from castell.planning.method_comparison import OWN, MethodComparison, compare_methods

SCHEMA = Schema([Attribute("a", ["no", "yes"]), Attribute("b", ["x", "y", "z"])])


def _answers(n: int = 3000) -> dict[str, list[str]]:
    generator = np.random.default_rng(5)
    a = generator.integers(0, 2, n)
    b = np.where(generator.random(n) < 0.7, a, generator.integers(0, 3, n))
    return {"a": np.array(["no", "yes"])[a].tolist(), "b": np.array(["x", "y", "z"])[b].tolist()}


@pytest.fixture(scope="module")
def found() -> MethodComparison:
    return compare_methods(Study(SCHEMA, epsilon=4.0), _answers(), repeats=2, seed=1)


def test_every_method_that_reads_a_design_is_tried_on_it(found: MethodComparison) -> None:
    tried = {(t.method, t.design) for t in found.tried}
    for design in ("independent", "joint", "singles", "pairs", "bloom"):
        for method in methods_for(Study(SCHEMA, epsilon=4.0, design=design)):
            assert (method, design) in tried
    assert found.widths == (1, 2)
    assert (found.n, found.repeats) == (3000, 2)
    assert found.epsilon == pytest.approx(4.0, abs=1e-3)
    widest = [t.errors[-1] for t in found.tried if t.errors[-1] is not None]
    assert widest == sorted(widest)
    # With one attribute a respondent nobody can tell pairs without a model; the last in the list.
    (castell,) = [t for t in found.tried if (t.method, t.design) == ("castell", "singles")]
    assert castell.errors[0] is not None
    assert castell.errors[1] is None
    assert castell in found.tried[len(widest) :]


def test_errors_are_those_of_real_noise(found: MethodComparison) -> None:
    """No method is as good as knowing, the unbiased one beats knowing nothing, and noise varies."""
    by_name = {(t.method, t.design): t for t in found.tried}
    castell = by_name["castell", "independent"]
    assert castell.errors[1] is not None
    assert 0.0 < castell.errors[1] < found.nothing[1]
    assert all(0.0 < e < 0.2 for e in found.sample)
    assert all(s is not None and s > 0.0 for s in castell.spread)
    more = compare_methods(Study(SCHEMA, epsilon=16.0), _answers(), repeats=2, seed=1)
    (same,) = [t for t in more.tried if (t.method, t.design) == ("castell", "independent")]
    assert same.errors[1] is not None
    assert same.errors[1] < castell.errors[1] / 3


def test_a_design_of_its_own_is_tried_too() -> None:
    own = Study(SCHEMA, design="independent", shares={"a": 1.0, "b": 3.0})
    found = compare_methods(own, _answers(300), repeats=1, seed=2)
    assert OWN in {t.design for t in found.tried}
    assert all(t.spread in ((0.0, 0.0), (0.0, None)) for t in found.tried)
    plain = compare_methods(Study(SCHEMA, epsilon=4.0), _answers(300), repeats=1, seed=2)
    assert OWN not in {t.design for t in plain.tried}


def test_large_tables_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method_comparison, "CELLS", 4)
    found = compare_methods(Study(SCHEMA, epsilon=4.0), _answers(300), repeats=1, seed=2)
    assert found.widths == (1,)
    assert "joint" not in {t.design for t in found.tried}


def test_it_is_told_in_words_as_numbers_and_as_a_picture(found: MethodComparison) -> None:
    lines = found.summary().splitlines()
    assert lines[0].startswith("3,000 people, epsilon 4 in all, 2 collections")
    assert len(lines) == 3 + len(found.tried) + 2
    assert json.loads(json.dumps(found.to_dict()))["tried"][0]["method"] == found.tried[0].method
    drawn = json.dumps(found.plot().to_dict())
    assert f"{found.tried[0].method}, {found.tried[0].design}" in drawn
    assert "(asked openly)" in drawn
    assert "(knowing nothing)" in drawn


def test_wrong_answers_are_called_answers() -> None:
    with pytest.raises(AnswerError, match=r"^answers: "):
        compare_methods(Study(SCHEMA, epsilon=4.0), {"a": ["none of these"], "b": ["x"]})
