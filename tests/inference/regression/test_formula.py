"""Formulas: what they stand for, and what is none."""

from __future__ import annotations

import numpy as np
import pytest

from castell import Attribute, Schema
from castell.errors import QueryError
from castell.inference.regression.design_matrix import design_matrix
from castell.inference.regression.formula import Factor, Formula, parse

A, B = Factor("a"), Factor("b")
SCHEMA = Schema(
    [
        Attribute("y", ["no", "yes"]),
        Attribute("a", ["u", "v", "w"]),
        Attribute("b", [1, 2.5]),
        Attribute("how old", ["20", "30"]),
    ]
)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("y ~ a", Formula("y", ((A,),))),
        ("  y~a+b ", Formula("y", ((A,), (B,)))),
        ("y ~ a:b + b", Formula("y", ((A, B), (B,)))),
        ("y ~ a*b", Formula("y", ((A,), (B,), (A, B)))),
        ("y ~ a + a*b", Formula("y", ((A,), (B,), (A, B)))),
        ("y ~ C(a) + score(b)", Formula("y", ((Factor("a", "C"),), (Factor("b", "score"),)))),
        ("y ~ a - 1", Formula("y", ((A,),), intercept=False)),
        ("y ~ 0 + a", Formula("y", ((A,),), intercept=False)),
        ("y ~ a + 1", Formula("y", ((A,),))),
        ("y ~ 1", Formula("y", ())),
        ("`a b` ~ `husband's age`", Formula("a b", ((Factor("husband's age"),),))),
        ("C ~ score", Formula("C", ((Factor("score"),),))),
    ],
)
def test_formulas_are_read(text: str, formula: Formula) -> None:
    assert parse(text) == formula


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("y", "not outcome ~ covariates"),
        ("y ~", "not outcome ~ covariates"),
        ("~ a", "not outcome ~ covariates"),
        ("y ~ a ~ b", "not outcome ~ covariates"),
        ("y + z ~ a", "not outcome ~ covariates"),
        ("y ~ a + ", "empty term"),
        ("y ~ a + + b", "empty term"),
        ("y ~ a b", "cannot be read at 'b'"),
        ("y ~ a^2", r"cannot be read at '\^2'"),
        ("y ~ a:", "cannot be read at ':'"),
        ("y ~ C(a", "open bracket"),
        ("y ~ a*b*c", "multiplies more than two"),
        ("y ~ a:a", "names an attribute twice"),
        ("y ~ a - b", "takes away a term"),
        ("y ~ y + a", "on both sides"),
        ("y ~ - 1", "nothing to estimate"),
        ("1 ~ a", "where a name should be"),
        (3, "the formula is 3"),
    ],
)
def test_what_is_no_formula_is_refused_in_one_line(text: str, problem: str) -> None:
    with pytest.raises(QueryError, match=problem) as caught:
        parse(text)
    assert "\n" not in str(caught.value)


def test_columns_are_treatment_coded_and_numbers_stay_numbers() -> None:
    found = design_matrix(SCHEMA, parse("y ~ a*b"))
    assert found.columns == ("Intercept", "a[T.v]", "a[T.w]", "b", "a[T.v]:b", "a[T.w]:b")
    assert found.matrix.tolist() == [
        [1, 0, 0, 1, 0, 0],
        [1, 0, 0, 2.5, 0, 0],
        [1, 1, 0, 1, 1, 0],
        [1, 1, 0, 2.5, 2.5, 0],
        [1, 0, 1, 1, 0, 1],
        [1, 0, 1, 2.5, 0, 2.5],
    ]
    for text, columns in {
        "y ~ C(b)": ("Intercept", "b[T.2.5]"),
        "y ~ score(a) - 1": ("score(a)",),
        "y ~ `how old`": ("Intercept", "how old"),
        "y ~ 1": ("Intercept",),
    }.items():
        assert design_matrix(SCHEMA, parse(text)).columns == columns
    scored = design_matrix(SCHEMA, parse("y ~ a"), {"a": [0, 1, 10]})
    np.testing.assert_array_equal(scored.matrix, [[1, 0], [1, 1], [1, 10]])


def test_what_has_no_columns_of_its_own_is_refused() -> None:
    with pytest.raises(QueryError, match="depend on one another"):
        design_matrix(SCHEMA, parse("y ~ a"), {"a": [2, 2, 2]})
    with pytest.raises(QueryError, match="'a', which is no term of its own"):
        design_matrix(SCHEMA, parse("y ~ b + a:b"))
    with pytest.raises(QueryError, match="there are scores of 'b'"):
        design_matrix(SCHEMA, parse("y ~ a"), {"b": [1, 2]})
    with pytest.raises(QueryError, match="did you mean"):
        design_matrix(SCHEMA, parse("y ~ aa"))
