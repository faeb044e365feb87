"""The command line's verb that measures what devices give away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from castell import __version__
from castell.errors import OptionError

EXAMPLES = (
    "castell audit study.toml",
    "castell audit study.toml --device browser --html > audit.html",
    "castell audit https://survey.example.org/",
)


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command("audit", epilog=f"Examples: {' | '.join(EXAMPLES)}")(audit)


def audit(
    study: Annotated[
        str, typer.Argument(help="Study file, or the address of a running survey page.")
    ],
    device: Annotated[
        str | None,
        typer.Option(help="frame, python, browser, or the address of a survey page."),
    ] = None,
    n: Annotated[int | None, typer.Option("-n", help="How many devices to ask.")] = None,
    confidence: Annotated[float, typer.Option(help="With which all bounds hold at once.")] = 0.999,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    as_html: Annotated[bool, typer.Option("--html", help="Print a page to hand over.")] = False,
) -> None:
    """Measure how much a device gives away, and whether it is the study's. Nothing is sent.

    Leaves with 1 if something speaks against the device.
    """
    from castell.auditing.audit import audit as measure
    from castell.auditing.audit_page import audit_page
    from castell.auditing.device_names import is_address
    from castell.cli.progress import progress_bar
    from castell.study.study import Study

    if as_json and as_html:
        raise OptionError("an audit is JSON or a page", "give one of --json and --html")
    if is_address(study) and device is not None:
        raise OptionError("a page's address is its device", "leave --device out")
    loaded = None if is_address(study) else Study.load(Path(study))
    asked = study if loaded is None else device or "frame"
    with progress_bar("auditing", quiet=as_json) as tell:
        found = measure(loaded, asked, n=n, confidence=confidence, progress=tell)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    elif as_html:
        typer.echo(audit_page(found, f"castell {__version__}"))
    else:
        typer.echo(found)
    if not found.passed:
        raise typer.Exit(1)
