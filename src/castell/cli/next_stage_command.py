"""The command line's verb that goes on to the next stage of a study by hand: next-stage."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Annotated

import typer

from castell.cli.plan_commands import WantedShares, WantedTables, wanted_share
from castell.cli.progress import progress_bar
from castell.collector.commands import Json, Spool, StorePlace, needs_extra
from castell.errors import OptionError


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    example = "castell next-stage study.sqlite -n 20000"
    app.command("next-stage", epilog=f"Example: {example}")(next_stage)


def next_stage(
    store: StorePlace,
    n: Annotated[int, typer.Option("-n", help="How many respondents are still to come.")],
    table: WantedTables = None,
    share: WantedShares = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    spool: Spool = None,
    as_json: Json = False,
) -> None:
    """Plan the next stage of a study from its reports, and publish it to whoever comes next.

    A collector that runs has it within seconds; pages that are open finish as they began.
    """
    with needs_extra():
        from castell.collector.settings import Staging
        from castell.collector.stage_planning import next_stage as plan
        from castell.collector.store_places import resolve
    from castell.planning.next_stage import NextStage

    if n < 1:
        raise OptionError(f"-n is {n}", "give how many respondents are still to come")

    agreed, bar = False, ExitStack()

    def agree(found: NextStage) -> bool:
        nonlocal agreed
        bar.close()
        typer.echo(found, err=as_json)
        agreed = (
            found.keeps_design
            or yes
            or typer.confirm("Ask everybody so who comes from now on?", err=True)
        )
        return agreed

    staging = Staging(resolve(store), spool)
    tables = [each.split(",") for each in table or ()]
    shares = [wanted_share(each) for each in share or ()]
    with bar:
        tell = bar.enter_context(progress_bar("planning", quiet=as_json))
        found = plan(staging, n, tables=tables, shares=shares, agree=agree, progress=tell)
    published = agreed and not found.keeps_design
    if as_json:
        typer.echo(json.dumps({"published": published, **found.to_dict()}))
    elif published:
        typer.echo(f"published: from now on the study has the digest {found.study.digest}")
    else:
        typer.echo("nothing was published")
