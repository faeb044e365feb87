"""The command line: every verb with an example, JSON for programs, one line when input is wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from castell import __version__
from castell.cli import sending
from castell.collector import commands as collecting
from castell.errors import CastellError, OptionError
from castell.estimators import methods, reads
from castell.inference.capabilities import KINDS
from castell.results.fitting import DEFAULT_METHOD
from castell.study.schema import Schema

app = typer.Typer(
    name="castell",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Learn how a whole population answers, without ever holding a person's answer.",
)

PICTURES = (".png", ".svg", ".html")

StudyPath = Annotated[Path, typer.Argument(help="Study file, TOML or published JSON.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


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
    answers: Annotated[Path, typer.Option("--from", help="CSV or Parquet file of answers.")],
    epsilon: Annotated[float, typer.Option(help="What one respondent spends in all.")] = 4.0,
    column: Annotated[
        list[str] | None, typer.Option(help="Take only this column; repeat for more.")
    ] = None,
    most_values: Annotated[
        int, typer.Option(help="Columns with more values are no categories.")
    ] = 100,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    as_json: Json = False,
) -> None:
    """Write a first study file from the values found in a file of answers."""
    from castell.channels.budget import as_decimal
    from castell.cli.study_file import first_study
    from castell.study.study import Study

    if study.exists() and not force:
        raise OptionError(f"{study} is there already", "give another name, or --force")
    as_decimal(epsilon)
    text, remarks = first_study(
        answers, epsilon=epsilon, columns=column, most_values=most_values, file=study.name
    )
    made = Study.from_toml(text)
    study.write_text(text, encoding="utf-8")
    if as_json:
        document = {"file": str(study), "attributes": list(made.names), "epsilon": made.epsilon}
        _print_json({**document, "remarks": remarks})
        return
    for remark in remarks:
        _note(f"note: {remark}")
    typer.echo(f"wrote {study}: {len(made.names)} attributes, epsilon {made.epsilon:.6g} in all")
    typer.echo(f"next: read it, then castell check {study}")


@app.command(epilog="Example: castell check study.toml --publish study.json")
def check(
    study: StudyPath,
    publish: Annotated[
        Path | None, typer.Option(help="Write the canonical JSON that devices use.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a study and say what it costs a respondent."""
    from castell.study.study import Study

    made = Study.load(study)
    statement = made.statement()
    if publish is not None:
        publish.write_text(made.to_json(), encoding="utf-8")
    if as_json:
        _print_json(statement.document())
        return
    typer.echo(statement)
    if publish is not None:
        typer.echo(f"\nwrote {publish}")


@app.command(epilog="Example: castell randomize study.toml answers.csv reports.parquet")
def randomize(
    study: StudyPath,
    answers: Annotated[Path, typer.Argument(help="CSV or Parquet file of answers.")],
    reports: Annotated[Path, typer.Argument(help="Parquet file of reports to write.")],
    seed: Annotated[
        int | None, typer.Option(help="For tests only: repeatable, therefore NOT private.")
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
    with progress_bar("randomising", quiet=as_json) as tell:
        rows = randomize_file(made, answers, reports, seed=seed, progress=tell)
    if as_json:
        secure = seed is None
        _print_json(
            {"reports": rows, "file": str(reports), "digest": made.digest, "secure": secure}
        )
        return
    typer.echo(f"wrote {reports}: {rows:,} reports, epsilon {made.epsilon:.6g} each in all")
    if seed is not None:
        _note(f"warning: {INSECURE}")


def _methods_told() -> str:
    """The methods by what they read."""
    found = {kind: [m for m in methods() if kind in reads(m).kinds] for kind in KINDS}
    told = (f"of {KINDS[kind]}: {', '.join(able)}" for kind, able in found.items())
    return f"Estimator. Reports {'; '.join(told)}."


@app.command(
    epilog="Examples: castell estimate study.toml reports.parquet smokes health --plot joint.png"
    " | castell estimate study.toml reports.parquet --where smokes=now --where health=poor,fair"
)
def estimate(
    study: StudyPath,
    reports: Annotated[
        str, typer.Argument(help="Parquet file of reports, or a store: a file or postgresql://...")
    ],
    attributes: Annotated[
        list[str] | None, typer.Argument(help="Attributes of the joint table, in order.")
    ] = None,
    method: Annotated[str, typer.Option(help=_methods_told())] = DEFAULT_METHOD,
    post: Annotated[str, typer.Option(help="Post-processing: raw, clip or simplex.")] = "raw",
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    where: Annotated[
        list[str] | None,
        typer.Option(help="One share instead of a table: name=value,value. Repeat for more."),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the method: name=value.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Write the table as .csv or .parquet.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a picture: .png, .svg or .html.")] = None,
    most: Annotated[int, typer.Option(help="Rows to print.")] = 30,
    max_cells: Annotated[int | None, typer.Option(help="Largest table to build.")] = None,
    as_json: Json = False,
) -> None:
    """Estimate a joint table, or one share, from reports."""
    from castell.cli.printing import TABLES, print_probability, write_table
    from castell.cli.progress import progress_bar, working
    from castell.counting import scan_reports
    from castell.results.fitting import fit
    from castell.study.study import Study

    made = Study.load(study)
    if bool(attributes) == bool(where):
        raise OptionError(
            "neither a table nor a share was asked for" if not attributes else "both were asked",
            f"name attributes ({', '.join(made.names)}) or give --where name=value",
        )
    if where and (output or plot or post != "raw"):
        raise OptionError(
            "--where asks for one share",
            "leave out --output, --plot and --post: those are for tables",
        )
    for path, endings in ((output, TABLES), (plot, PICTURES)):
        if path is not None and path.suffix not in endings:
            raise OptionError(f"cannot write {path}", f"end its name in {' or '.join(endings)}")
        if path is not None and not path.parent.is_dir():
            raise OptionError(f"there is no folder {path.parent}", "make it first")
    with progress_bar("counting", quiet=as_json) as tell:
        counts = collecting.counts(reports, made) or scan_reports(reports, made, progress=tell)
        model = fit(counts, method, **_options_of(option or []))
        if where:
            share = model.probability(_query(where, made.schema))
            print_probability(share, where, method, level, as_json)
            return
        joint = model.estimate(attributes or [], post=post, max_cells=max_cells)
    with working("working out errors", quiet=as_json):
        joint.conf_int(level)
    if output is not None:
        write_table(joint, output, level)
    if plot is not None:
        _save_plot(joint, plot, level)
    if as_json:
        _print_json(joint.document(level))
    else:
        typer.echo(joint.summary(level, most))
        for path in (output, plot):
            if path is not None:
                typer.echo(f"wrote {path}")


def _save_plot(joint: Any, path: Path, level: float) -> None:
    sharp = {"scale_factor": 2} if path.suffix == ".png" else {}
    joint.plot(level=level).save(str(path), **sharp)


def _pairs(texts: list[str], what: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not mark or not name or not value:
            raise OptionError(
                f"{what} {text!r} is not name=value", "write name=value, as in smokes=now"
            )
        if name in pairs:
            raise OptionError(f"{what} names {name!r} twice", "give it once")
        pairs[name] = value
    return pairs


def _query(where: list[str], schema: Schema) -> dict[str, list[str]]:
    """Values by attribute: one as it stands, or several with commas between them.

    In a list, a comma inside a value is written with a backslash before it.
    """
    query, mark = {}, "\x00"
    for name, text in _pairs(where, "--where").items():
        parts = [part.replace(mark, ",") for part in text.replace("\\,", mark).split(",")]
        query[name] = [text] if text in schema[name].values else parts
    return query


def _options_of(texts: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, text in _pairs(texts, "--option").items():
        try:
            options[name] = json.loads(text)
        except json.JSONDecodeError:
            options[name] = text
    return options


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


collecting.register(app)
sending.register(app)


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
