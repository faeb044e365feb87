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
from experiments import harness, probes, systems
from experiments.datasets.population import Population
from experiments.harness import Scheme, summarise
from experiments.questions import Question, evaluate
from experiments.settings import Settings
from experiments.systems import _signds, dpfedwae, locop_published


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
@pytest.mark.parametrize("needed", [1, 2, 4])
def test_no_set_of_parameters_is_more_than_e_to_the_epsilon_likelier(
    epsilon: float, needed: int
) -> None:
    """Every set that can be sent, for every set of top parameters: by enumeration."""
    size, top, sent = 8, 3, 4
    needed = min(needed, top)
    chances = _signds.chances(size, top, sent, needed, epsilon)
    assert chances.sum() == pytest.approx(1.0)
    tops = list(combinations(range(size), top))
    likely = np.zeros((len(tops), comb(size, sent)))
    for i, best in enumerate(tops):
        for j, drawn in enumerate(combinations(range(size), sent)):
            held = len(set(best) & set(drawn))
            same = comb(top, held) * comb(size - top, sent - held)
            likely[i, j] = chances[held] / same
    np.testing.assert_allclose(likely.sum(axis=1), 1.0)
    assert (likely.max(axis=0) / likely.min(axis=0)).max() == pytest.approx(exp(epsilon))


def test_the_more_budget_the_more_parameters_are_sent() -> None:
    plans = [_signds.plan(2000, 100, epsilon) for epsilon in (1.0, 8.0, 32.0, 600.0)]
    assert [p.sent for p in plans[1:]] == sorted(p.sent for p in plans[1:])
    held = [p.held / p.sent for p in plans]  # the share of what is sent that is on top
    assert held == sorted(held)
    assert plans[-1].sent == 100
    assert held[-1] == pytest.approx(1.0)
    assert all(1 <= p.needed <= p.sent for p in plans)


def test_votes_are_drawn_as_counted() -> None:
    """What clients send holds as many of their top parameters as it should, and none twice."""
    size, clients = 40, 8_000
    generator = np.random.default_rng(0)
    wanted = np.zeros((clients, size))
    wanted[:, :4] = 5.0  # with sign + these are on top, with sign - they are last
    how = _signds.Plan(4, 4, 2, _signds.chances(size, 4, 4, 2, 2.0))
    votes, sizes = _signds.signed_votes(wanted, how, generator)
    assert set(sizes) == {5.0, 0.0}
    mean = float(how.chances @ np.arange(5)) / 4
    # Half the clients have sign + and these four on top. For the others they are the last of
    # all, so among the rest: each is named as often as any of those.
    rest = (4 - mean * 4) / (size - 4)
    expected = clients / 2 * (mean - rest)
    assert votes[:4] == pytest.approx(expected, abs=6 * np.sqrt(clients))


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_the_bit_is_randomised_response(epsilon: float) -> None:
    below = np.arange(200_000) < 50_000
    told = _signds.magnitude_bits(below, epsilon, np.random.default_rng(1))
    kept = exp(epsilon) / (exp(epsilon) + 1)
    assert (told[:50_000]).mean() == pytest.approx(kept, abs=6 * 0.5 / np.sqrt(50_000))
    assert (told[50_000:]).mean() == pytest.approx(1 - kept, abs=6 * 0.5 / np.sqrt(150_000))


def test_the_magnitude_grows_until_most_are_below_and_then_halves() -> None:
    actual, found, seen = 0.1, _signds.Magnitude(), []
    for _ in range(12):
        found = found.after(np.full(100, actual < found.asked), 50.0)
        seen.append(found.estimate)
    assert not found.grows
    assert seen[-1] <= actual < 2 * max(seen)
    shrunk = found
    for _ in range(3):
        shrunk = shrunk.after(np.ones(100, dtype=bool), 50.0)
    assert shrunk.estimate == found.estimate / 8
    # A coin's majority is none.
    half = np.arange(100) < 52
    assert found.after(half, 0.1) == found


def test_everybody_joins_one_round_only(monkeypatch: pytest.MonkeyPatch) -> None:
    people, seen, spent = _people(500), [], []
    net = dpfedwae.network(people.schema.sizes)
    one_hot, plan = dpfedwae.Network.one_hot, _signds.plan
    bits, told = _signds.magnitude_bits, list[float]()

    def watch(self: Any, codes: Any) -> Any:
        seen.append(len(codes))
        return one_hot(self, codes)

    def count(size: int, top: int, epsilon: float) -> _signds.Plan:
        spent.append(epsilon)
        return plan(size, top, epsilon)

    def tell(below: Any, epsilon: float, generator: Any) -> Any:
        told.append(epsilon)
        return bits(below, epsilon, generator)

    monkeypatch.setattr(dpfedwae.Network, "one_hot", watch)
    monkeypatch.setattr(dpfedwae, "plan", count)
    monkeypatch.setattr(dpfedwae, "magnitude_bits", tell)
    dpfedwae.train(people, 3.0, np.random.default_rng(0))
    assert net.sizes == (2, 2, 3)
    assert sum(seen) <= 500
    assert len(seen) == 500 // dpfedwae.FEWEST
    # What the set and the bit cost is all that a client spends.
    assert np.add(spent, told) == pytest.approx(3.0)


def test_the_autoencoder_learns_and_more_budget_helps() -> None:
    """By the margins: at most half the uniform table's error, where budget is no matter."""
    people = _people(6_000)
    truth = {name: people.table([name]) for name in people.schema.names}
    nothing = np.mean([np.abs(1 / t.size - t).max() for t in truth.values()])
    far = []
    for epsilon in (0.01, 600.0):
        answer = dpfedwae.answers(people, epsilon, 3)
        assert answer(("a", "b")).sum() == pytest.approx(1.0)
        far.append(np.mean([np.abs(answer((name,)) - t).max() for name, t in truth.items()]))
    assert far[1] < nothing / 2
    assert far[1] < far[0]
    again = dpfedwae.answers(people, 600.0, 3)
    np.testing.assert_array_equal(again(("a", "b")), answer(("a", "b")))
    plain = dpfedwae.answers(people, 600.0, 3, private=False)
    assert np.mean([np.abs(plain((n,)) - t).max() for n, t in truth.items()]) < nothing / 4


def test_with_many_attributes_it_learns_without_privacy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The penalty grows with the attributes as the cross entropy does.

    Else sixty that go together outweigh it: codes leave the prior, and what is sampled from the
    prior is nobody's.
    """
    generator = np.random.default_rng(3)
    kinds, n = generator.random(2000) < 0.2, 2000
    codes = {
        f"a{k}": np.where(generator.random(n) < 0.95, kinds, ~kinds).astype(np.intp)
        for k in range(60)
    }
    people = Population("wide", Schema([Attribute(name, range(2)) for name in codes]), codes, "")

    def far() -> float:
        dpfedwae.network.cache_clear()
        answer = dpfedwae.answers(people, 1.0, 0, private=False)
        return float(np.mean([np.abs(answer((n,)) - people.table([n])).max() for n in codes]))

    nothing = np.mean([np.abs(0.5 - people.table([name])).max() for name in codes])
    assert far() < nothing / 10
    monkeypatch.setattr(dpfedwae, "PENALTY", 20.0 / 60)
    assert far() > nothing / 10
    dpfedwae.network.cache_clear()


def test_more_passes_come_nearer_and_cost_privacy() -> None:
    """Of attributes that are independent, where what is left is how little one pass learns."""
    generator = np.random.default_rng(4)
    codes = {f"a{k}": generator.choice(4, 2000, p=[0.6, 0.2, 0.15, 0.05]) for k in range(4)}
    schema = Schema([Attribute(name, range(4)) for name in codes])
    people = Population("apart", schema, codes, "")

    def far(passes: int) -> float:
        answer = dpfedwae.answers(people, 1.0, 3, private=False, passes=passes)
        return float(np.mean([np.abs(answer((n,)) - people.table([n])).max() for n in codes]))

    assert far(8) < far(1) / 2
    with pytest.raises(CastellError, match="takes part once"):
        dpfedwae.answers(people, 1.0, 0, passes=2)


def test_without_jax_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    dpfedwae.network.cache_clear()
    with pytest.raises(CastellError, match="castell\\[wae\\]"):
        dpfedwae.answers(_people(50), 1.0, 0)
    dpfedwae.network.cache_clear()


# -- LoCop on Bloom filters ----------------------------------------------------------------------


def test_locop_as_published_reads_bloom_filters() -> None:
    """Margins come out; the rates of single bits hold no more, so pairs are the copula's guess."""
    people = _people(20_000)
    answer = locop_published.answers(people, 36.0, 5)
    for name in people.schema.names:
        assert answer((name,)) == pytest.approx(people.table([name]), abs=0.03)
    assert answer(("a", "b", "c")).sum() == pytest.approx(1.0)
    again = locop_published.answers(people, 36.0, 5)
    np.testing.assert_array_equal(again(("a", "b")), answer(("a", "b")))
    (scheme,) = harness.schemes_named("locop, as published")
    assert (scheme.method, scheme.system, scheme.repeats) == ("locop_published", True, 3)
    assert probes.of_scheme(scheme, "real")


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
