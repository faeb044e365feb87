"""What the reports show without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from castell.counting import Counts, samples_of, tells
from castell.inference.inversion import Observed
from castell.inference.pooled_table import views
from castell.inference.products import product_model
from castell.results.joint import JointEstimate
from castell.results.model import Model


@dataclass(frozen=True, eq=False)
class Sight:
    """A table as the raw inversion shows it: the average of what some blocks see, by weight."""

    raw: JointEstimate
    views: tuple[tuple[float, Observed], ...]


def sights(counts: Counts, names: Sequence[str]) -> tuple[Sight, ...]:
    """The raw table of some attributes.

    Where no sample of respondents reported all of them, the tables that samples do hold, none
    inside another.
    """
    model = Model(product_model(counts, [counts.study.names], "population"), "castell")
    some = [sample for sample in samples_of(counts) if sample.n]
    each = {one for sample in some for one in _tables_of_sample(sample, names)}
    widest = [one for one in each if one and not any(set(one) < set(other) for other in each)]
    order = sorted(widest, key=lambda one: [names.index(name) for name in one])
    return tuple(Sight(model.estimate(group), views(counts, group)) for group in order)


def _tables_of_sample(sample: Counts, names: Sequence[str]) -> list[tuple[str, ...]]:
    """The tables that a sample tells: of all it holds, or of single attributes, or none."""
    reported = tuple(name for name in names if name in sample.study.names)
    if tells(sample, reported):
        return [reported]
    return [(name,) for name in reported if tells(sample, [name])]


def of_parts(raws: Sequence[JointEstimate]) -> str:
    if len(raws) == 1:
        return ""
    widest = max(len(raw.names) for raw in raws)
    size = "single attributes" if widest == 1 else f"{widest} attributes or fewer"
    return (
        f" No respondent reported all of these together: this is said of {len(raws):,} tables of "
        f"{size} that some did."
    )
