"""The command line's analyses: compare groups or waves, test associations, regress, scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from castell.cli.analysis_options import (
    Also,
    Json,
    Level,
    Method,
    Option,
    Output,
    Plot,
    ReportsOrAnswers,
    ReportsPlace,
    ScoresOf,
    StudyPath,
    To,
    check_shown,
    show,
)
from castell.cli.estimate_command import options_of, pairs_of, query_from
from castell.cli.open_reports import WithDeclined, open_reports, other_studies
from castell.cli.result_files import check_output, check_picture, save_picture
from castell.cli.sampling_options import Beside, Clusters, Rake, Strata, Weights, sampling_of
from castell.errors import OptionError
from castell.results.model import DEFAULT_METHOD
from castell.study.study import Study

COMPARE = (
    "castell compare study.toml reports.parquet health=poor"
    " --given smokes=now --versus smokes=never",
    "castell compare study.toml spring.parquet health=poor --against study.toml=autumn.parquet",
    "castell compare study.toml answers.csv --plot methods.png",
)
TEST = (
    "castell test study.toml reports.parquet smokes health",
    "castell test study.toml reports.parquet age health --trend --scores age=24,37,52,70",
    "castell test study.toml reports.parquet smokes health --weights weight --clusters village"
    " --beside frame.csv",
)
REGRESS = (
    "castell regress 'health ~ age + smokes' study.toml reports.parquet",
    "castell regress 'health ~ score(age) + smokes' study.toml reports.parquet --family linear",
    "castell regress 'smokes ~ age' study.toml reports.parquet --weights weight --clusters village"
    " --beside frame.csv",
)

SCORES = (
    "castell scores study.toml reports.parquet smokes health --output scores.csv",
    "castell scores study.toml reports.parquet smokes --output scores.parquet",
)


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command(epilog=f"Examples: {' | '.join(COMPARE)}")(compare)
    app.command("test", epilog=f"Examples: {' | '.join(TEST)}")(run_test)
    app.command(epilog=f"Examples: {' | '.join(REGRESS)}")(regress)
    app.command("scores", epilog=f"Examples: {' | '.join(SCORES)}")(write_scores)


def compare(
    study: StudyPath,
    reports: ReportsOrAnswers,
    asked: Annotated[
        list[str] | None, typer.Argument(help="The answer: name=value,value. Repeat.")
    ] = None,
    given: Annotated[
        list[str] | None, typer.Option(help="One group: name=value,value. Repeat for more.")
    ] = None,
    versus: Annotated[
        list[str] | None, typer.Option(help="The other group, of the same reports.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(help="Another wave or study instead, of other people: STUDY=REPORTS."),
    ] = None,
    method: Method = DEFAULT_METHOD,
    option: Option = None,
    level: Level = 0.95,
    also: Also = None,
    weights: Weights = None,
    strata: Strata = None,
    clusters: Clusters = None,
    rake: Rake = None,
    beside: Beside = None,
    output: Output = None,
    to: To = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Compare an answer in two groups, or in two waves: difference, relative risk, odds ratio.

    With a file of answers and nothing asked: every method and design, tried on these answers.
    """
    from castell.cli.progress import progress_bar
    from castell.results.compare import compare as compare_waves
    from castell.results.model import fit

    made = Study.load(study)
    if not asked:
        if given or versus or against:
            raise OptionError("no answer is asked for", "name one, such as health=poor")
        unread = {
            "--output": output, "--to": to, "--also": also, "--weights": weights,
            "--strata": strata, "--clusters": clusters, "--rake": rake, "--beside": beside,
            "--option": option, "--method": method != DEFAULT_METHOD, "--level": level != 0.95,
        }  # fmt: skip
        not_read = [name for name, value in unread.items() if value]
        _compare_methods(made, Path(reports), plot, as_json, not_read)
        return
    if bool(versus) == bool(against):
        raise OptionError(
            "compare needs one of --versus and --against",
            "give --given smokes=now --versus smokes=never, or --against old.toml=old.parquet",
        )
    if versus and not given:
        raise OptionError("--versus is given and --given is not", "name both groups")
    check_shown(output, to, plot, as_json)
    schema = made.schema
    answer = query_from(asked, schema, "the answer")
    group = query_from(given, schema, "--given") if given else None
    sampled = sampling_of(made, weights, strata, clusters, rake, beside)
    if sampled and against:
        raise OptionError(
            "weights, strata or clusters are given for two waves",
            "compare groups of one wave, or the waves in Python: a model for each",
        )
    options = options_of(option or []) | sampled
    with progress_bar("counting", quiet=as_json) as tell:
        model = fit(open_reports(made, reports, also, tell=tell), method, **options)
        if versus and group is not None:
            other = query_from(versus, schema, "--versus")
            found = model.compare(answer, given=group, versus=other)
        else:
            ((later, place),) = other_studies([str(against)], "--against")
            second = fit(open_reports(later, place, None), method, **options)
            found = compare_waves(model, second, answer, given=group)
    show(found, level, plot, as_json, output, to)


def _compare_methods(
    study: Study, answers: Path, plot: Path | None, as_json: bool, unread: list[str]
) -> None:
    from castell.cli.population_file import read_answers
    from castell.cli.progress import progress_bar
    from castell.planning.method_comparison import compare_methods

    if unread:
        raise OptionError(
            f"{unread[0]} is for reports of which something is asked",
            "name an answer, such as health=poor, or leave it out",
        )
    check_picture(plot)
    with progress_bar("trying", quiet=as_json) as tell:
        found = compare_methods(study, read_answers(answers, study), progress=tell)
    if plot is not None:
        save_picture(found.plot(), plot)
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else found.summary())
    if plot is not None and not as_json:
        typer.echo(f"wrote {plot}")


def run_test(
    study: StudyPath,
    reports: ReportsPlace,
    attributes: Annotated[list[str], typer.Argument(help="Two attributes.")],
    trend: Annotated[
        bool, typer.Option("--trend", help="Whether one rises or falls with the other.")
    ] = False,
    scores: ScoresOf = None,
    with_declined: WithDeclined = False,
    level: Level = 0.95,
    also: Also = None,
    weights: Weights = None,
    strata: Strata = None,
    clusters: Clusters = None,
    rake: Rake = None,
    beside: Beside = None,
    output: Output = None,
    to: To = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Test whether two attributes are independent, and say how strongly they are associated.

    The test and Cramer's V are read off the reports themselves, through the noise; no model is
    involved. It is of those who answered both questions.
    """
    from castell.cli.progress import progress_bar
    from castell.estimators import methods_for
    from castell.results.model import fit

    made = Study.load(study)
    if len(attributes) != 2:
        raise OptionError(
            f"a test is of two attributes, not {len(attributes)}",
            f"name two of {', '.join(made.names)}",
        )
    if scores and not trend:
        raise OptionError("scores are for a trend", "add --trend, or leave out --scores")
    if trend and with_declined:
        raise OptionError("who declined has no place in an order", "leave out --with-declined")
    check_shown(output, to, plot, as_json)
    numbers = _scores(scores)
    sampled = sampling_of(made, weights, strata, clusters, rake, beside)
    with progress_bar("counting", quiet=as_json) as tell:
        counts = open_reports(made, reports, also, tell=tell)
        # No model is asked for anything that the reports tell; the quickest will do.
        able = methods_for(*{each.study for each in (counts if also else [counts])})
        model = fit(counts, "castell" if "castell" in able else DEFAULT_METHOD, **sampled)
        one, two = attributes
        found: Any = (
            model.trend(one, two, scores=numbers)
            if trend
            else model.association(one, two, with_declined=with_declined)
        )
    show(found, level, plot, as_json, output, to)


def regress(
    formula: Annotated[str, typer.Argument(help="Like 'health ~ age + smokes + age:smokes'.")],
    study: StudyPath,
    reports: ReportsPlace,
    family: Annotated[
        str | None, typer.Option(help="logistic, multinomial or linear; by the outcome if not.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="corrected (unbiased equations, the default if solvable) or likelihood."),
    ] = None,
    errors: Annotated[str, typer.Option(help="sandwich or information.")] = "sandwich",
    scores: ScoresOf = None,
    level: Level = 0.95,
    also: Also = None,
    weights: Weights = None,
    strata: Strata = None,
    clusters: Clusters = None,
    rake: Rake = None,
    beside: Beside = None,
    output: Output = None,
    to: To = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Regress an attribute on others, all of them randomised."""
    from castell.cli.progress import progress_bar
    from castell.results.regression import regress as regression

    made = Study.load(study)
    check_shown(output, to, plot, as_json)
    numbers = _scores(scores)
    sampled = sampling_of(made, weights, strata, clusters, rake, beside)
    with progress_bar("counting", quiet=as_json) as tell:
        counts = open_reports(made, reports, also, tell=tell)
        found = regression(
            formula, counts, family=family, method=method, errors=errors, scores=numbers, **sampled
        )
    show(found, level, plot, as_json, output, to)


def write_scores(
    study: StudyPath,
    reports: ReportsPlace,
    attributes: Annotated[list[str], typer.Argument(help="Attributes of the joint table.")],
    output: Annotated[Path, typer.Option(help="Write the scores as .csv or .parquet.")],
) -> None:
    """Write what each report adds to each cell of a table, for survey software.

    The mean of a column, weighted or not, is the unbiased estimate of the cell.
    """
    from castell.cli.printing import write_columns
    from castell.cli.progress import progress_bar
    from castell.results.model import fit

    made = Study.load(study)
    check_output(output, (".csv", ".parquet"))
    with progress_bar("counting") as tell:
        model = fit(open_reports(made, reports, None, tell=tell), "castell")
        frame = model.scores(attributes, backend="pyarrow")
    write_columns(frame, model.source, output)
    many = frame.num_columns - len(made.schema.public)
    typer.echo(f"wrote {output}: {frame.num_rows:,} reports, {many} cells")


def _scores(texts: list[str] | None) -> dict[str, list[float]]:
    """Numbers by attribute, from texts name=1,2,3."""
    found = {}
    for name, text in pairs_of(texts or [], "--scores").items():
        try:
            found[name] = [float(number) for number in text.split(",")]
        except ValueError:
            raise OptionError(
                f"--scores of {name!r} are {text!r}", "write numbers: age=24,37,52,70"
            ) from None
    return found
