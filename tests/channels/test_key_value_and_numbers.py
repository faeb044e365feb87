"""PrivKV, PCKV, Harmony and the hybrid mechanism: exact weights, means without bias."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

import castell
from castell import Attribute, Schema, Study
from castell.auditing.audited_codes import count_wrong_cells
from castell.channels import Channel, channel_of, mechanism
from castell.channels.budget import log_ratio
from castell.channels.hybrid import HybridResponse, number_variance
from castell.channels.key_value import KeyValueResponse
from castell.channels.piecewise import WindowResponse
from castell.device.key_value import draw_pair, key_value_attribute
from castell.errors import ChannelError, OptionError
from tests.auditing.broken_devices import SeededFrame

SMALL: list[Channel] = [
    KeyValueResponse(2, (6, 3), (2, 1), (5, 2)),
    HybridResponse(WindowResponse(4, 6, 2, 5, 1), 3, 2),
]


@pytest.mark.parametrize("channel", SMALL, ids=lambda c: c.kind)
def test_every_number_of_small_channels(channel: Channel) -> None:
    assert count_wrong_cells([channel]) == (channel.inputs * channel.total, 0)


CASES = [("harmony", 2), ("hybrid", 3), ("hybrid", 12), ("pckv-grr", 6), ("pckv-ue", 4)]
CASES += [("pckv-ue", 10)]


@pytest.mark.parametrize(("name", "size"), CASES)
@pytest.mark.parametrize("epsilon", [0.7, 1.0, 4.0])
def test_epsilon_is_that_of_the_whole_matrix(name: str, size: int, epsilon: float) -> None:
    channel = mechanism(name, size, epsilon)
    weights = channel.weights()
    assert {sum(row) for row in weights} == {channel.total}
    widest = max(Fraction(max(c), min(c)) for c in zip(*weights, strict=True))
    assert channel.exact_epsilon == log_ratio(widest)
    assert epsilon - 1e-6 < float(channel.exact_epsilon) <= epsilon
    assert channel_of(channel.document()) == channel
    matrix = np.array(weights, dtype=float) / channel.total
    np.testing.assert_allclose(channel.inverse.dense() @ matrix.T, np.eye(size), atol=1e-9)
    np.testing.assert_allclose(channel.inverse.dense().sum(axis=0), 1.0, atol=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_privkv_costs_less_than_its_two_halves(epsilon: float) -> None:
    """As the authors of PCKV found: key and sign together say less than both apart."""
    channel = mechanism("privkv", 3, epsilon)
    half = exp(epsilon / 2)
    told = max(epsilon / 2, epsilon / 2 + log(2 / (1 + 1 / half)))
    assert float(channel.exact_epsilon) == pytest.approx(told, abs=1e-6)
    assert channel.exact_epsilon <= epsilon
    matrix = np.array(channel.weights(), dtype=float) / channel.total
    key, sign = half / (half + 1), half / (half + 1)
    row = [key * sign, key * (1 - sign), 1 - key]
    np.testing.assert_allclose(matrix[0], row, rtol=1e-6)
    np.testing.assert_allclose(matrix[2], [(1 - key) / 2, (1 - key) / 2, key], rtol=1e-6)


def test_pckv_says_keys_independently() -> None:
    epsilon = 1.5
    channel = mechanism("pckv-ue", 6, epsilon)
    matrix = np.array(channel.weights(), dtype=float) / channel.total
    e = exp(epsilon)
    own, other = (
        [0.5, 0.5 * e / (e + 1), 0.5 / (e + 1)],
        [1 - 2 / (e + 3), 1 / (e + 3), 1 / (e + 3)],
    )
    for report in range(27):
        first, second, third = report // 9, report // 3 % 3, report % 3
        chance = own[first] * other[second] * other[third]
        assert matrix[0, report] == pytest.approx(chance, rel=1e-8)  # key 0, low


FILMS = """
name = "films"
design = "singles"
epsilon = 4.0
[[attribute]]
name = "a"
bins = [-1, 1]
rounding = "unbiased"
also = ["none"]
[[attribute]]
name = "b"
bins = [-1, 1]
rounding = "unbiased"
also = ["none"]
[[channel]]
attributes = ["a"]
mechanism = "privkv"
epsilon = 4.0
[[channel]]
attributes = ["b"]
mechanism = "privkv"
epsilon = 4.0
"""


def test_privkv_in_a_study_file_tells_keys_and_means() -> None:
    study = Study.from_toml(FILMS)
    assert study.epsilon == pytest.approx(2 + log(2 / (1 + exp(-2))), abs=1e-6)
    n = 20_000
    values = np.where(np.arange(n) % 2 == 0, 0.6, 0.2)
    rated = np.where(np.arange(n) % 5 < 3, values, np.nan)
    answers = {name: [f"{v:g}" if v == v else "none" for v in rated] for name in "ab"}
    model = castell.fit(study.randomize(answers, seed=1), "castell")
    has, mean = model.probability(a=["-1", "1"]), model.mean("a")
    assert abs(has.value - 0.6) < 5 * has.standard_error
    assert abs(mean.value - 0.4) < 5 * mean.standard_error
    assert castell.fit(study.randomize(answers, seed=1)).mean("b").value == pytest.approx(
        0.4, abs=0.1
    )


@pytest.mark.parametrize("name", ["pckv-grr", "pckv-ue"])
def test_pckv_of_people_with_several_pairs(name: str) -> None:
    """Everybody has film x at .5, every second also film y at -.5: filled up to two."""
    asked = key_value_attribute("film", ["x", "y"])
    study = Study(Schema([asked]), channels={"film": mechanism(name, 6, 2.0)})
    random = np.random.default_rng(1)

    def below(n: int) -> int:
        return int(random.integers(n))

    people: list[dict[str, float]] = [{"x": 0.5}, {"x": 0.5, "y": -0.5}] * 10_000
    answers = {"film": [draw_pair(pairs, 2, below) for pairs in people]}
    model = castell.fit(study.randomize(answers, seed=2), "castell")
    for key, share, value in (("x", 1.0, 0.5), ("y", 0.5, -0.5)):
        has = model.probability(film=[f"{key} low", f"{key} high"])
        assert abs(2 * has.value - share) < 10 * has.standard_error
        low, high = (model.probability(film=f"{key} {end}").value for end in ("low", "high"))
        assert (high - low) / (high + low) == pytest.approx(value, abs=0.15)


@pytest.mark.parametrize(("name", "size"), [("harmony", 2), ("piecewise", 21), ("hybrid", 21)])
@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_means_have_no_bias_and_the_variance_of_the_paper(
    name: str, size: int, epsilon: float
) -> None:
    """Exactly, from the weights, for every number of the grid, on average over it within 5 %."""
    channel = mechanism(name, size, epsilon)
    matrix = np.array(channel.weights(), dtype=float) / channel.total
    grid = np.linspace(-1.0, 1.0, size)
    read = grid @ channel.inverse.dense()  # what a report adds to the mean
    np.testing.assert_allclose(matrix @ read, grid, atol=1e-9)
    exact = matrix @ read**2 - grid**2
    paper = np.array([number_variance(name, x, epsilon) for x in grid])
    assert exact.mean() == pytest.approx(paper.mean(), rel=0.05)
    assert exact.max() < 1.12 * paper.max()


def test_two_hundred_means_of_the_hybrid_mechanism() -> None:
    """The spread of 200 means is known to 5 % by one standard error, so 0.75 to 1.3 holds it."""
    bins = list(range(11))
    asked = Attribute("x", bins=bins, rounding="unbiased")
    study = Study(Schema([asked]), channels={"x": mechanism("hybrid", 11, 2.0)})
    answers = {"x": [2.0] * 200}
    found = [castell.fit(study.randomize(answers, seed=i), "castell").mean("x") for i in range(200)]
    values = np.array([one.value for one in found])
    channel = study.design.blocks[0].channel
    read = np.arange(11.0) @ channel.inverse.dense()
    chances = np.array(channel.weights()[2], dtype=float) / channel.total
    exact = float(chances @ read**2 - 4.0) / 200
    assert abs(values.mean() - 2.0) < 5 * np.sqrt(exact / 200)
    assert 0.6 < values.var() / exact < 1.6


@pytest.mark.parametrize("name", ["hybrid", "pckv-ue"])
def test_audited(name: str) -> None:
    study = Study(Schema([Attribute("a", list("uvwx"))]), channels={"a": mechanism(name, 4, 1.0)})
    found = castell.audit(study, SeededFrame(1), n=150_000, confidence=1.0 - 1e-6)
    assert found.passed, str(found)
    assert found.lower > 0.7 * study.epsilon


def _pairs(keys: object, same: object, opposite: object, silent: object) -> dict[str, object]:
    weights = {"same": same, "opposite": opposite, "silent": silent}
    return {"kind": "key-value", "keys": keys, **weights}


def _hybrid(window: dict[str, object], step: int) -> dict[str, object]:
    return {"kind": "hybrid", "window": window, "lower": 1, "step": step}


WRONG: list[tuple[str, dict[str, object]]] = [
    ("list them", _pairs(2, 3, [1], [1])),
    ("from 1 to 8", _pairs(9, [], [], [])),
    ("as there are keys", _pairs(2, [3], [1, 1], [1, 1])),
    ("is not a weight", _pairs(1, [3], [0], [1])),
    ("told apart", _pairs(2, [2, 2], [2, 2], [2, 2])),
    ("no window", _hybrid({"kind": "kary"}, 1)),
    ("is not a weight", _hybrid(WindowResponse(3, 5, 3, 4, 1).document(), 0)),
]


@pytest.mark.parametrize(("told", "document"), WRONG)
def test_channels_that_are_none(told: str, document: dict[str, object]) -> None:
    with pytest.raises(ChannelError, match=told):
        channel_of(document)


@pytest.mark.parametrize(
    ("name", "size", "epsilon", "told"),
    [
        ("privkv", 4, 1.0, "low, high and none"),
        ("pckv-ue", 5, 1.0, "two for each key"),
        ("pckv-ue", 18, 1.0, "for more use pckv-grr"),
        ("pckv-grr", 3, 1.0, "two for each key"),
        ("harmony", 3, 1.0, "two ends"),
        ("hybrid", 2, 1.0, "three or more"),
        ("hybrid", 5, 0.5, "use mechanism harmony"),
    ],
)
def test_sizes_that_are_none(name: str, size: int, epsilon: float, told: str) -> None:
    with pytest.raises(ChannelError, match=told):
        mechanism(name, size, epsilon)


def test_pairs_that_are_none() -> None:
    with pytest.raises(OptionError, match="from -1 to 1"):
        draw_pair({"x": 1.5}, 2)
    with pytest.raises(OptionError, match="from 1 up"):
        draw_pair({"x": 0.5}, 0)
    with pytest.raises(OptionError, match="padding"):
        key_value_attribute("a", ["none"])
