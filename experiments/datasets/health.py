"""Surveys of health, tables of people that ship with statsmodels.

- `randhie`: RAND Health Insurance Experiment, a row for a person and a year; public domain. A
  physical limitation that is a fraction in the file was not answered but filled in.
- `births`: mothers in Pennsylvania, the part of Cattaneo's data (2010) that Stata's manual uses.
- `elderly`: people of 65 to 90 of the US Medical Expenditure Panel Survey, as Cameron and Trivedi
  use it in Regression Analysis of Count Data.

The last two come with the tests of statsmodels.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from experiments.datasets.coding import Binned, Bins, Coded, Questions, answers, columns_of, scale
from experiments.datasets.population import Population
from experiments.datasets.source import obtain
from experiments.datasets.surveys import statsmodels_file

RANDHIE = statsmodels_file(
    "randhie",
    "datasets/randhie/randhie.csv",
    "9f6c87d05aef087a82cc4465310c8cd3f38327be6eafa43bd81fb98c4f3d088c",
)
BIRTHS = statsmodels_file(
    "births",
    "treatment/tests/results/cataneo2.csv",
    "9511d52df46b08f39d67361b23b498ad607e9d7a687a42b6ebf9553ae5932e2a",
)
ELDERLY = statsmodels_file(
    "elderly",
    "sandbox/regression/tests/racd10data_with_transformed.csv",
    "4849a6b2e9e998ef35ea86467fc5a69867f0f5daa392fbdc0b53512bb801447e",
)


def _yes(column: str) -> Coded:
    return scale(column, 0, "no", "yes")


def _dollars(logarithms: Sequence[str]) -> list[str]:
    """Whole dollars from their logarithm; the file has ln(max(1, dollars))."""
    return [str(round(exp(float(entry)))) for entry in logarithms]


def randhie() -> Population:
    """20,190 years of insured people: the terms they were given, their health, their visits."""
    columns = columns_of(obtain(RANDHIE))
    states = zip(columns["hlthg"], columns["hlthf"], columns["hlthp"], strict=True)
    columns["health"] = ["".join(state) for state in states]
    columns["incentive"] = _dollars(columns["lpi"])
    columns["limit"] = _dollars(columns["fmde"])
    share = {"0": "0 %", "3.258096": "25 %", "3.931826": "50 %", "4.564348": "95 %",
             "4.61512": "100 %"}  # fmt: skip
    diseases: Bins = {0: "under 5", 5: "5 to 10", 10: "10 to 15", 15: "15 to 25", 25: "25 or more"}
    questions: Questions = {
        "coinsurance": Coded("lncoins", share),
        "deductible": _yes("idp"),
        "incentive": Binned(
            "incentive", {0: "none", 2: "under $250", 250: "$250+", 500: "$500+", 750: "$750+"}
        ),
        "limit": Binned(
            "limit", {0: "none", 2: "under $500", 500: "$500+", 1000: "$1,000+", 2000: "$2,000+"}
        ),
        "limitation": Binned("physlm", {0: "no", 1e-9: "filled in", 1: "yes"}),
        "diseases": Binned("disea", diseases),
        "health": Coded(
            "health", {"000": "excellent", "100": "good", "010": "fair", "001": "poor"}
        ),
        "visits": Binned("mdvis", {0: "0", 1: "1", 2: "2", 3: "3-4", 5: "5-9", 10: "10+"}),
    }
    return answers("randhie", columns, questions, "RAND Health Insurance Experiment, person-years")


def births() -> Population:
    """4,642 mothers: who they are, whether they smoked and drank, their care, their child."""
    smoked = {"0 daily": "no", "1-5 daily": "1-5 daily", "6-10 daily": "6-10 daily",
              "11+ daily": "11+ daily"}  # fmt: skip
    months = ("never", "first trimester", "second trimester", "third trimester")
    questions: Questions = {
        "age": Binned("mage", {0: "under 20", 20: "20-24", 25: "25-29", 30: "30-34", 35: "35+"}),
        "education": Binned(
            "medu", {0: "under 12 years", 12: "12 years", 13: "13-15 years", 16: "16+ years"}
        ),
        "married": Coded("mmarried", {"notmarried": "no", "married": "yes"}),
        "white": _yes("mrace"),
        "foreign": _yes("foreign"),
        "smoked": Coded("msmoke", smoked),
        "drank": _yes("alcohol"),
        "care began": scale("prenatal", 0, *months),
        "visits": Binned("nprenatal", {0: "0-5", 6: "6-8", 9: "9-11", 12: "12-14", 15: "15+"}),
        "first child": Coded("fbaby", {"No": "no", "Yes": "yes"}),
        "lost a child": _yes("deadkids"),
        "low weight": _yes("lbweight"),
    }
    return answers("births", columns_of(obtain(BIRTHS)), questions, "births in Pennsylvania")


def elderly() -> Population:
    """3,629 people over 64: income, insurance, limitations, chronic conditions, visits."""
    incomes: Bins = {
        -1: "under $5,000",
        5: "$5,000+",
        10: "$10,000+",
        20: "$20,000+",
        40: "$40,000+",
    }
    questions: Questions = {
        "age": Binned("age", {65: "65-69", 70: "70-74", 75: "75-79", 80: "80+"}),
        "sex": scale("female", 0, "male", "female"),
        "minority": scale("bh", 0, "no", "black or Hispanic"),
        "education": Binned(
            "educyr",
            {0: "0-8 years", 9: "9-11 years", 12: "12 years", 13: "13-15 years", 16: "16+ years"},
        ),
        "income": Binned("income", incomes),
        "medicaid": _yes("medicaid"),
        "private insurance": _yes("private"),
        "functional limitation": _yes("phylim"),
        "activity limitation": _yes("actlim"),
        "conditions": Binned("totchr", {0: "0", 1: "1", 2: "2", 3: "3", 4: "4+"}),
        "visits": Binned("physician", {0: "0", 1: "1-2", 3: "3-5", 6: "6-9", 10: "10+"}),
    }
    note = "Medical Expenditure Panel Survey, people of 65 to 90"
    return answers("elderly", columns_of(obtain(ELDERLY)), questions, note)
