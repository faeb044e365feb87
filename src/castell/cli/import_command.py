"""The command line's verb for data collected on paper."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from castell.errors import OptionError

NOTE = (
    "castell drew none of the chance behind these reports: what is stated holds if people followed "
    "the design, and against those who know nothing of their chance (their die, their birthday)"
)

EXAMPLES = (
    "castell import study.toml said.csv reports.parquet",
    "castell import study.toml table.csv reports.parquet --counts people",
)


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command("import", epilog=f"Examples: {' | '.join(EXAMPLES)}")(run_import)


def run_import(
    study: Annotated[Path, typer.Argument(help="Study file, with the design of each question.")],
    said: Annotated[
        Path, typer.Argument(help="CSV, Parquet or Excel file of what people said or ticked.")
    ],
    reports: Annotated[Path, typer.Argument(help="Parquet file of reports to write.")],
    counts: Annotated[
        str | None,
        typer.Option(help="A column that says how many people each line is of: a printed table."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the reports.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Read what people said on paper as reports; nothing is randomised again.

    Columns hold reports: yes or no, same or different, the number of red cards, or one of the
    values, as the question's mechanism has it.
    """
    from castell.cli.progress import progress_bar
    from castell.device.paper import import_file
    from castell.display.json_values import plain
    from castell.study.study import Study

    made = Study.load(study)
    if reports.suffix != ".parquet":
        raise OptionError(f"{reports} does not end in .parquet", "reports are kept as Parquet")
    if reports.exists() and not force:
        raise OptionError(f"{reports} is there already", "give another name, or --force")
    remarks: list[str] = []
    with progress_bar("reading", quiet=as_json) as tell:
        rows = import_file(
            made, said, reports, counts=counts, progress=tell, remarks=remarks.append
        )
    for remark in [*remarks, NOTE]:
        typer.echo(f"note: {remark}", err=True)
    if as_json:
        document = {"reports": rows, "file": str(reports), "digest": made.digest}
        typer.echo(json.dumps({**document, "epsilon": plain(made.epsilon)}, indent=2))
        return
    typer.echo(f"wrote {reports}: {rows:,} reports, epsilon {made.epsilon:.6g} each in all")
