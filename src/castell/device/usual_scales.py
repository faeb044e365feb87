"""Scales whose order everybody knows, for values that would else be in alphabetical order."""

from __future__ import annotations

_SCALES = """
no, yes
never, before, now
never, rarely, seldom, sometimes, often, always
rarely, monthly, weekly, daily
none, very low, low, moderate, medium, high, very high
small, medium, large
mild, moderate, severe
very bad, bad, ok, good, very good
very poor, poor, fair, good, very good, excellent
strongly disagree, disagree, neither agree nor disagree, neutral, agree, strongly agree
very dissatisfied, dissatisfied, neutral, satisfied, very satisfied
monday, tuesday, wednesday, thursday, friday, saturday, sunday
mon, tue, wed, thu, fri, sat, sun
january, february, march, april, may, june, july, august, september, october, november, december
jan, feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec
"""

# Beside such a scale these have no place in its order.
UNSURE = {"don't know", "do not know", "dont know", "don\u2019t know", "not sure", "unsure"}


def usual_scales() -> list[list[str]]:
    """Each from its least value up."""
    return [line.split(", ") for line in _SCALES.strip().splitlines()]
