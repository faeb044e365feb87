"""The command line's verbs of collecting: serve, correct, export, backup, restore."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from castell.errors import MissingExtraError, OptionError

StudyPath = Annotated[Path, typer.Argument(help="Study file, TOML or published JSON.")]
StorePlace = Annotated[
    str,
    typer.Argument(
        help="A store: an SQLite file, postgresql://... or @FILE that holds the address."
    ),
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        envvar="CASTELL_STORE",
        show_envvar=True,
        help="An SQLite file (default: beside the study), postgresql://... or @FILE that holds the "
        "address.",
    ),
]
Spool = Annotated[
    Path | None,
    typer.Option(
        help="With PostgreSQL: folder where reports wait to be filed (default: CASTELL_SPOOL, "
        "else ~/.local/state/castell)."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    for verb, example in (
        (serve, "castell serve study.toml --port 8000"),
        (correct, "castell correct study.toml"),
        (export, "castell export study.sqlite reports.parquet"),
        (backup, "castell backup study.sqlite backup.sqlite"),
        (restore, "castell restore backup.sqlite study.sqlite"),
    ):
        app.command(epilog=f"Example: {example}")(verb)


def serve(
    context: typer.Context,
    study: Annotated[
        list[Path],
        typer.Argument(help="Study file, TOML or published JSON; several, or a folder of them."),
    ],
    store: StoreOption = None,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="CASTELL_TOKEN", show_envvar=True, help="The owner's token; else one is made."
        ),
    ] = None,
    minimum: Annotated[int, typer.Option(help="Reports before results are shown.")] = 100,
    release_every: Annotated[
        int,
        typer.Option(help="Hours between results; 0: as reports come, for trying things out."),
    ] = 24,
    invited: Annotated[
        bool,
        typer.Option("--invited", help="Take invited reports only, from the first one on."),
    ] = False,
    origin: Annotated[
        list[str] | None,
        typer.Option(help="A page elsewhere that may send reports: https://example.org. Repeat."),
    ] = None,
    rate: Annotated[
        float, typer.Option(help="Reports a second from one address; 0: no limit.")
    ] = 50.0,
    burst: Annotated[int, typer.Option(help="Reports at once from one address.")] = 1000,
    bulk: Annotated[int, typer.Option(help="Most reports in one bulk.")] = 1000,
    proxy: Annotated[
        str, typer.Option(help="Address of a reverse proxy whose X-Forwarded-For is believed.")
    ] = "",
    spool: Spool = None,
    opens: Annotated[
        str | None, typer.Option(help="Take reports from then: 2026-12-01T08:00:00+01:00.")
    ] = None,
    closes: Annotated[str | None, typer.Option(help="Take reports until then.")] = None,
    connections: Annotated[int, typer.Option(help="Most connections at once.")] = 1000,
    connections_each: Annotated[
        int, typer.Option(help="Most connections from one address, a proxy apart.")
    ] = 256,
    kiosk: Annotated[
        bool,
        typer.Option("--kiosk", help="A shared device: each person begins anew."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Collect reports: the survey at /, results at /results, reports durable once answered.

    Several studies are each under a path of their own, which their names make: /health/.
    """
    with needs_extra():
        from castell.collector.browser_channels import browser_warning
        from castell.collector.page_files import look_warnings
        from castell.collector.served_studies import plan
        from castell.collector.server import check_proxies, listen, run
        from castell.collector.settings import ConnectionLimits, Settings
        from castell.collector.startup_message import announcement, startup_document
        from castell.collector.store.tokens import new_token

    settings = Settings(
        token=token or new_token(),
        minimum=minimum,
        release_hours=release_every,
        origins=tuple(origin or ()),
        rate=rate,
        burst=burst,
        bulk=bulk,
        connections=ConnectionLimits(connections, connections_each),
    )
    check_proxies(proxy)
    planned = plan(
        study,
        lambda p: chosen_store(context, store, p),
        store=store,
        opens=opens,
        closes=closes,
        kiosk=kiosk,
    )
    for one in planned.studies.values():
        for warning in filter(None, [browser_warning(one.study), *look_warnings(one.look)]):
            typer.echo(f"castell: warning: {warning}", err=True)
    with closing(listen(host, port)) as listening:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listening.getsockname()[1]}"
        states = planned.open(settings, spool, invited=invited)
        made = None if token else settings.token

        def announce() -> None:
            if as_json:
                typer.echo(json.dumps(startup_document(planned, address, made)))
            else:
                typer.echo("\n".join(announcement(planned, states, address, made)))

        served = states[""] if planned.is_one else states
        run(served, listening, proxies=proxy, on_start=announce)


def correct(
    context: typer.Context,
    study: StudyPath,
    store: StoreOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    spool: Spool = None,
    as_json: Json = False,
) -> None:
    """Correct words of a study and keep its reports: edit the study file, then do this.

    Anything else than words is refused. The words before stay in the published study. A collector
    that runs publishes the new ones within seconds.
    """
    with needs_extra():
        from castell.collector import correct_command
    from castell.study.corrections import Change

    def agree(found: list[Change]) -> bool:
        for change in found:
            typer.echo(f"{change.where}\n  was  {change.was}\n  now  {change.now}", err=as_json)
        return yes or typer.confirm("Correct these words, for everybody to see?", err=True)

    place = chosen_store(context, store, study)
    made, found = correct_command.correct(study, place, agree, spool)
    if as_json:
        listed = [change._asdict() for change in found]
        typer.echo(json.dumps({"digest": made.digest, "changes": listed}))
    elif found:
        typer.echo(f"corrected, the digest is now {made.digest}")
        typer.echo(
            "a collector that runs publishes it within seconds; pages that are open can send"
        )
    else:
        typer.echo("nothing was corrected")


def export(
    store: StorePlace,
    reports: Annotated[Path, typer.Argument(help="Parquet file of reports to write.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    spool: Spool = None,
    as_json: Json = False,
) -> None:
    """Write a store's reports as Parquet, codes only; the collector may go on meanwhile."""
    with needs_extra():
        from castell.collector import store_copies
        from castell.collector.store import open_store
        from castell.collector.store_places import resolve

    if reports.suffix != ".parquet":
        raise OptionError(f"{reports} does not end in .parquet", "reports are kept as Parquet")
    with closing(open_store(resolve(store), spool=spool)) as opened:
        files = store_copies.stage_files(opened.stages, reports).values()
        there = [file for file in files if file.exists()]
        if there and not force:
            raise OptionError(f"{there[0]} is there already", "give another name, or --force")
        found = store_copies.export(opened, reports)
    if as_json and len(found) > 1:
        told = [{"file": str(file), "reports": rows} for file, rows in found.items()]
        typer.echo(json.dumps({"files": told}))
        return
    for file, rows in found.items():
        _print_rows(as_json, file, rows)


def backup(
    store: StorePlace,
    file: Annotated[Path, typer.Argument(help="SQLite file to write.")],
    spool: Spool = None,
    as_json: Json = False,
) -> None:
    """Copy a store into a file, checked and synced; the collector may go on meanwhile."""
    with needs_extra():
        from castell.collector import store_copies
        from castell.collector.store_places import resolve

    _print_rows(as_json, file, store_copies.backup(resolve(store), file, spool=spool))


def restore(
    file: Annotated[Path, typer.Argument(help="A backup: what castell backup wrote.")],
    store: StorePlace,
    as_json: Json = False,
) -> None:
    """Make a store from a backup, of either kind; a store that is there is not overwritten."""
    with needs_extra():
        from castell.collector import store_copies
        from castell.collector.store_places import resolve, without_password

    place = resolve(store)
    _print_rows(as_json, without_password(place), store_copies.restore(file, place))


def _print_rows(as_json: bool, place: Path | str, rows: int) -> None:
    if as_json:
        typer.echo(json.dumps({"file": str(place), "reports": rows}))
    else:
        typer.echo(f"wrote {place}: {rows:,} reports")


def chosen_store(context: typer.Context, store: str | None, study: Path) -> str:
    """The place that an option, the environment or the study file says, else beside the study."""
    from castell.collector.store_places import resolve

    if store is None:
        from castell.study.collection_table import load_collection_table

        told = load_collection_table(study).store
        return default_store(study) if told is None else resolve(told, beside=study)
    source = context.get_parameter_source("store")
    return resolve(store, in_command=source is not None and source.name == "COMMANDLINE")


def default_store(study: Path) -> str:
    """The file beside a study that its reports go to."""
    return str(study.with_suffix(".sqlite"))


@contextmanager
def needs_extra() -> Iterator[None]:
    """Says which extra is missing, when one is."""
    try:
        yield
    except ModuleNotFoundError as error:
        if str(error.name).startswith("castell"):
            raise
        raise MissingExtraError(
            f"collecting needs {error.name}", "pip install 'castell[serve]'"
        ) from None
