"""The command line's verb of a survey designer: plan what to ask the next respondents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from castell.errors import OptionError

EXAMPLES = (
    "castell plan-next study.toml reports.parquet -n 30000 --publish next.json",
    "castell plan-next study.toml reports.parquet -n 30000 --table smokes,health --plot plan.png",
)


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command("plan-next", epilog=f"Examples: {' | '.join(EXAMPLES)}")(plan_next)


def plan_next(
    study: Annotated[Path, typer.Argument(help="Study file, TOML or published JSON.")],
    reports: Annotated[
        str, typer.Argument(help="Parquet file of reports, or a store: a file or postgresql://...")
    ],
    n: Annotated[int, typer.Option("-n", help="How many respondents are still to come.")],
    also: Annotated[
        list[str] | None,
        typer.Option(help="Reports of an earlier stage, STUDY=REPORTS. Repeat for more."),
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(help="A table that is wanted most: name,name. Repeat; else all pairs."),
    ] = None,
    share: Annotated[
        list[str] | None,
        typer.Option(help="A share that is wanted most: name=value,name=value. Repeat."),
    ] = None,
    publish: Annotated[
        Path | None, typer.Option(help="Write the study of the next stage as JSON.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a picture: .png, .svg or .html.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the study.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Plan what to ask the next respondents, from the reports there are."""
    from castell.cli.estimating import other_studies, pairs_of
    from castell.cli.progress import progress_bar
    from castell.cli.result_files import check_picture, save_picture
    from castell.collector.places import resolve
    from castell.counting import scan_reports
    from castell.planning.next_stage import plan_next as plan
    from castell.study.study import Study

    made = Study.load(study)
    check_picture(plot)
    if publish is not None and publish.suffix != ".json":
        raise OptionError(f"cannot write {publish}", "end its name in .json")
    tables = [each.split(",") for each in table or ()]
    shares = [pairs_of(each.split(","), "--share") for each in share or ()]
    with progress_bar("planning", quiet=as_json) as tell:
        counts = [scan_reports(resolve(place), other) for other, place in other_studies(also or [])]
        counts.append(scan_reports(resolve(reports), made))
        found = plan(counts, n, tables=tables, shares=shares, progress=tell)
    if publish is not None:
        found.study.save(publish, overwrite=force)
    if plot is not None:
        save_picture(found.plot(), plot)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        return
    typer.echo(found)
    for path in (publish, plot):
        if path is not None:
            typer.echo(f"wrote {path}")
