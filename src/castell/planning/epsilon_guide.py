"""Epsilon in the terms people have: out of 100, odds, guesses, and what others have chosen.

No number is a recommendation. A deployment is listed only with a source that states its epsilon;
what is protected differs (one day, one event, a person), and so does from whom: local epsilons hold
against everybody, central ones against readers of what was published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

from castell.errors import OptionError
from castell.numbers import is_number, is_whole
from castell.study.odds_text import factor, of_two, share

# What is usual to look at, from hardly anything told to hardly anything hidden.
USUAL = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True)
class Deployment:
    """A published use of differential privacy and the epsilon that its source states."""

    who: str
    what: str
    year: int
    model: str  # "local" or "central"
    epsilon: float
    delta: float  # 0 is pure differential privacy
    unit: str  # what epsilon is spent on
    source: str

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))

    def words(self) -> str:
        chance = f", delta {self.delta:g}" if self.delta else ""
        return (
            f"{self.who}, {self.what} ({self.year}): epsilon {self.epsilon:.4g}{chance}, "
            f"{self.model}, for {self.unit}"
        )


_APPLE = (
    "Apple, Differential Privacy Overview (2017), "
    "https://www.apple.com/privacy/docs/Differential_Privacy_Overview.pdf"
)
_CENSUS = (
    "US Census Bureau, Census Bureau Sets Key Parameters to Protect Privacy in 2020 Census "
    "Results, press release of 9 June 2021; with delta in Abowd et al. 2022, Harvard Data Science "
    "Review, special issue 2, https://doi.org/10.1162/99608f92.529e3cb9"
)

DEPLOYMENTS: tuple[Deployment, ...] = (
    Deployment("Apple", "health types", 2017, "local", 2.0, 0.0, "a person's day", _APPLE),
    Deployment("Apple", "emoji", 2017, "local", 4.0, 0.0, "a person's day", _APPLE),
    Deployment(
        "Google",
        "home pages in Chrome (RAPPOR)",
        2014,
        "local",
        4.0 * log(3.0),
        0.0,
        "all reports of one value",
        "Erlingsson, Pihur and Korolova 2014, https://arxiv.org/abs/1407.6981, theorem 1 "
        "(2 h ln((2 - f) / f)), with the 2 hash functions and f = 1/2 that Chromium's "
        "components/rappor had for the type of this metric, ETLD_PLUS_ONE",
    ),
    Deployment(
        "Apple", "Safari domains", 2017, "local", 8.0, 0.0, "a person's day (4 twice)", _APPLE
    ),
    Deployment("Apple", "new words", 2017, "local", 16.0, 0.0, "a person's day (8 twice)", _APPLE),
    Deployment(
        "Google",
        "searches for symptoms",
        2020,
        "central",
        1.68,
        0.0,
        "a person's day",
        "Bavadekar et al. 2020, https://arxiv.org/abs/2009.01265",
    ),
    Deployment(
        "Google",
        "searches about vaccination",
        2021,
        "central",
        2.19,
        1e-5,
        "a person's day",
        "Bavadekar et al. 2021, https://arxiv.org/abs/2107.01179",
    ),
    Deployment(
        "US Census Bureau",
        "redistricting data, people",
        2021,
        "central",
        17.14,
        1e-10,
        "a person",
        _CENSUS,
    ),
    Deployment(
        "US Census Bureau",
        "redistricting data, people and housing",
        2021,
        "central",
        19.61,
        1e-10,
        "a person and a home",
        _CENSUS,
    ),
)


@dataclass(frozen=True)
class Meaning:
    """What an epsilon means for one question with so many values, by k-ary response.

    `common` is how many people, as a share, have the value that is sent; one in `values` if nothing
    is known beforehand.
    """

    epsilon: float
    values: int
    common: float

    @property
    def sent_true(self) -> float:
        """How often a device sends the answer itself."""
        return 1.0 / (1.0 + (self.values - 1) * exp(-self.epsilon))

    @property
    def true_if_sent(self) -> float:
        """How many of those who send a value have it: the best that can be said of one of them."""
        other = self.sent_true * exp(-self.epsilon)
        return self.common * self.sent_true / (self.common * self.sent_true + other * self._others)

    @property
    def _others(self) -> float:
        return 1.0 - self.common

    @property
    def mean_another(self) -> int:
        """Of 100 people who send a value, how many have another."""
        return round(100.0 * (1.0 - self.true_if_sent))

    @property
    def odds(self) -> float:
        """The most a report changes the odds between two answers by."""
        return exp(self.epsilon)

    def words(self, value: str = "yes", other: str | None = None) -> list[str]:
        """For people, a sentence each."""
        another = f"mean {other!r}" if other else "mean another answer"
        known = "if all answers are equally common"
        if self.common != 1.0 / self.values:
            known = f"if {share(self.common)} of all people mean {value!r}"
        return [
            f"Of 100 people who send {value!r}, {_count(self.mean_another)} {another}, {known}.",
            f"Of somebody who sends {value!r} the guess that they mean it is right "
            f"{share(self.true_if_sent)} of the time, instead of {share(self.common)} before.",
            f"Odds between two answers change by a factor of at most {factor(self.epsilon)}: of "
            "two equally likely ones the right one is guessed at worst "
            f"{share(of_two(self.epsilon))} of the time.",
        ]

    def to_dict(self) -> dict[str, Any]:
        """The same for programs, as plain JSON values."""
        return {
            "epsilon": self.epsilon,
            "values": self.values,
            "common": self.common,
            "sent_true": self.sent_true,
            "true_if_sent": self.true_if_sent,
            "mean_another_of_100": self.mean_another,
            "odds": self.odds,
        }


def meaning(epsilon: float, values: int = 2, common: float | None = None) -> Meaning:
    """What an epsilon means for a question.

    >>> meaning(0.5).words("yes", "no")[0]
    "Of 100 people who send 'yes', 38 mean 'no', if all answers are equally common."
    """
    if not is_number(epsilon, 0.0) or epsilon > 700.0:
        raise OptionError(f"epsilon is {epsilon!r}", "give a number from 0 up, such as 1.0")
    if not is_whole(values, 2):
        raise OptionError(f"there are {values!r} values", "give a whole number from 2 up")
    before = 1.0 / values if common is None else common
    if not is_number(before, 0.0) or not 0.0 < before < 1.0:
        raise OptionError(f"the share is {common!r}", "give a number between 0 and 1")
    return Meaning(float(epsilon), int(values), float(before))


def ladder(values: int = 2, epsilons: Sequence[float] = USUAL) -> list[Meaning]:
    """What several epsilons mean, from the most private on."""
    return [meaning(epsilon, values) for epsilon in sorted(epsilons)]


def near(epsilon: float, model: str = "local") -> list[Deployment]:
    """Published deployments around an epsilon: the next below it and the next above.

    >>> [d.what for d in near(3.0)]
    ['health types', 'emoji']
    """
    of_kind = sorted((d for d in DEPLOYMENTS if d.model == model), key=lambda d: d.epsilon)
    if not of_kind:
        raise OptionError(f"the model is {model!r}", "use local or central")
    below = [d for d in of_kind if d.epsilon <= epsilon][-1:]
    return below + [d for d in of_kind if d.epsilon > epsilon][:1]


def _count(many: int) -> str:
    return {0: "fewer than 1"}.get(many, str(many))
