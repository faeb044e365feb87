"""Synthetic people in several files that together say how unsure they are.

A file sampled from a model has the model's errors and does not show them. Several files, each from
a model that was fitted anew to a collection like this one, differ as such collections do. What
is worked out in each of them is put together by the rules for fully synthetic data (Raghunathan,
Reiter and Rubin 2003): the variance between files is that of the model plus that of sampling rows,
and the second is known.

Models are fitted to parametric bootstrap collections: as many people as reported are sampled from
the model, randomised by the study's own channels, and fitted by the same method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts, MemoryCounts
from castell.display.one_line import one_line
from castell.errors import OptionError, QueryError
from castell.evaluation.metrics import tvd
from castell.inference.method import Fitted
from castell.inference.student_t import student_quantile
from castell.linear.operators import Floats
from castell.numbers import is_whole
from castell.results.synthetic_people import Codes, sample_codes
from castell.study.study import Study

Fit = Callable[[Counts], Fitted]
Progress = Callable[[float], None]

# What the rows are, and are not; stands with every file that is written.
WORDS = (
    "Nobody is in these rows: they are sampled from a model of all randomised reports together.",
    "They cost no respondent any more privacy than the reports did.",
    "They have the model's errors: what the reports were too noisy to show is not in them.",
    "Rare combinations are the model's guess: look for nobody, and count no cells of a few rows.",
)
# Tables that are compared for each width, and how wide they get.
MOST_TABLES, WIDEST = 10, 3


@dataclass(frozen=True)
class Combined:
    """A number from several synthetic files. `freedom` is that of Student's t."""

    value: float
    standard_error: float
    freedom: float
    files: int

    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        reach = student_quantile(level, self.freedom) * self.standard_error
        return self.value - reach, self.value + reach

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        low, high = self.conf_int(level)
        return {
            "kind": "combined",
            "value": self.value,
            "standard_error": self.standard_error,
            "freedom": self.freedom,
            "files": self.files,
            "level": level,
            "lower": low,
            "upper": high,
        }


def combine(
    values: Sequence[float], variances: Sequence[float], rows_per_report: float = 1.0
) -> Combined:
    """What several synthetic files say together of one number.

    `values` are its estimates in each file and `variances` their sampling variances, each as if
    the file's rows had been sampled from people. T = (1 + 1/m) b - u, with the variance b between
    files and the mean variance u within them (Raghunathan, Reiter and Rubin 2003). Where that is
    not positive, u times the rows of a file for each report stands in for it: the variance that so
    many people would have as reported (Reiter 2002).

    >>> found = combine([0.30, 0.34, 0.28], [0.0002, 0.0002, 0.0002])
    >>> round(found.value, 4), round(found.standard_error, 4)
    (0.3067, 0.0323)
    """
    many = len(values)
    if many < 2 or len(variances) != many:
        raise OptionError(
            f"{many} values and {len(variances)} variances", "give both, of two files or more"
        )
    between, within = float(np.var(values, ddof=1)), float(np.mean(variances))
    total = (1.0 + 1.0 / many) * between - within
    if total <= 0.0:
        stand_in = sqrt(within * rows_per_report)
        return Combined(float(np.mean(values)), stand_in, float(many - 1), many)
    # The share of sampling rows in what lies between files makes it less sure.
    ratio = (1.0 + 1.0 / many) * between / within if within > 0.0 else np.inf
    freedom = (many - 1) * (1.0 - 1.0 / ratio) ** 2
    return Combined(float(np.mean(values)), sqrt(total), max(freedom, 1.0), many)


@dataclass(frozen=True)
class Nearness:
    """How far rows are from the model's tables of a width: mean total variation distance.

    `by_chance` is what sampling so many rows alone makes of it.
    """

    width: int
    tables: int
    distance: float
    by_chance: float


@dataclass(frozen=True, eq=False, repr=False)
class Synthetic:
    """Synthetic people: `files` are frames, all of the same attributes."""

    study: Study
    method: str
    names: tuple[str, ...]
    files: tuple[Any, ...]
    near: tuple[Nearness, ...]
    n: int
    reports: int

    def combine(self, question: Callable[[Any], tuple[float, float]]) -> Combined:
        """A number and its variance in each file, put together."""
        found = [question(file) for file in self.files]
        values, variances = zip(*found, strict=True)
        return combine(values, variances, self.n / max(self.reports, 1))

    def share(self, where: Mapping[str, str | Sequence[str]]) -> Combined:
        """How many have some values, for instance `share({"smokes": "now"})`."""
        import narwhals as nw

        wanted = {k: [v] if isinstance(v, str) else list(v) for k, v in where.items()}
        for name, values in wanted.items():
            if name not in self.names:
                raise QueryError(
                    f"{name!r} is not in the files", f"ask for {', '.join(self.names)}"
                )
            for value in values:
                self.study.schema[name].code(value)  # refuses what is no value

        def one(file: Any) -> tuple[float, float]:
            frame = nw.from_native(file, eager_only=True)
            matching = [np.isin(frame[k].to_numpy().astype(str), v) for k, v in wanted.items()]
            p = float(np.logical_and.reduce(matching).mean())
            return p, p * (1.0 - p) / self.n

        return self.combine(one)

    @property
    def words(self) -> tuple[str, ...]:
        if len(self.files) > 1:
            more = (
                f"Work out what you want in each of the {len(self.files)} files and combine: one "
                "file alone looks surer than it is."
            )
        else:
            more = "One file does not show how unsure it is: ask the model, or make several."
        return (*WORDS, more)

    def to_dict(self) -> dict[str, Any]:
        """What was made, as plain JSON values; the rows are in the files."""
        return {
            "kind": "synthetic",
            "study": self.study.name,
            "digest": self.study.digest,
            "method": self.method,
            "epsilon": self.study.epsilon,
            "reports": self.reports,
            "n": self.n,
            "files": len(self.files),
            "attributes": list(self.names),
            "near": [
                {
                    "width": each.width,
                    "tables": each.tables,
                    "distance": each.distance,
                    "by_chance": each.by_chance,
                }
                for each in self.near
            ],
            "words": list(self.words),
        }

    def __repr__(self) -> str:
        facts = [f"method {self.method!r}", f"n = {self.n:,}", f"{len(self.files)} files"]
        return one_line("Synthetic", f"people of {self.study.name!r}", facts)

    def summary(self) -> str:
        many = f"{len(self.files)} files of " if len(self.files) > 1 else ""
        first = (
            f"{many}{self.n:,} synthetic people, {len(self.names)} attributes, sampled from "
            f"{self.method!r} on {self.reports:,} reports"
        )
        table = [
            f"  {each.width} attribute{'s' * (each.width > 1)}: {each.distance:.4f} "
            f"({each.by_chance:.4f} by chance alone), {each.tables} tables"
            for each in self.near
        ]
        head = "mean total variation distance from the model's tables:"
        return "\n".join([first, "", head, *table, "", *self.words])

    def __str__(self) -> str:
        return self.summary()


def bootstrap_fits(
    fitted: Fitted, method: str, fit: Fit, files: int, seed: int | None
) -> Iterator[Fitted]:
    """Fits of collections like this one: people from the model, randomised and fitted again."""
    counts = fitted.counts
    study = counts.study
    generator = np.random.default_rng(seed)
    for _ in range(files):
        people, noise = (int(k) for k in generator.integers(0, 2**62, 2))
        codes = sample_codes(fitted, method, study.names, counts.n, people)
        answers = {
            a.name: np.array(a.values, dtype=object)[column]
            for a, column in zip(study.schema, codes, strict=True)
        }
        # Nobody answered this: seeds are no less private here.
        yield fit(MemoryCounts(study.randomize(answers, seed=noise)))


def check_files(files: int) -> None:
    if not is_whole(files, 1):
        raise OptionError(f"files is {files!r}", "give how many to make, from 1 up")


def nearness(
    names: Sequence[str],
    sizes: Mapping[str, int],
    codes: Sequence[Codes],
    table_of: Callable[[tuple[str, ...]], Floats | None],
) -> Iterator[Nearness]:
    """How far rows are from a model's tables, by how many attributes; the first tables of each.

    Several files are looked at together: they differ on purpose, and it is their mean that is to
    be near.
    """
    columns = {name: np.concatenate([file[k] for file in codes]) for k, name in enumerate(names)}
    rows = len(next(iter(columns.values())))
    for width in range(1, min(WIDEST, len(names)) + 1):
        far, chance = [], []
        for asked in _some(combinations(names, width)):
            model = table_of(asked)
            if model is None:
                continue
            shape = tuple(sizes[name] for name in asked)
            keys = np.ravel_multi_index([columns[name] for name in asked], shape)
            table = (np.bincount(keys, minlength=int(np.prod(shape))) / rows).reshape(shape)
            far.append(tvd(model, table))
            spread = np.sqrt(np.clip(model * (1.0 - model), 0.0, None) / rows)
            chance.append(float(spread.sum()) * sqrt(2.0 / pi) / 2.0)
        if far:
            yield Nearness(width, len(far), float(np.mean(far)), float(np.mean(chance)))


def _some(sets: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """At most so many, evenly from all."""
    every = list(sets)
    step = max(1, -(-len(every) // MOST_TABLES))
    return every[::step]


def choose_by_tables(
    codes: Codes,
    names: Sequence[str],
    tables: Sequence[tuple[tuple[str, ...], Floats]],
    people: int,
    generator: np.random.Generator,
) -> Codes:
    """So many of the rows that they have given tables, as nearly as whole people can.

    Rows are weighted until they do (raking), then taken at equal steps of their weights.
    """
    places = [
        np.ravel_multi_index([codes[names.index(name)] for name in asked], table.shape)
        for asked, table in tables
    ]
    weights = np.full(len(codes[0]), 1.0 / len(codes[0]))
    for _ in range(200):
        for place, (_, table) in zip(places, tables, strict=True):
            have = np.bincount(place, weights, table.size)
            by = np.divide(table.ravel(), have, out=np.zeros(table.size), where=have > 0.0)
            weights *= by[place]
            weights /= weights.sum()
    order: NDArray[np.intp] = np.lexsort(places[::-1])
    steps = (np.arange(people) + generator.random()) / people
    ends = np.cumsum(weights[order])
    taken = order[np.minimum(np.searchsorted(ends, steps * ends[-1]), len(order) - 1)]
    taken = generator.permutation(taken)
    return [column[taken] for column in codes]
