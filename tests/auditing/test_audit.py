"""Audits: right devices pass and come near to epsilon, each kind of broken one is found out."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

import castell
from castell import Attribute, MatrixResponse, Schema, Study
from castell.auditing.audit import CHOOSING, WITHIN, _people
from castell.auditing.audit_page import audit_page
from castell.auditing.audited_codes import count_wrong_cells, parts_of, rows_to_ask
from castell.auditing.device_names import open_device
from castell.auditing.exact_bounds import at_least, at_most, epsilon_at_least
from castell.auditing.telling_event import fit_of, repeats_of
from castell.errors import OptionError
from castell.inference.incomplete_beta import incomplete_beta
from tests.auditing.broken_devices import (
    BiasedCoin,
    KeyedDevice,
    SeededFrame,
    SharedCoin,
    right,
    with_weights,
)

ONE = Study(Schema([Attribute("smokes", ["never", "before", "now"])]), epsilon=1.0)
TWO = Study(
    Schema([Attribute("smokes", ["never", "before", "now"]), Attribute("sick", ["no", "yes"])]),
    epsilon=2.0,
)
# Chances are those of seeds, so nothing here changes from run to run.
SURE = 1.0 - 1e-6


# -- the numbers it stands on ----------------------------------------------------------------------


@pytest.mark.parametrize(("hits", "trials"), [(0, 7), (7, 7), (3, 40), (900, 1000), (5, 10**6)])
@pytest.mark.parametrize("alpha", [0.05, 1e-7])
def test_bounds_are_those_of_clopper_and_pearson(hits: int, trials: int, alpha: float) -> None:
    low = stats.beta.ppf(alpha, hits, trials - hits + 1) if hits else 0.0
    high = stats.beta.isf(alpha, hits + 1, trials - hits) if hits < trials else 1.0
    assert at_least(hits, trials, alpha) == pytest.approx(low, rel=1e-6, abs=1e-15)
    assert at_most(hits, trials, alpha) == pytest.approx(high, rel=1e-6)


def test_the_incomplete_beta_function() -> None:
    generator = np.random.default_rng(0)
    for a, b, x in zip(
        generator.uniform(0.5, 5000, 50),
        generator.uniform(0.5, 5000, 50),
        generator.random(50),
        strict=True,
    ):
        assert incomplete_beta(a, b, x) == pytest.approx(stats.beta.cdf(x, a, b), abs=1e-9)


def test_fits_and_repeats_are_as_surprising_as_they_say() -> None:
    chances = np.array([0.5, 0.3, 0.1999, 0.0001])
    generator = np.random.default_rng(3)
    fits, repeats = [], []
    for _ in range(400):
        codes = generator.choice(4, size=2000, p=chances)
        fits.append(fit_of(np.bincount(codes, minlength=4).astype(float), chances))
        repeats.append(repeats_of(codes, chances, 2))
    for found in (fits, repeats):
        assert stats.kstest(found, "uniform").pvalue > 1e-4
    assert fit_of(np.array([120.0, 60.0]), np.array([0.5, 0.5])) < 0.01
    assert fit_of(np.array([1.0, 0.0]), np.array([0.5, 0.5])) == 1.0  # too few to say anything


def test_every_number_of_a_small_channel_is_gone_through() -> None:
    channel = MatrixResponse([[8, 2], [3, 7]])
    assert count_wrong_cells([channel, channel]) == (20, 0)

    class Wrong(MatrixResponse):
        def weights(self) -> list[list[int]]:
            return [[7, 3], [3, 7]]

    object.__setattr__(wrong := Wrong([[8, 2], [3, 7]]), "rows", ((8, 2), (3, 7)))
    wrong.__dict__["_rows"] = ((8, 2), (3, 7))
    assert count_wrong_cells([wrong]) == (20, 1)


# -- devices that are right ------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "epsilon", "n"), [(2, 2.0, 4_000_000), (4, 3.0, 6_000_000)])
def test_within_one_percent_of_epsilon(size: int, epsilon: float, n: int) -> None:
    study = Study(Schema([Attribute("a", [f"a{i}" for i in range(size)])]), epsilon)
    found = castell.audit(study, SeededFrame(0), n=n)
    assert found.passed, str(found)
    assert 0.99 * study.epsilon < found.lower <= study.epsilon
    assert found.n <= n


@pytest.mark.parametrize(("size", "epsilon"), [(2, 3.0), (3, 2.0), (5, 1.5)])
def test_as_many_are_asked_as_one_percent_takes(size: int, epsilon: float) -> None:
    study = Study(Schema([Attribute("a", [f"a{i}" for i in range(size)])]), epsilon)
    with open_device("frame") as device:
        asked = _people(device, parts_of(study), rows_to_ask(study), 0.001)
    half = int(asked * (1.0 - CHOOSING)) // 2
    matrix = study.design.blocks[0].channel.forward.dense()
    p, q = matrix[0, 0], matrix[0, 1]
    generator = np.random.default_rng(0)
    draws = zip(generator.binomial(half, p, 1000), generator.binomial(half, q, 1000), strict=True)
    bounds = [epsilon_at_least(int(a), half, int(b), half, 0.0005) for a, b in draws]
    within = np.mean(np.array(bounds) > (1.0 - WITHIN) * epsilon)
    # .99 of them, and for a chance of less than one in a million no fewer than five errors below.
    assert 0.974 < within < 1.0


def test_without_a_number_of_devices_that_many_are_asked() -> None:
    found = castell.audit(Study(Schema([Attribute("a", ["x", "y"])]), 3.0), "frame")
    (only,) = found.bounds
    assert only.expected > 0.99 * found.epsilon
    assert found.lower > 0.97 * found.epsilon  # many standard errors away


@pytest.mark.parametrize("design", ["independent", "joint", "cover", "singles"])
def test_every_design_passes(design: str) -> None:
    schema = Schema(
        [Attribute("a", list("uvw")), Attribute("b", list("xy")), Attribute("c", list("pq"))]
    )
    study = Study(schema, 2.0, design)
    found = castell.audit(study, SeededFrame(5), n=200_000, confidence=SURE)
    assert found.passed, str(found)
    assert found.lower_if_independent > 0.8 * study.epsilon
    assert (found.whole is None) == (design != "independent")


def test_asymmetric_matrices_are_audited_where_they_tell_most() -> None:
    channel = MatrixResponse([[8, 1, 1], [2, 6, 2], [3, 3, 4]])
    study = Study(Schema([Attribute("a", list("xyz"))]), channels={"a": channel})
    found = castell.audit(study, SeededFrame(1), n=400_000, confidence=SURE)
    assert found.passed, str(found)
    assert found.lower > 0.9 * channel.epsilon
    assert found.checks[0].told.startswith("30 (answer, number) cells")


@pytest.mark.parametrize("study", [ONE, TWO, Study(TWO.schema, 2.0, "singles")])
def test_a_device_in_python_passes(study: Study) -> None:
    found = castell.audit(study, "python", n=1200, confidence=SURE)
    assert found.passed, str(found)
    assert [check.name for check in found.checks][-2:] == [
        "the same answer, the same report",
        "another answer, the same random number",
    ]


# -- devices that are not --------------------------------------------------------------------------


def test_a_biased_coin() -> None:
    found = castell.audit(ONE, BiasedCoin(0), n=400_000, confidence=SURE)
    assert not found.passed
    assert "failed: reports as often as the weights say" in found.failures[-1]
    more = castell.audit(ONE, BiasedCoin(0), n=2_000_000, confidence=SURE)
    assert more.lower > ONE.epsilon
    assert "gives away at least" in more.failures[0]
    assert more.verdict().startswith("The device is NOT what the study states")


def test_a_seed_that_repeats() -> None:
    """For everybody the same, for every other person, or after a hundred people."""
    shared: list[Callable[[int, int], bytes]] = [
        lambda *_: right(7, 0),
        lambda person, _: right(person // 2, 0),
        lambda person, _: right(person % 100, 0),
    ]
    for keys in shared:
        device = KeyedDevice(keys)
        found = castell.audit(ONE, device, n=4000, confidence=SURE)
        assert not found.passed
        assert any("repeats" in text or "as often" in text for text in found.failures)


def test_a_memo_that_is_forgotten() -> None:
    device = KeyedDevice(lambda k, time: right(1000 * k + time, 0))
    found = castell.audit(ONE, device, n=12_000)
    assert not found.passed
    (text,) = [text for text in found.failures if "the same answer, the same report" in text]
    lower = float(text.split("gives away at least ")[1].rstrip(")"))
    assert lower > ONE.epsilon  # asked three times it tells three times


def test_a_memo_that_depends_on_the_answer() -> None:
    found = castell.audit(ONE, KeyedDevice(right, by_answer=True), n=4000, confidence=SURE)
    assert [text for text in found.failures if "the same random number" in text]


def test_a_wrong_weight() -> None:
    device = KeyedDevice(right, study=lambda study: with_weights(study, lambda same: 2 * same))
    found = castell.audit(ONE, device, n=6000, confidence=SURE)
    assert not found.passed
    less = KeyedDevice(right, study=lambda study: with_weights(study, lambda same: same * 5 // 6))
    found = castell.audit(ONE, less, n=8000, confidence=SURE)
    assert found.lower < ONE.epsilon
    assert not found.passed  # less than stated is not what was stated either


def test_blocks_that_share_a_coin() -> None:
    found = castell.audit(TWO, SharedCoin(right), n=4000, confidence=SURE)
    assert [text for text in found.failures if "independent of each other" in text]


# -- what it shows ---------------------------------------------------------------------------------


def test_an_audit_for_programs_and_for_people() -> None:
    found = castell.audit(TWO, SeededFrame(0), n=20_000)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["passed"] is True
    assert document["digest"] == TWO.digest
    assert [part["name"] for part in document["parts"]] == ["smokes", "sick"]
    assert document["whole"]["lower"] <= document["lower_if_independent"]
    assert repr(found).startswith("<Audit of 'study' by 'seeded frame': epsilon at least ")
    assert "bounds hold together with confidence 0.999" in str(found)
    assert found._repr_html_().count("<table") == 1
    page = audit_page(found, "castell 1")
    assert page.startswith("<!doctype html>")
    assert TWO.digest in page
    assert "None was sent" in page
    with pytest.raises(AttributeError):
        found.n = 3  # type: ignore[misc]


def test_what_cannot_be_audited() -> None:
    with pytest.raises(OptionError, match="400 or more"):
        castell.audit(ONE, n=10)
    with pytest.raises(OptionError, match=r"from 0\.5 to below 1"):
        castell.audit(ONE, confidence=1.0)
    with pytest.raises(OptionError, match="there is no device 'phone'"):
        castell.audit(ONE, "phone")
    with pytest.raises(OptionError, match="there is no study to audit"):
        castell.audit(None)
    with pytest.raises(OptionError, match="are not audited"):
        castell.audit(Study(ONE.schema, 1.0, "bloom"))

    class Odd(SeededFrame):
        def reports(self, study, asked, people):  # type: ignore[no-untyped-def]
            return super().reports(study, asked, people) + 2

    with pytest.raises(OptionError, match="none of the study's"):
        castell.audit(ONE, Odd(0), n=1000)


def test_progress_reaches_its_end() -> None:
    told: list[float] = []
    castell.audit(ONE, "python", n=800, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0, abs=0.02)
