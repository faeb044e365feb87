"""Why reports are sent first and shown afterwards: the numbers in docs/browser.md."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import castell
from castell import Attribute, Schema, Study
from castell.errors import SchemaError
from castell.study.page_warnings import page_warnings
from castell.study.texts import StudyText

DOCS = Path(__file__).parent.parent.parent / "docs" / "browser.md"
TRUTH, LEAVING = 0.10, 0.30


def yes_or_no(epsilon: float, review: str = "after") -> Study:
    schema = Schema([Attribute("a", ["no", "yes"])])
    return Study(schema, epsilon, text=StudyText(review=review))


def estimated(epsilon: float, *, only_true: bool) -> float:
    """The share of yes that the reports of those who stay say, without noise."""
    channel = yes_or_no(epsilon).design.blocks[0].channel
    matrix = np.array(channel.weights(), dtype=float) / channel.total
    sent = np.array([1 - TRUTH, TRUTH])[:, None] * matrix  # answers down, reports across
    sent[1 if only_true else slice(None), 1] *= 1 - LEAVING
    stayed = sent.sum(axis=0) / sent.sum()
    share: float = np.linalg.solve(matrix.T, stayed)[1]
    return share


def test_the_numbers_in_the_documents() -> None:
    rows = re.findall(r"^\| (\d) \| (-?\d+\.\d) % \| (\d+\.\d) % \|$", DOCS.read_text(), re.M)
    assert [row[0] for row in rows] == ["1", "2", "4"]
    for epsilon, everybody, only_true in rows:
        assert f"{100 * estimated(float(epsilon), only_true=False):.1f}" == everybody
        assert f"{100 * estimated(float(epsilon), only_true=True):.1f}" == only_true


def test_a_simulated_collection_is_as_wrong_as_that() -> None:
    study, people = yes_or_no(1.0), 400_000
    random = np.random.default_rng(5)
    answers = np.where(random.random(people) < TRUTH, "yes", "no")
    reports = study.randomize({"a": answers}, seed=6)
    (codes,) = reports.columns
    leaves = (codes == 1) & (random.random(people) < LEAVING)
    stayed = castell.Reports(study, [codes[~leaves]], secure=False)
    honest = castell.fit(reports, "castell").probability(a="yes")
    biased = castell.fit(stayed, "castell").probability(a="yes")
    # Six standard errors: less than once in 10^8.
    assert abs(honest.value - TRUTH) < 6 * honest.standard_error
    assert abs(biased.value - estimated(1.0, only_true=False)) < 6 * biased.standard_error
    assert abs(biased.value - TRUTH) > 60 * biased.standard_error


def test_the_order_is_published_with_the_study_and_warned_of() -> None:
    after, before = yes_or_no(1.0), yes_or_no(1.0, "before")
    assert "review" not in after.to_dict()
    assert before.to_dict()["review"] == "before"
    assert before.digest != after.digest
    assert Study.from_json(before.to_json()).text.review == "before"
    assert page_warnings(after) == []
    (warning,) = page_warnings(before)
    assert "bias every estimate" in warning


@pytest.mark.parametrize("review", ["never", "", "Before"])
def test_another_order_is_refused(review: str) -> None:
    with pytest.raises(SchemaError, match='write review = "before"'):
        yes_or_no(1.0, review)
    with pytest.raises(SchemaError, match="review"):
        Study.from_toml(
            f'review = "{review}"\nepsilon = 1.0\n[[attribute]]\nname = "a"\nvalues = ["x", "y"]\n'
        )


def test_an_order_that_is_no_text_is_refused() -> None:
    with pytest.raises(SchemaError, match="the study's review is True"):
        StudyText.of({"review": True})
