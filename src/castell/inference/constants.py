"""Constants that several methods share."""

from __future__ import annotations

# The level of tests that warn somebody. Many are made of one collection, and a warning that is
# often false is not read.
ALARM = 1e-3
# Pearson's rule of thumb: with fewer expected in a cell the chi-square distribution is a poor one.
LEAST_EXPECTED = 5.0
# No share is ever exactly zero: EM could not leave it, and nothing is divided by it.
LEAST_SHARE = 1e-12
