"""Making synthetic people of a model: one file, or several that differ as collections do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from castell.errors import OptionError, TableTooLargeError
from castell.estimators import fit_counts
from castell.inference.method import Fitted
from castell.inference.postprocess import simplex
from castell.linear.operators import Floats
from castell.reports.frames import frame_of
from castell.results.joint import JointEstimate
from castell.results.model import Model
from castell.results.synthetic_files import (
    Progress,
    Synthetic,
    bootstrap_fits,
    check_files,
    choose_by_tables,
    nearness,
)
from castell.results.synthetic_people import Codes, sample_codes

# Rows to choose from, for each that is wanted, where tables are to be had.
_CHOICE = 8


def synthesize(
    model: Model,
    n: int,
    names: Iterable[str] | str | None = None,
    *,
    files: int = 1,
    tables: Sequence[JointEstimate] = (),
    seed: int | None = None,
    backend: str | None = None,
    progress: Progress | None = None,
) -> Synthetic:
    """Synthetic people under a model, in labels: files of `n` rows each.

    One file is sampled from the model itself. Several are each sampled from a model fitted anew to
    a collection like this one, so that they differ as much as the model is unsure; `combine` puts
    together what is worked out in each. `tables` are estimates that a single file must have.

    >>> from castell import Attribute, Schema, Study, fit
    >>> study = Study(Schema([Attribute("smokes", ["no", "yes"])]), epsilon=4.0)
    >>> model = fit(study.randomize({"smokes": ["no", "no", "yes"] * 400}, seed=1))
    >>> synthesize(model, 500, files=3, seed=2).share({"smokes": "yes"}).files
    3
    """
    check_files(files)
    if files > 1 and tables:
        raise OptionError(
            "several files cannot all have the same tables",
            "they must differ as much as is unknown; ask for one file, or for no tables",
        )
    if files > 1 and model.earlier:
        raise OptionError(
            "reports of several stages are not resampled", "ask for one file, files=1"
        )
    attributes = model.study.schema.select(model.study.names if names is None else names)
    order = tuple(attribute.name for attribute in attributes)
    seeds = np.random.default_rng(seed).integers(0, 2**62, files + 2)
    made: list[Codes] = []
    if files == 1:
        made.append(_one_file(model, order, n, tables, [int(k) for k in seeds[:2]]))
    else:
        method: Any = model.method if model.estimator is None else model.estimator
        fits = bootstrap_fits(
            model.fitted,
            model.method,
            lambda counts: fit_counts(counts, method, dict(model.options)),
            files,
            int(seeds[-1]),
        )
        for k, fitted in enumerate(fits):
            made.append(sample_codes(fitted, model.method, order, n, int(seeds[k])))
            if progress is not None:
                progress((k + 1) / files)
    sizes = {a.name: a.size for a in attributes}
    orders = {a.name: a.values for a in attributes if a.ordered}
    frames = tuple(
        frame_of(
            {
                a.name: np.array(a.values, dtype=object)[column]
                for a, column in zip(attributes, codes, strict=True)
            },
            backend or model.counts.backend,
            orders,
        )
        for codes in made
    )
    near = tuple(nearness(order, sizes, made, _table_of(model.fitted)))
    return Synthetic(model.study, model.method, order, frames, near, int(n), model.counts.n)


def _one_file(
    model: Model,
    order: tuple[str, ...],
    n: int,
    tables: Sequence[JointEstimate],
    seeds: Sequence[int],
) -> Codes:
    if not tables:
        return sample_codes(model.fitted, model.method, order, n, seeds[0])
    for table in tables:
        if missing := [name for name in table.names if name not in order]:
            raise OptionError(
                f"a table holds {missing[0]!r}, which the file does not", "add it, or leave it out"
            )
    targets = [(table.names, simplex(table.probabilities)) for table in tables]
    choice = sample_codes(model.fitted, model.method, order, _CHOICE * n, seeds[0])
    return choose_by_tables(choice, order, targets, n, np.random.default_rng(seeds[1]))


def _table_of(fitted: Fitted) -> Callable[[tuple[str, ...]], Floats | None]:
    def table(names: tuple[str, ...]) -> Floats | None:
        try:
            return simplex(fitted.joint(names, None).probabilities)
        except TableTooLargeError:
            return None

    return table
