"""What was measured, for people: one table for each data set and budget, the best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks._duels import verdict
from benchmarks._trials import MEASURES
from experiments.harness import REFERENCES
from experiments.text import Table, number

Case = dict[str, Any]
TITLES = {"avd": "AVD (largest error of a cell)", "tvd": "TVD (half the sum of all errors)"}


def latest(cases: Sequence[Case]) -> list[Case]:
    """Of cases measured more than once the last."""
    return list({(c["data"], c["design"], c["total"]): c for c in cases}.values())


def boards(cases: Sequence[Case]) -> list[list[Case]]:
    """Cases that share a table: the same people spending the same in all."""
    found: dict[tuple[str, float], list[Case]] = {}
    for case in cases:
        found.setdefault((case["data"], case["total"]), []).append(case)
    return [found[key] for key in dict.fromkeys((c["data"], c["total"]) for c in cases)]


@dataclass(frozen=True)
class Score:
    """A method on a design: its error in each repeat by width, and over all widths if complete."""

    design: str
    method: str
    by_width: dict[int, list[float]]
    partial: dict[int, int]  # widths at which only so many sets were answered
    overall: list[float] | None

    @property
    def rank(self) -> tuple[bool, bool, float]:
        """References last, what did not answer everything before them."""
        mean = float(np.mean(self.overall)) if self.overall else 0.0
        return self.method in REFERENCES, self.overall is None, mean


def scores(case: Case, measure: str) -> list[Score]:
    """Every method of a case, in the order measured."""
    widths = [int(w) for w in case["sets"]]
    found = []
    for method in dict.fromkeys(line["method"] for line in case["lines"]):
        lines = {line["width"]: line for line in case["lines"] if line["method"] == method}
        partial = {
            w: line["answered"]
            for w, line in lines.items()
            if line["answered"] < case["sets"][str(w)][0]
        }
        values = {w: line[measure] for w, line in lines.items()}
        complete = len(values) == len(widths) and not partial
        overall = np.mean(list(values.values()), axis=0).tolist() if complete else None
        found.append(Score(case["design"], method, values, partial, overall))
    return found


def mean_and_error(values: Sequence[float]) -> tuple[float, float | None]:
    """The mean over repeats and its standard error; none where there is nothing random in it."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, None
    error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    return mean, error if error > 1e-9 * mean else None


def table(board: Sequence[Case], measure: str) -> Table:
    """The leaderboard of one data set and budget."""
    widths = sorted({int(w) for case in board for w in case["sets"]})
    listed = [score for case in board for score in scores(case, measure)]
    known, rows = set(), []
    for score in sorted(listed, key=lambda score: score.rank):
        reference = score.method in REFERENCES
        if reference and score.method in known:
            continue  # the same people: the same floor and ceilings on every design
        known.add(score.method)
        cells = []
        for w in widths:
            cell = number(*mean_and_error(score.by_width[w])) if w in score.by_width else "-"
            cells.append(f"{cell} ({score.partial[w]})" if w in score.partial else cell)
        cells.append(number(*mean_and_error(score.overall)) if score.overall else "-")
        rows.append(["" if reference else score.design, score.method, *cells])
    return Table(["design", "method", *(f"w = {w}" for w in widths), "mean"], rows, words=2)


def heading(board: Sequence[Case]) -> str:
    """Who answered, and what it cost them."""
    case = board[0]
    budget = f"epsilon {case['total']:g} in all"
    each = [c["each"] for c in board if c["each"] is not None]
    if each and len(board) == 1:
        budget = f"epsilon {each[0]:g} for each attribute, {case['total']:g} in all"
    elif each:
        budget += f" (design independent: {each[0]:g} for each attribute)"
    return f"{case['data']}, {budget}"


def facts(board: Sequence[Case]) -> list[str]:
    """What a reader must know to believe the numbers, in lines."""
    case = board[0]
    lines = [f"{case['note']}: n = {case['n']:,}, {case['attributes']} attributes"]
    for how in dict.fromkeys((c["repeats"], tuple(map(str, c["sets"].items()))) for c in board):
        ours = [c for c in board if (c["repeats"], tuple(map(str, c["sets"].items()))) == how]
        sets = ", ".join(
            f"{'all ' if k == of else ''}{k}{'' if k == of else f' of {of:,}'} sets of {w}"
            for w, (k, of) in ours[0]["sets"].items()
        )
        who = ", ".join(f"{c['design']} ({c['blocks']} blocks)" for c in ours)
        lines.append(f"{who}: {how[0]} repeats; {sets}")
    partial = [s for c in board for s in scores(c, "avd") if s.partial or len(s.by_width) == 0]
    if partial:
        lines.append("(k): only k of the attribute sets were answered, the mean is over those")
    if any(line["method"] == "em" for c in board for line in c["lines"]):
        lines.append(f"em was asked for tables of up to {case['cells']:,} cells only")
    return lines


def text(cases: Sequence[Case]) -> str:
    """Everything as plain text."""
    parts = []
    for board in boards(cases):
        parts += [heading(board), *facts(board), ""]
        for measure in MEASURES:
            parts += [TITLES[measure], "", table(board, measure).plain(), ""]
    return "\n".join([*parts, *verdict(cases)])


def print_rich(cases: Sequence[Case]) -> None:
    """Everything on a terminal."""
    from rich.console import Console
    from rich.table import Table as RichTable

    console = Console()
    width = console.width if console.is_terminal else 160
    console = Console(width=width)
    for board in boards(cases):
        console.print(f"[bold]{heading(board)}[/bold]")
        for line in facts(board):
            console.print(line, style="dim", highlight=False)
        for measure in MEASURES:
            lines = table(board, measure)
            shown = RichTable(title=TITLES[measure], title_justify="left")
            for k, title in enumerate(lines.titles):
                shown.add_column(title, justify="left" if k < lines.words else "right")
            for row in lines.rows:
                style = "dim" if row[1] in REFERENCES else "bold" if row[1] == "auto" else ""
                shown.add_row(*row, style=style)
            console.print(shown)
    for line in verdict(cases):
        console.print(line, highlight=False)
