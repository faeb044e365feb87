"""Which attributes to randomise together, from public answers or from a pilot: RR-Clusters' design.

Attributes of a cluster are randomised as one, with their parts of the budget put together, so what
goes together in them is not lost (Domingo-Ferrer and Soria-Comas 2022). Which ones are associated
has to be known beforehand. From public answers that costs nothing; from the reports of a pilot it
costs what these respondents spent, and whoever answers in both spends both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from castell.counting import MemoryCounts
from castell.display.one_line import one_line
from castell.errors import OptionError, StudyError
from castell.evaluation.metrics import cramers_v
from castell.inference.inversion import observe
from castell.inference.products import product_variance
from castell.numbers import is_number
from castell.planning.designs import ASSOCIATED, strongest_together
from castell.planning.population import population_of
from castell.reports.reports import Reports
from castell.study.schema import Schema
from castell.study.study import Study


@dataclass(frozen=True)
class ProposedClusters:
    """`design` is what `Study(schema, epsilon, design)` takes; `clusters` are those of two or more.

    `pilot_epsilon` is what one respondent of the pilot spent, 0 if the answers were public.
    `cramers_v` is that of each pair, free of the bias that a pilot's noise causes.
    """

    clusters: tuple[tuple[str, ...], ...]
    epsilon: float
    pilot_epsilon: float
    cramers_v: Mapping[tuple[str, str], float]

    @property
    def design(self) -> str | list[list[str]]:
        """The clusters, or "independent" where nothing is associated."""
        return [list(cluster) for cluster in self.clusters] or "independent"

    @property
    def total_for_both(self) -> float:
        """What somebody spends who answers in the pilot and in the study."""
        return self.epsilon + self.pilot_epsilon

    def __repr__(self) -> str:
        listed = "; ".join(" + ".join(cluster) for cluster in self.clusters) or "none"
        pilot = (
            f"pilot epsilon {self.pilot_epsilon:.4g}" if self.pilot_epsilon else "public answers"
        )
        return one_line("ProposedClusters", listed, [f"epsilon {self.epsilon:.4g}", pilot])


def propose_clusters(
    schema: Schema, epsilon: float, known: Any, *, least: float = ASSOCIATED
) -> ProposedClusters:
    """Clusters for a study that spends `epsilon` in all, from what is `known` of its attributes.

    `known` are public answers (a frame), or the reports of a pilot. The most associated attributes
    are put together first, from a Cramer's V of `least` on, as long as a cluster has no more
    combinations than its part of the budget tells apart.
    """
    if not is_number(epsilon, 0.0) or epsilon <= 0.0:
        raise OptionError(f"epsilon is {epsilon!r}", "give a number above 0")
    if not is_number(least, 0.0) or least > 1.0:
        raise OptionError(f"least is {least!r}", "give a Cramer's V from 0 to 1, such as 0.1")
    if known is None:
        raise OptionError("nothing is known", "give public answers, or the reports of a pilot")
    if isinstance(known, Reports):
        association, spent = _of_reports(schema, known), known.study.epsilon
    else:
        people = population_of(schema, known)
        pairs = combinations(schema.names, 2)
        association = {pair: _v(people.table(list(pair))) for pair in pairs}
        spent = 0.0
    together = strongest_together(schema, association, float(epsilon), least)
    return ProposedClusters(together, float(epsilon), spent, association)


def _v(table: Any, noise: Any = None) -> float:
    return cramers_v(np.asarray(table), noise=noise) if min(np.shape(table)) > 1 else 0.0


def _of_reports(schema: Schema, reports: Reports) -> dict[tuple[str, str], float]:
    _check_pilot(schema, reports.study)
    counts = MemoryCounts(reports)
    found = {}
    for pair in combinations(schema.names, 2):
        observed = observe(counts, pair)
        noise = product_variance(observed, [pair], "population")
        found[pair] = _v(observed.invert(), noise)
    return found


def _check_pilot(schema: Schema, pilot: Study) -> None:
    if pilot.schema.names != schema.names or pilot.schema.sizes != schema.sizes:
        raise StudyError(
            "the pilot asked other attributes", "give reports of the same attributes and values"
        )
