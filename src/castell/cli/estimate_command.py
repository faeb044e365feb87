"""The command line's verb of an analyst: estimate a table, a share, or conditional shares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from castell.cli.open_reports import EngineOption, attributes_of, open_reports
from castell.cli.result_files import check_output, check_picture, save_picture
from castell.cli.sampling_options import Beside, Clusters, Rake, Strata, Weights, sampling_of
from castell.errors import OptionError
from castell.estimators import methods, reads
from castell.inference.method import KINDS
from castell.results.conditional import Conditional
from castell.results.joint import JointEstimate
from castell.results.model import DEFAULT_METHOD, Model
from castell.results.probability import Probability
from castell.study.schema import Schema
from castell.study.study import Study

EXAMPLES = (
    "castell estimate study.toml reports.parquet smokes health --plot joint.png",
    "castell estimate study.toml reports.parquet --where smokes=now --where health=poor,fair",
    "castell estimate study.toml reports.parquet health --given smokes=now",
    "castell estimate study.toml reports.parquet health --given smokes --to latex",
    "castell estimate study.toml reports.parquet --mean age --given smokes=now",
    "castell estimate study.toml reports.parquet smokes health --to md",
    "castell estimate study.toml reports.parquet smokes --careless 0.05",
    "castell estimate study.toml reports.parquet a b c d e f g h --top 20",
    'castell estimate study.toml "reports/*.parquet" --width 2 --output pairs.parquet',
)


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(epilog=f"Examples: {' | '.join(EXAMPLES)}")(estimate)


def methods_told() -> str:
    """The methods by what they read."""
    found = {kind: [m for m in methods() if kind in reads(m).kinds] for kind in KINDS}
    told = (f"of {KINDS[kind]}: {', '.join(able)}" for kind, able in found.items())
    return f"Estimator. Reports {'; '.join(told)}."


def estimate(
    study: Annotated[Path, typer.Argument(help="Study file, TOML or published JSON.")],
    reports: Annotated[
        str,
        typer.Argument(
            help='Parquet file, folder or pattern ("reports/*.parquet") of reports, or a store: a '
            "file or postgresql://..."
        ),
    ],
    attributes: Annotated[
        list[str] | None, typer.Argument(help="Attributes of the joint table, in order.")
    ] = None,
    engine: EngineOption = None,
    width: Annotated[
        int | None, typer.Option(help="Every table of so many attributes instead of one.")
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(help="The largest cells instead of all: so many, of a table of any width."),
    ] = None,
    method: Annotated[str, typer.Option(help=methods_told())] = DEFAULT_METHOD,
    post: Annotated[str, typer.Option(help="Post-processing: raw, clip or simplex.")] = "raw",
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    where: Annotated[
        list[str] | None,
        typer.Option(help="One share instead of a table: name=value,value. Repeat for more."),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            help="Shares of one attribute, or of --where, among those with name=value,value."
            " Repeat for more. A name alone: row percentages, within each of its values."
        ),
    ] = None,
    mean: Annotated[
        str | None, typer.Option(help="The mean of an attribute that stands for numbers.")
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(help="For --mean: between which numbers all lie, if bins are open: 0,120."),
    ] = None,
    quantile: Annotated[
        str | None,
        typer.Option(help="A quantile of an ordered attribute: name=0.5; name alone, the median."),
    ] = None,
    answered: Annotated[
        str | None,
        typer.Option(help="The shares of an attribute among those who answered, and bounds."),
    ] = None,
    having: Annotated[
        str | None,
        typer.Option(help="The share of those who have any of what a question with none asks."),
    ] = None,
    smooth: Annotated[
        str | None, typer.Option(help="An ordered attribute, smoothed if reports ask for it.")
    ] = None,
    careless: Annotated[
        float | None,
        typer.Option(help="Show a table beside what it is if such a share answered at random."),
    ] = None,
    careless_says: Annotated[
        list[str] | None,
        typer.Option(help="For --careless: they always say name=report instead. Repeat for more."),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            help="Reports of another study with the same attributes, STUDY=REPORTS: an earlier"
            " stage or wave. Repeat for more."
        ),
    ] = None,
    weights: Weights = None,
    strata: Strata = None,
    clusters: Clusters = None,
    rake: Rake = None,
    beside: Beside = None,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the method: name=value.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Write the table as .csv, .parquet, .xlsx, .md or .tex."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(help="Print the table as csv, md or latex; excel needs --output x.xlsx."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a picture: .png, .svg or .html.")] = None,
    most: Annotated[int, typer.Option(help="Rows to print.")] = 30,
    max_cells: Annotated[int | None, typer.Option(help="Largest table to build.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Estimate a joint table, one share, or conditional shares from reports."""
    from castell.cli.careless_option import check_supposed, show_careless
    from castell.cli.estimate_options import NumberAsked, check_format, columns_of
    from castell.cli.every_table import print_every
    from castell.cli.printing import TABLES, write_table
    from castell.cli.progress import progress_bar, working
    from castell.cli.top_cells import check_top, print_top
    from castell.inference.latent.em import listening
    from castell.results.model import fit
    from castell.results.table_file import table_bytes

    made = Study.load(study)
    names = attributes_of(made, attributes)
    number = NumberAsked.of(mean, within, quantile, answered, smooth, having)
    if width is not None:
        _check_every(names, where, given, plot)
    elif number is None:
        _check_asked(made, names, where, given)
    if top is not None:
        others = {
            "--width": width,
            "--given": given,
            "--plot": plot,
            "--to": to,
            "--post": post != "raw",
        }
        check_top(names, {**others, "--mean, --quantile, --answered, --having or --smooth": number})
    if number is not None:
        number.check(names, where, plot, post)
    _check_tables_only(where, given, plot, post)
    check_supposed(careless, careless_says, tables=bool(names), more=output or plot or to or given)
    check_format(to, output, as_json)
    check_output(output, TABLES)
    check_picture(plot)
    sampled = sampling_of(made, weights, strata, clusters, rake, beside)
    with (
        progress_bar("counting", quiet=as_json) as tell,
        listening(lambda what, done: tell(done, what)),
    ):
        counts = open_reports(made, reports, also, engine=engine, tell=tell)
        model = fit(counts, method, **options_of(option or []), **sampled)
        rows = _rows_asked(names, where, given) if number is None else None
        among = query_from(given, made.schema, "--given") if given and rows is None else None
        found: Any = None
        if number is not None:
            found = number.ask(model, among)
        elif rows is not None:
            found = model.conditional(names[0], given=rows)
        elif width is None and top is None:
            found = _ask(model, names, where, among, post, max_cells)
    if top is not None:
        print_top(model, names, top, level, output, as_json)
        return
    if width is not None:
        print_every(model, width, post, level, output, to, most, as_json)
        return
    with working("working out errors", quiet=as_json):
        found.conf_int(level)
    if careless is not None and isinstance(found, JointEstimate):
        supposed = found.careless(careless, pairs_of(careless_says or [], "--careless-says"))
        show_careless(found, supposed, careless, level, most, as_json)
        return
    if output is not None:
        write_table(found, output, level)
    if plot is not None and isinstance(found, JointEstimate):
        save_picture(found.plot(level=level), plot)
    if as_json:
        typer.echo(json.dumps(found.to_dict(level), indent=2, ensure_ascii=False))
        return
    if to not in (None, "excel"):
        typer.echo(table_bytes(columns_of(found, level), str(to)).decode(), nl=False)
        return
    if isinstance(found, JointEstimate):
        typer.echo(found.summary(level, most))
    else:
        typer.echo(found.summary(level))
    for path in (output, plot):
        if path is not None:
            typer.echo(f"wrote {path}")


def _check_asked(
    study: Study, names: list[str], where: list[str] | None, given: list[str] | None
) -> None:
    """One question, and a whole one."""
    if bool(names) == bool(where):
        raise OptionError(
            "both were asked" if names else "neither a table nor a share was asked for",
            f"name attributes ({', '.join(study.names)}) or give --where name=value",
        )
    if given and len(names) > 1:
        raise OptionError(
            "--given asks for the shares of one attribute",
            "name one, or ask for a share of several: --where name=value --given name=value",
        )


def _check_every(
    names: list[str], where: list[str] | None, given: list[str] | None, plot: Path | None
) -> None:
    if names or where or given or plot:
        raise OptionError(
            "--width asks for every table",
            "leave out attributes, --where, --given and --plot: those are for one",
        )


def _check_tables_only(
    where: list[str] | None,
    given: list[str] | None,
    plot: Path | None,
    post: str,
) -> None:
    """What is for joint tables is refused elsewhere, not ignored."""
    if where and (plot or post != "raw"):
        raise OptionError(
            "--where asks for one share",
            "leave out --plot and --post: those are for tables",
        )
    if given and (plot or post != "raw"):
        raise OptionError(
            "--given asks for conditional shares",
            "leave out --plot and --post: those are for joint tables",
        )


def _rows_asked(names: list[str], where: list[str] | None, given: list[str] | None) -> str | None:
    """The attribute within whose values row percentages are asked for."""
    alone = given is not None and len(given) == 1 and "=" not in given[0]
    return given[0] if given and alone and names and not where else None


def _ask(
    model: Model,
    names: list[str],
    where: list[str] | None,
    given: dict[str, list[str]] | None,
    post: str,
    max_cells: int | None,
) -> JointEstimate | Probability | Conditional:
    schema = model.study.schema
    if given:
        asked = query_from(where, schema, "--where") if where else names[0]
        return model.conditional(asked, given=given)
    if where:
        return model.probability(query_from(where, schema, "--where"))
    return model.estimate(names, post=post, max_cells=max_cells)


def pairs_of(texts: list[str], what: str) -> dict[str, str]:
    """Values by name, from texts name=value."""
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


def query_from(texts: list[str], schema: Schema, what: str) -> dict[str, list[str]]:
    """Values by attribute: one as it stands, or several with commas between them.

    In a list, a comma inside a value is written with a backslash before it.
    """
    query, mark = {}, "\x00"
    for name, text in pairs_of(texts, what).items():
        parts = [part.replace(mark, ",") for part in text.replace("\\,", mark).split(",")]
        query[name] = [text] if text in schema[name].values else parts
    return query


def options_of(texts: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, text in pairs_of(texts, "--option").items():
        try:
            options[name] = json.loads(text)
        except json.JSONDecodeError:
            options[name] = text
    return options
