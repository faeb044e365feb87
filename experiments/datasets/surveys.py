"""Surveys of opinions and private life, tables of people that ship with statsmodels.

- `fair`, `fair_pt`: readers of two magazines, Redbook (women) and Psychology Today, on marriage and
  affairs. Fair (1978), A Theory of Extramarital Affairs; with the author's permission. Ages, years
  and children stand for intervals, by the numbers Fair gave them.
- `anes96`: American National Election Study of 1996, those who chose Clinton or Dole; public
  domain. The highest degrees are called associate, bachelor and advanced here. statsmodels'
  description says college, master and PhD, which 9, 24 and 13 % of the voters cannot have had.

Surveys of health are in `health`. What else statsmodels has with 500 rows or more is not about
people, has hardly a question, or (`modechoice`) has four rows for each of 210 travelers.
"""

from __future__ import annotations

from experiments.datasets.coding import (
    Binned,
    Bins,
    Coded,
    Questions,
    answers,
    columns_of,
    plain,
    scale,
)
from experiments.datasets.population import Population
from experiments.datasets.source import File, Wheel, obtain


def statsmodels_file(name: str, member: str, sha256: str) -> File:
    """A table in statsmodels' wheel. Those for Windows end lines by \\r\\n, which is undone here:
    the file is the same whatever machine the wheel is for.
    """
    wheel = Wheel(
        "statsmodels==0.14.6", f"statsmodels/{member}", lambda text: text.replace(b"\r", b"")
    )
    return File(f"surveys/{name}.csv", sha256, wheel=wheel)


FAIR = statsmodels_file(
    "fair",
    "datasets/fair/fair.csv",
    "fd5f3f094a34fc35ca346a14c359e046ed27843038d6921efcd50a7ab21f6af0",
)
FAIR_PT = statsmodels_file(
    "fair_pt",
    "datasets/fair/fair_pt.csv",
    "44a840ec1f826b91135cd0e929daeb5d11a1194b7b54e5f7d34c05d20ab2d426",
)
ANES96 = statsmodels_file(
    "anes96",
    "datasets/anes96/anes96.csv",
    "c124d8556d6f8c4329b1fea61e3dc6891c5e663f15b7fe5791235963420ba896",
)

_RATING = scale("rate_marriage", 1, "very poor", "poor", "fair", "good", "very good")
_JOBS = ("student", "worker", "white-collar", "teacher or skilled", "manager", "professional")
_SCHOOLS = {"9": "grade school", "12": "high school", "14": "some college", "16": "college",
            "17": "some graduate school", "20": "advanced degree"}  # fmt: skip


def fair() -> Population:
    """6,366 women: marriage, family, education, work, and whether there was an affair."""
    questions: Questions = {
        "marriage": _RATING,
        "age": plain("age", "17.5", "22", "27", "32", "37", "42"),
        "years married": plain("yrs_married", "0.5", "2.5", "6", "9", "13", "16.5", "23"),
        "children": Coded("children", {**{k: k for k in "01234"}, "5.5": "5 or more"}),
        "religious": scale("religious", 1, "not", "mildly", "fairly", "strongly"),
        "education": Coded("educ", _SCHOOLS),
        "occupation": scale("occupation", 1, *_JOBS),
        "husband's occupation": scale("occupation_husb", 1, *_JOBS),
        "affair": Binned("affairs", {0: "no", 1e-9: "yes"}),
    }
    columns = columns_of(obtain(FAIR))
    return answers("fair", columns, questions, "Fair's survey of Redbook readers")


def fair_pt() -> Population:
    """601 people, and how often they had an affair within a year."""
    years = {"0.125": "0.125", "0.417": "0.417", "0.75": "0.75", "1.5": "1.5", "4.0": "4",
             "7.0": "7", "10.0": "10", "15.0": "15"}  # fmt: skip
    often = {"0.0": "never", "1.0": "once", "2.0": "twice", "3.0": "three times",
             "7.0": "4 to 10 times", "12.0": "monthly or more"}  # fmt: skip
    questions: Questions = {
        "sex": scale("sex", 0, "female", "male"),
        "age": Binned("age", {a: f"{a:g}" for a in (17.5, 22, 27, 32, 37, 42, 47, 52, 57)}),
        "years married": Coded("nmarried", years),
        "children": scale("nchildren", 0, "no", "yes"),
        "religious": scale("religious", 1, "anti", "not", "slightly", "somewhat", "very"),
        "education": Binned("education", {e: f"{e} years" for e in (9, 12, 14, 16, 17, 18, 20)}),
        "occupation": scale("occupation", 1, *(f"class {k}" for k in range(1, 8))),
        "marriage": _RATING,
        "affairs": Coded("naffairs", often),
    }
    columns = columns_of(obtain(FAIR_PT))
    return answers("fair_pt", columns, questions, "Fair's survey of Psychology Today readers")


def anes96() -> Population:
    """944 voters: where they live and stand, what they earn and watch, and their choice."""
    sides = ("extremely liberal", "liberal", "slightly liberal", "moderate",
             "slightly conservative", "conservative", "extremely conservative")  # fmt: skip
    party = ("strong Democrat", "weak Democrat", "independent Democrat", "independent",
             "independent Republican", "weak Republican", "strong Republican")  # fmt: skip
    degrees = ("8 grades or less", "some high school", "high school", "some college",
               "associate", "bachelor", "advanced")  # fmt: skip
    places: Bins = {0: "under 1,000", 1: "1,000+", 10: "10,000+", 50: "50,000+", 250: "250,000+"}
    ages: Bins = {18: "18-29", 30: "30-39", 40: "40-49", 50: "50-64", 65: "65 or more"}
    # The file has 24 classes of income; these are the first of each bin.
    incomes: Bins = {1: "under $15,000", 11: "$15,000+", 15: "$25,000+", 17: "$35,000+",
               20: "$50,000+", 22: "$75,000+"}  # fmt: skip
    questions: Questions = {
        "place": Binned("popul", places),
        "TV news": Binned(
            "TVnews", {0: "never", 1: "1-2 days", 3: "3-4 days", 5: "5-6 days", 7: "daily"}
        ),
        "own side": scale("selfLR", 1, *sides),
        "Clinton's side": scale("ClinLR", 1, *sides),
        "Dole's side": scale("DoleLR", 1, *sides),
        "party": scale("PID", 0, *party),
        "age": Binned("age", ages),
        "education": scale("educ", 1, *degrees),
        "income": Binned("income", incomes),
        "vote": scale("vote", 0, "Clinton", "Dole"),
    }
    columns = columns_of(obtain(ANES96), "\t", "'")
    return answers("anes96", columns, questions, "American National Election Study 1996")
