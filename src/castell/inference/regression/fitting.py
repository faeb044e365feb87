"""Fitting a formula to reports: which family, which method, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf, nan
from typing import TypeVar

import numpy as np

from castell.counting import Counts
from castell.errors import MethodError, OptionError, QueryError
from castell.inference.category_scores import Scores
from castell.inference.reasons import Code, Reason, reason
from castell.inference.regression.complete_cases import CompleteCases, regressed_codes
from castell.inference.regression.corrected_scores import (
    Root,
    linear_root,
    logit_root,
    refuse_no_root,
)
from castell.inference.regression.design_matrix import DesignMatrix, design_matrix, numbers_of
from castell.inference.regression.formula import Formula
from castell.inference.regression.information import check_size, covariance
from castell.inference.regression.maximum_likelihood import FARTHEST, Problem, maximize
from castell.inference.regression.score_error import ScoreError
from castell.inference.regression.views import views_of
from castell.inference.regression.weighted_scores import (
    weighted_linear_root,
    weighted_logit_root,
)
from castell.inference.sampling_design import SampleDesign
from castell.linear.operators import Floats
from castell.linear.table import Table
from castell.study.schema import Attribute

T = TypeVar("T", bound=StrEnum)


class Family(StrEnum):
    """How the outcome depends on the covariates."""

    LOGISTIC = "logistic"
    MULTINOMIAL = "multinomial"
    LINEAR = "linear"


class FitMethod(StrEnum):
    """How the coefficients are found."""

    LIKELIHOOD = "likelihood"
    CORRECTED = "corrected"


class Errors(StrEnum):
    """How far they may be off."""

    SANDWICH = "sandwich"
    INFORMATION = "information"


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients by column of the design and equation, and how far off they may be."""

    family: Family
    method: FitMethod
    errors: Errors
    design: DesignMatrix
    coefficients: Floats
    error: ScoreError
    log_likelihood: float
    converged: bool
    reasons: tuple[Reason, ...] = ()
    freedom: float = inf  # of Student's t


def fit_formula(
    counts: Counts,
    formula: Formula,
    family: str | None,
    method: str | None,
    errors: str,
    scores: Scores | None,
    sample: SampleDesign | None = None,
) -> Fit:
    """The regression of a formula, through the channels of the reports."""
    schema = counts.study.schema
    (outcome,) = schema.select(formula.outcome)
    design = design_matrix(schema, formula, scores)
    numbers = numbers_of(outcome, "", (scores or {}).get(outcome.name))
    chosen = _family(outcome, numbers, family)
    how = _one_of(Errors, errors, "errors")
    if sample is not None:
        if method not in (None, FitMethod.CORRECTED.value) or how is not Errors.SANDWICH:
            raise OptionError(
                "a weighted regression is by corrected scores, with errors by the sampling design",
                "leave out method and errors",
            )
        return _weighted_fit(counts, sample, design, outcome, chosen, numbers)
    if method is None and chosen is not Family.LINEAR and how is Errors.SANDWICH:
        return _unbiased_if_possible(counts, design, outcome, chosen)
    way = _one_of(FitMethod, method, "method") if method is not None else _usual(chosen)
    if way is FitMethod.CORRECTED and how is not Errors.SANDWICH:
        raise OptionError("corrected scores have no information", "leave out errors")
    if chosen is Family.LINEAR:
        if way is FitMethod.LIKELIHOOD:
            raise OptionError(
                "least squares is no likelihood of reports", "leave out method, or use a logit"
            )
        numbers = numbers_of(outcome, "score") if numbers is None else numbers
        root = linear_root(counts, design, Table((outcome.name,), np.asarray(numbers)))
        return _from_root(root, chosen, design)
    if way is FitMethod.CORRECTED:
        root = logit_root(counts, design, outcome.name)
        return _from_root(root, chosen, design)
    return _likelihood(_problem(counts, design, outcome), design, chosen, how)


def _unbiased_if_possible(
    counts: Counts, design: DesignMatrix, outcome: Attribute, family: Family
) -> Fit:
    """Corrected scores, whose coefficients are those of a fit to the answers whether or not the
    formula is right; maximum likelihood, and that it supposes it is, where they have no solution.
    """
    problem = _problem(counts, design, outcome)
    try:
        root = logit_root(counts, design, outcome.name)
    except (QueryError, MethodError):  # no reports hold all attributes together
        root = None
    if root is not None and root.found:
        return _from_root(root, family, design)
    fit = _likelihood(problem, design, family, Errors.SANDWICH)
    return replace(fit, reasons=(reason(Code.SUPPOSES_FORMULA), *fit.reasons))


def _weighted_fit(
    counts: Counts,
    sample: SampleDesign,
    design: DesignMatrix,
    outcome: Attribute,
    family: Family,
    numbers: Floats | None,
) -> Fit:
    if family is Family.LINEAR:
        numbers = numbers_of(outcome, "score") if numbers is None else numbers
        root = weighted_linear_root(counts, sample, design, outcome.name, np.asarray(numbers))
    else:
        root = weighted_logit_root(counts, sample, design, outcome.name)
    freedom = sample.freedom + 1 - len(design.columns)
    if freedom < 1:
        raise QueryError(
            f"{len(design.columns)} columns and {sample.freedom} degrees of freedom of the design",
            "use fewer terms, or more clusters",
        )
    found = _from_root(root, family, design)
    return replace(found, freedom=freedom, reasons=(sample.design_reason(),))


def _problem(counts: Counts, design: DesignMatrix, outcome: Attribute) -> Problem:
    names = (*design.covariates, outcome.name)
    cases = CompleteCases.of(counts.study.schema, names)
    problem = Problem(tuple(views_of(counts, names)), names, cases.shape, design.matrix, cases)
    check_size(problem)
    return problem


def _likelihood(problem: Problem, design: DesignMatrix, family: Family, errors: Errors) -> Fit:
    state, log, converged = maximize(problem)
    found = covariance(problem, state)
    reasons = [] if converged else [reason(Code.NOT_CONVERGED)]
    variance = found.sandwich if errors is Errors.SANDWICH else found.information
    if not converged:
        variance = _without_infinite(variance, design.matrix @ state.coefficients)
    reasons += [] if found.known else [reason(Code.INFORMATION_SINGULAR)]
    return Fit(
        family,
        FitMethod.LIKELIHOOD,
        errors,
        design,
        state.coefficients,
        ScoreError.constant(variance),
        log,
        converged,
        tuple(reasons),
    )


def _without_infinite(variance: Floats, odds: Floats) -> Floats:
    """Not known in equations whose log odds run away, or in all if none seems to: near infinity
    the likelihood is flat, and a finite error would be a fiction."""
    running = np.abs(odds).max(axis=0) > FARTHEST / 2
    if not running.any():
        running[:] = True
    unknown = np.tile(running, len(variance) // len(running))
    return np.where(unknown[:, None] | unknown[None, :], np.nan, variance)


def _from_root(root: Root, family: Family, design: DesignMatrix) -> Fit:
    refuse_no_root(root)
    return Fit(
        family,
        FitMethod.CORRECTED,
        Errors.SANDWICH,
        design,
        root.coefficients,
        root.error,
        nan,
        True,
    )


def _usual(family: Family) -> FitMethod:
    return FitMethod.CORRECTED if family is Family.LINEAR else FitMethod.LIKELIHOOD


def _family(outcome: Attribute, numbers: Floats | None, asked: str | None) -> Family:
    size = len(regressed_codes(outcome))
    if asked is None:
        if size == 2:
            return Family.LOGISTIC
        return Family.MULTINOMIAL if numbers is None else Family.LINEAR
    family = _one_of(Family, asked, "family")
    if family is Family.LOGISTIC and size != 2:
        raise QueryError(
            f"{outcome.name!r} has {size} values, and a logistic regression is of two",
            "use family='multinomial', or 'linear' with scores",
        )
    return family


def _one_of(kind: type[T], asked: str, what: str) -> T:
    try:
        return kind(asked)
    except ValueError:
        names = " or ".join(repr(each.value) for each in kind)
        raise OptionError(f"{what} is {asked!r}", f"give {names}") from None
