"""Systems that collect for themselves: their budget, their training, and how figures find them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import combinations
from math import comb, exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from castell import Attribute, CastellError, Schema
from castell.linear.operators import Floats
from experiments import harness, systems
from experiments.datasets.population import Population
from experiments.harness import Scheme, summarise
from experiments.questions import Question, evaluate
from experiments.settings import Settings
from experiments.systems import dpfedwae


def _people(n: int = 3000, seed: int = 0) -> Population:
    """Three attributes; the first two nearly always agree."""
    generator = np.random.default_rng(seed)
    a = generator.choice(2, n, p=[0.8, 0.2])
    b = np.where(generator.random(n) < 0.9, a, 1 - a)
    c = generator.choice(3, n, p=[0.7, 0.2, 0.1])
    schema = Schema([Attribute("a", range(2)), Attribute("b", range(2)), Attribute("c", range(3))])
    return Population("made-up", schema, {"a": a, "b": b, "c": c}, "made up")


# -- DP-FED-WAE ----------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_no_set_of_parameters_is_more_than_e_to_the_epsilon_likelier(epsilon: float) -> None:
    """Every set that can be sent, for every set of top parameters: by enumeration."""
    size, top = 8, 3
    chances = dpfedwae.chances(size, top, epsilon)
    assert chances.sum() == pytest.approx(1.0)
    tops = list(combinations(range(size), top))
    likely = np.zeros((len(tops), comb(size, dpfedwae.SENT)))
    for i, best in enumerate(tops):
        for j, sent in enumerate(combinations(range(size), dpfedwae.SENT)):
            held = len(set(best) & set(sent))
            same = comb(top, held) * comb(size - top, dpfedwae.SENT - held)
            likely[i, j] = chances[held] / same
    np.testing.assert_allclose(likely.sum(axis=1), 1.0)
    assert (likely.max(axis=0) / likely.min(axis=0)).max() == pytest.approx(exp(epsilon))


def test_votes_are_drawn_as_counted() -> None:
    """What clients send holds as many of their top parameters as it should, and none twice."""
    size, clients = 40, 60_000
    generator = np.random.default_rng(0)
    wanted = np.zeros((clients, size))
    wanted[:, :4] = 5.0  # with sign + these are on top, with sign - they are last
    top = 4
    assert round(dpfedwae.TOP * size) < dpfedwae.SENT == top  # as many as are sent, at least
    votes = dpfedwae.signed_votes(wanted, 2.0, generator)
    chances = dpfedwae.chances(size, top, 2.0)
    mean = float(chances @ np.arange(dpfedwae.SENT + 1)) / top
    # Half the clients have sign + and these four on top. For the others they are the last of
    # all, so among the rest: each is named as often as any of those.
    rest = (dpfedwae.SENT - mean * top) / (size - top)
    expected = clients / 2 * (mean - rest)
    assert votes[:4] == pytest.approx(expected, abs=6 * np.sqrt(clients))


def test_everybody_joins_one_round_only(monkeypatch: pytest.MonkeyPatch) -> None:
    people, seen, spent = _people(500), [], []
    net = dpfedwae.network(people.schema.sizes)
    one_hot, votes = dpfedwae.Network.one_hot, dpfedwae.signed_votes

    def watch(self: Any, codes: Any) -> Any:
        seen.append(len(codes))
        return one_hot(self, codes)

    def count(wanted: Any, epsilon: float, generator: Any) -> Floats:
        spent.append(epsilon)
        return votes(wanted, epsilon, generator)

    monkeypatch.setattr(dpfedwae.Network, "one_hot", watch)
    monkeypatch.setattr(dpfedwae, "signed_votes", count)
    dpfedwae.train(people, 3.0, np.random.default_rng(0))
    assert net.sizes == (2, 2, 3)
    assert sum(seen) <= 500
    assert len(seen) == 500 // dpfedwae.FEWEST
    assert set(spent) == {3.0}


def test_the_autoencoder_learns_and_more_budget_helps() -> None:
    people = _people(12_000)
    truth = people.table(["a", "b"])
    far = []
    for epsilon in (0.01, 12.0):
        answer = dpfedwae.answers(people, epsilon, 3)
        table = answer(("a", "b"))
        assert table.sum() == pytest.approx(1.0)
        far.append(np.abs(table - truth).max())
        np.testing.assert_array_equal(dpfedwae.answers(people, epsilon, 3)(("a", "b")), table)
    assert far[1] < 0.15 < np.abs(0.25 - truth).max()
    assert far[1] < far[0]


def test_without_jax_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    dpfedwae.network.cache_clear()
    with pytest.raises(CastellError, match="castell\\[wae\\]"):
        dpfedwae.answers(_people(50), 1.0, 0)
    dpfedwae.network.cache_clear()


# -- the folder is the registry ------------------------------------------------------------------

NEWCOMER = '''"""Uniform: asks nobody."""
import numpy as np
REPEATS = 2
CALLS = []
def answers(people, epsilon, seed):
    CALLS.append((people.n, epsilon))
    return lambda names: np.full([people.schema[n].size for n in names], 0.25)
'''


@pytest.fixture
def newcomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "nobody.py").write_text(NEWCOMER, encoding="utf-8")
    monkeypatch.setattr(systems, "__path__", [*systems.__path__, str(tmp_path)])
    systems.systems.cache_clear()
    yield "nobody"
    systems.systems.cache_clear()
    sys.modules.pop("experiments.systems.nobody", None)


def test_a_file_in_the_folder_is_a_scheme(newcomer: str) -> None:
    (scheme,) = harness.schemes_named(newcomer)
    assert scheme == Scheme(newcomer, newcomer, repeats=2, system=True)
    assert "dpfedwae" in systems.systems()
    people = _people(200)
    sets = [("a", "b"), ("b", "a")]
    asked = [Question(people, 1.5, sets), Question(people, 1.5, sets[:1])]
    found = evaluate(asked, Settings(), 4, chosen=[scheme])[0][newcomer]
    # All attributes' share, asked once for each repeat however many questions there are.
    assert systems.system(newcomer).CALLS == [(200, 4.5)] * 2
    assert np.isnan(found[2:]).all()
    quick = evaluate(asked, Settings(quick=True), 4, chosen=[scheme])[0][newcomer]
    assert np.isfinite(quick[0]).all()
    assert np.isnan(quick[1:]).all()
    assert found[:2] == pytest.approx(np.abs(people.table(["a", "b"]) - 0.25).max())
    assert summarise(found)["mean"] is not None


def test_a_system_has_no_part_in_the_papers_model(newcomer: str) -> None:
    (scheme,) = harness.schemes_named(newcomer)
    settings = Settings(noise="rounding")
    asked = [Question(_people(200), 1.0, [("a", "b")])]
    (found,) = evaluate(asked, settings, 1, chosen=[scheme])
    assert summarise(found[newcomer])["mean"] is None
