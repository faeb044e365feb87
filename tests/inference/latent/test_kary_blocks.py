"""Blocks that are stacked say what they say one by one."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
import pytest

from castell.inference.latent import kary_blocks
from castell.inference.latent.em import (
    CountedTable,
    OverRelaxedEM,
    composite_log_likelihood,
    e_step,
    stack_tables,
)
from castell.inference.latent.kary_blocks import KaryBlocks, side_by_side
from castell.inference.latent.mixture import Mixture, random_start
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.sufficient_statistics import BlockTable
from castell.linear.operators import Dense, Uniform

SIZES = (2, 3, 40, 5, 4)
BLOCKS = ((0, 1), (1, 0, 4), (3,), (2, 1), (4, 3), (0, 1, 3, 4), (2,), (3, 1), (1, 3))


def mixture(seed: int, classes: int = 3) -> Mixture:
    generator = np.random.default_rng(seed)
    margins = [generator.dirichlet(np.ones(size)) for size in SIZES]
    return random_start(margins, classes, 1.0, generator)


def tables(seed: int) -> list[CountedTable]:
    """Reports of blocks of all shapes; two of them through a matrix that is not k-ary."""
    generator = np.random.default_rng(seed)
    found: list[CountedTable] = []
    for number, attributes in enumerate(BLOCKS):
        cells = prod(SIZES[a] for a in attributes)
        counts = generator.integers(30, size=cells).astype(np.float64)
        # One channel tells everything: what nobody answers is never reported.
        rest = 0.5 / cells if number != 4 else 0.0
        found.append(BlockTable(attributes, Uniform(cells, 1.0 - (cells - 1) * rest, rest), counts))
    for attributes in ((0, 3), (1,)):
        cells = prod(SIZES[a] for a in attributes)
        matrix = generator.dirichlet(np.ones(cells + 2), cells).T
        found.append(BlockTable(attributes, Dense(matrix), np.ones(cells + 2)))
    return found


def in_pieces(monkeypatch: pytest.MonkeyPatch, stacked: int, spare: int) -> None:
    few = replace(SETTINGS, stacked=stacked, spare_cells=spare)
    monkeypatch.setattr(kary_blocks, "SETTINGS", few)


@pytest.mark.parametrize("many", [1, 4])
@pytest.mark.parametrize(
    ("stacked", "spare", "stacks"), [(512, 10_000, 1), (512, 0, 3), (1, 0, 9), (40, 10_000, 4)]
)
def test_one_step_for_all(
    many: int, stacked: int, spare: int, stacks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_pieces(monkeypatch, stacked, spare)
    every = [tables(seed) for seed in range(many)]
    alone = stack_tables(every) if many > 1 else every[0]
    models = [mixture(seed) for seed in range(many)]
    model = Mixture.stack(models) if many > 1 else models[0]
    together = side_by_side(alone, SIZES)
    assert sum(isinstance(table, KaryBlocks) for table in together) == stacks
    assert len(together) == stacks + 2
    wanted, found = e_step(model, alone), e_step(model, together)
    np.testing.assert_allclose(found.classes, wanted.classes, rtol=1e-11)
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(found.log_likelihood, wanted.log_likelihood, rtol=1e-12)
    judged = [composite_log_likelihood(model, each) for each in (alone, together)]
    assert judged[1] == pytest.approx(judged[0], rel=1e-12)


def test_reports_of_everybody_for_several_models() -> None:
    """Starts are fitted at once, all to the same reports."""
    alone, model = tables(1), Mixture.stack([mixture(seed) for seed in range(3)])
    wanted, found = e_step(model, alone), e_step(model, side_by_side(alone, SIZES))
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(found.log_likelihood, wanted.log_likelihood, rtol=1e-12)


def test_fits_go_the_same_way() -> None:
    """Steps that are taken back are those of some of several fits."""
    every = stack_tables([tables(seed) for seed in range(4)])
    models = Mixture.stack([mixture(seed) for seed in range(4)])
    one, two = OverRelaxedEM(models, every), OverRelaxedEM(models, side_by_side(every, SIZES))
    taken_back = 0
    for _ in range(40):
        before = one._eta.copy()
        one.step(), two.step()
        taken_back += int((one._eta < before).sum())
        np.testing.assert_allclose(two.mixture.profiles, one.mixture.profiles, atol=1e-9)
    assert taken_back > 0


def test_blocks_of_like_size_fill_each_other_up() -> None:
    """What is filled up is no more than what is there, so that wide attributes cost themselves."""
    sizes = (*[2] * 30, 300, 200)
    pairs = [(a, b) for a in range(30) for b in range(a)] + [(30, 31), (31, 0), (30,)]
    found = []
    for attributes in pairs:
        cells = prod(sizes[a] for a in attributes)
        found.append(BlockTable(attributes, Uniform(cells, 0.5, 0.5 / (cells - 1)), np.ones(cells)))
    stacks = side_by_side(found, sizes)
    cells = sum(table.counts.size for table in found)
    arrays = [table.counts for table in stacks if isinstance(table, KaryBlocks)]
    kept = sum(counts.size for counts in arrays)
    assert kept <= 2 * cells + len(stacks) * SETTINGS.spare_cells
    assert len(stacks) < 8
    assert sum(counts.sum() for counts in arrays) == cells
