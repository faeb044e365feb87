"""castell: how a whole population answers, without ever holding a person's answer."""

from castell.answers import tabulate
from castell.channel import KaryResponse, MatrixResponse
from castell.conditional import Conditional
from castell.consistency import consistent
from castell.counting import scan_reports
from castell.design import Design
from castell.errors import CastellError
from castell.estimate import JointEstimate
from castell.estimators import methods, methods_for
from castell.fitting import estimate, fit
from castell.misfit import Verdict
from castell.model import Model
from castell.probability import Difference, Probability
from castell.randomize import randomize_file
from castell.reasons import Code, Reason
from castell.reports import Reports
from castell.schema import Attribute, Schema
from castell.study import Study
from castell.support import Checked

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
    "randomize_file",
    "scan_reports",
    "tabulate",
]
