"""Bayesian networks: exact tables, and people drawn; the real ones, where they are at hand."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import chi2

from castell import CastellError
from castell.linear.operators import Floats
from experiments.datasets import networks
from experiments.datasets.networks import Network, from_text
from experiments.datasets.population import DataError
from experiments.datasets.source import local
from tests.experiments.test_bif import GARDEN

SMALL = ("asia", "cancer", "earthquake", "survey")
# Fails by chance less than once in a million, over all its uses here; the seeds are fixed besides.
LEVEL = 1e-9


@pytest.fixture
def garden() -> Network:
    return from_text("garden", GARDEN)


def _real(name: str) -> Network:
    file = networks.FILES[name]
    if local(file) is None:
        pytest.skip(f"NOT TESTED: {file.path} is not at hand (tests fetch nothing)")
    return networks.whole(name)


def _everything(network: Network) -> Floats:
    """The joint distribution of all variables, cell by cell, straight from the definition."""
    place = {node.name: k for k, node in enumerate(network.nodes)}
    shape = [len(node.values) for node in network.nodes]
    table = np.ones(shape)
    for cell in product(*map(range, shape)):
        for node in network.nodes:
            table[cell] *= node.table[tuple(cell[place[n]] for n in (*node.parents, node.name))]
    return table


def _check_tables(network: Network, most: int) -> None:
    """Every table of up to so many attributes, forward and backward, against the whole."""
    whole = _everything(network)
    place = {node.name: k for k, node in enumerate(network.nodes)}
    assert whole.sum() == pytest.approx(1.0, abs=1e-12)
    for width in range(1, most + 1):
        for names in combinations(network.schema.names, width):
            rest = tuple(k for name, k in place.items() if name not in names)
            kept = [name for name in place if name in names]
            expected = whole.sum(axis=rest).transpose([kept.index(name) for name in names])
            np.testing.assert_allclose(network.table(names), expected, atol=1e-13)
            np.testing.assert_allclose(network.table(names[::-1]), expected.T, atol=1e-13)


def _check_sample(network: Network, names: tuple[str, ...], n: int, seed: int) -> None:
    """Pearson's test of a sample against the exact table, rare cells taken together."""
    people = network.sample(n, np.random.default_rng(seed))
    counts, expected = people.table(names).ravel() * n, network.table(names).ravel() * n
    assert (counts[expected == 0.0] == 0.0).all()
    order = np.argsort(expected)
    together = max(2, int((np.cumsum(expected[order]) < 20.0).sum()) + 1)
    counts, expected = counts[order], expected[order]
    counts = np.append(counts[together:], counts[:together].sum())
    expected = np.append(expected[together:], expected[:together].sum())
    assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(LEVEL, len(counts) - 1)


# -- tables and people ---------------------------------------------------------------------------


def test_every_table_is_the_one_of_brute_force(garden: Network) -> None:
    _check_tables(garden, 5)


def test_a_table_of_unknown_attributes_is_refused(garden: Network) -> None:
    with pytest.raises(CastellError, match="did you mean 'rain'"):
        garden.table(["rian"])
    with pytest.raises(CastellError, match="asked for twice"):
        garden.table(["rain", "rain"])


def test_a_part_of_the_questions_leaves_the_truth_as_it_is(garden: Network) -> None:
    part = garden.select(["slip", "mood"])
    assert part.schema.names == ("slip", "mood")
    np.testing.assert_array_equal(part.table(["mood", "slip"]), garden.table(["mood", "slip"]))
    people = part.respondents(7, np.random.default_rng(0))
    assert (people.n, set(people.codes)) == (7, {"slip", "mood"})
    assert people.note == "7 drawn from the Bayesian network 'garden'"
    with pytest.raises(CastellError, match="no attribute 'rain'"):
        part.table(["rain"])


def test_people_are_drawn_as_the_table_says(garden: Network) -> None:
    _check_sample(garden, garden.schema.names, 200_000, seed=11)
    _check_sample(garden.select(["slip", "mood"]), ("mood", "slip"), 200_000, seed=12)


def test_the_same_seed_draws_the_same_people(garden: Network) -> None:
    one, two = (garden.sample(50, np.random.default_rng(3)) for _ in range(2))
    for name in garden.schema.names:
        np.testing.assert_array_equal(one.codes[name], two.codes[name])


# -- the repository's ----------------------------------------------------------------------------


def test_an_unknown_network_is_told_apart() -> None:
    with pytest.raises(DataError, match="did you mean 'alarm'"):
        networks.whole("alrm")


@pytest.mark.parametrize("name", SMALL)
def test_tables_of_small_networks_are_those_of_brute_force(name: str) -> None:
    _check_tables(_real(name), 4)


@pytest.mark.parametrize("name", networks.FILES)
def test_networks_draw_people_as_their_tables_say(name: str) -> None:
    _real(name)
    network = networks.network(name)
    generator = np.random.default_rng(4)
    for seed in range(5):
        names = tuple(generator.permutation(network.schema.names)[:4].tolist())
        _check_sample(network, names, 100_000, seed)


@pytest.mark.parametrize("name", networks.ASKED)
def test_what_is_asked_of_a_wide_network_is_joined_by_arcs(name: str) -> None:
    nodes, asked = {node.name: node for node in _real(name).nodes}, networks.ASKED[name]
    assert len(asked) == 10
    arcs = [{n, p} for n in asked for p in nodes[n].parents if p in asked]
    reached = {asked[0]}
    for _ in asked:
        reached = reached.union(*(arc for arc in arcs if arc & reached))
    assert reached == set(asked)
    assert networks.network(name).schema.names == asked


def test_tables_of_the_widest_network_agree_with_each_other() -> None:
    alarm = _real("alarm")
    generator = np.random.default_rng(5)
    for _ in range(20):
        names = generator.permutation(alarm.schema.names)[:5].tolist()
        table = alarm.table(names)
        assert table.sum() == pytest.approx(1.0, abs=1e-12)
        three = alarm.table([names[k] for k in (0, 2, 4)])
        np.testing.assert_allclose(table.sum(axis=(1, 3)), three, atol=1e-13)
