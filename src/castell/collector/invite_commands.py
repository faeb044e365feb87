"""The command line's verbs of invitations: invite, invitations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from castell.collector.commands import (
    Json,
    Spool,
    StoreOption,
    StorePlace,
    StudyPath,
    chosen_store,
    needs_extra,
)
from castell.errors import OptionError

# Unused invitations are counted in steps of this, as reports are on the results page: two looks do
# not show that one person has answered in between.
STEP = 10


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    for verb, example in (
        (invite, "castell invite study.toml 100 --url https://example.org/ --sheet cards.html"),
        (invitations, "castell invitations study.sqlite"),
    ):
        app.command(epilog=f"Example: {example}")(verb)


def invite(
    context: typer.Context,
    study: StudyPath,
    number: Annotated[int, typer.Argument(min=1, max=1_000_000, help="How many.")],
    store: StoreOption = None,
    url: Annotated[
        str | None, typer.Option(help="Address of the survey page: makes links of the codes.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option("--csv", help="Write number, code and link as CSV.")
    ] = None,
    qr: Annotated[
        Path | None, typer.Option(help="New folder for a QR code of each link, as SVG.")
    ] = None,
    sheet: Annotated[
        Path | None, typer.Option(help="HTML file of cards with QR codes, to be printed and cut.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make invitations, each good for one report; from then on every report needs one."""
    with needs_extra():
        from castell.collector import invitation_cards as cards
        from castell.collector.store import open_store
        from castell.collector.store.invitations import new_invitation

        if qr or sheet:
            import segno  # noqa: F401  (missing, it is told before an invitation is made)
    from castell.study.study import Study

    if url is not None:
        cards.check_url(url)
    elif qr or sheet:
        raise OptionError("QR codes lead to a page", "give its address: --url https://...")
    for path in filter(None, (table, qr, sheet)):
        if path.exists():
            raise OptionError(f"{path} is there already", "give another name: codes are lost once")
    made = Study.load(study)
    codes = [new_invitation() for _ in range(number)]
    with (
        closing(open_store(chosen_store(context, store, study), made)) as opened,
        _write_all_or_none() as write,
    ):
        # Files first: a code that lets a report in must not be one that nobody has.
        if table:
            write(table, cards.table(codes, url))
        if qr and url:
            write(qr, None)
            for name, picture in cards.qr_files(codes, url):
                write(qr / name, picture)
        if sheet and url:
            write(sheet, cards.sheet(made, codes, url))
        opened.invite(codes)
    told = [cards.link(url, code) for code in codes] if url else codes
    if as_json:
        links = {"links": told} if url else {}
        typer.echo(json.dumps({"invitations": codes, **links}))
        return
    if not (table or qr or sheet):
        typer.echo("\n".join(told))
    for path in filter(None, (table, qr, sheet)):
        typer.echo(f"wrote {path}: {number:,} invitations; whoever has it can use them")


class _Writer:
    """Writes files that only their owner can read, and knows which."""

    def __init__(self) -> None:
        self.done: list[Path] = []

    def __call__(self, path: Path, text: str | None) -> None:
        """A file with a text, or a folder."""
        if text is None:
            path.mkdir(mode=0o700)
            self.done.append(path)
            return
        path.touch(mode=0o600, exist_ok=False)
        self.done.append(path)
        path.write_text(text, encoding="utf-8")

    def undo(self) -> None:
        for path in reversed(self.done):
            path.rmdir() if path.is_dir() else path.unlink()


@contextmanager
def _write_all_or_none() -> Iterator[_Writer]:
    """Files that are there only if everything went well: others would hold codes that are none."""
    writer = _Writer()
    try:
        yield writer
    except BaseException:
        writer.undo()
        raise


def invitations(store: StorePlace, spool: Spool = None, as_json: Json = False) -> None:
    """Say how many invitations of a store are unused, in steps of ten."""
    with needs_extra():
        from castell.collector.store import open_store
        from castell.collector.store_places import resolve

    with closing(open_store(resolve(store), spool=spool)) as opened, opened.snapshot() as found:
        needed, unused = found.rules.invited, len(found.unspent)
    least = unused // STEP * STEP
    if as_json:
        typer.echo(json.dumps({"needed": needed, "unused_at_least": least, "step": STEP}))
    elif not needed:
        typer.echo("no invitations: anybody may send a report (castell invite makes some)")
    elif unused == 0:
        typer.echo("unused   none: nobody else can send a report (castell invite makes more)")
    else:
        typer.echo(f"unused   {f'{least:,} or more' if least else f'fewer than {STEP}'}")
