"""The two answers that are told apart best, where every report has one of two weights."""

from __future__ import annotations

from typing import NamedTuple


class WorstPair(NamedTuple):
    """How often a report is likely for both answers, or for one of them.

    The chances are under what all answers have in common: every report with its smaller weight.
    """

    common: float  # the part of a report that is the same whatever the answer is
    ratio: float  # of the larger weight to the smaller
    both: float
    one: float  # for the first answer and not the second, and the other way round as often
