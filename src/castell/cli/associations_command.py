"""The verb `castell associations`: how strongly every two attributes go together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from castell.cli.analysis_options import Output, To, check_shown, show
from castell.cli.open_reports import EngineOption, WithDeclined, attributes_of, open_reports
from castell.cli.sampling_options import Beside, Clusters, Rake, Strata, Weights, sampling_of
from castell.results.model import fit
from castell.study.study import Study

EXAMPLE = "castell associations study.toml reports.parquet --plot associations.png"


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(epilog=f"Example: {EXAMPLE}")(associations)


def associations(
    study: Annotated[Path, typer.Argument(help="Study file, TOML or published JSON.")],
    reports: Annotated[
        str, typer.Argument(help='Parquet file, folder or pattern ("reports/*.parquet"), or store.')
    ],
    attributes: Annotated[
        list[str] | None, typer.Argument(help="Only between these attributes.")
    ] = None,
    engine: EngineOption = None,
    with_declined: WithDeclined = False,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    weights: Weights = None,
    strata: Strata = None,
    clusters: Clusters = None,
    rake: Rake = None,
    beside: Beside = None,
    output: Output = None,
    to: To = None,
    plot: Annotated[Path | None, typer.Option(help="Write a picture: .png, .svg or .html.")] = None,
    most: Annotated[int, typer.Option(help="Rows to print.")] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """How strongly every two attributes go together: Cramer's V without the noise.

    With intervals, and a test of each pair that controls the share of false discoveries.
    """
    from castell.cli.progress import progress_bar

    made = Study.load(study)
    names = attributes_of(made, attributes)
    check_shown(output, to, plot, as_json)
    sampled = sampling_of(made, weights, strata, clusters, rake, beside)
    with progress_bar("counting", quiet=as_json) as tell:
        counts = open_reports(made, reports, None, engine=engine, tell=tell)
        model = fit(counts, "castell", **sampled)
        found = model.associations(names or None, with_declined=with_declined)
    show(found, level, plot, as_json, output, to, most)
