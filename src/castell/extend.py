"""What authors of methods, channels and counting engines import. See docs/write-your-own.md.

A method is a function `fit(counts, **options) -> Fitted`, or a `table_method`; a channel has what
`Channel` asks for, most easily as a `WeightedChannel`; an engine is a function that makes `Counts`
of a source of reports. `castell.fit(reports, my_method)` and `Study(..., channels={...})` take them
as they are; a package adds them for everybody by entry points of the groups `castell.estimators`,
`castell.channels` and `castell.engines`.
"""

from castell.channels import MAX_TOTAL, Channel, Lens, Traits, WeightedChannel, Words
from castell.channels.budget import log_ratio, rounded_up
from castell.channels.document_entries import entries
from castell.channels.foreign_channels import check_channel
from castell.counting import (
    ByBatches,
    Counts,
    Factor,
    Moments,
    Tally,
    folds_of,
    samples_of,
)
from castell.counting.counts import Progress
from castell.counting.engines import Engine
from castell.errors import (
    CastellError,
    ChannelError,
    MethodError,
    OptionError,
    PluginError,
    QueryError,
    ReportError,
)
from castell.inference.intervals import Bounds, Normal, Spread
from castell.inference.inversion import Observed, observe
from castell.inference.method import BLOOM, DRAWN, EVERYBODY, SETS, WHOLE, Fitted, Reads, Solution
from castell.inference.products import product_model
from castell.inference.queries import Query
from castell.inference.reasons import Code, Reason, reason
from castell.inference.shares import Shares
from castell.inference.table_method import from_tables, table_method
from castell.linear.operators import Dense, Floats, Operator
from castell.study.design import Axis, Block, Design

__all__ = [
    "BLOOM",
    "DRAWN",
    "EVERYBODY",
    "MAX_TOTAL",
    "SETS",
    "WHOLE",
    "Axis",
    "Block",
    "Bounds",
    "ByBatches",
    "CastellError",
    "Channel",
    "ChannelError",
    "Code",
    "Counts",
    "Dense",
    "Design",
    "Engine",
    "Factor",
    "Fitted",
    "Floats",
    "Lens",
    "MethodError",
    "Moments",
    "Normal",
    "Observed",
    "Operator",
    "OptionError",
    "PluginError",
    "Progress",
    "Query",
    "QueryError",
    "Reads",
    "Reason",
    "ReportError",
    "Shares",
    "Solution",
    "Spread",
    "Tally",
    "Traits",
    "WeightedChannel",
    "Words",
    "check_channel",
    "entries",
    "folds_of",
    "from_tables",
    "log_ratio",
    "observe",
    "product_model",
    "reason",
    "rounded_up",
    "samples_of",
    "table_method",
]
