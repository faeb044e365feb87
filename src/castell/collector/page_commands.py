"""The command line's verbs of the survey page: preview, words."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from castell.collector.commands import Json, StudyPath, needs_extra
from castell.errors import OptionError


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    for verb, example in (
        (preview, "castell preview study.toml"),
        (words, "castell words ar words-ar.toml"),
    ):
        app.command(epilog=f"Example: {example}")(verb)


def preview(
    study: StudyPath,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 0,
    kiosk: Annotated[bool, typer.Option("--kiosk", help="As a shared device shows it.")] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Open no browser.")] = False,
    as_json: Json = False,
) -> None:
    """Show the survey page of a study file as it will be: nothing is sent or kept."""
    with needs_extra():
        from castell.collector.preview import Preview, run_preview
        from castell.collector.server import listen

    app = Preview(study, kiosk=kiosk)
    listening = listen("127.0.0.1", port)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/"

    def announce() -> None:
        if as_json:
            typer.echo(json.dumps({"address": address}))
        else:
            typer.echo(f"preview  {address}  (nothing is sent or kept; follows {study})")
        if not no_open:
            webbrowser.open(address)

    run_preview(app, listening, announce)


def words(
    language: Annotated[str, typer.Argument(help="A language tag, such as ar or pt-BR.")],
    file: Annotated[Path, typer.Argument(help="TOML file to write.")],
    as_json: Json = False,
) -> None:
    """Write the survey page's own words into a file, to be translated."""
    from castell.collector.page_words import built_in, template

    if file.exists():
        raise OptionError(f"{file} is there already", "give another name")
    file.write_text(template(language), encoding="utf-8")
    count = len(built_in()["en"])
    if as_json:
        typer.echo(json.dumps({"file": str(file), "language": language, "texts": count}))
        return
    typer.echo(f"wrote {file}: {count} texts to translate into {language}")
    typer.echo(f'next: translate them, and name the file in the study: [page] words = ["{file}"]')
