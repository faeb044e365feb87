"""What a report costs against somebody who sees only all reports together, without order or time.

Local privacy holds for every single report against everybody. Whoever sees no more than the set of
all reports cannot tell which is whose, and everybody else's noise hides each of them: that is
worth a much smaller epsilon, at a small chance delta that it does not hold. The bound is the better
of two, which both hold for any answers of the others: the privacy blanket of these very channels
(`privacy_blanket`), and the enumeration of small ones (`small_shuffles`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import exp, floor, log, log10
from typing import Any

from castell.display.one_line import one_line
from castell.errors import OptionError
from castell.numbers import is_number, is_whole
from castell.planning import privacy_blanket, small_shuffles
from castell.planning.likelihoods import if_all_answer_alike, of_design
from castell.planning.small_shuffles import Curve
from castell.study.design import Design
from castell.study.study import Study

# What is usual: a chance smaller than one over the number of people.
DELTA = 1e-6
# Epsilon is found to a ten-thousandth, upwards, and nothing is told apart below e^-16 of the local.
_STEP, _LOWEST = 1e-4, 160_000
_START, _JUMP = 30_000, 8_000  # where the search begins: any place gives the same result

ASSUMES = (
    "whoever attacks sees all reports as one set, without their order, time or sender",
    "everybody sends one report, made as the study says, whatever they answer",
    "the others' answers may be known, but not which report is whose, nor what chance decided",
)


@dataclass(frozen=True, repr=False)
class Shuffled:
    """`epsilon` and `delta` against somebody who sees only the set of all n reports.

    `local` is the epsilon of one report against everybody, which holds whatever is seen. `at_least`
    is about what is lost if all others gave one answer: no bound can be smaller. It is 0 where it
    would take too long to find.
    """

    n: int
    delta: float
    epsilon: float
    local: float
    at_least: float
    design: Design

    @property
    def assumes(self) -> tuple[str, ...]:
        """Without which only `local` holds."""
        return ASSUMES

    def delta_at(self, epsilon: float) -> float:
        """The delta that is proved at another epsilon."""
        return delta_at(self.design, self.n, epsilon)

    @property
    def public(self) -> bool:
        """Whether reports hold public values: who is alone with theirs hides among nobody."""
        return self.design.hidden != self.design.blocks

    def sentence(self) -> str:
        """The guarantee with its assumptions, in one sentence."""
        if self.public:
            return (
                "Reports hide only among those with the same public values, and somebody may be "
                "alone with theirs: seeing all reports together, without order or time, is still "
                f"epsilon = {self.local:.6g} against everyone."
            )
        people = f"{self.n:,} people take part and answer through their own devices"
        if self.n == 1:
            people = "1 person takes part and answers through their own device"
        return (
            f"Against someone who sees only all reports together, without order or time, and if "
            f"{people}, one respondent spends epsilon = "
            f"{up_to_digits(self.epsilon)} with delta = {self.delta:g} (central differential "
            f"privacy after shuffling); against everyone else it is epsilon = {self.local:.6g}."
        )

    def to_dict(self) -> dict[str, Any]:
        """The guarantee for programs, as plain JSON values."""
        return {
            "kind": "shuffled",
            "n": self.n,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "epsilon_local": self.local,
            "epsilon_at_least": self.at_least,
            "assumes": list(self.assumes),
            "sentence": self.sentence(),
        }

    def __repr__(self) -> str:
        cost = f"epsilon {up_to_digits(self.epsilon)}"
        return one_line("Shuffled", f"n = {self.n:,}", [cost, f"delta {self.delta:g}"])

    def __str__(self) -> str:
        return self.sentence()


def shuffled(study: Study | Design, n: int, delta: float = DELTA) -> Shuffled:
    """What one of n respondents spends against somebody who sees only the set of all reports.

    >>> from castell import Attribute, Schema, Study
    >>> study = Study(Schema([Attribute("smokes", ["no", "yes"])]), epsilon=1.0)
    >>> shuffled(study, 10_000)
    <Shuffled n = 10,000: epsilon 0.0360, delta 1e-06>
    """
    design = study.design if isinstance(study, Study) else study
    _check(n)
    if not is_number(delta, 0.0) or not 0.0 < delta < 1.0:
        raise OptionError(f"delta is {delta!r}", "give a small chance above 0, such as 1e-6")
    local = design.epsilon
    if design.hidden != design.blocks:
        # Public values part the reports into groups, of which one may be of one person.
        return Shuffled(int(n), float(delta), local, local, local, design)
    if _may_skip(design):
        # Nobody knows how many reports stand beside one's own if others skip: nothing is gained.
        return Shuffled(int(n), float(delta), local, local, 0.0, design)
    pairs = of_design(design)
    found = 0.0
    for pair in sorted(pairs, key=lambda pair: -pair.spread):
        found = _smallest(partial(privacy_blanket.delta_of, pair, n), delta, local, found)
    small = _small(design, n, delta, local)
    at_least = 0.0
    for pair in if_all_answer_alike(design):
        at_least = _smallest(partial(privacy_blanket.delta_about, pair, n), delta, local, at_least)
    found = min(found, small)
    return Shuffled(int(n), float(delta), found, local, min(at_least, found), design)


def shuffled_sentence(study: Study, n: int, delta: float = DELTA) -> str:
    """The shuffled guarantee of a study with its assumptions, in one sentence."""
    return shuffled(study, n, delta).sentence()


def delta_at(study: Study | Design, n: int, epsilon: float) -> float:
    """The delta that is proved at an epsilon, for n people."""
    design = study.design if isinstance(study, Study) else study
    _check(n)
    if not is_number(epsilon, 0.0):
        raise OptionError(f"epsilon is {epsilon!r}", "give a number from 0 up")
    if epsilon >= design.epsilon:
        return 0.0
    n = n if design.hidden == design.blocks else 1
    if _may_skip(design):
        return 1.0
    found = max(privacy_blanket.delta_of(pair, n, epsilon) for pair in of_design(design))
    matrix = small_shuffles.whole_matrix(design)
    if matrix is not None:
        each = [curve(epsilon) for curve in small_shuffles.curves(matrix, n)]
        found = min([found, *([max(each)] if each else [])])
    return min(found, 1.0)


def _may_skip(design: Design) -> bool:
    return any(block.channel.may_skip for block in design.blocks)


def up_to_digits(value: float) -> str:
    """Three digits, upwards: what is stated as spent must be.

    >>> up_to_digits(0.14399), up_to_digits(0.00652701), up_to_digits(2.0), up_to_digits(0.0)
    ('0.144', '0.00653', '2.00', '0')
    """
    if value <= 0.0:
        return "0"
    digits = max(0, 2 - floor(log10(value)))
    unit = 10.0**-digits
    steps = floor(value / unit)
    # A value that is three digits long but for the last bits of a float is not rounded further.
    steps += value > steps * unit * (1.0 + 1e-12)
    return f"{steps * unit:.{digits}f}"


def _check(n: object) -> None:
    if not is_whole(n, 1):
        raise OptionError(f"n is {n!r}", "give the number of people who take part, from 1 up")


def _small(design: Design, n: int, delta: float, local: float) -> float:
    """The bound by enumeration, or the local epsilon where there is none."""
    matrix = small_shuffles.whole_matrix(design)
    if matrix is None:
        return local
    found, any_ = 0.0, False
    for curve in small_shuffles.curves(matrix, n):
        found, any_ = _smallest(curve, delta, local, found), True
    return found if any_ else local


def _smallest(curve: Curve, delta: float, local: float, least: float) -> float:
    """The smallest step of epsilon, not below one found already, at which delta is not exceeded.

    Steps are a fixed geometric sequence down from the local epsilon, so that more people never seem
    to have less privacy. Found by false position on logarithms, which are nearly straight.
    """
    known: dict[int, float] = {}

    def epsilon_at(step: int) -> float:
        return local * exp(-_STEP * step) if step < _LOWEST else 0.0

    def excess(step: int) -> float:
        if step not in known:
            known[step] = log(max(curve(epsilon_at(step)), 1e-300) / delta)
        return known[step]

    # It holds at the step `inside` and not at `outside`; steps count downwards from the local one.
    first = _LOWEST if least == 0.0 else round(log(local / least) / _STEP)
    if excess(first) <= 0.0:
        return epsilon_at(first)
    inside, outside, probe, jump = 0, first, min(first - 1, _START), _JUMP
    while inside < probe < outside:
        if excess(probe) <= 0.0:
            inside, probe = probe, probe + jump
        else:
            outside, probe = probe, probe - jump
        jump *= 2
    straight = True
    while outside - inside > 1:
        middle = (inside + outside) // 2
        if straight and inside in known and outside in known:
            share = excess(outside) / (excess(outside) - excess(inside))
            guess = round(outside + share * (inside - outside))
            middle = min(max(guess, inside + 1), outside - 1)
        before = outside - inside
        inside, outside = (middle, outside) if excess(middle) <= 0.0 else (inside, middle)
        # Where one end stays a bisection comes next.
        straight = outside - inside < before // 2 or not straight
    return epsilon_at(inside)
