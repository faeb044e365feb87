"""The command line's verb of a respondent: send."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from castell.cli.answers_at_terminal import answers_from_text, ask
from castell.errors import OptionError

if TYPE_CHECKING:
    from castell.device.client import Client

EXAMPLE = "castell send https://collector.example/   (asks; or pipe name=value lines, or JSON)"


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(epilog=f"Example: {EXAMPLE}")(send)


def send(
    url: Annotated[str, typer.Argument(help="The collector's address, or its study.json.")],
    answers: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what is asked and what it costs; send nothing.")
    ] = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="Take a study that changed since it was first seen.")
    ] = False,
    limit: Annotated[
        float | None, typer.Option(help="The most this device may spend on this study.")
    ] = None,
    digest: Annotated[
        str | None, typer.Option(help="Answer this study only, or a later stage of it.")
    ] = None,
    invitation: Annotated[
        str | None, typer.Option(help="A code, where the collector asks for one.")
    ] = None,
    agree: Annotated[
        bool, typer.Option("--agree", help="You have read what the study asks consent to.")
    ] = False,
    folder: Annotated[Path | None, typer.Option(help="Where keys and the ledger are kept.")] = None,
    allow_http: Annotated[
        bool, typer.Option("--allow-http", help="In a network that you trust.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Ask for answers, randomise them here and send the report.

    What left is shown once it has arrived. The first report stands until the study's end. Answers
    are asked for, or read from standard input: lines of name=value, or one JSON object.
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
    client = Client(
        url, folder=folder, accept=accept, limit=limit, digest=digest, allow_http=allow_http
    )
    stands = client.entry
    if dry_run:
        _say_what_would_happen(client, as_json=as_json)
        return
    text = client.study.text
    if stands is None:
        client.check_open(invited=code is not None)
        if text.consent and not agree:
            _ask_consent(text.consent)
        given = (
            ask(client.study, client.asked)
            if sys.stdin.isatty()
            else _answers_from_pipe(client.asked)
        )
        report = client.make(given, code)
    else:  # nothing is asked whose answer would change nothing
        report = replace(stands.report, invitation=code or stands.invitation)
    # Whoever may stop on seeing the report biases the results: it is shown once it has arrived,
    # unless the study is published with the other order.
    before = text.review == "before" and stands is None
    if before:
        typer.echo(f"would leave this device: {report.body()}", err=as_json)
        if sys.stdin.isatty() and not typer.confirm("Send it?", err=True):
            typer.echo("nothing was sent", err=as_json)
            raise typer.Exit(1)
    sent = client.send(report)
    entries = client.ledger()
    here = sum(e.epsilon for e in entries if e.digest in client.study.digests)
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
    if sent:
        typer.echo(f"left this device: {report.body()}")
    if sent and text.thanks:
        typer.echo(text.thanks)
    others = f", on all studies of this device: {total:.6g}" if len(entries) > 1 else ""
    typer.echo(
        f"{'stored' if sent else 'nothing was sent'}. Spent on this study: {here:.6g}{others}"
    )


def _say_what_would_happen(client: Client, *, as_json: bool) -> None:
    """What is asked and what a report costs. Nothing is answered, drawn or sent."""
    study, stands = client.study, client.entry is not None
    cost = 0.0 if stands else study.epsilon
    if as_json:
        document = {"asked": list(client.asked), "sent": False, "first_stands": stands}
        typer.echo(json.dumps({**document, "epsilon": study.epsilon, "cost": cost}, indent=2))
        return
    typer.echo(f"this device is asked for {', '.join(client.asked)}\n")
    if study.text.consent:
        typer.echo(f"it asks for consent: {study.text.consent}\n")
    typer.echo("\n".join(study.statement().words()))
    typer.echo(
        f"\nsending a report would cost epsilon {cost:.6g}; nothing was asked, drawn or sent. The "
        "report itself is shown once it has arrived: stopping on seeing it would bias the results, "
        "and could give an answer away"
    )


def _ask_consent(wanted: str) -> None:
    """Nothing goes on without it; a program that sends says that its owner has agreed."""
    if not sys.stdin.isatty():
        raise OptionError(
            f"this study asks for your consent ({wanted})",
            "add --agree if you do; nothing was sent",
        )
    typer.echo(wanted, err=True)
    if not typer.confirm("Do you agree?", err=True):
        typer.echo("nothing was asked and nothing was sent", err=True)
        raise typer.Exit(1)


def _answers_from_pipe(asked: Sequence[str]) -> dict[str, object]:
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
