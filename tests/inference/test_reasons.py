"""Reasons: values with words, and words that say no more than is known."""

from __future__ import annotations

import json

import numpy as np
import pytest

import castell
from castell import Code, Reason, Study
from castell.inference.reasons import _SENTENCES, reason, words
from tests.populations import collect, population, product

EXAMPLES: dict[Code, dict[str, float]] = {
    Code.SHARE_CONTRADICTED: {"unbiased": 0.1, "low": 0.08, "high": 0.12},
    Code.PRIOR_AVERAGED: {"concentration": 30.0, "latent": 0.8},
    Code.BLOCKS_SHRUNK: {"unbiased": 0.25},
    Code.WEIGHTED_SHRUNK: {"unbiased": 0.25},
    Code.TOO_LARGE: {"cells": 2_000_000},
    Code.LATENT_CLASSES: {"fits": 12, "classes": 24, "steps": 5, "report_steps": 0, "chosen": 1},
    Code.SHRUNK_TO_INDEPENDENCE: {"pseudo_respondents": 0.1},
    Code.ASSOCIATION_NOT_FOUND: {"detectable": 0.12},
    Code.MODEL_ERROR: {"association": 0.05},
    Code.CARELESS: {"share": 0.05},
    Code.IMPOSSIBLE: {"rules": 2},
    Code.DECLARATION_CONTRADICTED: {"share": 0.05, "error": 0.01, "p": 1e-5},
    Code.DESIGN_BASED: {"strata": 4, "clusters": 30, "freedom": 26, "effective_n": 812.4},
    Code.REPORTS: {"together": 120, "n": 3000},
}


def test_every_reason_has_words() -> None:
    assert set(_SENTENCES) == set(Code)
    for code in Code:
        told = Reason(code, EXAMPLES.get(code, {}), ("smokes", "health"), "some text")
        assert len(words(told)) > 5
        assert words(told)[-1] != "."
        document = told.to_dict()
        assert document["code"] == code.value
        json.dumps(document)
        with pytest.raises(TypeError):
            told.numbers["n"] = 1.0  # type: ignore[index]


def test_what_was_not_found_is_not_said_not_to_be_there() -> None:
    told = str(reason(Code.ASSOCIATION_NOT_FOUND, "smokes", "health", detectable=0.12))
    assert told == (
        "too few reports to tell whether smokes goes with health: an association below Cramer's "
        "V = 0.12 would not show"
    )
    for numbers in ({}, {"detectable": 1.0}):
        told = str(Reason(Code.ASSOCIATION_NOT_FOUND, numbers, ("a", "b", "c")))
        assert told.endswith("whether a, b and c go together: no association would show")


@pytest.mark.parametrize("design", ["independent", "cover", "pairs"])
@pytest.mark.parametrize("method", ["auto", "latent"])
def test_no_result_ever_says_that_attributes_are_independent(design: str, method: str) -> None:
    """With hardly any reports nothing is found; what is said is how much would have shown."""
    people = population((2, 3, 4), seed=4, sharpness=2.0)
    for seed in range(4):
        study = Study(people.schema, 1.0, design)
        model = castell.fit(collect(study, people.table, 300, np.random.default_rng(seed)), method)
        for names in (("a",), ("a", "b"), ("a", "b", "c")):
            joint = model.estimate(names)
            text = " ".join(joint.notes)
            assert "are independent" not in text
            assert "no association:" not in text
            said = [r for r in joint.reasons if r.code is Code.ASSOCIATION_NOT_FOUND]
            for one in said:
                assert set(one.names) <= set(names)
                assert 0.0 < one.numbers["detectable"] <= 1.0


def test_what_would_have_shown_falls_as_reports_come_in() -> None:
    people = product({"a": [0.3, 0.7], "b": [0.5, 0.2, 0.3]})
    limits = []
    for n in (500, 5000, 50_000):
        reports = collect(Study(people.schema, 4.0), people.table, n, np.random.default_rng(1))
        joint = castell.fit(reports, "latent").estimate(["a", "b"])
        limits += [r.numbers["detectable"] for r in joint.reasons if "detectable" in r.numbers]
    assert len(limits) == 3
    assert limits[0] > 2 * limits[1] > 4 * limits[2]


def test_reasons_stand_in_the_document() -> None:
    people = population((2, 3), seed=4)
    reports = collect(Study(people.schema, 4.0), people.table, 500, np.random.default_rng(0))
    document = castell.estimate(reports, ["a", "b"]).to_dict()
    assert [each["text"] for each in document["reasons"]] == document["notes"]
    assert document["checked"] == "whole"
    share = castell.fit(reports).probability(a="a0").to_dict()
    assert share["reasons"][-1]["numbers"] == {"together": 500, "n": 500}
