"""Hybrid: castell where it is expected to be more accurate, independent otherwise.

`rule` says how that is decided. "data", the default: by the errors expected from the reports
themselves, per table. "bounds": by the paper's upper bounds, to the letter (they are loose, and
choose `independent` almost always). "width": castell up to `width` attributes. Single cells are
decided on as their table is, or by the cell itself where the table would be too large. Paper: Sec.
hybrid.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

from castell.counting import Counts
from castell.errors import OptionError
from castell.evaluation.bounds import avd_castell, avd_independent
from castell.inference.inversion import Groups, observe
from castell.inference.joint_or_product import joint_is_better, product_risk
from castell.inference.method import Fitted, Reads, Solution
from castell.inference.products import check_target, solve
from castell.inference.queries import Query, names_of
from castell.inference.reasons import Code, Reason, reason
from castell.inference.shares import Shares, product_shares

READS = Reads(sets=True, whole=True)
RULES = ("data", "bounds", "width")
DECIDED_BY_TABLE = 1 << 20


def fit(
    counts: Counts,
    *,
    rule: str = "data",
    width: int | None = None,
    target: str = "population",
) -> Fitted:
    if rule not in RULES:
        raise OptionError(f"rule is {rule!r}", f"use one of {', '.join(RULES)}")
    if (rule == "width") != (width is not None):
        raise OptionError(
            f"rule is {rule!r} and width is {width!r}", "rule='width' and width=3 go together"
        )
    if width is not None and (isinstance(width, bool) or not isinstance(width, int)):
        raise OptionError(f"width is {width!r}", "give a whole number of attributes")
    check_target(target)
    return Fitted(
        counts,
        partial(_joint, counts, rule, width, target),
        partial(_shares, counts, rule, width, target),
    )


def _groups(names: tuple[str, ...], whole: bool) -> Groups:
    return [names] if whole else [(name,) for name in names]


def _joint(
    counts: Counts,
    rule: str,
    width: int | None,
    target: str,
    names: tuple[str, ...],
    max_cells: int | None,
) -> Solution:
    observed = observe(counts, names, max_cells)
    if rule == "data":
        whole, ours, theirs = joint_is_better(observed, _groups(names, whole=False))
        why = _why(ours, theirs)
    else:
        whole, why = _by_rule(counts, rule, width, names)
    return solve(observed, _groups(names, whole), target, _reasons(whole, why))


def _shares(
    counts: Counts,
    rule: str,
    width: int | None,
    target: str,
    queries: Sequence[Query],
) -> Shares:
    names = names_of(queries)
    apart = _groups(names, whole=False)
    if rule != "data":
        whole, why = _by_rule(counts, rule, width, names)
    elif prod(counts.study.schema[name].size for name in names) <= DECIDED_BY_TABLE:
        # The cell of a table is decided on as the table is, so that the two agree.
        whole, ours, theirs = joint_is_better(observe(counts, names), apart)
        why = _why(ours, theirs)
    else:
        joint, product = (product_shares(counts, queries, g, target) for g in ([names], apart))
        ours = float(joint.spread.variance[0])
        gap = float(joint.values[0] - product.values[0]) ** 2
        theirs = product_risk(ours, float(product.spread.variance[0]), gap, many=1)
        whole, why = ours <= theirs, _why(ours, theirs)
    found = product_shares(counts, queries, _groups(names, whole), target)
    return found.because(*_reasons(whole, why))


def _why(ours: float, theirs: float) -> str:
    return f"expected squared error {ours:.3g} against {theirs:.3g} for the product of margins"


def _by_rule(
    counts: Counts, rule: str, width: int | None, names: tuple[str, ...]
) -> tuple[bool, str]:
    if rule == "width":
        return len(names) <= (width or 0), f"{len(names)} attributes, width {width}"
    study = counts.study
    sizes = [study.schema[name].size for name in names]
    ours = avd_castell(sizes, study.design.spent_on(names), counts.n)
    theirs = avd_independent(sizes)
    return ours <= theirs, f"bound {ours:.3g} against {theirs:.3g} for independent"


def _reasons(whole: bool, why: str) -> tuple[Reason, ...]:
    if whole:
        return (reason(Code.CHOSE_CASTELL, text=why),)
    return reason(Code.CHOSE_INDEPENDENT, text=why), reason(Code.INDEPENDENCE_ASSUMED)
