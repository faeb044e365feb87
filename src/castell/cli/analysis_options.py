"""What the verbs of analyses have in common: their arguments, and how a result is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from castell.cli.estimate_command import methods_told
from castell.cli.result_files import check_output, check_picture, save_picture

StudyPath = Annotated[Path, typer.Argument(help="Study file, TOML or published JSON.")]
ReportsPlace = Annotated[
    str, typer.Argument(help="Parquet file of reports, or a store: a file or postgresql://...")
]
ReportsOrAnswers = Annotated[
    str,
    typer.Argument(help="Parquet file of reports, or a store; or, with nothing asked, answers."),
]
Method = Annotated[str, typer.Option(help=methods_told())]
Option = Annotated[list[str] | None, typer.Option(help="An option of the method: name=value.")]
Level = Annotated[float, typer.Option(help="Level of the intervals.")]
Also = Annotated[
    list[str] | None,
    typer.Option(
        help="Reports of another study with the same attributes, STUDY=REPORTS, estimated together."
        " Repeat for more."
    ),
]
Plot = Annotated[Path | None, typer.Option(help="Write a picture: .png, .svg or .html.")]
Output = Annotated[
    Path | None, typer.Option(help="Write the numbers as .csv, .parquet, .xlsx, .md or .tex.")
]
To = Annotated[
    str | None,
    typer.Option(help="Print them as csv, md or latex; excel needs --output x.xlsx."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
ScoresOf = Annotated[
    list[str] | None,
    typer.Option(help="Numbers for the answers of an attribute, in order: age=24,37,52. Repeat."),
]


def check_shown(output: Path | None, to: str | None, plot: Path | None, as_json: bool) -> None:
    from castell.cli.estimate_options import check_format
    from castell.cli.printing import TABLES

    check_format(to, output, as_json)
    check_output(output, TABLES)
    check_picture(plot)


def show(
    found: Any,
    level: float,
    plot: Path | None,
    as_json: bool,
    output: Path | None = None,
    to: str | None = None,
    most: int | None = None,
) -> None:
    """A result for people, for programs or for a report, and perhaps its picture."""
    from castell.cli.estimate_options import columns_of
    from castell.cli.printing import write_table
    from castell.results.table_file import table_bytes

    document, text = found.to_dict(level), found.summary(*[level, *([most] if most else [])])
    if plot is not None:
        save_picture(found.plot(level=level), plot)
    if output is not None:
        write_table(found, output, level)
    if as_json:
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    if to not in (None, "excel"):
        typer.echo(table_bytes(columns_of(found, level), str(to)).decode(), nl=False)
        return
    typer.echo(text)
    for path in (output, plot):
        if path is not None:
            typer.echo(f"wrote {path}")
