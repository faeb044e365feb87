"""The command line's verb of a respondent: send."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from castell.errors import OptionError

EXAMPLE = "castell send https://collector.example/ smokes=now health=good"


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(epilog=f"Example: {EXAMPLE}")(send)


def send(
    url: Annotated[str, typer.Argument(help="The collector's address, or its study.json.")],
    answers: Annotated[
        list[str] | None, typer.Argument(help="name=value for each question.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would leave and send nothing.")
    ] = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="Take a study that changed since it was first seen.")
    ] = False,
    limit: Annotated[
        float | None, typer.Option(help="The most this device may spend on this study.")
    ] = None,
    invitation: Annotated[
        str | None, typer.Option(help="A code, where the collector asks for one.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Where the key and the ledger are kept.")
    ] = None,
    allow_http: Annotated[
        bool, typer.Option("--allow-http", help="In a network that you trust.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Randomise answers here and send the report; the same answers always give the same report."""
    from castell.device.client import Client

    if invitation is not None:
        invitation = invitation.strip().lower()
        if not re.fullmatch("[a-z2-7]{20}", invitation):
            raise OptionError(
                f"{invitation!r} is no invitation",
                "give the 20 letters and digits after #invitation= in the link you got",
            )
    client = Client(url, folder=folder, accept=accept, limit=limit, allow_http=allow_http)
    given = _given(answers or [])
    if not given:
        names = ", ".join(f"{name}=..." for name in client.asked)
        raise OptionError("there are no answers", f"this device is asked for {names}")
    report = replace(client.make(given), invitation=invitation)
    if not as_json:
        typer.echo(f"{'would leave' if dry_run else 'leaves'} this device: {report.body()}")
    if not dry_run:
        client.send(report)
    entry = next((e for e in client.ledger() if e.digest == client.study.digest), None)
    same, most = (entry.spent_if_same, entry.spent_at_most) if entry else (0.0, 0.0)
    if as_json:
        document: dict[str, Any] = {
            "report": report.document(),
            "sent": not dry_run,
            "epsilon": client.study.epsilon,
            "spent_if_same": same,
            "spent_at_most": most,
        }
        typer.echo(json.dumps(document, indent=2))
        return
    if dry_run:
        typer.echo(f"sending it would cost epsilon {client.study.epsilon:.6g}; nothing was sent")
        return
    typer.echo(
        f"stored. Spent on this study: {same:.6g}"
        + ("" if same == most else f" if the answers were always the same, at most {most:.6g}")
    )


def _given(texts: list[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not mark or not name or not value:
            raise OptionError(f"{text!r} is not name=value", "write name=value, as in smokes=now")
        if name in given:
            raise OptionError(f"{name!r} is answered twice", "answer it once")
        given[name] = value
    return given
