"""Bloom filters: exact weights for every bit, a budget counted from the filters themselves."""

import math
from collections.abc import Sequence
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from castell import Study
from castell.channels import BloomResponse, bloom_filters, channel_of
from castell.channels.bloom import BITS, HASHES
from castell.device.random_words import seeded_words
from castell.errors import CastellError, ChannelError, StudyError
from castell.reports.reports import Reports
from tests.populations import schema

DIGITS = Context(prec=90)
SLACK = DIGITS.power(Decimal(2), Decimal(-30))
FILTERS = ((0, 5, 63), (5, 7), (1, 2, 3, 4))


def bits_of(report: int) -> set[int]:
    return {bit for bit in range(BITS) if report >> bit & 1}


def test_values_set_five_bits_or_fewer_and_all_differ() -> None:
    values = [f"v{i}" for i in range(200)]
    found = bloom_filters("a", values)
    assert len(set(found)) == 200
    assert all(1 <= len(bits) <= HASHES and max(bits) < BITS for bits in found)
    assert max(len(bits) for bits in found) == HASHES
    assert found == bloom_filters("a", values)
    assert found != bloom_filters("b", values)


def test_every_number_flips_its_own_bit_with_exactly_its_weight() -> None:
    """All numbers below the total at every bit: each bit is flipped `other` times of `total`."""
    channel = BloomResponse(FILTERS, 5, 3)
    for x, bits in enumerate(FILTERS):
        flipped = np.zeros(BITS, dtype=int)
        for number in range(channel.total):
            numbers = np.zeros((BITS, BITS), dtype=np.uint64) + np.uint64(channel.total - 1)
            np.fill_diagonal(numbers, number)
            reports = channel.respond(np.full(BITS, x), numbers.ravel())
            for bit, report in enumerate(reports.tolist()):
                change = bits_of(report) ^ set(bits)
                # The other bits had the largest number, which flips nothing.
                assert change <= {bit}
                flipped[bit] += bit in change
        assert (flipped == channel.other).all()


def test_epsilon_is_the_largest_ratio_of_two_values_reports() -> None:
    channel = BloomResponse(FILTERS, 5, 3)
    pairs = [len(set(a) ^ set(b)) for a in FILTERS for b in FILTERS]
    assert channel.distance == max(pairs) == 7
    # The likelihood of a report is a product over bits: brute force over those that matter.
    worst = 0.0
    for one in FILTERS:
        for two in FILTERS:
            differ = sorted(set(one) ^ set(two))
            for report in range(1 << len(differ)):
                sent = {bit for k, bit in enumerate(differ) if report >> k & 1}
                a, b = (
                    math.prod(5 if (bit in f) == (bit in sent) else 3 for bit in differ)
                    for f in (one, two)
                )
                worst = max(worst, math.log(a / b))
    assert channel.epsilon == pytest.approx(worst, rel=1e-12)
    assert channel.epsilon >= worst - 1e-15


@given(st.floats(2**-18, 32.0), st.integers(2, 40))
def test_never_above_what_was_asked_and_hardly_below(epsilon: float, size: int) -> None:
    channel = BloomResponse.with_epsilon(bloom_filters("a", [str(i) for i in range(size)]), epsilon)
    ratio = DIGITS.divide(Decimal(channel.same), Decimal(channel.other))
    spent = DIGITS.power(ratio, Decimal(channel.distance))
    asked = Decimal(repr(epsilon))
    assert DIGITS.exp(DIGITS.subtract(asked, SLACK)) < spent <= DIGITS.exp(asked)
    assert channel.epsilon <= channel.original_epsilon + 1e-12
    flip = channel.other / channel.total
    stated = 2 * HASHES * math.log((2 - 2 * flip) / (2 * flip))
    assert channel.original_epsilon == pytest.approx(stated, rel=1e-5)


def test_what_is_stated_of_a_respondent() -> None:
    study = Study(schema((2, 5)), 4.0, "bloom")
    assert 4.0 - 2e-9 < study.epsilon <= 4.0
    said = study.statement()
    for exposure, size in zip(said.exposures, (2, 5), strict=True):
        most = math.exp(2) / (math.exp(2) + size - 1)  # of any channel
        assert 1 / size < exposure.best_guess < exposure.worst_guess < most + 1e-12
        assert exposure.exact
        assert exposure.influence > 1.0
    assert said.words()


def brute_force(channel: BloomResponse) -> tuple[float, float]:
    """The best guess over all reports of the bits that matter, and after the worst of them."""
    bits = sorted({bit for f in channel.filters for bit in f})
    right, worst = 0.0, 0.0
    for report in range(1 << len(bits)):
        sent = {bit for k, bit in enumerate(bits) if report >> k & 1}
        likely = [
            math.prod(
                (channel.same if (bit in f) == (bit in sent) else channel.other) / channel.total
                for bit in bits
            )
            for f in channel.filters
        ]
        right += max(likely) / channel.inputs
        worst = max(worst, max(likely) / sum(likely))
    return right, worst


@pytest.mark.parametrize("weights", [(5, 3), (9, 1), (1000, 1)])
@pytest.mark.parametrize("filters", [FILTERS, ((0, 1), (1, 2)), ((0,), (1,), (0, 1), (2, 3, 4))])
def test_guesses_are_what_an_attacker_gets(
    filters: tuple[tuple[int, ...], ...], weights: tuple[int, int]
) -> None:
    channel = BloomResponse(filters, *weights)
    assert channel.guess_is_exact
    assert (channel.best_guess, channel.worst_guess) == pytest.approx(brute_force(channel))


def test_of_many_values_an_upper_bound_is_stated_and_called_one() -> None:
    study = Study(schema((2, 12)), 4.0, "bloom")
    two, twelve = study.statement().exposures
    assert (two.exact, twelve.exact) == (True, False)
    channel = study.design.blocks[1].channel
    rng = np.random.default_rng(1)
    assert isinstance(channel, BloomResponse)
    # By simulation: how often the value is right whose filter is nearest to the report.
    kept = rng.random((20_000, BITS)) < channel.same / channel.total
    answers = rng.integers(12, size=20_000)
    true = channel.matrix.T[answers] > 0.5
    reports = np.where(kept, true, ~true)
    near = (reports @ (2.0 * channel.matrix - 1.0)) - channel.matrix.sum(axis=0)
    right = (near.argmax(axis=1) == answers).mean()
    assert 1 / 12 < right < twelve.best_guess == twelve.worst_guess
    said = study.statement()
    assert "no answer right more than" in said.words()[0]
    assert "at most" in str(said)


def test_a_forged_report_counts_as_said() -> None:
    channel = BloomResponse(FILTERS, 5, 3)
    inverse = np.linalg.pinv(channel.matrix)
    flip = 3 / 8
    worst = 0.0
    for x in range(3):
        report = (inverse[x] > 0).astype(float)  # the report that raises x most
        worst = max(worst, float(inverse[x] @ (report - flip)) / (1 - 2 * flip))
    assert channel.influence == pytest.approx(worst)


def test_bits_come_at_their_rates() -> None:
    """Many answers: each bit's count lies within six standard errors of its own weight."""
    channel = BloomResponse(FILTERS, 5, 3)
    from castell.device.respond import respond

    n = 200_000
    reports = respond(channel, np.zeros(n, dtype=np.intp), seeded_words(3))
    assert reports.dtype == np.uint64
    rows = reports.astype("<u8").view(np.uint8).reshape(n, 8)
    ones = np.unpackbits(rows, axis=1, bitorder="little")
    rates = np.where(np.isin(np.arange(BITS), FILTERS[0]), 5 / 8, 3 / 8)
    error = np.sqrt(15 / 64 / n)
    assert np.abs(ones.mean(axis=0) - rates).max() < 6 * error
    # No two bits go together: they are drawn one by one.
    centred = ones - rates
    both = centred.T @ centred / n / (15 / 64)
    assert np.abs(both - np.eye(BITS)).max() < 6 / np.sqrt(n) * 1.2


def test_words_drawn_do_not_depend_on_the_answers() -> None:
    from castell.device.respond import respond

    channel = BloomResponse(FILTERS, 5, 3)
    taken = []
    for x in range(3):
        counts: list[int] = []
        source = seeded_words(1)

        def words(count: int, source: Any = source, counts: list[int] = counts) -> Any:
            counts.append(count)
            return source(count)

        respond(channel, np.full(100, x), words)
        taken.append(counts)
    assert taken[0] == taken[1] == taken[2]
    assert sum(taken[0]) >= 6400


def test_studies_of_filters_are_published_and_read_back() -> None:
    study = Study(schema((2, 5)), 4.0, "bloom")
    assert Study.from_json(study.to_json()) == study
    assert {b.channel.document()["kind"] for b in study.design.blocks} == {"bloom"}
    with pytest.raises(ChannelError):
        channel_of({"kind": "bloom", "filters": [[1], [2]], "same": 3})


def test_reports_of_filters_are_kept_in_files(tmp_path: Any) -> None:
    study = Study(schema((2, 5)), 4.0, "bloom")
    reports = study.randomize({"a": ["a0", "a1"] * 50, "b": ["b3"] * 100})
    reports.save(tmp_path / "reports.parquet")
    back = Reports.load(tmp_path / "reports.parquet", study)
    for one, two in zip(back.columns, reports.columns, strict=True):
        assert one.dtype == np.uint64
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("filters", "same", "other", "said"),
    [
        ([[1], [1]], 3, 1, "two values have one filter"),
        ([[1]], 3, 1, "two values have one filter"),
        ([[1], []], 3, 1, "is not a filter"),
        ([[1], [3, 2]], 3, 1, "is not a filter"),
        ([[1], [-2]], 3, 1, "is not a filter"),
        ([[1], ["x"]], 3, 1, "is not a filter"),
        ([[1], [64]], 3, 1, "bits run from 0 to 63"),
        ([1, 2], 3, 1, "no lists of bits"),
        ([[1], [2]], 1, 1, "kept more often"),
        ([[1], [2]], 3, 0, "kept more often"),
        ([[1], [2]], 2**53, 1, "below 2\\^53"),
        ([[1], [2]], 3.0, 1, "not an integer weight"),
    ],
)
def test_filters_that_are_none_are_refused(
    filters: Sequence[Any], same: Any, other: int, said: str
) -> None:
    with pytest.raises(ChannelError, match=said):
        BloomResponse(filters, same, other)


def test_nothing_looks_through_a_filter_as_through_a_matrix() -> None:
    channel = BloomResponse(FILTERS, 5, 3)
    for look in (
        lambda: channel.forward,
        lambda: channel.inverse,
        channel.weights,
        lambda: channel.project([3], [0]),
    ):
        with pytest.raises(CastellError, match="Bloom filter"):
            look()
    with pytest.raises(StudyError, match="is not a design"):
        Study(schema((2, 5)), 4.0, "blume")
