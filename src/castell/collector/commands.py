"""The command line's verbs of collecting: serve, invite, export, backup, restore."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from castell.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    from castell.counting import Counts
    from castell.study.study import Study

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
        (invite, "castell invite study.toml 100 > invitations.txt"),
        (export, "castell export study.sqlite reports.parquet"),
        (backup, "castell backup study.sqlite backup.sqlite"),
        (restore, "castell restore backup.sqlite study.sqlite"),
    ):
        app.command(epilog=f"Example: {example}")(verb)


def serve(
    context: typer.Context,
    study: StudyPath,
    store: StoreOption = None,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="CASTELL_TOKEN", show_envvar=True, help="What analysts log in with; else made."
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
    connections: Annotated[int, typer.Option(help="Most connections at once.")] = 1000,
    connections_each: Annotated[
        int, typer.Option(help="Most connections from one address, a proxy apart.")
    ] = 256,
    as_json: Json = False,
) -> None:
    """Collect reports: the survey at /, results at /results, reports durable once answered."""
    with needs_extra():
        from castell.collector.browser_channels import browser_warning
        from castell.collector.places import without_password
        from castell.collector.security.tokens import new_token
        from castell.collector.serving import check_proxies, listen, run
        from castell.collector.settings import ConnectionLimits, Settings, State
        from castell.collector.store import open_store
        from castell.collector.wire import wire_of
    from castell.study.study import Study

    made = Study.load(study)
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
    wire_of(made)  # a study that cannot be collected leaves no store behind
    warning = browser_warning(made)
    if warning is not None:
        typer.echo(f"castell: warning: {warning}", err=True)
    place = _chosen_store(context, store, study)
    listening = listen(host, port)
    try:
        opened = open_store(place, made, spool=spool)
        if invited:
            opened.invite(())
    except BaseException:
        listening.close()
        raise
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{listening.getsockname()[1]}"

    def announce() -> None:
        if as_json:
            told = {"address": address, "store": without_password(place), "study": made.digest}
            typer.echo(json.dumps(told | ({} if token else {"token": settings.token})))
            return
        typer.echo(f"survey   {address}/")
        typer.echo(f"results  {address}/results" + _when_released(release_every))
        typer.echo(f"token    {settings.token if not token else '(the one given)'}")
        typer.echo(f"store    {without_password(place)}, {opened.count():,} reports")
        if opened.invited():
            typer.echo("invited  each report needs an invitation (castell invite)")

    run(State(made, opened, settings), listening, proxies=proxy, on_start=announce)


def _when_released(hours: int) -> str:
    from castell.collector.results.release import next_release
    from castell.collector.store.store import hour_text, this_hour

    if not hours:
        return ""
    return f", every {hours} hours: next {hour_text(next_release(this_hour(), hours))}"


def invite(
    context: typer.Context,
    study: StudyPath,
    number: Annotated[int, typer.Argument(min=1, max=1_000_000, help="How many.")],
    store: StoreOption = None,
    as_json: Json = False,
) -> None:
    """Make invitations, each good for one report; from then on every report needs one."""
    with needs_extra():
        from castell.collector.store import open_store
        from castell.collector.store.invitations import new_invitation
    from castell.study.study import Study

    made = Study.load(study)
    with closing(open_store(_chosen_store(context, store, study), made)) as opened:
        codes = [new_invitation() for _ in range(number)]
        opened.invite(codes)
    typer.echo(json.dumps({"invitations": codes}) if as_json else "\n".join(codes))


def export(
    store: StorePlace,
    reports: Annotated[Path, typer.Argument(help="Parquet file of reports to write.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    spool: Spool = None,
    as_json: Json = False,
) -> None:
    """Write a store's reports as Parquet, codes only; the collector may go on meanwhile."""
    with needs_extra():
        from castell.collector import copies
        from castell.collector.places import resolve
        from castell.collector.store import open_store

    if reports.suffix != ".parquet":
        raise OptionError(f"{reports} does not end in .parquet", "reports are kept as Parquet")
    if reports.exists() and not force:
        raise OptionError(f"{reports} is there already", "give another name, or --force")
    with closing(open_store(resolve(store), spool=spool)) as opened:
        rows = copies.export(opened, reports)
    _print_rows(as_json, reports, rows)


def backup(
    store: StorePlace,
    file: Annotated[Path, typer.Argument(help="SQLite file to write.")],
    spool: Spool = None,
    as_json: Json = False,
) -> None:
    """Copy a store into a file, checked and synced; the collector may go on meanwhile."""
    with needs_extra():
        from castell.collector import copies
        from castell.collector.places import resolve

    _print_rows(as_json, file, copies.backup(resolve(store), file, spool=spool))


def restore(
    file: Annotated[Path, typer.Argument(help="A backup: what castell backup wrote.")],
    store: StorePlace,
    as_json: Json = False,
) -> None:
    """Make a store from a backup, of either kind; a store that is there is not overwritten."""
    with needs_extra():
        from castell.collector import copies
        from castell.collector.places import resolve, without_password

    place = resolve(store)
    _print_rows(as_json, without_password(place), copies.restore(file, place))


def _print_rows(as_json: bool, place: Path | str, rows: int) -> None:
    if as_json:
        typer.echo(json.dumps({"file": str(place), "reports": rows}))
    else:
        typer.echo(f"wrote {place}: {rows:,} reports")


def counts(place: str, study: Study) -> Counts | None:
    """What a store holds, ready to estimate from; nothing if `place` is not a store."""
    from castell.collector.places import resolve
    from castell.collector.store import counts_of, is_store, open_store

    if not place.startswith("@") and not is_store(place):
        return None
    with needs_extra(), closing(open_store(resolve(place))) as opened:
        return counts_of(opened, study)


def _chosen_store(context: typer.Context, store: str | None, study: Path) -> str:
    """The place that an option, the environment or the study's own place says."""
    from castell.collector.places import resolve

    if store is None:
        return default_store(study)
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
