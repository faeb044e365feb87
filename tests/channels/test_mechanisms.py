"""Mechanisms of the literature: exact weights, the epsilon asked for, their papers' variances."""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp, log

import numpy as np
import pytest

import castell
from benchmarks.variances import support_variance
from castell import Attribute, Schema, Study
from castell.auditing.audited_codes import count_wrong_cells
from castell.channels import MECHANISMS, Channel, channel_of, mechanism
from castell.channels.budget import log_ratio
from castell.channels.hashing import HashingResponse
from castell.channels.piecewise import WindowResponse
from castell.channels.subset_selection import SubsetResponse
from castell.channels.thermometer import ThermometerResponse
from castell.channels.unary import UnaryResponse
from castell.errors import CastellError, ChannelError, StudyError
from tests.auditing.broken_devices import SeededFrame

each = pytest.mark.parametrize("name", MECHANISMS)


@each
@pytest.mark.parametrize(("size", "epsilon"), [(2, 0.5), (3, 1.0), (7, 2.0), (10, 4.0)])
def test_epsilon_is_that_of_the_whole_matrix(name: str, size: int, epsilon: float) -> None:
    channel = mechanism(name, size, epsilon)
    weights = channel.weights()
    assert {sum(row) for row in weights} == {channel.total}
    assert (len(weights), len(weights[0])) == (channel.inputs, channel.outputs)
    widest = max(Fraction(max(c), min(c)) for c in zip(*weights, strict=True))
    assert channel.exact_epsilon == log_ratio(widest)
    assert epsilon - 1e-6 < float(channel.exact_epsilon) <= epsilon
    assert channel_of(channel.document()) == channel
    matrix = np.array(weights, dtype=float) / channel.total
    np.testing.assert_allclose(channel.inverse.dense() @ matrix.T, np.eye(size), atol=1e-9)
    np.testing.assert_allclose(channel.inverse.dense().sum(axis=0), 1.0, atol=1e-9)


SMALL: list[Channel] = [
    UnaryResponse(3, (6, 3, 2), (2, 1, 1)),
    SubsetResponse(5, 2, 5, 2),
    HashingResponse(4, 5, 3, 4, 1),
    ThermometerResponse(4, (8, 4, 2, 1)),
    WindowResponse(4, 6, 2, 5, 1),
]


@pytest.mark.parametrize("channel", SMALL, ids=lambda c: c.kind)
def test_every_number_of_small_channels(channel: Channel) -> None:
    assert count_wrong_cells([channel]) == (channel.inputs * channel.total, 0)


@each
def test_audited(name: str) -> None:
    study = Study(Schema([Attribute("a", list("uvwxy"))]), channels={"a": mechanism(name, 5, 1.0)})
    found = castell.audit(study, SeededFrame(1), n=150_000, confidence=1.0 - 1e-6)
    assert found.passed, str(found)
    assert found.lower > 0.8 * study.epsilon


# The variance of the share of an answer that nobody gave, for each report: q (1 - q) / (p - q)^2.
def _of(p: float, q: float) -> float:
    return q * (1.0 - q) / (p - q) ** 2


def _papers(name: str, k: int, e: float) -> float:
    if name == "grr":
        return (k - 2 + exp(e)) / (exp(e) - 1.0) ** 2
    if name == "sue":
        return exp(e / 2) / (exp(e / 2) - 1.0) ** 2
    if name == "oue":
        return 4.0 * exp(e) / (exp(e) - 1.0) ** 2
    if name == "olh":
        g = round(exp(e) + 1.0)
        return _of(exp(e) / (exp(e) + g - 1.0), 1.0 / g)
    if name == "subset":
        d = max(1, round(k / (exp(e) + 1.0)))
        p = d * exp(e) / (d * exp(e) + k - d)
        return _of(p, p * (d - 1) / (k - 1) + (1.0 - p) * d / (k - 1))
    # Hadamard response: half of the reports are the answer's, half of these any other's too.
    return _of(exp(e) / (exp(e) + 1.0), 0.5)


@pytest.mark.parametrize("name", ["grr", "sue", "oue", "olh", "subset", "hadamard"])
def test_the_variance_of_the_paper(name: str) -> None:
    """200 collections of people who never give most answers; those are estimated as none.

    Estimates sum to one here, so the variance may be a share of 1/k below the paper's.
    """
    k, n, repeats, epsilon = 11, 2000, 200, 1.0
    study = Study(
        Schema([Attribute("a", [f"v{i}" for i in range(k)])]),
        channels={"a": mechanism(name, k, epsilon)},
    )
    answers = {"a": ["v0"] * n}
    found = [
        castell.fit(study.randomize(answers, seed=i), "castell").estimate("a").probabilities[1:]
        for i in range(repeats)
    ]
    measured = n * float(np.mean(np.square(found)))
    paper = _papers(name, k, epsilon)
    channel = study.design.blocks[0].channel
    matrix = np.array(channel.weights(), dtype=float) / channel.total
    exact = float((np.square(channel.inverse.dense()[1:]) @ matrix[0]).mean())
    assert exact < 1.01 * paper
    assert measured == pytest.approx(exact, rel=0.12)  # 2,000 squares
    # Few hash functions collide less often than random ones do, and fewer reports than a power of
    # two share less: both are better than their papers. The others are theirs.
    if name not in ("olh", "hadamard"):
        assert exact > (1.0 - 1.0 / k) * 0.99 * paper


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("name", ["sue", "oue", "subset"])
def test_the_papers_own_estimate_of_the_same_reports_has_its_variance(
    name: str, epsilon: float
) -> None:
    """How many reports speak for an answer, less those that would anyway: nothing is gained by a
    sum of one, and the chances of the bits and sets are the paper's."""
    k = 11
    variance = support_variance(mechanism(name, k, epsilon))
    assert variance == pytest.approx(_papers(name, k, epsilon), rel=1e-6)


def test_the_papers_own_estimate_where_reports_collide_less() -> None:
    for name in ("olh", "hadamard"):
        variance = support_variance(mechanism(name, 11, 1.0))
        assert variance is not None
        assert 0.75 < variance / _papers(name, 11, 1.0) < 1.0
    assert support_variance(mechanism("grr", 11, 1.0)) is None  # there is one estimate only


def test_rappors_two_steps() -> None:
    """The bits of one report: f = 1/2, p = 1/4, q = 3/4 costs ln 3 for one bit, twice."""
    channel = UnaryResponse.rappor(3, 0.5, 0.25, 0.75)
    kept, other = 0.75 * 0.75 + 0.25 * 0.25, 0.25 * 0.75 + 0.75 * 0.25
    epsilon = log(kept * (1 - other) / (other * (1 - kept)))
    assert channel.epsilon == pytest.approx(epsilon, abs=1e-9)
    bits = np.array(channel.weights(), dtype=float) @ channel.support().T / channel.total
    np.testing.assert_allclose(bits, other + (kept - other) * np.eye(3), atol=1e-9)
    with pytest.raises(ChannelError, match="let q be above p"):
        UnaryResponse.rappor(3, 0.5, 0.75, 0.25)


RAPPOR = """
name = "rappor"
[[attribute]]
name = "a"
values = ["x", "y", "z"]
[[attribute]]
name = "b"
values = ["x", "y"]
[[channel]]
attributes = ["a"]
mechanism = "rappor"
f = 0.25
p = 0.25
q = 0.75
[[channel]]
attributes = ["b"]
mechanism = "rappor"
f = 0.25
p = 0.25
q = 0.75
"""


def test_joint_tables_of_rappor_by_em() -> None:
    """As Fanti, Pihur and Erlingsson do; an audit goes through its reports too."""
    study = Study.from_toml(RAPPOR)
    assert Study.from_json(study.to_json()) == study
    truth = np.array([[0.4, 0.05], [0.1, 0.25], [0.15, 0.05]])
    cells = np.random.default_rng(1).choice(6, 20_000, p=truth.ravel())
    answers = {"a": np.array(list("xyz"))[cells // 2], "b": np.array(list("xy"))[cells % 2]}
    reports = study.randomize(answers, seed=2)
    for method in ("em", "castell"):
        found = castell.fit(reports, method).estimate(["a", "b"]).probabilities
        assert np.abs(found - truth).max() < 0.08
    with pytest.raises(ChannelError, match="give f, p and q"):
        Study.from_toml(RAPPOR.replace("f = 0.25\n", ""))
    with pytest.raises(ChannelError, match="the chances f, p and q"):
        mechanism("rappor", 3, 1.0)


def test_unary_bits_are_independent() -> None:
    channel = UnaryResponse.optimised(4, 1.0)
    matrix = np.array(channel.weights(), dtype=float) / channel.total
    bits = channel.support()
    q = 1 / (exp(1.0) + 1)
    for report in range(channel.outputs):
        on = bits[:, report]
        chance = np.prod([np.where(b, c, 1 - c) for b, c in zip(on, [0.5, q, q, q], strict=True)])
        assert matrix[0, report] == pytest.approx(chance, rel=1e-8)


def test_near_answers_hide_each_other_in_a_thermometer() -> None:
    weights = np.array(ThermometerResponse.with_epsilon(5, 4.0).weights(), dtype=float)
    apart = [np.log(weights[0] / row).max() for row in weights]
    np.testing.assert_allclose(apart, [0.0, 1.0, 2.0, 3.0, 4.0], atol=1e-6)


TOML = """
name = "mechanisms"
[[attribute]]
name = "a"
values = ["x", "y", "z"]
[[channel]]
attributes = ["a"]
mechanism = "{}"
epsilon = 1.5
"""


@each
def test_in_a_study_file(name: str) -> None:
    study = Study.from_toml(TOML.format(name))
    assert 1.5 - 1e-6 < study.epsilon <= 1.5
    assert Study.from_json(study.to_json()) == study


@pytest.mark.parametrize("name", ["oue", "piecewise", "subset", "thermometer"])
def test_auto_reads_every_kind(name: str) -> None:
    """A truth that is far from uniform, at an epsilon that shows it."""
    schema = Schema([Attribute("a", list("uvwx")), Attribute("b", list("yz"))])
    study = Study(schema, channels={"a": mechanism(name, 4, 6.0), "b": mechanism("grr", 2, 4.0)})
    truth = np.array([[0.4, 0.05], [0.05, 0.2], [0.1, 0.1], [0.02, 0.08]])
    cells = np.random.default_rng(1).choice(8, 3_000, p=truth.ravel())
    answers = {"a": np.array(list("uvwx"))[cells // 2], "b": np.array(list("yz"))[cells % 2]}
    found = castell.fit(study.randomize(answers, seed=2)).estimate(["a", "b"])
    assert np.abs(found.probabilities - truth).max() < 0.07


WRONG: list[tuple[str, dict[str, object]]] = [
    ("from 2 to 16", {"kind": "unary", "size": 17, "on": [1] * 17, "off": [1] * 17}),
    ("as many as there are", {"kind": "unary", "size": 3, "on": [1], "off": [1, 1, 1]}),
    ("list them", {"kind": "unary", "size": 2, "on": 3, "off": [1, 1]}),
    ("is not a weight", {"kind": "unary", "size": 2, "on": [2, 0], "off": [1, 1]}),
    ("cannot be told apart", {"kind": "unary", "size": 2, "on": [1, 1], "off": [1, 1]}),
    ("some, and not all", {"kind": "subset", "size": 3, "chosen": 3, "same": 2, "other": 1}),
    ("weighs more", {"kind": "subset", "size": 3, "chosen": 1, "same": 1, "other": 1}),
    ("too many", {"kind": "subset", "size": 40, "chosen": 20, "same": 2, "other": 1}),
    (r"below 2\^53", {"kind": "subset", "size": 3, "chosen": 1, "same": 2**53, "other": 2**50}),
    ("no smaller", {"kind": "hashing", "size": 5, "prime": 3, "values": 2, "same": 2, "other": 1}),
    ("no prime", {"kind": "hashing", "size": 5, "prime": 9, "values": 2, "same": 2, "other": 1}),
    ("own", {"kind": "window", "size": 5, "reports": 5, "width": 2, "same": 2, "other": 1}),
    ("from 2 to 16", {"kind": "thermometer", "size": 17, "flipped": [1] * 17}),
    ("as many as there are", {"kind": "thermometer", "size": 3, "flipped": [2, 1]}),
    ("list them", {"kind": "thermometer", "size": 3, "flipped": 7}),
]


@pytest.mark.parametrize(("told", "document"), WRONG)
def test_channels_that_are_none(told: str, document: dict[str, object]) -> None:
    with pytest.raises(ChannelError, match=told):
        channel_of(document)


def test_mechanisms_that_are_none() -> None:
    with pytest.raises(ChannelError, match="mechanism is 'guess'"):
        mechanism("guess", 3, 1.0)
    with pytest.raises(ChannelError, match="takes a size and an epsilon"):
        mechanism("oue", 3)
    with pytest.raises(ChannelError, match="both follow from its chances"):
        mechanism("warner", 2, 1.0, p=0.7)
    with pytest.raises(StudyError, match="has no epsilon"):
        Study.from_toml(TOML.format("oue").replace("epsilon = 1.5", ""))
    with pytest.raises(ChannelError, match=r"'a': mechanism is 'ouch'.*castell knows"):
        Study.from_toml(TOML.format("ouch"))
    with pytest.raises(StudyError, match=r"'a': mechanism is \['oue'\]"):
        Study.from_toml(TOML.format("oue").replace('"oue"', '["oue"]'))
    with pytest.raises(StudyError, match=r"in its own section.*\[\[channel\]\]"):
        Study.from_toml('[[attribute]]\nname = "a"\nvalues = ["x", "y"]\nmechanism = "oue"\n')
    with pytest.raises(StudyError, match="unknown entry 'size'"):
        Study.from_toml(TOML.format("oue") + "size = 3\n")
    with pytest.raises(CastellError, match="there is a channel for 'b'"):
        Study.from_toml(TOML.format("oue").replace('["a"]', '["b"]'))
    with pytest.raises(ChannelError, match="above 32"):
        mechanism("subset", 3, 40.0)
    assert comb(4, 2) == mechanism("subset", 4, 0.1).outputs


EVERY = (
    "grr",
    "best",
    "hadamard",
    "harmony",
    "hybrid",
    "privkv",
    "pckv-grr",
    "pckv-ue",
    *MECHANISMS,
)


@pytest.mark.parametrize("name", sorted(set(EVERY)))
def test_no_epsilon_and_no_size_is_an_error_of_python(name: str) -> None:
    size = {"privkv": 3, "hybrid": 3, "pckv-ue": 4}.get(name, 2)
    for epsilon in (0, 0.0, -1, float("inf"), float("nan"), 1e-12, 33, 1000, 1e9, None, "1", True):
        with pytest.raises(ChannelError):
            mechanism(name, size, epsilon)
    limited = name not in ("grr", "best", "pckv-grr", "hadamard")
    for wrong in (-1, 0, 1, 2.0, "3", (2, 3), *((20_000, 2**21) if limited else ())):
        with pytest.raises(ChannelError):
            mechanism(name, wrong, 1.0)


def test_sets_that_nobody_can_count_are_refused() -> None:
    document = {"kind": "subset", "size": 20_000, "chosen": 5_000, "same": 2, "other": 1}
    with pytest.raises(ChannelError, match="too many for this channel"):
        channel_of(document)


@pytest.mark.parametrize("name", ["rs+fd", "rs+rfd"])
def test_nor_of_several_attributes(name: str) -> None:
    for epsilon in (0, -1, float("inf"), float("nan"), 1e-12, 1000, 1e9, None, "1"):
        with pytest.raises(ChannelError):
            mechanism(name, (2, 3), epsilon)
    for wrong in (3, (), (2,), (2, 1), (2, -1), (2, "3")):
        with pytest.raises(ChannelError):
            mechanism(name, wrong, 1.0)  # type: ignore[arg-type]
