"""castell: how a whole population answers, without ever holding a person's answer.

The public names, and nothing else. Imports the rooms up to results, which cannot import it; the
collector and the command line may.
"""

from castell.channels import KaryResponse, MatrixResponse
from castell.counting import scan_reports
from castell.device.encode import tabulate
from castell.device.randomize import randomize_file
from castell.errors import CastellError
from castell.estimators import methods, methods_for
from castell.inference.misfit import Verdict
from castell.inference.reasons import Code, Reason
from castell.inference.support import Checked
from castell.planning.next_stage import plan_next
from castell.planning.plan import NextStage
from castell.planning.planner import plan
from castell.planning.survey_plan import Plan
from castell.reports.reports import Reports
from castell.results.conditional import Conditional
from castell.results.consistency import consistent
from castell.results.joint import JointEstimate
from castell.results.model import Model, estimate, fit
from castell.results.probability import Difference, Probability
from castell.study.design import Design
from castell.study.schema import Attribute, Schema
from castell.study.study import Study

__version__ = "0.1.0"

__all__ = [
    "Attribute",
    "CastellError",
    "Checked",
    "Code",
    "Conditional",
    "Design",
    "Difference",
    "JointEstimate",
    "KaryResponse",
    "MatrixResponse",
    "Model",
    "NextStage",
    "Plan",
    "Probability",
    "Reason",
    "Reports",
    "Schema",
    "Study",
    "Verdict",
    "consistent",
    "estimate",
    "fit",
    "methods",
    "methods_for",
    "plan",
    "plan_next",
    "randomize_file",
    "scan_reports",
    "tabulate",
]


def __dir__() -> list[str]:
    """The public names: what a shell offers after `castell.` is what may be used."""
    return __all__
