"""One block for each respondent: drawn whatever they answer, and told apart in one code."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, chisquare

import castell
import castell.device.answer_file
from castell import Reports, Study, randomize_file, scan_reports
from castell.channels import CyclicResponse, Words
from castell.channels.difference_sets import singer
from castell.device.random_words import Source, numbers_below, seeded_words
from castell.device.respond import block_codes, draw_samples, report_columns, respond
from castell.errors import ReportError
from castell.study.design import Block, Design
from tests.coarse_studies import coarse_studies
from tests.populations import drawn_matrix, drawn_studies, population, schema, tiny_drawn

TINY = tiny_drawn()
COARSE = coarse_studies(schema((2, 3, 4)))
STUDIES = drawn_studies()
each_study = pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)


def drawn_reports(design: Design, codes: dict[str, NDArray[np.intp]], words: Source) -> Any:
    """The one column of a drawn design, with all words from one source as for a frame."""
    rows = len(next(iter(codes.values())))
    (column,) = report_columns(design, codes, draw_samples(design, rows, words), lambda _: words)
    return column


def every_answer(study: Study) -> NDArray[np.intp]:
    """All combinations of answers, a row each."""
    return np.array(list(np.ndindex(*study.schema.sizes)))


def codes_of(study: Study, rows: NDArray[np.intp]) -> dict[str, NDArray[np.intp]]:
    return dict(zip(study.names, rows.T, strict=True))


# -- what the device does, by enumeration --------------------------------------------------------


def enumerated(study: Study, answers: NDArray[np.intp]) -> list[list[Fraction]]:
    """The exact chance of every code for each row of answers, from all numbers there are."""
    design, table = study.design, []
    for row in answers:
        chances = [Fraction(0)] * design.widths[0]
        owners = [i for i, weight in enumerate(design.weights) for _ in range(weight)]
        for place, i in enumerate(owners):
            total = design.blocks[i].channel.total

            def tape(words: list[NDArray[np.uint64]]) -> Source:
                return lambda count: words.pop(0)[:count]

            # The first words draw the block, the next ones the number that makes the report.
            words = [np.full(total, place, dtype=np.uint64), np.arange(total, dtype=np.uint64)]
            reports = drawn_reports(design, codes_of(study, np.tile(row, (total, 1))), tape(words))
            for code, times in zip(*np.unique(reports, return_counts=True), strict=True):
                chances[int(code)] += Fraction(int(times), total * len(owners))
        table.append(chances)
    return table


def test_every_number_gives_every_code_its_chance_and_no_more_is_told_than_stated() -> None:
    table = enumerated(TINY, every_answer(TINY))
    np.testing.assert_allclose(np.array(table, dtype=float), drawn_matrix(TINY), rtol=1e-14)
    assert all(sum(row) == 1 for row in table)
    # Every pair of respondents, every report: the worst ratio is what the study states.
    worst = max(max(column) / min(column) for column in zip(*table, strict=True))
    assert worst == 4  # of the block that tells most, not of all of them together
    assert TINY.design.exact_epsilon == max(b.channel.exact_epsilon for b in TINY.design.blocks)
    assert abs(TINY.design.exact_epsilon - Decimal(4).ln()) < Decimal("1e-25")
    assert np.log(4) <= TINY.epsilon <= np.nextafter(np.log(4), 2)


@pytest.mark.parametrize("name", ["three to one", "all kinds", "twice the same questions"])
def test_no_report_of_a_coarse_and_unequal_design_tells_more_than_stated(name: str) -> None:
    """Every pair of answers, every report, by castell's own device for every number: exactly."""
    study = COARSE[name]
    table = enumerated(study, every_answer(study))
    assert all(sum(row) == 1 for row in table)
    ratios = [max(column) / min(column) for column in zip(*table, strict=True)]
    bound = study.design.exact_epsilon
    for ratio in ratios:
        loss = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        assert loss <= bound + Decimal("1e-25")
    # It is attained, so nothing smaller could be stated.
    worst = max(ratios)
    true = (Decimal(worst.numerator) / Decimal(worst.denominator)).ln()
    assert abs(true - bound) < Decimal("1e-25")
    # What is asked is known, and says nothing of the answers: each block has its weight.
    starts = [*study.design.starts, study.design.widths[0]]
    for row in table:
        drawn = [sum(row[a:b]) for a, b in pairwise(starts)]
        total = sum(study.design.weights)
        assert drawn == [Fraction(weight, total) for weight in study.design.weights]


@each_study
def test_the_stated_epsilon_is_the_worst_of_all_reports(study: Study) -> None:
    chances = drawn_matrix(study)
    worst = np.log((chances.max(axis=0) / chances.min(axis=0)).max())
    assert study.epsilon == pytest.approx(worst, rel=1e-12)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-12)


# -- which block is drawn ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tiny", "pairs", "cyclic"])
def test_a_million_drawn_reports_have_the_chances(name: str) -> None:
    study = STUDIES[name]
    # A few sets of answers, some of them rare.
    answers = every_answer(study)[[0, 3, 7, -1]]
    which = np.random.default_rng(5).choice(4, 1_200_000, p=[0.4, 0.3, 0.2, 0.1])
    reports = drawn_reports(study.design, codes_of(study, answers[which]), seeded_words(17))
    width = study.design.widths[0]
    seen = np.bincount(which * width + reports, minlength=4 * width).reshape(4, width)
    rows = [int(np.ravel_multi_index(tuple(row), study.schema.sizes)) for row in answers]
    expected = drawn_matrix(study)[rows] * seen.sum(axis=1, keepdims=True)
    assert expected.min() > 20
    statistic = ((seen - expected) ** 2 / expected).sum(axis=1)
    assert chi2.sf(statistic, width - 1).min() > 1e-6
    # The draw alone: uniform over blocks, for each of the answers.
    ends = [*study.design.starts, width]
    drawn = np.add.reduceat(seen, ends[:-1], axis=1)
    even = seen.sum(axis=1, keepdims=True) / len(study.design.blocks)
    alone = ((drawn - even) ** 2 / even).sum(axis=1)
    assert chi2.sf(alone, len(study.design.blocks) - 1).min() > 1e-6


WEIGHTS = [(3, 1), (1, 3), (20, 15, 4, 1), (1, 1000), (2**52 + 1, 2**51, 2**50 + 2)]


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_blocks_are_drawn_as_often_as_they_weigh(weights: tuple[int, ...]) -> None:
    block, n = TINY.design.blocks[0], 1_000_000
    design = Design((block,) * len(weights), draw=True, weights=weights)
    drawn = draw_samples(design, n, seeded_words(23))
    seen = np.bincount(drawn, minlength=len(weights))
    expected = n * (np.array(weights) / sum(weights))
    assert chisquare(seen, expected).pvalue > 1e-7
    assert chisquare(seen, np.roll(expected, 1)).pvalue < 1e-7  # others would be seen


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_a_block_owns_as_many_numbers_as_it_weighs(weights: tuple[int, ...]) -> None:
    """The numbers at both ends of each."""
    design = Design((TINY.design.blocks[0],) * len(weights), draw=True, weights=weights)
    ends = [0, *accumulate(weights)]
    for block, (first, beyond) in enumerate(pairwise(ends)):
        numbers = np.array([first, beyond - 1], dtype=np.uint64)
        found = draw_samples(design, 2, lambda count, words=numbers: words[:count])  # type: ignore[misc]
        assert found is not None
        assert found.tolist() == [block, block]


class Counting:
    """A seeded source that writes down how many words were asked for, call by call."""

    def __init__(self, seed: int) -> None:
        self.words, self.calls = seeded_words(seed), list[int]()

    def __call__(self, count: int) -> Words:
        self.calls.append(count)
        return self.words(count)


@each_study
def test_the_draw_and_the_words_do_not_depend_on_the_answers(study: Study) -> None:
    rows, every = 50_000, every_answer(study)
    seen, blocks = [], []
    for answers in (
        np.tile(every[0], (rows, 1)),
        np.tile(every[-1], (rows, 1)),
        every[np.random.default_rng(1).integers(0, len(every), rows)],
    ):
        source = Counting(8)
        reports = drawn_reports(study.design, codes_of(study, answers), source)
        seen.append(source.calls)
        blocks.append(np.searchsorted(study.design.starts, reports, side="right"))
    assert seen[0] == seen[1] == seen[2]
    np.testing.assert_array_equal(blocks[0], blocks[1])
    np.testing.assert_array_equal(blocks[0], blocks[2])


@each_study
def test_an_answer_touches_no_other_report_and_no_block_that_lacks_it(study: Study) -> None:
    every = every_answer(study)
    answers = every[np.random.default_rng(2).integers(0, len(every), 5000)]
    reports = drawn_reports(study.design, codes_of(study, answers), seeded_words(3))
    for column, name in enumerate(study.names):
        changed = answers.copy()
        changed[::2, column] = (changed[::2, column] + 1) % study.schema[name].size
        other = drawn_reports(study.design, codes_of(study, changed), seeded_words(3))
        moved = np.flatnonzero(other != reports)
        assert (moved % 2 == 0).all()
        assert len(moved) > 0
        drawn = np.searchsorted(study.design.starts, reports[moved], side="right") - 1
        assert set(drawn) <= set(study.design.holders(name))


# -- codes ---------------------------------------------------------------------------------------


@each_study
def test_a_code_is_a_block_and_a_report_of_it(study: Study) -> None:
    design = study.design
    outputs = [block.channel.outputs for block in design.blocks]
    assert design.widths == (sum(outputs),)
    assert list(design.starts) == list(accumulate(outputs, initial=0))[:-1]
    pairs = [(i, y) for i, many in enumerate(outputs) for y in range(many)]
    assert [design.starts[i] + y for i, y in pairs] == list(range(design.widths[0]))


@each_study
def test_reports_of_a_frame_are_those_of_the_blocks(study: Study) -> None:
    people = population(study.schema.sizes, seed=2)
    reports = study.randomize(people.answers(3000, 1), seed=4)
    (column,) = reports.columns
    assert column.dtype == np.min_scalar_type(study.design.widths[0] - 1)
    assert not reports.secure
    # The same words through the same channels: first the draw, then block by block.
    words, codes = seeded_words(4), people.codes(3000, 1)
    chosen = numbers_below(len(study.design.blocks), 3000, words)
    start = 0
    for i, block in enumerate(study.design.blocks):
        mine = np.flatnonzero(chosen == i)
        held = block_codes(block, {name: codes[name][mine] for name in block.names})
        expected = respond(block.channel, held, words).astype(int) + start
        np.testing.assert_array_equal(column[mine], expected)
        start += block.channel.outputs


def test_wide_reports_fit_their_column() -> None:
    study = Study(schema((16, 17, 18)), 8.0, "pairs")
    width = study.design.widths[0]
    assert width == 16 * 17 + 16 * 18 + 17 * 18 > 256
    people = population((16, 17, 18))
    (column,) = study.randomize(people.answers(5000, 1), seed=1).columns
    assert column.dtype == np.uint16
    last = study.design.starts[2]
    assert 0.3 < (column >= last).mean() < 0.37
    assert column.max() < width


@pytest.mark.parametrize("rows", [0, 1])
@each_study
def test_one_respondent_and_none(study: Study, rows: int) -> None:
    answers = population(study.schema.sizes).answers(rows, 0)
    reports = study.randomize(answers)
    assert len(reports) == rows
    assert len(reports.columns) == 1
    assert reports.secure


def test_one_attribute_has_one_set() -> None:
    for design in ("singles", "pairs", "cover"):
        study = Study(schema((3,)), 1.0, design)
        assert [block.names for block in study.design.blocks] == [("a",)]
        assert study.design.draw
        seen = {int(study.randomize({"a": ["a1"]}, seed=s).columns[0][0]) for s in range(60)}
        assert seen == {0, 1, 2}


# -- as columns and files ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([[0, 43]], "row 2, 'drawn': 43 is not a report"),
        ([[0, -1]], "row 2, 'drawn': -1 is not a report"),
        ([[0], [0]], "2 columns for 1 blocks"),
        ([], "0 columns for 1 blocks"),
        ([[0.0]], "integers"),
    ],
)
def test_what_is_no_drawn_report_is_refused(columns: list[Any], message: str) -> None:
    assert TINY.design.widths == (43,)
    assert len(Reports(TINY, [np.array([0, 42])], secure=True)) == 2
    with pytest.raises(ReportError, match=message):
        Reports(TINY, [np.array(column) for column in columns], secure=True)


def test_drawn_reports_have_no_labels() -> None:
    reports = Reports(TINY, [np.array([0, 42])], secure=True)
    with pytest.raises(ReportError, match="no frame of labels"):
        reports.to_frame()


def test_set_valued_reports_have_no_labels_even_if_there_are_as_many() -> None:
    channel = CyclicResponse(15, 15, singer(2, 4), 3, 1)
    study = Study(schema((3, 5)), design=Design((Block(("a", "b"), (3, 5), channel),)))
    reports = study.randomize({"a": ["a0"], "b": ["b4"]})
    assert not study.design.draw
    with pytest.raises(ReportError, match="have no labels"):
        reports.to_frame()


@each_study
def test_drawn_reports_come_back_from_a_file(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    made = study.randomize(population(study.schema.sizes).answers(2000, 3), seed=6)
    made.save(path)
    assert pq.read_schema(path).names == ["drawn"]
    loaded = Reports.load(path, study)
    np.testing.assert_array_equal(loaded.columns[0], made.columns[0])
    assert loaded.columns[0].dtype == made.columns[0].dtype
    assert not loaded.secure
    for method in ("castell", "independent"):
        one = castell.estimate(made, study.names[:1], method)
        for counts in (loaded, scan_reports(path, study)):
            two = castell.estimate(counts, study.names[:1], method)
            np.testing.assert_array_equal(one.probabilities, two.probabilities)
            np.testing.assert_array_equal(one.standard_errors, two.standard_errors)
            np.testing.assert_array_equal(one.conf_int(), two.conf_int())
            assert two.n == 2000


@pytest.mark.parametrize("read", [Reports.load, castell.scan_reports])
def test_files_of_another_draw_or_with_codes_that_cannot_be(
    read: Callable[[Path, Study], Any], tmp_path: Path
) -> None:
    path = tmp_path / "r.parquet"
    one = Study(schema((2, 2)), 2.0, [["a", "b"]], draw=True)
    both = Study(schema((2, 2)), 2.0, [["a", "b"]])
    assert one.design.blocks == both.design.blocks
    assert one.digest != both.digest
    one.randomize({"a": ["a0"], "b": ["b0"]}).save(path)
    with pytest.raises(ReportError, match="another study"):
        read(path, both)
    metadata = {"castell.digest": TINY.digest, "castell.secure": "true"}
    forged = pa.table({"drawn": pa.array([0, 42, 43])}).replace_schema_metadata(metadata)
    pq.write_table(forged, path)
    with pytest.raises(ReportError, match="row 3, 'drawn': 43 is not a report"):
        castell.estimate(read(path, TINY), ["a"], "castell")


def test_a_file_of_answers_gives_the_reports_of_its_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(castell.device.answer_file, "BATCH_ROWS", 30)
    people = population((3, 5, 2))
    pq.write_table(pa.table(people.answers(100, 1)), tmp_path / "answers.parquet")
    assert randomize_file(TINY, tmp_path / "answers.parquet", tmp_path / "r.parquet", seed=3) == 100
    words, codes, expected = seeded_words(3), people.codes(100, 1), list[int]()
    for start in range(0, 100, 30):
        part = {name: column[start : start + 30] for name, column in codes.items()}
        expected += drawn_reports(TINY.design, part, words).tolist()
    assert Reports.load(tmp_path / "r.parquet", TINY).columns[0].tolist() == expected
