"""Results for people: plain text for a terminal, Markdown for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.settings import line

Result = Mapping[str, Any]

PAPER_NAMES = {
    "castell": "RR-Ind-Joint",
    "independent": "RR-Independent",
    "lopub": "LoPub",
    "locop": "LoCop",
    "dpfedwae": "DP-FED-WAE",
}


@dataclass(frozen=True)
class Table:
    """Cells are texts; the first `words` columns are words, the others numbers."""

    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1

    def plain(self) -> str:
        lines = [self.titles, *self.rows]
        widths = [max(len(cells[k]) for cells in lines) for k in range(len(self.titles))]
        text = [
            "  ".join(
                cell.ljust(width) if k < self.words else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
            ).rstrip()
            for cells in lines
        ]
        return "\n".join([text[0], "-" * max(map(len, text)), *text[1:]])

    def markdown(self) -> str:
        rule = ["---" if k < self.words else "--:" for k in range(len(self.titles))]
        lines = [self.titles, rule, *self.rows]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def number(value: float | None, error: float | None = None) -> str:
    """Enough digits to compare by, and the standard error where there is one.

    >>> number(0.04432, 0.0012), number(6.63e-10), number(None)
    ('0.0443 ± 0.0012', '6.63e-10', '-')
    """
    if value is None:
        return "-"
    if value != 0 and abs(value) < 5e-4:
        return f"{value:.2e}" + (f" ± {error:.0e}" if error is not None else "")
    digits = 5 if abs(value) < 0.005 else 4 if abs(value) < 10 else 1
    return f"{value:,.{digits}f}" + (f" ± {error:,.{digits}f}" if error is not None else "")


def pick(result: Result, **wanted: Any) -> list[dict[str, Any]]:
    """The records of a result with some entries."""
    found: list[dict[str, Any]] = result["records"]
    return [r for r in found if all(r.get(name) == value for name, value in wanted.items())]


def mean_of(result: Result, **wanted: Any) -> float | None:
    """The mean of the one record with some entries."""
    found = pick(result, **wanted)
    value: float | None = found[0]["mean"] if found else None
    return value


def by_x(results: Sequence[Result], x: str, known: Mapping[str, Mapping[Any, float]]) -> Table:
    """A row for each noise, data set and scheme, a column for each x; print first."""
    xs = sorted({record["x"] for result in results for record in result["records"]})
    several = len({record["data"] for result in results for record in result["records"]}) > 1
    rows = [
        ["print", *(["adult"] if several else []), label, *(number(values.get(v)) for v in xs)]
        for label, values in known.items()
    ]
    for result in results:
        lines = dict.fromkeys((r["data"], r["scheme"]) for r in result["records"])
        for data, scheme in lines:
            found = {r["x"]: r for r in pick(result, data=data, scheme=scheme)}
            cells = [number(found[v]["mean"], found[v]["error"]) if v in found else "" for v in xs]
            noise = result["about"]["noise"]
            rows.append([noise, *([data] if several else []), scheme, *cells])
    titles = ["noise", *(["data"] if several else []), "scheme", *(f"{x} = {v:g}" for v in xs)]
    return Table(titles, rows, words=3 if several else 2)


def show(result: Result, table: Table) -> str:
    """A result for the terminal."""
    return f"{line(dict(result['about']))}\n\n{table.plain()}"
