"""Why an estimate is as it is, as values: what was chosen, what could not be checked, and how much
stood behind it. The words for people are made here, in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from castell.display.json_values import plain
from castell.inference.chisquare import p_text
from castell.study.schema import Schema


class Code(StrEnum):
    """What a reason says."""

    # What was chosen.
    PRIOR_AVERAGED = "prior_averaged"  # concentration, latent
    BLOCKS_SHRUNK = "blocks_shrunk"  # unbiased
    WEIGHTED_SHRUNK = "weighted_shrunk"  # unbiased
    MODEL_AGREES = "model_agrees"
    TOO_LARGE = "too_large"  # cells
    NOT_HELD_OUT = "not_held_out"
    LATENT_CLASSES = "latent_classes"  # fits, classes, steps, report_steps, chosen
    SHRUNK_TO_INDEPENDENCE = "shrunk_to_independence"  # pseudo_respondents
    UNBIASED_INSTEAD = "unbiased_instead"
    CLUSTERS = "clusters"
    CHOSE_CASTELL = "chose_castell"
    CHOSE_INDEPENDENT = "chose_independent"
    TRUNCATED = "truncated"
    SYNTHETIC_ROWS = "synthetic_rows"
    MADE_CONSISTENT = "made_consistent"
    # What was declared, and what the reports say of it.
    IMPOSSIBLE = "impossible"  # rules
    DECLARATION_CONTRADICTED = "declaration_contradicted"  # share, error, p
    SHARE_CONTRADICTED = "share_contradicted"
    # What is assumed, could not be checked, or was not asked.
    CARELESS = "careless"  # share
    INDEPENDENCE_ASSUMED = "independence_assumed"
    ASSOCIATION_NOT_FOUND = "association_not_found"  # detectable
    NOT_REPORTED_TOGETHER = "not_reported_together"
    NOT_REPORTED_YET = "not_reported_yet"
    ASSOCIATION_UNKNOWN = "association_unknown"
    ONLY_PAIRS_CHECKED = "only_pairs_checked"
    MODEL_ERROR = "model_error"  # association
    ERRORS_UNKNOWN = "errors_unknown"
    ASSOCIATION_UNCHECKED = "association_unchecked"
    TOO_FEW_FOR_TEST = "too_few_for_test"
    NOT_CONVERGED = "not_converged"
    INFORMATION_SINGULAR = "information_singular"
    SUPPOSES_FORMULA = "supposes_formula"
    # What stood behind it.
    DESIGN_BASED = "design_based"  # strata, clusters, freedom, effective_n
    REPORTS = "reports"  # together, n


# What a method does about associations concerns no question of one attribute.
ABOUT_SEVERAL = {
    Code.CHOSE_CASTELL,
    Code.CHOSE_INDEPENDENT,
    Code.CLUSTERS,
    Code.INDEPENDENCE_ASSUMED,
    Code.MODEL_AGREES,
    Code.NOT_HELD_OUT,
    Code.TRUNCATED,
}


@dataclass(frozen=True)
class Reason:
    """A code, the numbers it comes with, and the attributes it concerns."""

    code: Code
    numbers: Mapping[str, float] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    text: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", MappingProxyType(dict(self.numbers)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Reason, (self.code, dict(self.numbers), self.names, self.text)

    def __str__(self) -> str:
        return words(self)

    def to_dict(self) -> dict[str, Any]:
        """The reason for programs."""
        return {
            "code": self.code.value,
            "numbers": {name: plain(number) for name, number in self.numbers.items()},
            "attributes": list(self.names),
            "text": words(self),
        }


def reason(code: Code, *names: str, text: str = "", **numbers: float) -> Reason:
    """A reason, in short.

    >>> print(reason(Code.BLOCKS_SHRUNK, unbiased=0.25))
    25% the unbiased table, 75% the latent-class model, which differ by more than noise
    """
    return Reason(code, numbers, tuple(names), text)


# The reasons for an answer about some attributes.
Reasons = Callable[[Sequence[str]], tuple[Reason, ...]]


def no_reasons(names: Sequence[str]) -> tuple[Reason, ...]:  # noqa: ARG001
    return ()


def impossible_reasons(schema: Schema, names: Sequence[str]) -> list[Reason]:
    """That some cells of a table are 0 by declaration, if any are."""
    if not (schema.impossible.rules and schema.impossible.empty_cells_in(names)):
        return []
    return [reason(Code.IMPOSSIBLE, *names, rules=len(schema.impossible.rules_about(names)))]


def words(told: Reason) -> str:
    """A reason for people: one plain sentence."""
    return _SENTENCES[told.code](told)


def _name_list(told: Reason) -> str:
    if len(told.names) < 3:
        return " and ".join(told.names)
    return f"{', '.join(told.names[:-1])} and {told.names[-1]}"


def _design_based(told: Reason) -> str:
    by = told.numbers
    strata = "1 stratum" if by["strata"] == 1 else f"{by['strata']:,.0f} strata"
    return (
        f"weighted{' and raked' * bool(told.text == 'raked')}, with errors by design: "
        f"{by['clusters']:,.0f} clusters in {strata}, {by['freedom']:,.0f} "
        f"degrees of freedom; the weights leave as much as {by['effective_n']:,.0f} reports of "
        "equal weight"
    )


def _together(told: Reason) -> str:
    return " x ".join(told.names)


def _prior(told: Reason) -> str:
    latent = told.numbers["latent"]
    near = "the latent-class model" if latent > 0.995 else "independence"
    if 0.005 <= latent <= 0.995:
        near = f"the latent-class model ({latent:.0%}) or independence ({1 - latent:.0%})"
    return (
        f"maximum likelihood with a prior around {near} that weighs as much as about "
        f"{told.numbers['concentration']:g} respondents in each cell, by cross-validation"
    )


def _shrunk(told: Reason) -> str:
    share = told.numbers["unbiased"]
    return (
        f"{share:.0%} the unbiased table, {1 - share:.0%} the latent-class model, which differ by "
        "more than noise"
    )


def _latent(told: Reason) -> str:
    numbers = {name: round(value) for name, value in told.numbers.items()}
    made = f"{numbers['fits']} mixtures of {numbers['classes']} latent classes, "
    made += f"{numbers['steps']} EM steps each"
    if numbers["report_steps"]:
        made += f" and {numbers['report_steps']} through all reports"
    return made + (", by cross-validation" if numbers["chosen"] else ", as asked")


def _not_found(told: Reason) -> str:
    limit = told.numbers.get("detectable")
    if limit is None or limit >= 1.0:
        return f"too few reports to tell whether {_goes(told)}: no association would show"
    return (
        f"too few reports to tell whether {_goes(told)}: an association below Cramer's V = "
        f"{limit:.2g} would not show"
    )


def _goes(told: Reason) -> str:
    first, *others = told.names
    if len(others) == 1:
        return f"{first} goes with {others[0]}"
    return f"{_name_list(told)} go together"


def _reports(told: Reason) -> str:
    together, n = round(told.numbers["together"]), round(told.numbers["n"])
    if together == n:
        return f"{n:,} reports stand behind it"
    return f"{together:,} of {n:,} reports hold {'all of these' if len(told.names) > 1 else 'it'}"


def _impossible(told: Reason) -> str:
    rules = round(told.numbers["rules"])
    return (
        f"combinations that the study declares impossible ({rules:,} rule{'s' * (rules != 1)}) are "
        "0 for sure, with the interval [0, 0]"
    )


def _share_contradicted(told: Reason) -> str:
    return (
        f"DOUBTFUL: without the method's assumption the same reports say "
        f"{told.numbers['unbiased']:.2%}, between {told.numbers['low']:.2%} and "
        f"{told.numbers['high']:.2%} (99.9 % interval); choose another method, such as auto"
    )


def _contradiction(told: Reason) -> str:
    return (
        f"CONTRADICTED: the study declares that nobody has {told.text}, and the reports say "
        f"{told.numbers['share']:.2%} do (std. err. {told.numbers['error']:.2%}, p "
        f"{p_text(told.numbers['p'])}); methods that use the rule are wrong if it is"
    )


_SENTENCES: dict[Code, Callable[[Reason], str]] = {
    Code.PRIOR_AVERAGED: _prior,
    Code.BLOCKS_SHRUNK: _shrunk,
    Code.WEIGHTED_SHRUNK: lambda told: (
        f"{told.numbers['unbiased']:.0%} the weighted unbiased table, the rest the product of its "
        "margins: so much of their difference is more than noise"
    ),
    Code.MODEL_AGREES: lambda _: (
        "the latent-class model: the unbiased table differs from it by no more than noise may"
    ),
    Code.TOO_LARGE: lambda told: (
        f"{round(told.numbers['cells']):,} cells are left to the latent-class model"
    ),
    Code.NOT_HELD_OUT: lambda _: "the latent-class model: too few reports for cross-validation",
    Code.LATENT_CLASSES: _latent,
    Code.SHRUNK_TO_INDEPENDENCE: lambda told: (
        f"shrunk towards independence: {told.numbers['pseudo_respondents']:g} pseudo-respondents "
        "for each real one, by cross-validation"
    ),
    Code.UNBIASED_INSTEAD: lambda _: (
        "too wide for a table to be likely or not: this is the unbiased share of method castell"
    ),
    Code.CLUSTERS: lambda told: told.text,
    Code.CHOSE_CASTELL: lambda told: f"hybrid chose castell: {told.text}",
    Code.CHOSE_INDEPENDENT: lambda told: f"hybrid chose independent: {told.text}",
    Code.TRUNCATED: lambda _: (
        "cells are cut at the tables one attribute smaller; the table need not sum to one"
    ),
    Code.SYNTHETIC_ROWS: lambda _: (
        "counted in synthetic rows; the intervals do not contain what the model cannot express"
    ),
    Code.MADE_CONSISTENT: lambda _: (
        "moved to agree with tables of the same attributes; cells may be below zero, and the "
        "standard errors are those from before the move"
    ),
    Code.IMPOSSIBLE: _impossible,
    Code.SHARE_CONTRADICTED: _share_contradicted,
    Code.DECLARATION_CONTRADICTED: _contradiction,
    Code.CARELESS: lambda told: (
        f"supposing that {told.numbers['share']:.4g} of the respondents {told.text}, whatever the "
        "truth; of that share itself nothing is known here"
    ),
    Code.INDEPENDENCE_ASSUMED: lambda told: (
        f"{told.text or 'attributes'} are taken as independent; the intervals do not contain the "
        "error of that"
    ),
    Code.ASSOCIATION_NOT_FOUND: _not_found,
    Code.NOT_REPORTED_TOGETHER: lambda told: (
        f"no respondent was asked {_name_list(told)} together: only the model tells"
    ),
    Code.NOT_REPORTED_YET: lambda told: (
        f"nobody has reported {_name_list(told)} together yet: only the model tells"
    ),
    Code.ASSOCIATION_UNKNOWN: lambda told: (
        f"nothing is known of how {_name_list(told)} go together: the intervals are all that the "
        "margins leave open"
    ),
    Code.ONLY_PAIRS_CHECKED: lambda told: (
        f"{_together(told)} is checked by pairs only: an interaction of three that no pair shows "
        "would not be seen"
    ),
    Code.MODEL_ERROR: lambda told: (
        "the intervals allow for associations that are off by "
        f"{told.numbers['association']:.2g} (as Cramer's V of two groups), by cross-validation"
    ),
    Code.ERRORS_UNKNOWN: lambda _: (
        "the method states no errors, so nothing is known of how far this is off: the intervals "
        "are all that a share can be"
    ),
    Code.ASSOCIATION_UNCHECKED: lambda told: (
        f"no report tells {_name_list(told)} together: what is said of their association is the "
        "model's alone, and there is no test"
    ),
    Code.TOO_FEW_FOR_TEST: lambda told: (
        f"too few reports tell {_name_list(told)} together for a test, or one block is too large: "
        "V is the model's alone"
    ),
    Code.NOT_CONVERGED: lambda _: (
        "the search did not arrive: a coefficient may be infinite (the covariates tell the outcome "
        "of some values for sure), or the reports do not tell it"
    ),
    Code.INFORMATION_SINGULAR: lambda _: (
        "the reports do not tell all coefficients apart, so their errors are not known"
    ),
    Code.SUPPOSES_FORMULA: lambda _: (
        "the unbiased equations have no solution, so this is maximum likelihood, which supposes "
        "that the formula is right: if it is not, a fit to the answers would give others"
    ),
    Code.DESIGN_BASED: _design_based,
    Code.REPORTS: _reports,
}
