"""The command line's verb for careless answers: how many there are."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from castell.cli.analysis_options import (
    Json,
    Level,
    Output,
    ReportsPlace,
    StudyPath,
    To,
    check_shown,
    show,
)
from castell.cli.estimate_command import pairs_of
from castell.cli.open_reports import open_reports, other_studies
from castell.errors import OptionError
from castell.study.study import Study

EXAMPLES = (
    "castell careless study.toml reports.parquet anchor --known no=1",
    "castell careless one.toml one.parquet copied --against two.toml=two.parquet --says different",
)


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(epilog=f"Examples: {' | '.join(EXAMPLES)}")(careless)


def careless(
    study: StudyPath,
    reports: ReportsPlace,
    attribute: Annotated[str, typer.Argument(help="The question that tells.")],
    known: Annotated[
        list[str] | None,
        typer.Option(help="An anchor question's true share of a value: no=1. Repeat for more."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(help="A second group, asked with other chances: STUDY=REPORTS."),
    ] = None,
    says: Annotated[
        str | None, typer.Option(help="What the careless always report; at random if not given.")
    ] = None,
    level: Level = 0.95,
    output: Output = None,
    to: To = None,
    as_json: Json = False,
) -> None:
    """Estimate how many answered without regard to the truth.

    An anchor question with known answers shows answers at random. Two groups whose designs have
    other chances (p and 1 - p: extended crosswise) show those who always give the same report.
    """
    from castell.cli.progress import progress_bar
    from castell.results.careless import careless as careless_share

    made = Study.load(study)
    check_shown(output, to, None, as_json)
    with progress_bar("counting", quiet=as_json) as tell:
        counted: Any = open_reports(made, reports, None, tell=tell)
        if against is not None:
            ((other, place),) = other_studies([against], "--against")
            counted = [counted, open_reports(other, place, None)]
        found = careless_share(counted, attribute, known=_shares(known), says=says)
    show(found, level, None, as_json, output, to)


def _shares(texts: list[str] | None) -> dict[str, float] | None:
    if not texts:
        return None
    try:
        return {value: float(share) for value, share in pairs_of(texts, "--known").items()}
    except ValueError:
        raise OptionError(f"--known is {' '.join(texts)!r}", "write value=share: no=1") from None
