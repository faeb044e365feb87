"""Populations by name: rows of a file and networks, treated alike."""

from __future__ import annotations

import numpy as np
import pytest

from castell import CastellError
from experiments import datasets
from experiments.datasets import census1990, networks, truth
from experiments.datasets.networks import from_text
from experiments.datasets.population import DataError, Population, from_labels
from experiments.datasets.truth import Rows, Truth, names, truth_of

TINY = from_labels("tiny", {"a": list("xyxx"), "b": list("uvvu")}, "made up")
NETWORK = from_text(
    "net",
    "variable a { type discrete [ 2 ] { x, y }; } variable b { type discrete [ 2 ] { u, v }; }"
    "probability ( a ) { table 0.75, 0.25; }"
    "probability ( b | a ) { (x) 0.6666667, 0.3333333; (y) 0, 1; }",
)


def test_every_population_has_a_name_and_an_unknown_one_is_told_apart() -> None:
    assert names() == (
        "adult", "german", "nursery", "census", "fair", "fair_pt", "anes96", "randhie", "births",
        "elderly", "asia", "cancer", "earthquake", "survey", "sachs", "child", "insurance", "alarm",
    )  # fmt: skip
    with pytest.raises(DataError, match="did you mean 'nursery'"):
        truth_of("nursrey")


@pytest.mark.parametrize("known", [Rows(TINY), NETWORK], ids=["rows", "network"])
def test_rows_and_networks_are_alike(known: Truth) -> None:
    np.testing.assert_allclose(known.table(["b", "a"]), [[0.5, 0.0], [0.25, 0.25]], atol=1e-7)
    part = known.select(["b"])
    assert part.schema.names == ("b",)
    assert (part.name, part.note) == (known.name, known.note)
    people = known.respondents(1000, np.random.default_rng(1))
    assert people.n == 1000
    assert people.name == known.name
    assert people.note.startswith("1,000 drawn")
    assert people.note.endswith(known.note)
    # Seven standard deviations of a share of a half.
    assert np.abs(people.table(["b", "a"]) - known.table(["b", "a"])).max() < 7 * 0.5 / 1000**0.5
    again = known.respondents(1000, np.random.default_rng(1))
    np.testing.assert_array_equal(people.codes["a"], again.codes["a"])
    with pytest.raises(CastellError, match="no attribute 'c'"):
        known.table(["c"])


def test_rows_are_drawn_whole_and_more_than_once() -> None:
    people = Rows(TINY).respondents(500, np.random.default_rng(2))
    pairs = set(zip(people.codes["a"].tolist(), people.codes["b"].tolist(), strict=True))
    assert pairs == {(0, 0), (1, 1), (0, 1)}


@pytest.mark.parametrize("name", ["adult", "fair"])
def test_a_name_leads_to_the_rows_and_they_are_read_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def tiny() -> Population:
        read.append(name)
        return TINY

    monkeypatch.setitem(truth._PEOPLE, name, tiny)
    truth._load.cache_clear()
    assert truth_of(name) is truth_of(name)
    assert truth_of(name).schema is TINY.schema
    assert read == [name]
    truth._load.cache_clear()


def test_a_name_leads_to_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "whole", lambda _: NETWORK)
    truth._load.cache_clear()
    assert truth_of("asia") is NETWORK
    truth._load.cache_clear()


def test_the_census_asks_twelve_questions_of_two_to_ten_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    domains = census1990.domains()
    lines = [",".join(domains)]
    lines += [",".join(str(v[k % len(v)]) for v in domains.values()) for k in range(20)]
    whole = census1990.read("\n".join(lines).encode(), "made up")
    monkeypatch.setattr(datasets, "load", lambda _: whole)
    people = truth.census()
    assert len(people.schema) == 12
    assert all(2 <= size <= 10 for size in people.schema.sizes)
    assert people.note == "made up"
