"""The reasons for a part of a table: those of the whole that concern it."""

from __future__ import annotations

from collections.abc import Sequence

from castell.inference.contributing_samples import Checked, Support
from castell.inference.reasons import ABOUT_SEVERAL, Code, Reason, reason


def reasons_of_part(whole: Sequence[Reason], behind: Support) -> tuple[Reason, ...]:
    """What was said of attributes that the part does not hold is left out; what stands behind the
    part, and that nothing does, is said of it alone."""
    several, kept = len(behind.names) > 1, []
    for each in whole:
        concerns = set(each.names) <= set(behind.names) if each.names else several
        if (
            concerns
            and each.code is not Code.REPORTS
            and (several or each.code not in ABOUT_SEVERAL)
        ):
            kept.append(each)
    if behind.checked is Checked.NOTHING and Code.ASSOCIATION_UNKNOWN not in {r.code for r in kept}:
        kept.append(reason(Code.ASSOCIATION_UNKNOWN, *behind.unknown))
    return (*kept, reports_behind(behind))


def reports_behind(behind: Support) -> Reason:
    """How many reports stand behind an answer."""
    return reason(Code.REPORTS, *behind.names, together=behind.together, n=behind.n)
