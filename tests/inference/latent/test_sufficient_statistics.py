"""What is counted for a mixture: against the codes of the reports, and the matrices written out."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from castell import Attribute, KaryResponse, Reports, Schema, Study
from castell.channels import ClearResponse
from castell.counting import MemoryCounts, kernels, samples_of
from castell.inference.inversion import observe
from castell.inference.latent import sufficient_statistics as statistics_module
from castell.inference.latent.em import e_step
from castell.inference.latent.mixture import Mixture
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.sufficient_statistics import (
    BlockTable,
    PairTables,
    sufficient_statistics,
)
from castell.linear.operators import Floats
from castell.study.design import Block, Design
from tests.populations import (
    by_schema,
    collect,
    drawn_studies,
    matrix,
    population,
    rectangular,
    report_distribution,
    schema,
    studies,
)

PEOPLE = population((2, 3, 4), seed=4)
FULL = {
    **studies(),
    "rectangular": rectangular(),
    "two and one": Study(schema((2, 3, 4)), 5.0, [["b", "a"]]),
}
SEVERAL = [name for name in FULL if name != "joint"]


def _reports(study: Study, n: int = 500) -> Reports:
    people = population(study.schema.sizes, seed=4)
    return collect(study, people.table, n, np.random.default_rng(3))


def _owner(study: Study, name: str) -> int:
    return study.design.holders(name)[0]


def _digits(study: Study, name: str) -> NDArray[np.intp]:
    """What each code of the block that holds an attribute says of it: its digit, or all of it."""
    block = study.design.blocks[_owner(study, name)]
    codes = np.arange(block.channel.outputs)
    if not block.reports_answers:
        return codes
    return np.asarray(np.unravel_index(codes, block.sizes)[block.names.index(name)])


def _widths(study: Study) -> list[int]:
    return [int(_digits(study, name).max()) + 1 for name in study.names]


def _pairs(found: list[object]) -> PairTables:
    (pairs,) = [e for e in found if isinstance(e, PairTables)]
    return pairs


def _blocks(found: list[object]) -> list[BlockTable]:
    return [e for e in found if isinstance(e, BlockTable)]


@pytest.mark.parametrize("design", SEVERAL)
def test_pairs_of_attributes_reported_apart_are_counted(design: str) -> None:
    study = FULL[design]
    reports = _reports(study)
    counts = _pairs([*sufficient_statistics(MemoryCounts(reports))]).counts
    ends = np.cumsum((0, *_widths(study)))
    assert counts.shape == (ends[-1], ends[-1])
    np.testing.assert_array_equal(counts, counts.T)
    for (i, one), (k, two) in product(enumerate(study.names), repeat=2):
        table = counts[ends[i] : ends[i + 1], ends[k] : ends[k + 1]]
        if _owner(study, one) == _owner(study, two):
            assert not table.any()
            continue
        # Respondent by respondent.
        wanted = np.zeros_like(table)
        digits = [_digits(study, name)[reports.columns[_owner(study, name)]] for name in (one, two)]
        for pair in zip(*digits, strict=True):
            wanted[pair] += 1
        np.testing.assert_array_equal(table, wanted)
        # And as the other estimators count them, who put them in the order of the blocks.
        seen = observe(MemoryCounts(reports), [one, two]).table
        swapped = _owner(study, one) > _owner(study, two)
        np.testing.assert_array_equal(table, seen.T if swapped else seen)


@pytest.mark.parametrize("design", SEVERAL)
def test_and_seen_through_the_right_channels(design: str) -> None:
    """The chances of two digits, from the distribution of whole reports written out."""
    study = FULL[design]
    forward = _pairs([*sufficient_statistics(MemoryCounts(_reports(study)))]).forward
    chances = report_distribution(study, PEOPLE.table)
    widths = _widths(study)
    for (i, one), (k, two) in combinations(enumerate(study.names), 2):
        if _owner(study, one) == _owner(study, two):
            continue
        wanted = np.zeros((widths[i], widths[k]))
        for codes in np.ndindex(*chances.shape):
            x = _digits(study, one)[codes[_owner(study, one)]]
            y = _digits(study, two)[codes[_owner(study, two)]]
            wanted[x, y] += chances[codes]
        table = PEOPLE.margin([one, two])
        found = forward[i].dense() @ table @ forward[k].dense().T
        np.testing.assert_allclose(found, wanted, atol=1e-14)


@pytest.mark.parametrize("design", FULL)
def test_blocks_of_several_attributes_are_counted_whole(design: str) -> None:
    study = FULL[design]
    reports = _reports(study)
    found = _blocks([*sufficient_statistics(MemoryCounts(reports))])
    wide = [i for i, block in enumerate(study.design.blocks) if len(block.names) > 1]
    assert len(found) == len(wide)
    for one, i in zip(found, wide, strict=True):
        block = study.design.blocks[i]
        assert one.attributes == tuple(study.names.index(name) for name in block.names)
        counted = np.bincount(reports.columns[i], minlength=block.channel.outputs)
        np.testing.assert_array_equal(one.counts, counted)
        np.testing.assert_allclose(one.forward.dense(), matrix(block).T, atol=1e-15)


@pytest.mark.parametrize("design", ["joint", "clusters"])
def test_blocks_that_are_too_wide_are_looked_at_in_pairs(
    design: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics_module, "SETTINGS", replace(SETTINGS, most_table_cells=7))
    study = FULL[design]
    reports = _reports(study)
    found = _blocks([*sufficient_statistics(MemoryCounts(reports))])
    expected = [
        pair
        for block in study.design.blocks
        if len(block.names) > 1
        for pair in combinations(block.names, 2)
    ]
    assert len(found) == len(expected)
    chances = _over_digits(study, report_distribution(study, PEOPLE.table))
    counts = np.zeros(chances.shape)
    codes = [_digits(study, name)[reports.columns[_owner(study, name)]] for name in study.names]
    np.add.at(counts, tuple(codes), 1)
    for one, pair in zip(found, expected, strict=True):
        places = tuple(study.names.index(name) for name in pair)
        assert one.attributes == places
        np.testing.assert_array_equal(one.counts, _summed(counts, places).ravel())
        seen = one.forward.dense() @ PEOPLE.margin(pair).ravel()
        np.testing.assert_allclose(seen, _summed(chances, places).ravel(), atol=1e-14)


def _over_digits(study: Study, chances: Floats) -> Floats:
    """A table of whole reports, an axis for each block, as one with an axis for each attribute."""
    return np.asarray(by_schema(study, chances.ravel()))


def _summed(table: Floats, kept: tuple[int, ...]) -> Floats:
    gone = tuple(i for i in range(table.ndim) if i not in kept)
    left = sorted(kept)
    return np.asarray(table.sum(axis=gone).transpose([left.index(i) for i in kept]))


@pytest.mark.parametrize("design", drawn_studies())
def test_drawn_blocks_each_by_those_who_drew_them(design: str) -> None:
    study = drawn_studies()[design]
    reports = _reports(study)
    found = _blocks([*sufficient_statistics(MemoryCounts(reports))])
    assert len(found) == len(study.design.blocks)
    start = 0
    for one, block in zip(found, study.design.blocks, strict=True):
        mine = reports.columns[0][
            (reports.columns[0] >= start) & (reports.columns[0] < start + block.channel.outputs)
        ]
        counted = np.bincount(mine.astype(int) - start, minlength=block.channel.outputs)
        assert one.attributes == tuple(study.names.index(name) for name in block.names)
        np.testing.assert_array_equal(one.counts, counted)
        np.testing.assert_allclose(one.forward.dense(), matrix(block).T, atol=1e-15)
        start += block.channel.outputs
    assert sum(one.counts.sum() for one in found) == len(reports)


def test_blocks_that_nobody_drew_say_nothing() -> None:
    study = drawn_studies()["pairs"]
    outputs = study.design.blocks[0].channel.outputs
    reports = Reports(study, [np.arange(outputs, dtype=np.uint16)], secure=True)
    assert sum(block.n > 0 for block in samples_of(MemoryCounts(reports))) == 1
    found = _blocks([*sufficient_statistics(MemoryCounts(reports))])
    assert [one.counts.sum() for one in found if one.counts.any()] == [outputs]
    uniform = Mixture(
        np.ones(1), np.concatenate([np.full(k, 1 / k) for k in (2, 3, 4)])[None], (2, 3, 4)
    )
    for one in found:
        if not one.counts.any():
            said = e_step(uniform, [one])
            assert not any(f.any() for f in (said.log_likelihood, said.classes, said.values))


def test_a_drawn_block_of_all_but_what_is_public() -> None:
    """Its sample has every attribute, in another order than the study's: it was taken for that."""
    public = Attribute("a", ["a0", "a1", "a2"], public=True)
    asked = Schema([public, Attribute("c", list("wxyz")), Attribute("d", ["d0", "d1"])])
    blocks = (
        Block(("d", "c"), (2, 4), KaryResponse.with_epsilon(8, 6.0)),
        Block(("d",), (2,), KaryResponse.with_epsilon(2, 6.0)),
        Block(("a",), (3,), ClearResponse(3)),
    )
    study = Study(asked, design=Design(blocks, draw=True))
    n, rng = 40_000, np.random.default_rng(1)
    a = rng.integers(0, 3, n)
    c, d = np.where(rng.random(n) < 0.8, a, 3), np.where(rng.random(n) < 0.9, a == 0, a == 1)
    codes = {"a": a, "c": c, "d": d.astype(int)}
    answers = {k: np.array(asked[k].values)[v] for k, v in codes.items()}
    counts = MemoryCounts(study.randomize(answers, seed=1))
    # Everybody a class of its own kind: the mixture is the people themselves.
    kinds, many = np.unique(np.array([a, c, d]), axis=1, return_counts=True)
    profiles = np.concatenate([np.eye(k)[v] for k, v in zip((3, 4, 2), kinds, strict=True)], axis=1)
    people = Mixture(many / n, np.maximum(profiles, 1e-12), (3, 4, 2))
    found = sufficient_statistics(counts)
    assert [sorted(t.attributes) for t in found if isinstance(t, BlockTable)] == [[0, 1, 2], [0, 2]]
    for table in found:
        expected = table.counts.sum() * table.report_probabilities(people)
        error = np.sqrt(np.maximum(expected, 1.0))
        assert (np.abs(table.counts - expected) < 5.5 * error).all()


def test_one_attribute_is_a_block() -> None:
    study = Study(schema((5,)), 2.0)
    reports = collect(study, np.full(5, 0.2), 100, np.random.default_rng(0))
    (one,) = sufficient_statistics(MemoryCounts(reports))
    assert isinstance(one, BlockTable)
    np.testing.assert_array_equal(one.counts, np.bincount(reports.columns[0], minlength=5))


def test_more_reports_than_fit_in_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    study = FULL["mixed"]
    reports = _reports(study)
    whole = _pairs([*sufficient_statistics(MemoryCounts(reports))]).counts
    monkeypatch.setattr(kernels, "_PAIR_STEP", 7)
    np.testing.assert_array_equal(
        _pairs([*sufficient_statistics(MemoryCounts(reports))]).counts, whole
    )
