"""The command line's verb that writes synthetic people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from castell.errors import OptionError
from castell.results.model import DEFAULT_METHOD

EXAMPLES = (
    "castell synthesize study.toml reports.parquet people.csv -n 5000",
    "castell synthesize study.toml reports.parquet people.parquet -n 5000 --files 10",
)
_ENDINGS = (".csv", ".parquet")


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command("synthesize", epilog=f"Examples: {' | '.join(EXAMPLES)}")(synthesize)


def synthesize(
    study: Annotated[Path, typer.Argument(help="Study file, TOML or published JSON.")],
    reports: Annotated[str, typer.Argument(help="Parquet file, folder or pattern of reports.")],
    people: Annotated[Path, typer.Argument(help="Where to write: .csv or .parquet.")],
    n: Annotated[int, typer.Option("-n", min=1, help="How many people in each file.")] = 1000,
    files: Annotated[
        int, typer.Option(min=1, help="Several files carry how unsure they are: people-1.csv ...")
    ] = 1,
    attribute: Annotated[
        list[str] | None, typer.Option(help="Only this attribute; repeat for more.")
    ] = None,
    released: Annotated[
        list[str] | None,
        typer.Option("--table", help="A table that the file must have: a,b. Repeat for more."),
    ] = None,
    method: Annotated[
        str, typer.Option(help="Estimator, as of castell estimate.")
    ] = DEFAULT_METHOD,
    seed: Annotated[int | None, typer.Option(help="To sample the same people again.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the files.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Write people who are not there: rows sampled from a model of the reports, in labels."""
    from castell.cli.open_reports import open_reports
    from castell.cli.progress import progress_bar
    from castell.results.model import fit
    from castell.results.synthesize import synthesize as make
    from castell.study.study import Study

    if people.suffix not in _ENDINGS:
        raise OptionError(f"{people} is no file of people", "let it end in .csv or .parquet")
    targets = [people] if files == 1 else [_numbered_path(people, k + 1) for k in range(files)]
    for target in targets:
        if target.exists() and not force:
            raise OptionError(f"{target} is there already", "give another name, or --force")
    with progress_bar("counting", quiet=as_json) as tell:
        counts = open_reports(Study.load(study), reports, None, engine=None, tell=tell)
    with progress_bar("sampling", quiet=as_json) as tell:
        model = fit(counts, method)
        tables = [model.estimate(names.split(","), post="simplex") for names in released or []]
        made = make(
            model,
            n,
            attribute or None,
            files=files,
            tables=tables,
            seed=seed,
            backend="pyarrow",
            progress=tell,
        )
    for target, frame in zip(targets, made.files, strict=True):
        _write(frame, target)
    written = [str(target) for target in targets]
    if as_json:
        typer.echo(json.dumps({**made.to_dict(), "written": written}, indent=2, ensure_ascii=False))
        return
    typer.echo(f"wrote {', '.join(written)}: {made}")


def _numbered_path(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}-{number}{path.suffix}")


def _write(table: Any, path: Path) -> None:
    from pyarrow import csv, parquet, schema, string

    if path.suffix == ".parquet":
        parquet.write_table(table, path)
        return
    # CSV has no dictionaries.
    csv.write_csv(table.cast(schema([(name, string()) for name in table.column_names])), path)
