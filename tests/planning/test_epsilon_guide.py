"""Epsilon in people's terms is what randomised response does, and sources are named."""

from __future__ import annotations

import re
from math import exp, log
from pathlib import Path

import pytest

from castell import KaryResponse
from castell.errors import OptionError
from castell.planning.epsilon_guide import DEPLOYMENTS, USUAL, Meaning, ladder, meaning, near
from castell.planning.people_picture import people_svg


def _by_counting(epsilon: float, values: int, common: float) -> float:
    """How many of those who send the first value have it, from the channel's own weights."""
    rows = KaryResponse.with_epsilon(values, epsilon).weights()
    people = [common, *([(1 - common) / (values - 1)] * (values - 1))]
    sent = [share * row[0] for share, row in zip(people, rows, strict=True)]
    return sent[0] / sum(sent)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("values", [2, 3, 16])
@pytest.mark.parametrize("common", [None, 0.05, 0.9])
def test_as_counted_from_the_weights(epsilon: float, values: int, common: float | None) -> None:
    found = meaning(epsilon, values, common)
    truth = _by_counting(epsilon, values, found.common)
    assert found.true_if_sent == pytest.approx(truth, rel=1e-8)
    assert found.mean_another == round(100 * (1 - truth))
    assert found.sent_true == pytest.approx(_by_counting(epsilon, values, 1 / values), rel=1e-8)
    assert found.odds == pytest.approx(exp(epsilon))


def test_the_sentence_that_people_read() -> None:
    words = meaning(0.5).words("yes", "no")
    assert (
        words[0] == "Of 100 people who send 'yes', 38 mean 'no', if all answers are equally common."
    )
    assert "62.2% of the time, instead of 50.0% before" in words[1]
    assert "at most 1.65" in words[2]
    rare = meaning(2.0, 2, 0.1).words()[0]
    assert rare.startswith("Of 100 people who send 'yes', 55 mean another answer, if 10.0% of all")
    assert "fewer than 1 mean" in meaning(8.0).words()[0]


def test_the_ladder_is_from_the_most_private_on() -> None:
    found = [one.mean_another for one in ladder()]
    assert found == sorted(found, reverse=True)
    assert [one.epsilon for one in ladder()] == list(USUAL)
    assert ladder()[2].to_dict()["mean_another_of_100"] == 27


def test_every_deployment_names_its_source_and_its_unit() -> None:
    for one in DEPLOYMENTS:
        assert re.search(r"\b(19|20)\d\d\b", one.source)
        assert one.unit
        assert one.model in {"local", "central"}
        assert one.epsilon > 0
        assert 0 <= one.delta < 1e-4
        assert one.to_dict()["epsilon"] == one.epsilon
    # Two hash functions, half of the bits by chance: the theorem of the paper.
    (rappor,) = (one for one in DEPLOYMENTS if "RAPPOR" in one.what)
    assert rappor.epsilon == pytest.approx(2 * 2 * log((1 - 0.5 / 2) / (0.5 / 2)))


def test_the_page_lists_the_same_deployments() -> None:
    page = (Path(__file__).parents[2] / "docs" / "epsilon.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if re.search(r"\| (local|central) \|", line)]
    assert len(rows) == len(DEPLOYMENTS)
    for one, row in zip(DEPLOYMENTS, rows, strict=True):
        assert row.startswith(f"| {one.who}, {one.what} | {one.year} | {one.model} |")
        assert f"| {one.epsilon:.4g}" in row
        assert f"| {one.unit} |" in row


def test_those_nearby() -> None:
    assert [d.epsilon for d in near(3.0)] == [2.0, 4.0]
    assert [d.epsilon for d in near(0.1)] == [2.0]
    assert [d.epsilon for d in near(100.0, "central")] == [19.61]
    with pytest.raises(OptionError, match="local or central"):
        near(1.0, "shuffled")


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf"), "one", True, 1e4])
def test_no_epsilon(wrong: object) -> None:
    with pytest.raises(OptionError, match="give a number from 0 up"):
        meaning(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("values", "common"), [(1, None), (2.5, None), (2, 0.0), (2, 1.0)])
def test_no_question(values: object, common: float | None) -> None:
    with pytest.raises(OptionError):
        meaning(1.0, values, common)  # type: ignore[arg-type]


@pytest.mark.parametrize("one", ladder(epsilons=(0.5, 2.0, 8.0)))
def test_the_picture_has_a_hundred_people(one: Meaning) -> None:
    svg = people_svg([one], "yes", "no")
    legend = 1
    assert svg.count('fill="#e8a33d"') - legend == one.mean_another
    assert svg.count('fill="#3b6ea8"') - legend == 100 - one.mean_another
    assert f"epsilon {one.epsilon:g}" in svg


def test_the_picture_escapes_what_people_wrote() -> None:
    svg = people_svg([meaning(1.0, 3)], "<b>", title="a & b")
    assert "<b>" not in svg
    assert "&lt;b&gt;" in svg
    assert "a &amp; b" in svg
    assert "mean another answer" in svg
