"""Counts from a histogram of codes are the counts of the reports themselves."""

import numpy as np
import pytest

from castell import Reports, Study
from castell.counting import Counts, Factor, MemoryCounts, Tally, samples_of, samples_with
from castell.study.design import Axis, Block, Design
from castell.study.schema import Schema
from tests.populations import collect, drawn_studies, population, schema, tiny_drawn

STUDIES = drawn_studies()
each_study = pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)


def drawn(study: Study, n: int = 3000) -> Reports:
    people = population(study.schema.sizes, seed=1)
    return collect(study, people.table, n, np.random.default_rng(2))


def of_block(study: Study, reports: Reports, index: int) -> Reports:
    """The reports of one block as a study of its own, one by one."""
    block, start = study.design.blocks[index], study.design.starts[index]
    codes = [int(code) - start for code in reports.columns[0]]
    mine = [code for code in codes if 0 <= code < block.channel.outputs]
    alone = Study(Schema(study.schema.select(block.names)), design=Design((block,)))
    return Reports(alone, [np.array(mine, dtype=np.int64)], secure=reports.secure)


@each_study
def test_the_blocks_of_a_draw_are_studies_of_their_own(study: Study) -> None:
    reports = drawn(study)
    views = samples_of(MemoryCounts(reports))
    assert sum(view.n for view in views) == len(reports)
    for index, (block, view) in enumerate(zip(study.design.blocks, views, strict=True)):
        assert view.study.names == block.names
        assert view.study.design == Design((block,))
        assert (view.secure, view.backend) == (reports.secure, reports.backend)
        same_counts(view, MemoryCounts(of_block(study, reports, index)), block)


def same_counts(one: Counts, two: Counts, block: Block) -> None:
    assert one.n == two.n
    (codes,) = next(one.batches([0]))
    (others,) = next(two.batches([0]))
    np.testing.assert_array_equal(np.sort(codes), np.sort(others))
    random = np.random.default_rng(0)
    factors = []
    for name in block.names:
        axes = block.axes(0, [name])
        table = one.table(axes)
        assert table.dtype == np.int64
        np.testing.assert_array_equal(table, two.table(axes))
        factors.append(Factor(axes, random.normal(size=table.size)))
    every = block.axes(0, block.names)
    np.testing.assert_array_equal(one.table(every), two.table(every))
    np.testing.assert_array_equal(one.table(every[::-1]), two.table(every[::-1]))
    queries = [factors, factors[:1], factors[::-1][:1], []]
    mine, theirs = one.moments(queries), two.moments(queries)
    assert mine.n == theirs.n
    np.testing.assert_allclose(mine.mean, theirs.mean, atol=1e-12)
    np.testing.assert_allclose(mine.product, theirs.product, atol=1e-12)


def test_a_histogram_is_how_often_each_code_came() -> None:
    study = tiny_drawn()
    reports = Reports(study, [np.array([42, 0, 7, 42, 15])], secure=True)
    views = samples_of(MemoryCounts(reports))
    # Fifteen codes of the first block, then six, seven, thirteen and two.
    assert [view.n for view in views] == [2, 1, 0, 0, 2]
    assert views[4].table([Axis(0, 1, 2, inner=False)]).tolist() == [0, 2]


def test_blocks_without_reports_count_nothing() -> None:
    study = tiny_drawn()
    views = samples_of(MemoryCounts(Reports(study, [np.empty(0, np.uint8)], secure=False)))
    for view, block in zip(views, study.design.blocks, strict=True):
        assert view.n == 0
        assert not view.secure
        assert view.table(block.axes(0, block.names)).sum() == 0
        assert list(view.batches([0])) == []
        moments = view.moments([[]])
        assert (moments.n, moments.mean.tolist()) == (0, [0.0])


def test_large_counts_stay_exact() -> None:
    (block,) = Study(schema((2, 3)), 2.0, "joint").design.blocks
    codes = np.array([2**50 + 1, 3, 2**51 + 1, 5, 2**50 + 7, 11])
    view = Tally.of_table(Study(schema((2, 3)), design=Design((block,))), codes, secure=True)
    assert view.n == codes.sum()
    table = codes.reshape(2, 3)
    for names, axis in ((["a"], 1), (["b"], 0)):
        np.testing.assert_array_equal(view.table(block.axes(0, names)), table.sum(axis=axis))
    moments = view.moments([[Factor((Axis(0, 1, 6, inner=False),), np.arange(6.0))]])
    assert moments.n == codes.sum()
    assert moments.mean[0] == pytest.approx((codes * np.arange(6.0)).sum() / codes.sum())


def test_where_everybody_reports_everything_there_is_one_sample() -> None:
    counts = MemoryCounts(Study(schema((2, 3)), 2.0).randomize({"a": ["a0"], "b": ["b1"]}, seed=1))
    assert samples_of(counts) == (counts,)


def test_samples_are_counted_once() -> None:
    counts = MemoryCounts(drawn(STUDIES["pairs"]))
    assert samples_of(counts) is samples_of(counts)


@each_study
def test_who_reported_some_attributes_together(study: Study) -> None:
    counts = MemoryCounts(drawn(study))
    for names in (study.names[:1], study.names[:2], study.names):
        found = [sample.study.names for sample in samples_with(counts, names)]
        assert found == [b.names for b in study.design.blocks if set(names) <= set(b.names)]
