"""Counting: integer tables from reports. The narrow waist between collecting and estimating.

An engine knows nothing of privacy. It is asked for the table of some axes (digits of the blocks'
codes) and for the moments of products of per-report numbers, and answers with integers or sums.
Imports reports and what they import.
"""

from castell.counting.counts import Counts, Factor, Moments
from castell.counting.histogram import HistogramCounts, drawn_blocks, histogram
from castell.counting.memory import MemoryCounts
from castell.counting.parquet import ParquetCounts, scan_reports

__all__ = [
    "Counts",
    "Factor",
    "HistogramCounts",
    "MemoryCounts",
    "Moments",
    "ParquetCounts",
    "drawn_blocks",
    "histogram",
    "scan_reports",
]
