"""The command line's verbs of a survey designer: plan a survey, plan what to ask next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from castell.cli.open_reports import EngineOption
from castell.errors import OptionError

WantedTables = Annotated[
    list[str] | None,
    typer.Option("--table", help="A table that is wanted most: name,name. Repeat; else all pairs."),
]
WantedShares = Annotated[
    list[str] | None,
    typer.Option(
        "--share", help="A share that is wanted most: name=value,name=value,value. Repeat."
    ),
]

EXAMPLES = (
    "castell plan-next study.toml reports.parquet -n 30000 --publish next.json",
    "castell plan-next study.toml reports.parquet -n 30000 --table smokes,health --plot plan.png",
)


PLAN_EXAMPLES = (
    "castell plan study.toml -n 3000",
    "castell plan study.toml --error 3% -a smokes -a health --write",
    "castell plan study.toml -n 3000 --like pilot.csv --html plan.html --plot plan.png",
)


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command("plan", epilog=f"Examples: {' | '.join(PLAN_EXAMPLES)}")(plan)
    app.command("plan-next", epilog=f"Examples: {' | '.join(EXAMPLES)}")(plan_next)


def share_of(text: str, what: str) -> float:
    """A share as people write it: .03 or 3%."""
    number = text.strip()
    try:
        value = float(number[:-1]) / 100 if number.endswith("%") else float(number)
    except ValueError:
        raise OptionError(f"{what} is {text!r}", "write a share: .03 or 3%") from None
    return value


def plan(
    study: Annotated[Path, typer.Argument(help="Study file, TOML or published JSON.")],
    n: Annotated[int | None, typer.Option("-n", help="How many people are asked.")] = None,
    error: Annotated[
        str | None,
        typer.Option(help="Half-width of a 95 % interval that is wanted: .03 or 3%."),
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="What one respondent spends; the study's own if not given.")
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            "-a",
            "--attribute",
            help="An attribute of the table that is wanted; repeat. With commas each is a table.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="A share that is wanted: name=value,value. Repeat for more attributes."),
    ] = None,
    versus: Annotated[
        list[str] | None, typer.Option(help="The share it is compared with: name=value,value.")
    ] = None,
    given: Annotated[
        list[str] | None, typer.Option(help="The group it is a share of: name=value,value.")
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(
            help="A likely population: answers (.csv, .parquet), earlier reports, or an estimate "
            "(.json)."
        ),
    ] = None,
    response: Annotated[str, typer.Option(help="The share who answer: .6 or 60%.")] = "1",
    careless: Annotated[str, typer.Option(help="The share who answer at random: 5%.")] = "0",
    simulate: Annotated[
        int | None,
        typer.Option(
            help="Collections to simulate beside what is predicted; of an n or an epsilon that is "
            "solved for some are without it, and none with 0."
        ),
    ] = None,
    method: Annotated[str, typer.Option(help="Method of the estimates: auto or castell.")] = "auto",
    html: Annotated[Path | None, typer.Option(help="Write a page for an ethics board.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a picture: .png, .svg or .html.")] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Put the recommended design into the study file.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Plan a survey: what will be learned, from how many people, at what privacy.

    With --error and no -n the smallest n is found, with both the smallest epsilon; with neither it
    is what people and epsilon trade for.
    """
    from castell.cli.estimate_command import query_from
    from castell.cli.population_file import read_likely
    from castell.cli.progress import progress_bar
    from castell.cli.result_files import check_output, check_picture, save_picture
    from castell.cli.write_design import write_design
    from castell.planning.planner import plan as make_plan
    from castell.study.study import Study

    made = Study.load(study)
    check_picture(plot)
    check_output(html, (".html",))
    if write and study.suffix == ".json":
        raise OptionError(f"{study} is published", "--write changes the TOML file it was made from")
    schema = made.schema

    def query(texts: list[str] | None, what: str) -> dict[str, list[str]] | None:
        return query_from(texts, schema, what) if texts else None

    with progress_bar("planning", quiet=as_json) as tell:
        found = make_plan(
            made,
            n,
            error=None if error is None else share_of(error, "--error"),
            epsilon=epsilon,
            attributes=_tables(attribute or [], made.names),
            where=query(where, "--where"),
            versus=query(versus, "--versus"),
            given=query(given, "--given"),
            like=None if like is None else read_likely(like, made),
            response=share_of(response, "--response"),
            careless=share_of(careless, "--careless"),
            simulate=simulate,
            method=method,
            progress=tell,
        )
    if write:
        write_design(study, found)
    if html is not None:
        html.write_text(found.to_html(), encoding="utf-8")
    if plot is not None:
        save_picture(found.plot(), plot)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        return
    typer.echo(found.summary())
    for path in (html, plot, study if write else None):
        if path is not None:
            typer.echo(f"wrote {path}")


def _tables(texts: list[str], names: Sequence[str]) -> list[Any] | None:
    """One table of all attributes named, or with commas a table each."""
    if not any("," in text and text not in names for text in texts):
        return list(texts) or None
    return [
        [text] if text in names else [name.strip() for name in text.split(",")] for text in texts
    ]


def wanted_share(text: str) -> dict[str, list[str]]:
    """A share by its values: smokes=now,health=poor,fair. A comma in a value has a backslash."""
    mark, found, name = "\x00", dict[str, list[str]](), ""
    for part in text.replace("\\,", mark).split(","):
        named, equals, value = part.partition("=")
        if equals:
            name = named
            if name in found:
                raise OptionError(
                    f"--share names {name!r} twice", f"give it once: {name}=value,value"
                )
        if not name or not (value if equals else part):
            raise OptionError(
                f"--share {text!r} is not name=value,name=value", "write it as in smokes=now"
            )
        found.setdefault(name, []).append((value if equals else part).replace(mark, ","))
    return found


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
    table: WantedTables = None,
    share: WantedShares = None,
    engine: EngineOption = None,
    publish: Annotated[
        Path | None, typer.Option(help="Write the study of the next stage as JSON.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a picture: .png, .svg or .html.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the study.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Plan what to ask the next respondents, from the reports there are."""
    from castell.cli.open_reports import open_reports
    from castell.cli.progress import progress_bar
    from castell.cli.result_files import check_output, check_picture, save_picture
    from castell.planning.next_stage_planner import plan_next as plan
    from castell.study.study import Study

    made = Study.load(study)
    check_picture(plot)
    check_output(publish, (".json",))
    if publish is not None and publish.exists() and not force:
        raise OptionError(f"{publish} is there already", "give another name, or --force")
    tables = [each.split(",") for each in table or ()]
    shares = [wanted_share(each) for each in share or ()]
    with progress_bar("planning", quiet=as_json) as tell:
        counts = open_reports(made, reports, also, engine=engine)
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
