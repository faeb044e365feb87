"""The command line's verb of a respondent: send."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from castell.cli.answering import answers_from_text, ask
from castell.errors import OptionError

EXAMPLE = "castell send https://collector.example/   (asks; or pipe name=value lines, or JSON)"


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(epilog=f"Example: {EXAMPLE}")(send)


def send(
    url: Annotated[str, typer.Argument(help="The collector's address, or its study.json.")],
    answers: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
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
    folder: Annotated[Path | None, typer.Option(help="Where keys and the ledger are kept.")] = None,
    allow_http: Annotated[
        bool, typer.Option("--allow-http", help="In a network that you trust.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Ask for answers, randomise them here and send the report.

    The first report stands until the study's end. Answers are asked for, or read from standard
    input: lines of name=value, or one JSON object.
    """
    if answers:
        # Not repeated here: what is printed may be kept as well.
        raise OptionError(
            "answers on the command line can be read in the list of processes and in the shell's "
            "history",
            "give the address alone and answer when asked, or pipe lines of name=value to it",
        )
    from castell.device.client import Client  # late: only this verb needs the network

    code = _invitation(invitation)
    client = Client(url, folder=folder, accept=accept, limit=limit, allow_http=allow_http)
    stands = client.entry
    if stands is None:
        given = ask(client.study, client.asked) if sys.stdin.isatty() else _piped(client.asked)
        report = client.make(given, code)
    else:  # nothing is asked whose answer would change nothing
        report = replace(stands.report, invitation=code or stands.invitation)
    if not as_json and (stands is None or stands.state != "arrived"):
        typer.echo(f"{'would leave' if dry_run else 'leaves'} this device: {report.body()}")
    sent = False if dry_run else client.send(report)
    entries = client.ledger()
    here = sum(e.epsilon for e in entries if e.digest == client.study.digest)
    total = sum(e.epsilon for e in entries)
    if as_json:
        document: dict[str, Any] = {
            "report": report.document(),
            "sent": sent,
            "first_stands": stands is not None,
            "epsilon": client.study.epsilon,
            "spent": here,
            "spent_on_all_studies": total,
        }
        typer.echo(json.dumps(document, indent=2))
        return
    if stands is not None:
        typer.echo(
            "this device has already handed over a report for this study: it stands until the "
            "study's end, whatever would be answered now, and nothing more is spent"
        )
    if dry_run:
        cost = client.study.epsilon if stands is None else 0.0
        typer.echo(f"sending it would cost epsilon {cost:.6g}; nothing was sent")
        return
    others = f", on all studies of this device: {total:.6g}" if len(entries) > 1 else ""
    typer.echo(
        f"{'stored' if sent else 'nothing was sent'}. Spent on this study: {here:.6g}{others}"
    )


def _piped(asked: Sequence[str]) -> dict[str, object]:
    given = answers_from_text(sys.stdin.read())
    if not given:
        names = ", ".join(f"{name}=..." for name in asked)
        raise OptionError("there are no answers", f"this device is asked for {names}, a line each")
    return given


def _invitation(code: str | None) -> str | None:
    if code is None:
        return None
    code = code.strip().lower()
    if not re.fullmatch("[a-z2-7]{20}", code):
        raise OptionError(
            f"{code!r} is no invitation",
            "give the 20 letters and digits after #invitation= in the link you got",
        )
    return code
