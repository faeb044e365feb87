"""castell: how a whole population answers, without ever holding a person's answer.

The public names, and nothing else. Imports the rooms up to results, which cannot import it; the
collector and the command line may.
"""

from castell.auditing.audit import audit
from castell.auditing.verdict import Audit
from castell.channels import KaryResponse, MatrixResponse, mechanism
from castell.counting import Tally, scan_reports, tally
from castell.device.encode import tabulate
from castell.device.paper import import_file, import_reports
from castell.device.randomize import randomize_file, randomize_stream
from castell.errors import CastellError
from castell.estimators import methods, methods_for
from castell.inference.goodness_of_fit import Verdict
from castell.inference.reasons import Code, Reason
from castell.inference.sampling_columns import rake
from castell.inference.support import Checked
from castell.planning.adaptive_bins import BinPlan, plan_bins
from castell.planning.clusters import ProposedClusters, propose_clusters
from castell.planning.next_stage import NextStage
from castell.planning.next_stage_planner import plan_next
from castell.planning.plan import Plan
from castell.planning.planner import plan
from castell.planning.shuffled import Shuffled, shuffled
from castell.reports.reports import Reports
from castell.results.association import Association, TrendTest
from castell.results.careless import CarelessShare, careless
from castell.results.compare import compare
from castell.results.comparison import Comparison, Contrast
from castell.results.conditional import Conditional
from castell.results.conditional_table import ConditionalTable
from castell.results.consistency import consistent
from castell.results.forged_reports import Recovered, recover
from castell.results.joint import JointEstimate
from castell.results.mean import Mean
from castell.results.model import Model, estimate, fit, load_model
from castell.results.probability import Difference, Probability
from castell.results.quantile import Quantile
from castell.results.regression import Regression, regress
from castell.results.synthesize import synthesize
from castell.results.synthetic_files import Synthetic
from castell.study.choices import choose_all, chosen
from castell.study.design import Design
from castell.study.key_values import key_value_columns, key_values
from castell.study.schema import Attribute, Schema
from castell.study.study import Study
from castell.version import VERSION

__version__ = VERSION

__all__ = [
    "Association",
    "Attribute",
    "Audit",
    "BinPlan",
    "CarelessShare",
    "CastellError",
    "Checked",
    "Code",
    "Comparison",
    "Conditional",
    "ConditionalTable",
    "Contrast",
    "Design",
    "Difference",
    "JointEstimate",
    "KaryResponse",
    "MatrixResponse",
    "Mean",
    "Model",
    "NextStage",
    "Plan",
    "Probability",
    "ProposedClusters",
    "Quantile",
    "Reason",
    "Recovered",
    "Regression",
    "Reports",
    "Schema",
    "Shuffled",
    "Study",
    "Synthetic",
    "Tally",
    "TrendTest",
    "Verdict",
    "audit",
    "careless",
    "choose_all",
    "chosen",
    "compare",
    "consistent",
    "estimate",
    "fit",
    "import_file",
    "import_reports",
    "key_value_columns",
    "key_values",
    "load_model",
    "mechanism",
    "methods",
    "methods_for",
    "plan",
    "plan_bins",
    "plan_next",
    "propose_clusters",
    "rake",
    "randomize_file",
    "randomize_stream",
    "recover",
    "regress",
    "scan_reports",
    "shuffled",
    "synthesize",
    "tabulate",
    "tally",
]


def __dir__() -> list[str]:
    """The public names: what a shell offers after `castell.` is what may be used."""
    return __all__
