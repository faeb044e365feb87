"""Hadamard response is exact: sampler, budget and inverse follow from the same integers."""

from decimal import Decimal
from fractions import Fraction
from math import exp, log
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from castell import Attribute, Schema, Study, fit
from castell.channels import (
    MAX_TOTAL,
    CyclicResponse,
    HadamardResponse,
    KaryResponse,
    SetMargin,
    best_channel,
    channel_of,
)
from castell.channels.best_channel import LARGE
from castell.channels.hadamard import MOST_REPORTS, hadamard_noise
from castell.channels.protocol import predicted_variance
from castell.errors import ChannelError, QueryError
from castell.linear.operators import Floats
from castell.planning.likelihoods import of_channel

# Groups that are full, that are not, of one answer each; one answer more than a power of two.
SMALL = [
    HadamardResponse(2, 1, 3, 1),
    HadamardResponse(3, 1, 3, 1),
    HadamardResponse(4, 1, 5, 2),
    HadamardResponse(5, 2, 11, 4),
    HadamardResponse(7, 7, 9, 2),
    HadamardResponse(12, 3, 11, 4),
    HadamardResponse(31, 4, 7, 1),
]
NAMES = [f"{c.size} in {c.groups}" for c in SMALL]


def chances(channel: HadamardResponse) -> Floats:
    """Row x holds the chances of the reports of answer x, bit by bit from what is published."""
    rows = []
    for x in range(channel.size):
        row = []
        for y in range(channel.outputs):
            group, column = divmod(y, channel.order)
            ones = bin((x // channel.groups + 1) & column).count("1")
            inside = group == x % channel.groups and ones % 2 == 0
            row.append(channel.same if inside else channel.other)
        rows.append(row)
    return np.array(rows) / channel.total


@pytest.mark.parametrize("channel", SMALL, ids=NAMES)
def test_every_number_of_every_answer_gives_what_the_weights_say(channel: HadamardResponse) -> None:
    numbers = np.arange(channel.total, dtype=np.uint64)
    for x, weights in enumerate(channel.weights()):
        reports = channel.respond(np.full(channel.total, x, dtype=np.uint16), numbers)
        assert np.bincount(reports, minlength=channel.outputs).tolist() == weights
    assert np.allclose(np.array(channel.weights()) / channel.total, chances(channel), rtol=1e-15)


def test_which_numbers_are_uniform_reports_does_not_depend_on_the_answer() -> None:
    channel = HadamardResponse(12, 3, 11, 4)
    below = np.arange(channel.outputs * channel.other, dtype=np.uint64)
    same = [channel.respond(np.full(len(below), x), below) for x in range(12)]
    assert all((one == same[0]).all() for one in same)


@pytest.mark.parametrize("channel", SMALL, ids=NAMES)
def test_the_loss_is_the_worst_ratio_of_the_weights(channel: HadamardResponse) -> None:
    columns = list(zip(*channel.weights(), strict=True))
    worst = max(Fraction(max(column), min(column)) for column in columns)
    assert worst == Fraction(channel.same, channel.other)
    assert channel.epsilon == pytest.approx(log(worst))


@pytest.mark.parametrize("size", [2, 1000, LARGE, 131_073, 1_000_000, 2_000_000])
@pytest.mark.parametrize("epsilon", ["0.01", "1", "4", "9"])
def test_the_loss_is_just_below_what_was_asked(size: int, epsilon: str) -> None:
    channel = HadamardResponse.with_epsilon(size, Decimal(epsilon))
    left = Decimal(epsilon) - channel.exact_epsilon
    assert 0 <= left < Decimal(2) ** -30
    assert channel.total <= MAX_TOTAL
    assert channel.outputs <= MOST_REPORTS


@pytest.mark.parametrize("channel", SMALL, ids=NAMES)
def test_operators_are_the_matrices_they_stand_for(channel: HadamardResponse) -> None:
    forward, inverse = channel.forward.dense(), channel.inverse.dense()
    assert np.allclose(forward, chances(channel).T)
    assert np.allclose(inverse @ forward, np.eye(channel.size))
    assert np.allclose(inverse.sum(axis=0), 1.0)
    generator = np.random.default_rng(4)
    reports, answers = generator.random((3, channel.outputs)), generator.random((3, channel.size))
    for power in (1, 2, 3):
        operator, matrix = channel.inverse.power(power), inverse**power
        assert np.allclose(operator.apply_last(reports), reports @ matrix.T)
        assert np.allclose(operator.turn(np.ascontiguousarray(reports.T)), reports @ matrix.T)
        assert np.allclose(operator.transpose().apply_last(answers), answers @ matrix)
        assert np.allclose(operator.combine(np.array([0, 1])), matrix[:2].sum(axis=0))
        assert operator.extreme() == pytest.approx(np.abs(matrix).max())
    assert np.allclose(channel.forward.apply_last(answers), answers @ forward.T)


def test_operators_of_several_steps_of_the_transform() -> None:
    channel = HadamardResponse(5000, 1, 7, 2)
    assert channel.order == 8192
    generator = np.random.default_rng(5)
    answers = generator.dirichlet(np.ones(5000))
    assert np.allclose(channel.inverse.apply_last(channel.forward.apply_last(answers)), answers)
    row = np.zeros(5000)
    row[1234] = 1.0
    inside = [bin(1235 & column).count("1") % 2 == 0 for column in range(8192)]
    expected = np.where(inside, 7, 2) / channel.total
    assert np.allclose(channel.forward.apply_last(row), expected)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_predicted_noise_is_that_of_the_inverse(epsilon: float) -> None:
    size = 4000
    channel = HadamardResponse.with_epsilon(size, epsilon)
    assert predicted_variance(channel) == pytest.approx(hadamard_noise(size, epsilon), rel=0.01)
    others = [g for g in (channel.groups // 2, 2 * channel.groups) if g]
    for groups in others:
        worse = HadamardResponse.with_epsilon(size, epsilon, groups=groups)
        assert predicted_variance(worse) > predicted_variance(channel)
    assert hadamard_noise(size, epsilon) >= 0.99 * 4 * exp(epsilon) / (exp(epsilon) - 1) ** 2


def test_large_domains_get_it() -> None:
    assert isinstance(best_channel(1_000_000, 4.0), HadamardResponse)
    assert isinstance(best_channel(LARGE - 1, 4.0), CyclicResponse)
    assert isinstance(best_channel(3_000_000, 4.0), KaryResponse)  # more than fit
    assert isinstance(best_channel(2_000_000, 12.0), KaryResponse)
    values = [str(i) for i in range(LARGE)]
    two = Schema([Attribute("a", values), Attribute("b", ["x", "y"])])
    blocks = Study(two, 4.0).design.blocks
    assert isinstance(blocks[0].channel, (CyclicResponse, HadamardResponse))
    assert isinstance(blocks[1].channel, KaryResponse)


def test_a_published_channel_is_read_back() -> None:
    channel = HadamardResponse.with_epsilon(100, 2.0)
    assert channel_of(channel.document()) == channel
    assert channel.document() == {
        "kind": "hadamard",
        "size": 100,
        "groups": 3,
        "same": channel.same,
        "other": channel.other,
    }


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((5, 2, 3.0, 1), "not a whole number"),
        ((True, 1, 3, 1), "not a whole number"),
        ((1, 1, 3, 1), "1 answers in 1 groups"),
        ((5, 6, 3, 1), "5 answers in 6 groups"),
        ((5, 0, 3, 1), "5 answers in 0 groups"),
        ((5, 2, 3, 3), "weights 3 and 3"),
        ((5, 2, 5, 3), "weights 5 and 3"),
        ((2**45, 1, 3, 1), "reports whose weights"),
        ((5, 2, 2**53, 1), "reports whose weights"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[Any, ...], problem: str) -> None:
    with pytest.raises(ChannelError, match=problem):
        HadamardResponse(*arguments)


def test_a_view_of_a_part_that_would_not_fit_is_refused() -> None:
    channel = HadamardResponse.with_epsilon(1_000_000, 4.0)
    lens = channel.project((1000, 1000), (0,))
    assert isinstance(lens, SetMargin)
    with pytest.raises(QueryError, match="too many to look at in part"):
        _ = lens.inverse


def test_pairs_of_answers_in_a_shuffle() -> None:
    one, several = HadamardResponse(12, 1, 11, 4), HadamardResponse(12, 3, 11, 4)
    for channel, both in ((one, 0.25), (several, 0.0)):
        (found,) = of_channel(channel, agree=False)
        weights = np.array(channel.weights())
        high = (weights == channel.same).astype(int)
        pairs = [(high[i] * high[j]).mean() for i in range(12) for j in range(i)]
        assert min(pairs) == both
        assert found.chance.sum() == pytest.approx(1.0)
        assert found.chance[(found.u > 1) & (found.v > 1)].sum() == pytest.approx(both)


@pytest.mark.parametrize("method", ["castell", "independent"])
def test_intervals_of_many_values_hold_the_truth(method: str) -> None:
    many, n = 70_000, 40_000
    generator = np.random.default_rng(8)
    truth = 1.0 / np.arange(1, many + 1)
    truth /= truth.sum()
    values = np.array([str(i) for i in range(many)], dtype=object)
    study = Study(Schema([Attribute("page", list(values))]), epsilon=4.0)
    answers = values[generator.choice(many, size=n, p=truth)]
    joint = fit(study.randomize({"page": answers}, seed=9), method).estimate("page")
    low, high = joint.conf_int(0.95)
    held = int(((low <= truth) & (truth <= high)).sum())
    # Shares err almost independently; 1e-6 at each end.
    least, most = binom.ppf([1e-6, 1 - 1e-6], many, [0.94, 0.96])
    assert least <= held <= most
    assert joint.probabilities.sum() == pytest.approx(1.0)
    errors = (joint.probabilities - truth) / joint.standard_errors
    assert float((errors**2).mean()) == pytest.approx(1.0, abs=0.04)
