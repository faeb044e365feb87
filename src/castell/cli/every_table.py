"""The command line's answers about all sets of attributes: every table, every association."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from castell.cli.analysis_commands import Output, To, check_shown, show
from castell.cli.open_reports import EngineOption, WithDeclined, open_reports
from castell.results.model import Model, fit
from castell.study.study import Study

EXAMPLE = "castell associations study.toml reports.parquet --plot associations.png"


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(epilog=f"Example: {EXAMPLE}")(associations)


def print_every(
    model: Model,
    width: int,
    post: str,
    level: float,
    output: Path | None,
    to: str | None,
    most: int,
    as_json: bool,
) -> None:
    """Every table of some width: a line for each, all cells in a file or as JSON."""
    from castell.cli.printing import write_columns
    from castell.cli.progress import progress_bar
    from castell.results.table_file import table_bytes

    every = model.estimate_all(width, post=post)
    with progress_bar("estimating", quiet=as_json) as tell:
        for done, joint in enumerate(every.values(), 1):
            joint.conf_int(level)
            tell(done / len(every))
    frame = every.to_frame("pyarrow", level=level) if output or to else None
    if output is not None:
        write_columns(frame, model.source, output)
    if frame is not None and to not in (None, "excel"):
        columns = {name: frame[name].to_pylist() for name in frame.column_names}
        typer.echo(table_bytes(columns, str(to)).decode(), nl=False)
        return
    if as_json:
        tables = [joint.to_dict(level) for joint in every.values()]
        typer.echo(json.dumps({"kind": "joint_estimates", "tables": tables}, ensure_ascii=False))
        return
    typer.echo(f"{len(every):,} tables of {width} attributes, n = {model.counts.n:,}")
    for names in list(every)[:most]:
        joint = every[names]
        cells, error = joint.probabilities.size, joint.standard_errors.max()
        typer.echo(f"  {' x '.join(names)}: {cells:,} cells, standard errors up to {error:.4f}")
    if len(every) > most:
        typer.echo(f"  ... and {len(every) - most:,} more")
    if output is not None:
        typer.echo(f"wrote {output}")
    elif not as_json:
        typer.echo("--output FILE.parquet writes all cells, --json prints them")


def associations(
    study: Annotated[Path, typer.Argument(help="Study file, TOML or published JSON.")],
    reports: Annotated[
        str, typer.Argument(help='Parquet file, folder or pattern ("reports/*.parquet"), or store.')
    ],
    attributes: Annotated[
        list[str] | None, typer.Argument(help="Only between these attributes.")
    ] = None,
    engine: EngineOption = None,
    with_declined: WithDeclined = False,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    output: Output = None,
    to: To = None,
    plot: Annotated[Path | None, typer.Option(help="Write a picture: .png, .svg or .html.")] = None,
    most: Annotated[int, typer.Option(help="Rows to print.")] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """How strongly every two attributes go together: Cramer's V without the noise.

    With intervals, and a test of each pair that controls the share of false discoveries.
    """
    from castell.cli.progress import progress_bar

    made = Study.load(study)
    check_shown(output, to, plot, as_json)
    with progress_bar("counting", quiet=as_json) as tell:
        counts = open_reports(made, reports, None, engine=engine, tell=tell)
        model = fit(counts, "castell")
        found = model.associations(attributes or None, with_declined=with_declined)
    show(found, level, plot, as_json, output, to, most)
