"""What castell check -n says: how accurate the study as written will be, in a few lines."""

from __future__ import annotations

from castell.planning.plan import Plan
from castell.planning.plan_facts import PlannedDesign
from castell.planning.plan_text import number
from castell.planning.planner import plan
from castell.planning.shuffled import shuffled_sentence
from castell.study.study import Study


def check_plan(study: Study, n: int) -> Plan:
    """The plan of a study as it is written, for n people."""
    return plan(study, n)


def plan_words(planned: Plan) -> list[str]:
    """The study's own design, and a better one if there is one."""
    lines = [f"{planned.n:,} people would tell (95 % intervals, points, on average over cells):"]
    own = _own(planned)
    if own is not None:
        named = f", {own.name}" if own.kind else ""
        lines.append(f"  as written{named}: {_widths(own)}")
    if own is not planned.best:
        lines.append(f"  recommended, {planned.best.name}: {_widths(planned.best)}")
    elif own is not None:
        lines.append("  which no other design beats by more than 2 %")
    among = shuffled_sentence(planned.present, max(planned.reports, 1))
    return [*lines, among, "castell plan shows all designs and what would reach a given error."]


def _own(planned: Plan) -> PlannedDesign | None:
    """The design that the study has. Designs of the same blocks are the same, whatever named."""
    present = planned.present.design
    same = (row for row in planned.designs if row.study.design == present)
    return next(same, None)


def _widths(row: PlannedDesign) -> str:
    return ", ".join(f"{k}-way ±{number(value)}" for k, value in row.half_widths.items())
