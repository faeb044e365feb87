"""How respondents were sampled: the options of the command line that say it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from castell.device.answer_file import AnswerFile
from castell.errors import OptionError
from castell.study.number_texts import may_be_two_numbers, numbers_of_column
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
        if weights in columns:
            columns[weights] = _weights(weights, columns[weights])
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


def _weights(name: str, entries: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers as files have them, with a decimal comma too."""
    texts = ["" if entry is None else str(entry) for entry in entries.tolist()]
    numbers = numbers_of_column(texts)
    wrong = [k for k, number in enumerate(numbers) if number != number]
    if not wrong:
        return np.array(numbers, dtype=np.float64)
    text = texts[wrong[0]]
    if may_be_two_numbers(text):
        remedy = f"{text!r} may be two numbers: write a point for a comma"
    else:
        remedy = "give every report a weight"
    raise OptionError(
        f"{name} has {len(wrong):,} entries that are no numbers, the first {text!r} in row "
        f"{wrong[0] + 1:,}",
        remedy,
    )


def _margins(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OptionError(
            f"the margins {path} cannot be read ({error!s:.80})",
            "write a section for each attribute: [region] and below it north = 0.4",
        ) from None
