"""The command line's verb that writes a study's card: a record of a deployment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from castell import __version__

EXAMPLES = (
    "castell card study.toml -n 3000",
    "castell card study.toml -n 3000 --html card.html",
)


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command("card", epilog=f"Examples: {' | '.join(EXAMPLES)}")(card)


def card(
    study: Annotated[Path, typer.Argument(help="Study file, TOML or published JSON.")],
    n: Annotated[
        int | None, typer.Option("-n", help="How many take part: adds epsilon after shuffling.")
    ] = None,
    delta: Annotated[float, typer.Option(help="The delta that epsilon is stated for.")] = 1e-6,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page for people.")] = None,
) -> None:
    """Record a deployment: what is collected, how it is hidden, and what that costs."""
    from castell.cli.result_files import check_output
    from castell.planning.card import card as make
    from castell.planning.card_page import card_page
    from castell.study.collection_table import load_collection_table
    from castell.study.study import Study

    check_output(html, (".html",))
    software = f"castell {__version__}"
    loaded = Study.load(study)
    hours = load_collection_table(study).hours
    made = make(loaded, n, delta=delta, hours=hours, software=software)
    if html is not None:
        html.write_text(card_page(made), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(made.to_dict(), indent=2, ensure_ascii=False))
        return
    typer.echo(made)
    if html is not None:
        typer.echo(f"wrote {html}")
