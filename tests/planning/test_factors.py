"""The associations of a population as factors, and how much of each a model keeps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from castell import Attribute, Schema
from castell.inference.latent.settings import SETTINGS
from castell.linear.operators import Floats
from castell.planning.association import PairNoise
from castell.planning.factors import Factors, factors_of
from castell.planning.population import People, Uniform

SIZES = (2, 3, 4, 3, 2)
SCHEMA = Schema(Attribute(f"q{k}", [str(v) for v in range(s)]) for k, s in enumerate(SIZES))
PAIRS = list(combinations(SCHEMA.names, 2))


class TwoClasses(Uniform):
    """A latent class model of two classes: associations with a single factor."""

    def table(self, names: Sequence[str]) -> Floats:
        found: Floats = np.zeros([self.schema[name].size for name in names])
        for weight, tilt in ((0.4, 0.5), (0.6, -1 / 3)):
            part: Floats = np.array(weight)
            for name in names:
                share = 1.0 + tilt * np.cos(np.arange(self.schema[name].size))
                part = np.multiply.outer(part, share / share.sum())
            found += part
        return found


def test_a_model_of_two_classes_has_one_factor() -> None:
    population = TwoClasses(SCHEMA)
    found = factors_of(population)
    assert found.squares[0] > 1_000 * found.squares[1:].max(initial=0.0)
    for one, two in PAIRS:
        table = population.table([one, two])
        root = np.sqrt(np.outer(table.sum(axis=1), table.sum(axis=0)))
        told = found.sizes[0] * np.outer(found.parts[one][:, 0], found.parts[two][:, 0])
        assert table / root - root == pytest.approx(told, abs=0.001 * found.sizes[0])
    # Their squares over all pairs are those of the tables.
    every = sum(
        float((((t := population.table(list(pair))) - (m := _apart(t))) ** 2 / m).sum())
        for pair in PAIRS
    )
    assert found.squares.sum() == pytest.approx(every, rel=0.001)
    assert found.dimensions[0] == sum(SIZES) - len(SIZES)


def _apart(table: Floats) -> Floats:
    return np.outer(table.sum(axis=1), table.sum(axis=0))


def test_more_is_kept_the_less_noise_there_is() -> None:
    found = factors_of(TwoClasses(SCHEMA))
    kept = [found.kept_shares(dict.fromkeys(PAIRS, noise))[0] for noise in (1e-2, 1e-4, 1e-6)]
    assert kept == sorted(kept)
    assert kept[0] == 0.0  # that is too little to leave independence for
    assert kept[-1] > 0.99


def test_independence_is_left_for_the_gain_of_the_search() -> None:
    """With one factor the gain is known: the search's own threshold parts the two."""
    one = Factors(np.array([0.2]), {n: np.full((2, 1), 0.5) for n in ("a", "b")}, np.inf)
    square, dimensions = float(one.squares[0]), float(one.dimensions[0])

    def gain(noise: float) -> float:
        kept = square / (square + dimensions * noise)
        return (square * (1 - (1 - kept) ** 2) / noise - dimensions * kept**2) / 2

    noises = np.geomspace(1e-1, 1e-5, 200)
    first = next(noise for noise in noises if gain(noise) > SETTINGS.least_gain)
    assert one.kept_shares({("a", "b"): first})[0] > 0.0
    assert one.kept_shares({("a", "b"): 1.1 * first})[0] == 0.0


def test_nothing_is_kept_where_nothing_is_associated() -> None:
    found = factors_of(Uniform(SCHEMA))
    assert found.sizes.size == 0
    assert found.kept_shares(dict.fromkeys(PAIRS, 1e-6)).size == 0
    assert factors_of(TwoClasses(SCHEMA)).kept_shares({}).sum() == 0.0


def test_the_noise_of_few_people_is_no_association() -> None:
    """Of unassociated answers of 200 people all but some of the squares is taken for chance."""
    generator = np.random.default_rng(5)
    codes = {name: generator.integers(0, SCHEMA[name].size, 200) for name in SCHEMA.names}
    sample = factors_of(People(SCHEMA, codes))
    assert sample.kept_shares(dict.fromkeys(PAIRS, 1 / 200)).sum() == 0.0


def test_a_model_errs_by_what_it_leaves_out_and_by_the_noise_it_keeps() -> None:
    one = np.ones((1, 1))
    pair = PairNoise(np.array([0.3]), one, one, np.inf, np.array([4.0]), np.array([1.0]), 0.5)
    n, v = 10_000, 4.0 / (0.5 * 10_000)
    none = pair.residuals(n, np.array([0.3]), np.zeros(1))
    every = pair.residuals(n, np.array([0.3]), np.ones(1))
    half = pair.residuals(n, np.array([0.3]), np.full(1, 0.5))
    assert none.differences**2 - none.variances == pytest.approx([0.09])
    assert none.associations == pytest.approx([0.0])
    # All of the function lies along the factor: its noise comes with it.
    assert every.differences**2 - every.variances == pytest.approx([v])
    learned = (0.25 + 0.25 - 0.0625) * v
    assert half.differences**2 - half.variances == pytest.approx([0.15**2 + learned])
    assert half.associations**2 == pytest.approx([0.15**2 + learned])
