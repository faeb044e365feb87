"""Option of `castell estimate`: a table beside what it would be if so many had been careless."""

from __future__ import annotations

import json
from typing import Any

import typer

from castell.errors import OptionError
from castell.results.joint import JointEstimate
from castell.results.summary import percent


def check_supposed(share: float | None, says: list[str] | None, *, tables: bool, more: Any) -> None:
    """What --careless goes with."""
    if says and share is None:
        raise OptionError("--careless-says is for --careless", "add --careless 0.05")
    if share is not None and (not tables or more):
        raise OptionError(
            "--careless shows a joint table as it is and as it would be",
            "name its attributes, and leave out --given, --output, --plot and --to",
        )


def show_careless(
    found: JointEstimate,
    supposed: JointEstimate,
    share: float,
    level: float,
    most: int,
    as_json: bool,
) -> None:
    """A table as it is, and as it would be."""
    if as_json:
        document = {**found.to_dict(level), "if_careless": supposed.to_dict(level)}
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    head = f"\nIf {percent(share)} of the respondents were careless\n"
    typer.echo("\n".join([found.summary(level, most), head, supposed.summary(level, most)]))
