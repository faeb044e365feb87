"""The command line's answer for tables of any width: the largest cells."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from castell.errors import OptionError
from castell.results.model import Model


def check_top(names: list[str], others: dict[str, object]) -> None:
    """`--top` is asked of a table, and by itself."""
    if not names:
        raise OptionError("--top names no table", "name its attributes, as in smokes health")
    for option, given in others.items():
        if given:
            raise OptionError(
                f"--top asks for the largest cells, {option} for something else",
                "leave one of them out",
            )


def print_top(
    model: Model, names: list[str], top: int, level: float, output: Path | None, as_json: bool
) -> None:
    """The largest cells: as a table to read, as JSON, or in a file."""
    from castell.cli.printing import write_columns
    from castell.cli.progress import working

    with working("looking for the largest cells", quiet=as_json):
        found = model.top(names, top)
        found.conf_int(level)
    if output is not None:
        write_columns(found.to_frame("pyarrow", level=level), found.source, output)
    if as_json:
        typer.echo(json.dumps(found.to_dict(level), indent=2, ensure_ascii=False))
        return
    typer.echo(found.summary(level))
    if output is not None:
        typer.echo(f"wrote {output}")
