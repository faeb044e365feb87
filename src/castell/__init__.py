"""castell: how a whole population answers, without ever holding a person's answer."""

from castell.answers import tabulate
from castell.channel import KaryResponse, MatrixResponse
from castell.consistency import consistent
from castell.counting import scan_reports
from castell.design import Design
from castell.errors import CastellError
from castell.estimate import JointEstimate
from castell.estimators import methods, methods_for
from castell.fitting import estimate, fit
from castell.model import Model, Probability
from castell.randomize import randomize_file
from castell.reports import Reports
from castell.schema import Attribute, Schema
from castell.study import Study

__version__ = "0.1.0"

__all__ = [
    "Attribute",
    "CastellError",
    "Design",
    "JointEstimate",
    "KaryResponse",
    "MatrixResponse",
    "Model",
    "Probability",
    "Reports",
    "Schema",
    "Study",
    "consistent",
    "estimate",
    "fit",
    "methods",
    "methods_for",
    "randomize_file",
    "scan_reports",
    "tabulate",
]
