"""The classic designs of randomised response, by name and with their own parameters.

Each is a matrix of whole numbers like any other channel, and is published as one. What is known
of it besides is what a person on paper says, shows or ticks: `said`, for `castell import`. The
value that a design hides is the second one; forced response hides as many as there are.

Warner (1965), "Randomized response: A survey technique for eliminating evasive answer bias".
Boruch (1971), "Assuring confidentiality of responses in social research": forced response.
Greenberg, Abul-Ela, Simmons and Horvitz (1969), "The unrelated question randomized response
model". Kuk (1990), "Asking sensitive questions indirectly". Yu, Tian and Tang (2008), "Two new
models for survey sampling with sensitive characteristic": crosswise and triangular.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.channels.matrix import MatrixResponse
from castell.channels.protocol import MAX_TOTAL, Said, Words
from castell.errors import ChannelError
from castell.numbers import is_whole

Rows = list[list[Fraction]]

# What is written for the first and the second of two reports, whatever the design.
NO_OR_YES: Said = (("no", "false", "0"), ("yes", "true", "1"))
_MOST_CARDS = 50


@dataclass(frozen=True, init=False)
class ClassicResponse(MatrixResponse):
    """A classic design: its name, its matrix, and the words for each of its reports.

    `said` is empty where reports are called as the values are. Reports of a one-sided design give
    an answer away: its epsilon is infinite, so it reads what was collected on paper, and randomises
    nothing.
    """

    name: str
    said: Said

    def __init__(self, name: str, rows: Rows, said: Said) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "said", said)
        super().__init__(_whole(name, rows))

    @property
    def is_one_sided(self) -> bool:
        """Whether some report rules an answer out."""
        return any(0 in row for row in self.rows)

    @property
    def one_sided(self) -> str | None:
        return self.name if self.is_one_sided else None

    @property
    def words_on_paper(self) -> Said:
        return self.said

    @property
    def exact_epsilon(self) -> Decimal:
        if self.is_one_sided:
            return Decimal("Infinity")
        return super().exact_epsilon

    def _check(self) -> None:
        if not self.is_one_sided:
            super()._check()
        elif len(set(self.rows)) < len(self.rows):
            raise ChannelError(f"{self.name}: all answers are reported alike", "change its chances")

    def respond(self, codes: NDArray[Any], numbers: Words) -> NDArray[Any]:
        if self.is_one_sided:
            raise gives_answers_away(self.name)
        return super().respond(codes, numbers)


def gives_answers_away(name: str) -> ChannelError:
    return ChannelError(
        f"{name}: one of its reports gives the answer away, epsilon is infinite",
        "it reads data that was collected on paper (castell import); to ask people, take a design "
        "with a finite epsilon, such as crosswise",
    )


def classic_design(name: str, **parameters: Any) -> ClassicResponse:
    """A classic design of randomised response, as a channel for `Study(channels=...)`.

    Chances are numbers or texts: 0.75, "3/4". The value that is hidden is the second one.

    >>> classic_design("warner", p="5/6").rows
    ((5, 1), (1, 5))
    >>> classic_design("kuk", red=["1/4", "3/4"], cards=2).rows
    ((9, 6, 1), (1, 6, 9))
    """
    if name not in MECHANISMS:
        raise ChannelError(
            f"mechanism is {name!r}", f"castell knows {', '.join(MECHANISMS)}, or any matrix"
        )
    make, needed, may = MECHANISMS[name]
    for key in parameters:
        if key not in (*needed, *may):
            raise ChannelError(
                f"mechanism {name!r} has no {key!r}", f"it takes {', '.join((*needed, *may))}"
            )
    for key in needed:
        if key not in parameters:
            raise ChannelError(
                f"mechanism {name!r} has no {key}", f"add {key} = ...: {needed[key]}"
            )
    return make(**parameters)


def _warner(p: Any) -> ClassicResponse:
    asked = _chance(p, "p")
    if asked == Fraction(1, 2):
        raise _says_nothing("warner", "p is 1/2")
    rows = [[asked, 1 - asked], [1 - asked, asked]]
    return ClassicResponse("warner", _refuse_certainty("warner", rows), NO_OR_YES)


def _forced_response(forced: Any) -> ClassicResponse:
    if isinstance(forced, (str, bytes, Mapping)) or not isinstance(forced, Sequence):
        raise ChannelError(
            f"forced is {forced!r}", 'give a chance for each value, in order: ["1/6", "1/6"]'
        )
    chances = [_chance(each, "forced") for each in forced]
    truth = 1 - sum(chances, Fraction(0))
    if len(chances) < 2:
        raise ChannelError("forced has fewer than two chances", "give one for each value, in order")
    if truth <= 0:
        raise ChannelError(
            f"the forced answers have chances that sum to {float(1 - truth):g}",
            "leave a chance for the truth: they sum to less than 1",
        )
    rows = [[each + truth * (x == y) for y, each in enumerate(chances)] for x in _places(chances)]
    return ClassicResponse("forced", rows, ())


def _unrelated_question(p: Any, prevalence: Any) -> ClassicResponse:
    asked, yes = _chance(p, "p"), _chance(prevalence, "prevalence")
    if asked == 0:
        raise _says_nothing("unrelated", "p is 0")
    rest = 1 - asked
    rows = [[asked + rest * (1 - yes), rest * yes], [rest * (1 - yes), asked + rest * yes]]
    return ClassicResponse("unrelated", rows, NO_OR_YES)


def _kuk(red: Any, cards: Any = 1) -> ClassicResponse:
    if isinstance(red, (str, bytes)) or not isinstance(red, Sequence) or len(red) != 2:
        raise ChannelError(
            f"red is {red!r}", "give the share of red cards for each of the two values, in order"
        )
    if not is_whole(cards, 1) or cards > _MOST_CARDS:
        raise ChannelError(f"cards is {cards!r}", f"give a whole number from 1 to {_MOST_CARDS}")
    shares = [_chance(each, "red") for each in red]
    if shares[0] == shares[1]:
        raise _says_nothing("kuk", "both decks have the same share of red cards")
    many = int(cards)
    rows = [
        [math.comb(many, y) * each**y * (1 - each) ** (many - y) for y in range(many + 1)]
        for each in shares
    ]
    said: Said = tuple((str(y),) for y in range(many + 1))
    if many == 1:
        said = (("black", *NO_OR_YES[0]), ("red", *NO_OR_YES[1]))
    return ClassicResponse("kuk", _refuse_certainty("kuk", rows), said)


def _crosswise(prevalence: Any) -> ClassicResponse:
    share = _chance(prevalence, "prevalence")
    if share == Fraction(1, 2):
        raise _says_nothing("crosswise", "prevalence is 1/2")
    rows = [[share, 1 - share], [1 - share, share]]
    said = (("different", "one", "0"), ("same", "both or neither", "1"))
    return ClassicResponse("crosswise", _refuse_certainty("crosswise", rows), said)


def _triangular(prevalence: Any) -> ClassicResponse:
    share = _chance(prevalence, "prevalence")
    if share == 1:
        raise _says_nothing("triangular", "prevalence is 1")
    rows = [[1 - share, share], [Fraction(0), Fraction(1)]]
    said = (("neither", "circle", "0"), ("at least one", "triangle", "1"))
    return ClassicResponse("triangular", rows, said)


_SHOWN = "the chance that the sensitive statement is the one shown, not its opposite"
_ASKED = "the chance that the sensitive question is the one asked"
_OTHER = "the share of people who say yes to the other question"
# Of each design what makes it, what it needs in words, and what it may have.
MECHANISMS: dict[str, tuple[Callable[..., ClassicResponse], dict[str, str], tuple[str, ...]]] = {
    "warner": (_warner, {"p": _SHOWN}, ()),
    "forced": (
        _forced_response,
        {"forced": "the chance of each forced answer, in order of values"},
        (),
    ),
    "unrelated": (_unrelated_question, {"p": _ASKED, "prevalence": _OTHER}, ()),
    "kuk": (_kuk, {"red": "the share of red cards for each value, in order"}, ("cards",)),
    "crosswise": (_crosswise, {"prevalence": _OTHER}, ()),
    "triangular": (_triangular, {"prevalence": _OTHER}, ()),
}
PARAMETERS = frozenset(key for _, needed, may in MECHANISMS.values() for key in (*needed, *may))


def _places(chances: Sequence[Fraction]) -> range:
    return range(len(chances))


def _refuse_certainty(name: str, rows: Rows) -> Rows:
    """Of designs that are symmetric: nobody means one whose reports give answers away."""
    if any(each == 0 for row in rows for each in row):
        raise ChannelError(
            f"{name}: a chance of 0 or 1 gives the answer away, epsilon would be infinite",
            "give chances between 0 and 1",
        )
    return rows


def _says_nothing(name: str, why: str) -> ChannelError:
    return ChannelError(
        f"{name}: {why}, so reports say nothing of the answer", "no number of them can be estimated"
    )


def _chance(value: Any, what: str) -> Fraction:
    """A chance as it is meant: 1/6 of a program is a sixth, 0.1 of a file a tenth."""
    try:
        if isinstance(value, bool) or not isinstance(
            value, (int, float, Decimal, Fraction, str, np.integer, np.floating)
        ):
            raise ValueError
        if isinstance(value, (float, np.floating)):
            near = Fraction(float(value)).limit_denominator(10_000)
            found = near if float(near) == float(value) else Fraction(repr(float(value)))
        elif isinstance(value, np.integer):
            found = Fraction(int(value))
        else:
            found = Fraction(value)
    except (ValueError, ArithmeticError):
        raise ChannelError(f"{what} is {value!r}", 'give a chance, as in 0.75 or "3/4"') from None
    if not 0 <= found <= 1:
        raise ChannelError(f"{what} is {value}", "a chance lies between 0 and 1")
    return found


def _whole(name: str, rows: Rows) -> list[list[int]]:
    common = math.lcm(*(each.denominator for row in rows for each in row))
    if common > MAX_TOTAL:
        raise ChannelError(
            f"{name}: its chances have too many digits to be exact below 2^53",
            "give rounder ones, or fewer cards",
        )
    return [[int(each * common) for each in row] for row in rows]
