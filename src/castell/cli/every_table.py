"""The command line's answer about all sets of attributes of some width: every table."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from castell.results.model import Model


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
