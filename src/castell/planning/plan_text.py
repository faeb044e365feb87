"""A plan in words: a table of designs, and a sentence for each thing that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from textwrap import shorten

from castell.planning.coarser_domains import Coarser
from castell.planning.epsilon_guide import near
from castell.planning.plan_facts import PlanFacts, PlannedDesign
from castell.planning.power import Power
from castell.planning.solution_check import SolutionCheck
from castell.planning.targets import Target

# A question with a longer name has a number in the table, and is named below it.
LONGEST_TITLE = 24
# What is listed of values that are put together.
MOST_WORDS = 120


def points(share: float) -> str:
    """A half-width in percentage points.

    >>> points(0.0312), points(0.00123)
    ('±3.1 points', '±0.12 points')
    """
    return f"±{number(share)} points" if isfinite(share) else "no interval"


def number(share: float) -> str:
    """Percentage points without their name."""
    if not isfinite(share):
        return "-"
    return f"{100 * share:.1f}" if share >= 0.00995 else f"{100 * share:.2g}"


def reason_for(
    rows: Sequence[PlannedDesign], targets: Sequence[Target], reports: int, times: float = 1.0
) -> str:
    """Why the first design is recommended, in a sentence; half-widths so many times predicted."""
    best, *others = rows
    what = "what was asked for" if targets else usual_question(len(best.study.schema))
    head = f"{best.name} gives {what} {points(times * best.error)} from {reports:,} reports"
    told = [r for r in others if r.tells_associations and isfinite(r.error)]
    plain = next((r for r in others if r.name == "independent"), None)
    if plain is not None and plain.error > 1.02 * best.error:
        return f"{head}, {plain.error / best.error:.1f} times shorter than independent."
    if told:
        second = min(told, key=lambda r: r.error)
        if second.error > 1.02 * best.error:
            return f"{head}; {second.name}, the next best, {points(times * second.error)}."
        return f"{head}; no other design is better by more than 2 %."
    return f"{head}; no other design can be had."


def usual_question(attributes: int) -> str:
    """What designs are compared by where nobody names anything."""
    return "tables of two attributes" if attributes > 1 else "its only table"


def facts(plan: PlanFacts) -> list[str]:
    """The plan in a few words."""
    invited = f"{plan.n:,} people" if plan.response == 1.0 else f"{plan.n:,} invited"
    found = [invited, f"epsilon {plan.epsilon:.4g}", f"method {plan.method}", plan.likely]
    if plan.response != 1.0:
        found.insert(1, f"{plan.reports:,} reports expected")
    return found


def table_rows(plan: PlanFacts) -> list[list[str]]:
    """Titles, then a row for each design: half-widths in points."""
    rows = plan.designs
    widths = [k for k in (1, 2, 3) if k in plan.best.half_widths]
    simulated = any(row.simulated for row in rows)
    titles = ["design"]
    for key in [*(f"{k}-way" for k in widths), *_short_titles(plan).values()]:
        titles += [key, "(simulated)"] if simulated else [key]
    titles += ["best guess", "1% forged"]
    found = [titles]
    for row in rows:
        cells = [row.name + (" *" if row is plan.best else "")]
        for key, value in [
            *((f"{k}-way", row.half_widths[k]) for k in widths),
            *((label, row.asked[label]) for label in plan.asked),
        ]:
            cells.append(number(value))
            if simulated:
                cells.append(f"({number(row.simulated.get(key, inf))})")
        cells += [f"{row.best_guess:.0%}", f"{number(row.forged)}"]
        found.append(cells)
    return found


def _short_titles(plan: PlanFacts) -> dict[str, str]:
    """What stands above the column of each question that was asked for."""
    return {
        label: label if len(label) <= LONGEST_TITLE else f"question {k}"
        for k, label in enumerate(plan.asked, 1)
    }


def notes(plan: PlanFacts) -> list[str]:
    """What the table does not say."""
    return [*what_is_learned(plan), *epsilon_words(plan), f"Privacy: {plan.shuffled.sentence()}"]


def what_is_learned(plan: PlanFacts) -> list[str]:
    """The part of it that is about what will be learned."""
    return [*_answer(plan), *_about_table(plan)]


def _answer(plan: PlanFacts) -> list[str]:
    """What was asked for: the design, and what was solved for."""
    found = [f"Recommended (*): {plan.reason}"]
    found += [_solution_text(plan, plan.wanted)] if plan.wanted is not None else []
    if plan.check is not None:
        return [*found, _check_text(plan.check)]
    solved = plan.solved in ("n", "epsilon")
    return found + (["This is as predicted; no collections were simulated."] if solved else [])


def _about_table(plan: PlanFacts) -> list[str]:
    """What its numbers are, and what follows from them."""
    found = [
        "Half the length of 95 % intervals, in points, on average over cells; best guess: how "
        "often the answer most easily guessed is guessed right from a report, if it is asked; 1% "
        "forged: how many points these reports can move a share.",
    ]
    found += [f"{title}: {k}." for k, title in _short_titles(plan).items() if title != k]
    if not all(row.tells_associations for row in plan.designs):
        bounded = ", ".join(row.name for row in plan.designs if not row.tells_associations)
        found.append(
            f"{bounded}: some attributes are never reported together, so tables of several are "
            "bounds that no number of respondents narrows."
        )
    if plan.tradeoff is not None:
        listed = ", ".join(
            f"{epsilon:g}: {n:,}" if n else f"{epsilon:g}: none are enough"
            for epsilon, n in plan.tradeoff.points
        )
        found.append(f"People who reach {points(plan.tradeoff.error)}, by epsilon: {listed}.")
    if plan.power is not None:
        found.append(_power(plan.power))
    if plan.careless:
        found.append(
            f"{plan.careless:.0%} careless answers are taken back out, which lengthens intervals; "
            "left in, they pull every share towards chance."
        )
    if plan.shares:
        listed = ", ".join(f"{name} {share:.4g}" for name, share in plan.shares.items())
        found.append(f"Epsilon of each attribute: {listed}.")
    if plan.unasked:
        found.append(
            f"{', '.join(plan.unasked)}: not asked for, so told badly; leave them out of the "
            "study, or ask for them too."
        )
    if plan.best.kind is not None and plan.best.kind.clusters:
        clusters = "; ".join(" + ".join(cluster) for cluster in plan.best.kind.clusters)
        found.append(f"Randomised together: {clusters}.")
    found += [
        f"{each.name!r} with {each.how} ({_merged_words(each)}), {len(each.groups)} values in all: "
        f"its tables get {points(each.after)} instead of {points(each.before)}."
        for each in plan.coarser
    ]
    return found + [f"{name} cannot be had: {why}." for name, why in plan.refused.items()]


def _merged_words(coarser: Coarser) -> str:
    """The values that are put together, as far as a line holds them."""
    groups = [" + ".join(group) for group in coarser.put_together]
    return shorten("; ".join(groups), MOST_WORDS, placeholder=" ...")


def epsilon_words(plan: PlanFacts) -> list[str]:
    """The epsilon in the terms people have: the guess at the answer most exposed, and others'."""
    most = max(plan.exposures, key=lambda e: e.best_guess)
    right = round(100 * most.best_guess)
    others = "; ".join(each.words() for each in near(plan.epsilon))
    return [
        f"Epsilon {plan.epsilon:g}: of 100 people who report {most.name!r} the best guess is right "
        f"for {right}, instead of {round(100 * most.chance)} without a report, if all answers are "
        "equally common.",
        f"Published epsilons around it: {others}.",
    ]


def _solution_text(plan: PlanFacts, wanted: float) -> str:
    if plan.solved == "n":
        return f"{plan.n:,} people are the fewest who reach {points(wanted)}."
    if plan.solved == "epsilon":
        return f"Epsilon {plan.epsilon:g} is the least that reaches {points(wanted)}."
    if plan.nearest is None:
        return f"{points(wanted)} is reached: {points(plan.error)} is predicted."
    found = f"{points(wanted)} is not reached: {points(plan.error)} is predicted"
    would = []
    if plan.nearest.n is not None:
        would.append(f"{plan.nearest.n:,} people at this epsilon")
    if plan.nearest.epsilon is not None:
        would.append(f"epsilon {plan.nearest.epsilon:g} with as many people")
    return f"{found}. {', or '.join(would) or 'Nothing'} would reach it."


def _check_text(check: SolutionCheck) -> str:
    # No closer than the figures beside it are told.
    told = (check.half_width, max(check.standard_error, 1e-4), check.predicted)
    simulated, error, predicted = (_digits(100 * share, 2) for share in told)
    return (
        f"Checked: {check.collections:,} simulated collections of {check.n:,} people at epsilon "
        f"{check.epsilon:g} ({check.design}) have ±{simulated} points on average, give or take "
        f"{error}, where ±{predicted} is predicted; what is found allows for it."
    )


def _power(power: Power) -> str:
    which = "the median pair" if len(power.pairs) > 1 else " and ".join(power.pairs[0])
    if power.difference >= 1.0 and power.cramers_v >= 1.0:
        return f"Power: of {which} no association is found with 80 % power."
    found = []
    if power.cramers_v < 1.0:
        found.append(f"Cramer's V from {_digits(power.cramers_v, 2)}")
    if power.difference < 1.0:
        found.append(
            f"a difference from {_digits(100 * power.difference, 1)} points between halves (odds "
            f"ratio {1.0 + float(_digits(power.odds_ratio - 1.0, 2)):g})"
        )
    return f"Power: of {which}, 80 % power at 5 % finds {', and '.join(found)}."


def _digits(value: float, places: int) -> str:
    """So many places, or two digits where that would be none."""
    return f"{value:.{places}f}" if value >= 10.0**-places else f"{value:.2g}"


def summary(plan: PlanFacts) -> str:
    """The plan for a terminal."""
    answer, table = _answer(plan), _align(table_rows(plan))
    lines = [", ".join(facts(plan)), "", *answer, "", *table, "", *notes(plan)[len(answer) :]]
    if plan.solved == "curve":
        lines += ["", f"{plan.design_name}, by people and epsilon:", *_align(curve_rows(plan))]
    return "\n".join(lines)


def curve_rows(plan: PlanFacts) -> list[list[str]]:
    """What other numbers of people (rows) and epsilons (columns) would give, in points."""
    at = {(point["n"], point["epsilon"]): point["half_width"] for point in plan.points}
    epsilons = sorted({epsilon for _, epsilon in at})
    rows = [["people", *(f"{epsilon:g}" for epsilon in epsilons)]]
    people = sorted({n for n, _ in at})
    return rows + [[f"{n:,}", *(number(at.get((n, e), inf)) for e in epsilons)] for n in people]


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns under their titles, the first to the left."""
    columns = []
    for i, column in enumerate(zip(*rows, strict=True)):
        width = max(map(len, column))
        columns.append([word.ljust(width) if i == 0 else word.rjust(width) for word in column])
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]
