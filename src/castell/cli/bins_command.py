"""The command line's verb that plans bins from the reports of the first respondents: plan-bins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    example = "castell plan-bins study.toml reports.parquet age --bins 6"
    app.command("plan-bins", epilog=f"Example: {example}")(plan_bins)


def plan_bins(
    study: Annotated[Path, typer.Argument(help="Study file, TOML or published JSON.")],
    reports: Annotated[
        str, typer.Argument(help="Parquet file of reports, or a store: a file or postgresql://...")
    ],
    name: Annotated[str, typer.Argument(help="An attribute that was asked with many bins.")],
    bins: Annotated[int, typer.Option(help="How many bins to ask with from now on.")] = 6,
    by: Annotated[
        str, typer.Option(help="shares: as full as one another; width: narrow where people are.")
    ] = "shares",
    then: Annotated[
        Path | None,
        typer.Option(
            help="Write a study that asks others in these bins, to be estimated with the first"
            " (--also); of one attribute."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Say where bins should be, from the randomised reports of the first respondents."""
    from castell.collector.store_places import resolve
    from castell.counting import scan_reports
    from castell.errors import OptionError
    from castell.planning.adaptive_bins import plan_bins as plan
    from castell.study.study import Study

    found = plan(scan_reports(resolve(reports), Study.load(study)), name, bins, by=by)
    if then is not None:
        if then.exists():
            raise OptionError(f"{then} is there already", "give another name")
        then.write_text(found.next_study().to_json(), encoding="utf-8")
    typer.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False) if as_json else found)
    if then is not None and not as_json:
        typer.echo(f"wrote {then}")
