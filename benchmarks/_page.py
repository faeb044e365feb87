"""The leaderboard as a page: docs/accuracy.md is what this writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks._board import TITLES, Case, boards, facts, heading, mean_and_error, scores, table
from benchmarks._duels import verdict
from benchmarks._picture import draw
from benchmarks._trials import MEASURES
from experiments.text import Table, number

INTRODUCTION = """# How accurate is it?

Every number here was measured, with real noise: each respondent of a data set is randomised by the
study's own code, all methods see the same reports, and their tables are compared with the true
ones. Nothing was rounded away and no run was picked.

- **AVD** is the largest error of any cell of a table, **TVD** (total variation) half the sum of all
  errors. Both are means over attribute sets of one width, then over repeats; ± is the standard
  error over repeats.
- **w** is how many attributes a table has; *mean* is over all widths.
- **sampling floor**: as many people drawn anew from the same population, asked with no privacy at
  all. Methods are compared with the very people who answered, so with little noise they can come
  nearer than that. **independent truth**: the product of the exact margins, what perfect knowledge
  of single attributes gives. **uniform table**: knowing nothing.
- **epsilon in all** is what a respondent spends, everything counted. In the design `independent`
  it is split evenly over the attributes; in `singles`, `pairs` and `cover` each respondent reports
  one set of attributes, drawn at random, with all of it. Only equal totals compare.
- Methods give their tables as they are: no step afterwards.

This page is written by the benchmark itself; the commands are at its end."""


def write(cases: Sequence[Case], target: Path) -> None:
    """The page, and a picture for each data set in the folder `pictures` beside it."""
    folder = target.parent / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    parts = [
        INTRODUCTION,
        "## In short",
        _short(cases).markdown(),
        "\n".join(_verdict_lines(cases)),
    ]
    for data in dict.fromkeys(case["data"] for case in cases):
        ours = [case for case in cases if case["data"] == data]
        picture = folder / f"accuracy-{data}.png"
        draw(ours).save(picture, scale_factor=1.25)
        parts.append(f"## {data[0].upper()}{data[1:]}")
        parts.append(
            f'<img src="pictures/{picture.name}" alt="Error by width on {data}, by method">'
        )
        for board in boards(ours):
            parts.append(f"### {heading(board)}")
            parts.append("\n".join(f"- {line}." for line in facts(board)))
            for measure in MEASURES:
                parts += [f"**{TITLES[measure]}**", table(board, measure).markdown()]
    commands = dict.fromkeys(case["command"] for case in cases if "command" in case)
    parts += ["## Commands", "```sh\n" + "\n".join(commands) + "\n```"]
    target.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def _verdict_lines(cases: Sequence[Case]) -> list[str]:
    """The verdict as Markdown: an empty line before its list."""
    first, *losses = verdict(cases) or [""]
    return [first, "", *losses] if losses else [first]


def _short(cases: Sequence[Case]) -> Table:
    """One line for each case: auto, and the best of the others that answered everything."""
    rows = []
    for case in cases:
        cells = []
        for measure in MEASURES:
            found = {s.method: s.overall for s in scores(case, measure) if s.overall}
            floor = found.pop("sampling floor", None)
            for label in ("uniform table", "independent truth"):
                found.pop(label, None)
            ours = found.pop("auto", None)
            best = min(found.items(), key=lambda item: mean_and_error(item[1])[0], default=None)
            cells.append(number(*mean_and_error(ours)) if ours else "-")
            cells.append(f"{number(mean_and_error(best[1])[0])} ({best[0]})" if best else "-")
            cells.append(number(mean_and_error(floor)[0]) if floor else "-")
        each = f"{case['each']:g}" if case["each"] is not None else "-"
        rows.append([case["data"], case["design"], f"{case['total']:g}", each, *cells])
    measured = [t for m in ("AVD", "TVD") for t in (f"{m}, auto", "best other", "floor")]
    titles = ["data", "design", "epsilon in all", "for each attribute", *measured]
    return Table(titles, rows, words=2)
