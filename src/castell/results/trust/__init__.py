"""Trust signals: what a careful analyst looks at before believing a table.

Each is a small function of the table or of the reports, and says what it found, whether it asks for
a look, and by which method. None of them proves anything: forged reports that look like honest ones
cannot be told from them by anyone. Imports results and what they import.
"""

from __future__ import annotations

from functools import cache

from castell.counting import Counts, samples_of
from castell.results.joint import JointEstimate
from castell.results.trust.agreement import KEY, TITLE, agreement, agreements
from castell.results.trust.drift import drift, homogeneity
from castell.results.trust.influence import INFLUENCE, contributions, influence, shifts
from castell.results.trust.raw_tables import Sight, sights
from castell.results.trust.selective_sending import leaving, shift_if_some_leave
from castell.results.trust.signal import Signal, points, unknown_signal, where_possible
from castell.results.trust.structural_zeros import declared_rules
from castell.results.trust.table_signals import (
    NEGATIVE,
    below_noise,
    model_fit,
    negative_mass,
    standard_errors,
)

__all__ = [
    "Sight",
    "Signal",
    "agreement",
    "agreements",
    "below_noise",
    "contributions",
    "declared_rules",
    "drift",
    "homogeneity",
    "influence",
    "leaving",
    "model_fit",
    "negative_mass",
    "points",
    "shift_if_some_leave",
    "shifts",
    "sights",
    "signals",
    "standard_errors",
    "unknown_signal",
    "where_possible",
]


def signals(counts: Counts, joint: JointEstimate, level: float = 0.95) -> tuple[Signal, ...]:
    """What a table and its reports say. What is said of reports holds for any method."""

    @cache
    def find_sights() -> tuple[Sight, ...]:
        return sights(counts, joint.names)

    return (
        standard_errors(joint, level),
        below_noise(joint, level),
        model_fit(joint),
        where_possible(
            "negative", NEGATIVE, lambda: negative_mass(*(sight.raw for sight in find_sights()))
        ),
        where_possible("influence", INFLUENCE, lambda: influence(*find_sights())),
        *(
            [where_possible(KEY, TITLE, lambda: agreement(counts, joint.names))]
            if len(samples_of(counts)) > 1
            else []
        ),
        *([declared_rules(counts)] if counts.study.schema.impossible.rules else []),
        *([leaving(counts, joint.names)] if counts.study.text.review == "before" else []),
    )
