"""How respondents were sampled: the options of the command line that say it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from castell.device.answer_file import AnswerFile
from castell.errors import OptionError
from castell.study.study import Study

Weights = Annotated[
    str | None,
    typer.Option(
        help="Weights: a public attribute, or a column of --beside (auto, castell, independent)."
    ),
]
Strata = Annotated[str | None, typer.Option(help="Strata, named like weights.")]
Clusters = Annotated[
    str | None, typer.Option(help="Clusters (primary sampling units), named like weights.")
]
Rake = Annotated[
    Path | None,
    typer.Option(help="TOML file of known margins of public attributes: [region] north = 0.4"),
]
Beside = Annotated[
    Path | None,
    typer.Option(help="File with a row for each report, in their order: CSV, Parquet or Excel."),
]


def sampling_of(
    study: Study,
    weights: str | None,
    strata: str | None,
    clusters: str | None,
    rake: Path | None,
    beside: Path | None,
) -> dict[str, Any]:
    """What `castell.fit` takes of it: names of public attributes, or columns of a file."""
    named = {"weights": weights, "strata": strata, "clusters": clusters}
    given: dict[str, Any] = {key: name for key, name in named.items() if name is not None}
    if beside is not None:
        own = sorted({name for name in given.values() if name not in study.schema.public})
        if not own:
            raise OptionError(
                f"no column of {beside} is asked for", "name one by --weights, --strata, --clusters"
            )
        columns = _columns(beside, own)
        given = {key: columns.get(name, name) for key, name in given.items()}
    if rake is not None:
        given["rake"] = _margins(rake)
    return given


def _columns(path: Path, names: list[str]) -> dict[str, np.ndarray[Any, Any]]:
    found: dict[str, list[Any]] = {name: [] for name in names}
    for batch in AnswerFile(path, names):
        for name in names:
            if name not in batch.column_names:
                raise OptionError(f"{path} has no column {name!r}", "name one that it has")
            # An empty cell is no stratum and no cluster.
            found[name] += [
                None if entry == "" else entry for entry in batch.column(name).to_pylist()
            ]
    return {name: np.array(entries, dtype=object) for name, entries in found.items()}


def _margins(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OptionError(
            f"the margins {path} cannot be read ({error!s:.80})",
            "write a section for each attribute: [region] and below it north = 0.4",
        ) from None
