"""What a table says of itself."""

from __future__ import annotations

from statistics import median

import numpy as np

from castell.inference.chisquare import p_text
from castell.inference.constants import ALARM
from castell.inference.goodness_of_fit import Verdict
from castell.results.joint import JointEstimate
from castell.results.summary import percent
from castell.results.trust.raw_tables import of_parts
from castell.results.trust.signal import Signal, points, unknown_signal

NEGATIVE = "Negative mass beyond its error"


def standard_errors(joint: JointEstimate, level: float = 0.95) -> Signal:
    """How far off the cells may be: a look is due where the widest interval swamps the table.

    The widest before bounds: a hopeless interval that happens to lie outside of them looks short.
    """
    low, high = joint.unbounded(level)
    widest = float(((high - low) / 2).max())
    largest, middle = float(joint.standard_errors.max()), median(joint.standard_errors.ravel())
    top = float(joint.probabilities.max())
    swamped = widest > top / 2
    text = (
        f"The least certain cell reaches {points(widest)} to each side at the {percent(level)} "
        f"level; the largest cell holds {top:.1%}."
    )
    if swamped:
        text += " Ask for fewer attributes, or wait for more reports."
    return Signal(
        "errors",
        "Standard errors",
        "look" if swamped else "fine",
        f"up to {points(largest)}",
        text,
        "square root of the estimated variance of each cell",
        {"largest": largest, "median": float(middle), "widest_half": widest},
    )


def below_noise(joint: JointEstimate, level: float = 0.95) -> Signal:
    """Cells that cannot be told from zero."""
    low, high = joint.conf_int(level)
    possible = ~joint.impossible
    hidden, cells = int(((low <= 0.0) & (high >= 0.0) & possible).sum()), int(possible.sum())
    many = 2 * hidden > cells
    text = f"{hidden:,} of {cells:,} cells cannot be told from zero at the {percent(level)} level."
    if many:
        text += " What is small here is mostly noise."
    return Signal(
        "noise",
        "Cells below noise",
        "look" if many else "fine",
        f"{hidden:,} of {cells:,}",
        text,
        f"the {percent(level)} interval of the cell holds zero",
        {"below": hidden, "cells": cells},
    )


def negative_mass(*raws: JointEstimate, alarm: float = ALARM) -> Signal:
    """Cells of raw inversions that are further below zero than noise explains.

    No distribution of honest answers has a negative cell, so a cell whose whole interval is below
    zero speaks against the reports: a forged flood, a client that randomises wrongly.
    The level is shared out over the cells (Bonferroni), so all of them together raise a false alarm
    in at most `alarm` of questions.
    """
    cells = sum(raw.unprocessed.size for raw in raws)
    highs = [raw.unbounded(1.0 - 2.0 * alarm / cells)[1] for raw in raws]
    negative = max(float(-np.minimum(raw.unprocessed, 0.0).sum()) for raw in raws)
    beyond = max(float(-np.minimum(high, 0.0).sum()) for high in highs)
    impossible = sum(int((high < 0.0).sum()) for high in highs)
    if impossible:
        text = (
            f"{impossible:,} of {cells:,} cells lie below zero by more than noise explains. Honest "
            "reports do not do that: look for forged reports or a client that randomises wrongly."
        )
    elif negative:
        text = f"Negative cells sum to {negative:.2%}, and noise alone explains every one of them."
    else:
        text = "No cell of the unbiased estimate is below zero."
    text += of_parts(raws)
    return Signal(
        "negative",
        NEGATIVE,
        "look" if impossible else "fine",
        f"{beyond:.2%}" if impossible else "none",
        text,
        f"one-sided interval of each cell of the raw inversion, level {alarm:g} over all cells",
        {"negative": negative, "beyond": beyond, "cells": impossible},
    )


def model_fit(joint: JointEstimate) -> Signal:
    """Whether a model's table agrees with the unbiased table of the same reports."""
    found, title = joint.misfit, "Model against reports"
    if found is None:
        return unknown_signal(
            "misfit", title, "The table is the unbiased one: there is no model to test."
        )
    if not found.tests:
        return unknown_signal(
            "misfit",
            title,
            "Nothing to compare with: weighted reports and Bloom filters are not tested, nor are "
            "tables that too few respondents reported together, or that are too large.",
        )
    effects = "interactions" if len(joint.names) > 1 else "main effects"
    numbers = {"p": found.p, "statistic": found.statistic, "freedom": found.freedom}
    method = (
        f"chi-square of the {effects} of {found.tests} tables, the worst of {found.freedom} "
        f"degrees of freedom, statistic {found.statistic:.1f}, p {p_text(found.p)} (Bonferroni)"
    )
    if found.verdict is Verdict.DOUBTFUL:
        other = "castell" if joint.method == "auto" else "auto or castell"
        text = (
            f"Doubtful: the reports contradict this table in {' x '.join(found.names)}. Its "
            f"intervals do not contain that. Choose another method, such as {other}; if cells of "
            "that are far below zero, look for forged reports."
        )
        return Signal("misfit", title, "look", "doubtful", text, method, numbers)
    what = "associations" if len(joint.names) > 1 else "shares"
    text = f"The reports do not contradict the model's {what}."
    return Signal("misfit", title, "fine", f"p {p_text(found.p)}", text, method, numbers)
