"""Hybrid: castell where it is expected to be more accurate, independent otherwise.

`rule` says how that is decided. "data", the default: by the errors expected from the reports
themselves, per table. "bounds": by the paper's upper bounds, to the letter (they are loose, and
choose `independent` almost always). "width": castell up to `width` attributes. Single cells are
decided on as their table is, or by the cell itself where the table would be too large. Paper: Sec.
hybrid.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod

from castell.bounds import avd_castell, avd_independent
from castell.capabilities import Reads
from castell.counting import Counts
from castell.errors import OptionError
from castell.estimate import spent_on
from castell.estimators.independent import NOTE
from castell.grouped import cell, check_target, joint_is_better, product_risk, solve
from castell.inversion import Groups, Query, observe
from castell.model import Cell, Model, Solution
from castell.study import Study

READS = Reads(sets=True)
RULES = ("data", "bounds", "width")
DECIDED_BY_TABLE = 1 << 20


def fit(
    study: Study,
    counts: Counts,
    *,
    rule: str = "data",
    width: int | None = None,
    target: str = "population",
) -> Model:
    if rule not in RULES:
        raise OptionError(f"rule is {rule!r}", f"use one of {', '.join(RULES)}")
    if (rule == "width") != (width is not None):
        raise OptionError(
            f"rule is {rule!r} and width is {width!r}", "rule='width' and width=3 go together"
        )
    if width is not None and (isinstance(width, bool) or not isinstance(width, int)):
        raise OptionError(f"width is {width!r}", "give a whole number of attributes")
    check_target(target)
    return Model(
        counts,
        partial(_joint, study, counts, rule, width, target),
        partial(_cell, study, counts, rule, width, target),
    )


def _groups(names: tuple[str, ...], whole: bool) -> Groups:
    return [names] if whole else [(name,) for name in names]


def _joint(
    study: Study,
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
        why = f"expected squared error {ours:.3g} against {theirs:.3g} for the product of margins"
    else:
        whole, why = _by_rule(study, counts.n, rule, width, names)
    notes = (_note(whole, why),) if whole else (_note(whole, why), NOTE)
    return solve(observed, _groups(names, whole), target, notes)


def _cell(
    study: Study, counts: Counts, rule: str, width: int | None, target: str, query: Query
) -> Cell:
    names = tuple(query)
    split_groups = _groups(names, whole=False)
    if rule != "data":
        whole = _by_rule(study, counts.n, rule, width, names)[0]
    elif prod(study.schema[name].size for name in names) <= DECIDED_BY_TABLE:
        # The cell of a table is decided on as the table is, so that the two agree.
        whole = joint_is_better(observe(counts, names), split_groups)[0]
    else:
        ours, theirs = (cell(counts, query, g, target) for g in ([names], split_groups))
        gap = (ours.value - theirs.value) ** 2
        risk = product_risk(ours.variance, theirs.variance, gap, many=1)
        return ours if ours.variance <= risk else replace(theirs, notes=(NOTE,))
    chosen = cell(counts, query, _groups(names, whole), target)
    return chosen if whole else replace(chosen, notes=(NOTE,))


def _by_rule(
    study: Study, n: int, rule: str, width: int | None, names: tuple[str, ...]
) -> tuple[bool, str]:
    if rule == "width":
        return len(names) <= (width or 0), f"{len(names)} attributes, width {width}"
    sizes = [study.schema[name].size for name in names]
    ours = avd_castell(sizes, spent_on(study, names), n)
    theirs = avd_independent(sizes)
    return ours <= theirs, f"bound {ours:.3g} against {theirs:.3g} for independent"


def _note(whole: bool, why: str) -> str:
    return f"hybrid chose {'castell' if whole else 'independent'}: {why}"
