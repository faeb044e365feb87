"""The columns of a regression, for every combination of the covariates' values.

A factor whose values are numbers, or that has scores, is one column of them; any other has a column
for each value but the first, 1 for those who have it (treatment coding). The column of an
interaction is the product of its factors' columns. Values that are no answer have no place in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from castell.errors import QueryError
from castell.inference.category_scores import Scores, refuse_other_scores, scores_of
from castell.inference.regression.complete_cases import regressed_codes
from castell.inference.regression.formula import Factor, Formula, Term
from castell.linear.operators import Floats
from castell.linear.table import Table
from castell.study.schema import Attribute, Schema, check_cells

# A column's name, and its number for each value of one attribute.
_Column = tuple[str, Floats]


@dataclass(frozen=True, eq=False)
class DesignMatrix:
    """`matrix` has a row for each combination of the covariates, the last one's code fastest;
    `functions` are its columns, each over its own attributes."""

    covariates: tuple[str, ...]
    sizes: tuple[int, ...]
    columns: tuple[str, ...]
    functions: tuple[Table, ...]

    @cached_property
    def matrix(self) -> Floats:
        return np.column_stack(
            [
                np.broadcast_to(one.along(self.covariates), self.sizes).ravel()
                for one in self.functions
            ]
        )

    @property
    def cells(self) -> int:
        return prod(self.sizes)


def design_matrix(schema: Schema, formula: Formula, scores: Scores | None = None) -> DesignMatrix:
    """The columns that a formula asks for."""
    given = scores or {}
    refuse_other_scores(given, (formula.outcome, *formula.covariates))
    attributes = schema.select(formula.covariates) if formula.covariates else ()
    covariates = tuple(attribute.name for attribute in attributes)
    sizes = tuple(len(regressed_codes(attribute)) for attribute in attributes)
    check_cells(" x ".join(covariates) or "an intercept", sizes, None)
    names, functions = [], []
    if formula.intercept:
        names.append("Intercept")
        functions.append(Table((), np.ones(())))
    for term in formula.terms:
        _check_main_effects(schema, formula, term, given)
        for name, values in _product(schema, term, given):
            names.append(name)
            functions.append(values)
    found = DesignMatrix(covariates, sizes, tuple(names), tuple(functions))
    if np.linalg.matrix_rank(found.matrix) < len(names):
        raise QueryError(
            "the columns of the regression depend on one another",
            "leave out a term, or give each attribute scores that differ",
        )
    return found


def _product(schema: Schema, term: Term, scores: Scores) -> list[tuple[str, Table]]:
    found = [("", Table((), np.ones(())))]
    for factor in term:
        own = _columns_of(schema[factor.name], factor, scores)
        found = [
            (
                f"{one}:{two}" if one else two,
                Table((*first.names, factor.name), np.multiply.outer(first.values, second)),
            )
            for one, first in found
            for two, second in own
        ]
    return found


def _columns_of(attribute: Attribute, factor: Factor, scores: Scores) -> list[_Column]:
    numbers = numbers_of(attribute, factor.coding, scores.get(attribute.name))
    if numbers is not None:
        name = attribute.name if factor.coding != "score" else f"score({attribute.name})"
        return [(name, numbers)]
    codes = regressed_codes(attribute)
    eye = np.eye(len(codes))
    return [
        (f"{attribute.name}[T.{attribute.values[code]}]", eye[k])
        for k, code in enumerate(codes)
        if k > 0
    ]


def numbers_of(
    attribute: Attribute, coding: str = "", scores: Sequence[float] | None = None
) -> Floats | None:
    """The number of each value that is an answer; None where values are categories."""
    if coding == "C":
        return None
    codes = regressed_codes(attribute)
    if scores is not None or coding == "score":
        return scores_of(attribute, codes, scores)
    try:
        found = np.array([float(attribute.values[code]) for code in codes])
    except ValueError:
        return None
    return found if np.isfinite(found).all() else None


def _check_main_effects(schema: Schema, formula: Formula, term: Term, scores: Scores) -> None:
    """Products of treatment codings mean what they seem to beside their main effects only."""
    if len(term) == 1:
        return
    single = {other[0] for other in formula.terms if len(other) == 1}
    for factor in term:
        attribute = schema[factor.name]
        if factor not in single and (
            numbers_of(attribute, factor.coding, scores.get(factor.name)) is None
        ):
            raise QueryError(
                f"an interaction has {factor.name!r}, which is no term of its own",
                f"write both: {' * '.join(each.name for each in term)}",
            )
