"""The command line: every verb with an example, JSON for programs, one line when input is wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from castell import __version__
from castell.cli import (
    analysis_commands,
    associations_command,
    audit_command,
    bins_command,
    card_command,
    careless_command,
    estimate_command,
    import_command,
    next_stage_command,
    plan_commands,
    send_command,
    synthesize_command,
)
from castell.collector import commands as collecting
from castell.collector import invite_commands, page_commands
from castell.collector import owner_commands as owning
from castell.errors import CastellError, OptionError

app = typer.Typer(
    name="castell",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Learn how a whole population answers, without ever holding a person's answer.",
)

StudyPath = Annotated[Path, typer.Argument(help="Study file, TOML or published JSON.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Missing = Annotated[
    list[str] | None,
    typer.Option("--missing", help="A text that means no answer, as NA; repeat for more."),
]


def _print_json(document: Any) -> None:
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))


def _note(text: str) -> None:
    typer.echo(text, err=True)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"castell {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


@app.command(epilog="Example: castell init study.toml --from answers.csv --epsilon 4")
def init(
    study: Annotated[Path, typer.Argument(help="Where to write the study file.")],
    answers: Annotated[Path, typer.Option("--from", help="CSV, Parquet or Excel file of answers.")],
    epsilon: Annotated[float, typer.Option(help="What one respondent spends in all.")] = 4.0,
    column: Annotated[
        list[str] | None, typer.Option(help="Take only this column; repeat for more.")
    ] = None,
    most_values: Annotated[
        int, typer.Option(help="Columns with more values are no categories.")
    ] = 100,
    decline: Annotated[
        str, typer.Option(help="A last value for who does not want to answer; '' offers none.")
    ] = "prefer not to say",
    missing: Missing = None,
    n: Annotated[
        int,
        typer.Option("-n", min=1, help="How many people will be asked; the design is for them."),
    ] = 3000,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    as_json: Json = False,
) -> None:
    """Write a first study file from the values found in a file of answers.

    Its design is the one that castell plan recommends for so many people.
    """
    from castell.channels.budget import as_decimal
    from castell.cli.progress import progress_bar
    from castell.cli.study_file import first_study
    from castell.cli.write_design import with_design
    from castell.planning.planner import plan
    from castell.study.study import Study

    if study.exists() and not force:
        raise OptionError(f"{study} is there already", "give another name, or --force")
    as_decimal(epsilon)
    text, remarks = first_study(
        answers,
        epsilon=epsilon,
        columns=column,
        most_values=most_values,
        file=study.name,
        decline=decline.strip(),
        missing=missing or (),
    )
    with progress_bar("planning", quiet=as_json) as tell:
        planned = plan(Study.from_toml(text), n, progress=tell)
    text = with_design(text, planned)
    made = Study.from_toml(text)
    study.write_text(text, encoding="utf-8")
    if as_json:
        document = {"file": str(study), "attributes": list(made.names), "epsilon": made.epsilon}
        chosen = {"design": planned.design, "n": n, "error": planned.error}
        _print_json({**document, **chosen, "reason": planned.reason, "remarks": remarks})
        return
    for remark in remarks:
        _note(f"note: {remark}")
    many = f"{len(made.names)} attribute{'s' * (len(made.names) != 1)}"
    typer.echo(f"wrote {study}: {many}, epsilon {made.epsilon:.6g} in all")
    typer.echo(f"design: {planned.reason}")
    typer.echo(f"next: read it, then castell check {study}")


@app.command(epilog="Example: castell check study.toml --publish study.json")
def check(
    study: StudyPath,
    publish: Annotated[
        Path | None, typer.Option(help="Write the canonical JSON that devices use.")
    ] = None,
    n: Annotated[
        int | None, typer.Option("-n", min=1, help="Say what so many people would tell.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a study and say what it costs a respondent.

    Opening hours and corrected words are shown too, where the study has some.
    """
    from castell.cli.check_collection import collection_document, collection_words, hours_warning
    from castell.cli.check_plan import check_plan, plan_words
    from castell.collector.browser_channels import browser_warning
    from castell.collector.page_files import load_look, look_warnings
    from castell.study.collection_table import load_collection_table
    from castell.study.declining import decline_warning, impossible_decline_warning
    from castell.study.page_warnings import page_warnings
    from castell.study.public_attributes import small_cells
    from castell.study.study import Study

    made = Study.load(study)
    statement, hours = made.statement(), load_collection_table(study).hours
    found = [browser_warning(made), decline_warning(made), impossible_decline_warning(made)]
    found += [*page_warnings(made), *look_warnings(load_look(study)), hours_warning(hours)]
    if publish is not None:
        made.save(publish, overwrite=True)
    for warning in filter(None, found):
        _note(f"warning: {warning}")
    planned = None if n is None else check_plan(made, n)
    if n is not None and (few := small_cells(made.schema, n)):
        _note(f"warning: {few}")
    if as_json:
        told = {} if planned is None else {"plan": planned.to_dict()}
        _print_json({**statement.to_dict(), **collection_document(made, hours), **told})
        return
    typer.echo(statement)
    if planned is not None:
        typer.echo("\n".join(["", *plan_words(planned)]))
    if lines := collection_words(made, hours):
        typer.echo("\n".join(["", *lines]))
    if publish is not None:
        typer.echo(f"\nwrote {publish}")


@app.command(epilog="Example: castell randomize study.toml answers.csv reports.parquet")
def randomize(
    study: StudyPath,
    answers: Annotated[Path, typer.Argument(help="CSV, Parquet or Excel file of answers.")],
    reports: Annotated[Path, typer.Argument(help="Parquet file of reports to write.")],
    seed: Annotated[
        int | None, typer.Option(help="For tests only: repeatable, therefore NOT private.")
    ] = None,
    missing: Missing = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="How many cores work on it: all, one with a seed.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the reports.")] = False,
    as_json: Json = False,
) -> None:
    """Randomise a file of answers; memory stays bounded whatever its size."""
    from castell.cli.progress import progress_bar
    from castell.device.randomize import randomize_file
    from castell.results.summary import INSECURE
    from castell.study.study import Study

    made = Study.load(study)
    if reports.suffix != ".parquet":
        raise OptionError(f"{reports} does not end in .parquet", "reports are kept as Parquet")
    if reports.resolve() == answers.resolve():
        raise OptionError("answers and reports are one file", "give the reports another name")
    if reports.exists() and not force:
        raise OptionError(
            f"{reports} is there already", "give another name, or --force; every report spends anew"
        )
    remarks: list[str] = []
    with progress_bar("randomising", quiet=as_json) as tell:
        rows = randomize_file(
            made,
            answers,
            reports,
            seed=seed,
            missing=missing or (),
            threads=threads,
            progress=tell,
            remarks=remarks.append,
        )
    for remark in remarks:
        _note(f"note: {remark}")
    if as_json:
        secure = seed is None
        _print_json(
            {"reports": rows, "file": str(reports), "digest": made.digest, "secure": secure}
        )
        return
    typer.echo(f"wrote {reports}: {rows:,} reports, epsilon {made.epsilon:.6g} each in all")
    if seed is not None:
        _note(f"warning: {INSECURE}")


@app.command(epilog="Examples: castell demo --people 100000 --epsilon 6 | castell demo --serve")
def demo(
    folder: Annotated[Path, typer.Option(help="Where to put the files.")] = Path("castell-demo"),
    people: Annotated[
        int, typer.Option("--people", "--reports", min=1, help="How many people to generate.")
    ] = 100_000,
    epsilon: Annotated[float, typer.Option(help="What one respondent spends in all.")] = 6.0,
    serve: Annotated[
        bool, typer.Option("--serve", help="Collect from them over HTTP and open the results.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Open no browser.")] = False,
    once: Annotated[bool, typer.Option("--once", help="End once all reports are in.")] = False,
    as_json: Json = False,
) -> None:
    """Run the main job from end to end on generated people, next to the truth."""
    if serve:
        with collecting.needs_extra():
            from castell.cli.live_demo import run_live
        run_live(people, epsilon, port, browser=not no_open, stay=not once, as_json=as_json)
        return
    from castell.cli.demo import run
    from castell.cli.printing import demo_document, print_demo

    made = run(folder, people=people, epsilon=epsilon)
    if as_json:
        _print_json(demo_document(made))
    else:
        print_demo(made)


import_command.register(app)
estimate_command.register(app)
analysis_commands.register(app)
careless_command.register(app)
associations_command.register(app)
synthesize_command.register(app)
plan_commands.register(app)
bins_command.register(app)
card_command.register(app)
audit_command.register(app)
collecting.register(app)
owning.register(app)
next_stage_command.register(app)
invite_commands.register(app)
page_commands.register(app)
send_command.register(app)


def main() -> None:
    """Run, and turn what goes wrong into one line and an exit code."""
    try:
        app()
    except CastellError as error:
        _note(f"castell: {error}")
        sys.exit(1)
    except (OSError, MemoryError) as error:
        _note(f"castell: {str(error) or type(error).__name__}")
        sys.exit(1)
    except KeyboardInterrupt:
        _note("castell: stopped")
        sys.exit(130)
