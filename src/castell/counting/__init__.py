"""Counting: integer tables from reports. The narrow waist between collecting and estimating.

An engine knows nothing of privacy. It is asked for the table of some axes (digits of the blocks'
codes) and for the moments of products of per-report numbers, and answers with integers or sums.
Imports reports and what they import.
"""

from castell.counting.counts import ByBatches, Counts, MemoryCounts, studies_of
from castell.counting.engines import engines, scan_reports
from castell.counting.folds import Fold, folds_of
from castell.counting.kernels import Factor, Moments
from castell.counting.parquet import ParquetCounts
from castell.counting.stages import Stages, join_stages, stages_of
from castell.counting.tallies import (
    Tally,
    anybody_reported,
    evenly_spread,
    is_coarse,
    is_narrow,
    sample_studies,
    samples_of,
    samples_with,
    tally,
    tally_of,
    tells,
)

__all__ = [
    "ByBatches",
    "Counts",
    "Factor",
    "Fold",
    "MemoryCounts",
    "Moments",
    "ParquetCounts",
    "Stages",
    "Tally",
    "anybody_reported",
    "engines",
    "evenly_spread",
    "folds_of",
    "is_coarse",
    "is_narrow",
    "join_stages",
    "sample_studies",
    "samples_of",
    "samples_with",
    "scan_reports",
    "stages_of",
    "studies_of",
    "tally",
    "tally_of",
    "tells",
]
