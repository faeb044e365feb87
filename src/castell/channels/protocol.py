"""What every channel is: weights, a way to sample them, a lens to look back through, and traits.

How much one report tells through a lens is its predicted variance; samples of several channels are
averaged with weights in proportion to their precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from castell.channels.worst_pair import WorstPair
from castell.linear.operators import Floats, Operator

Words = NDArray[np.uint64]

# Every weight and total stays an integer that JSON and JavaScript hold exactly.
MAX_TOTAL = 2**53


# What is written for each report, the usual word first.
Said = tuple[tuple[str, ...], ...]


class Lens(Protocol):
    """How answers look from the server: a linear map there, one back, and what a guess gains."""

    @property
    def has_forward(self) -> bool:
        """Whether `forward` exists.

        It does not where how some attributes are reported depends on others of their block.
        """
        ...

    @property
    def forward(self) -> Operator:
        """From the distribution of answers to that of reports."""
        ...

    @property
    def inverse(self) -> Operator:
        """From the distribution of reports back to that of answers."""
        ...

    @property
    def best_guess(self) -> float:
        """How often the best guess at a uniform answer is right after seeing its report."""
        ...

    @property
    def worst_guess(self) -> float:
        """The same after the report that gives most away; never less than `best_guess`."""
        ...


def predicted_variance(*lenses: Lens) -> float:
    """The variance of a cell for each report, on average over cells, if answers are uniform.

    Of several lenses, on parts of a report that are randomised apart, it is that of their product.
    """
    square, mean = 1.0, 1.0
    for inverse in (lens.inverse for lens in lenses):
        # Reports are about uniform when answers are; the mean square is then over all entries.
        even = np.full((inverse.columns, 1), 1.0 / inverse.columns)
        square *= float(inverse.power(2).turn(even).mean())
        mean /= inverse.rows
    return square - mean**2


def precision_weights(variances: Sequence[float], reports: Sequence[float]) -> Floats:
    """Weights that sum to one, in proportion to the precision of what each of several samples says.

    >>> precision_weights([1.0, 3.0], [100, 100])
    array([0.75, 0.25])
    """
    known = np.array(reports, dtype=np.float64) / np.array(variances)
    return np.asarray(known / known.sum())


class Coarse(Protocol):
    """Groups of answers ("leaves") that reports do not tell apart."""

    @property
    def leaves(self) -> Sequence[object]: ...

    @property
    def leaf_of(self) -> NDArray[np.intp]:
        """The leaf of each answer."""
        ...

    @property
    def inner(self) -> Channel:
        """What randomises the leaf."""
        ...

    def members(self, place: int) -> Floats:
        """Which values of an attribute are inside each leaf: a row of 0 and 1 for each."""
        ...


class Traits(Protocol):
    """What castell asks of a channel besides its weights, answered for one that is not special.

    Every channel begins with these answers. One that is special says so in its own file, so that
    nobody else has to ask which class it is.
    """

    # Whether it sends answers as they are: attributes that are declared public, and no others.
    is_public: ClassVar[bool] = False
    # Whether its last answer is that a question was skipped, which shows.
    may_skip: ClassVar[bool] = False
    # Whether every two answers are equally hard to tell apart.
    treats_alike: ClassVar[bool] = False

    @property
    def kind(self) -> str:
        """The name under which it is published, and its reader found."""
        ...

    @property
    def title(self) -> str:
        """Its name for people, as the literature has it."""
        return self.kind

    @property
    def if_answered(self) -> Channel:
        """What those pass through who do not skip: itself, unless it is special for them."""
        return cast("Channel", self)

    @property
    def coarse(self) -> Coarse | None:
        """What it puts together before it randomises, if it does."""
        return None

    @property
    def worst_pair(self) -> WorstPair | None:
        """The two answers that are told apart best, where reports have two weights and a formula
        tells."""
        return None

    @property
    def blanket(self) -> float | None:
        """The part of a report that is the same whatever the answer is, if a formula tells."""
        return None

    @property
    def parity_gain(self) -> float | None:
        """What the mean sign of reports is multiplied by, where they are parities of answers."""
        return None

    @property
    def words_on_paper(self) -> Said | None:
        """What people say or tick by a design for paper; nothing: the names of the values."""
        return None

    @property
    def one_sided(self) -> str | None:
        """The name of a design of which some report gives an answer away: nobody is asked by it."""
        return None

    def tells(self, many: int) -> bool:  # noqa: ARG002
        """Whether its reports tell apart all combinations of so many attributes of its block."""
        return True

    def fits(self, sizes: Sequence[int]) -> bool:  # noqa: ARG002
        """Whether it can be that of a block with as many answers, of attributes of these sizes."""
        return True


class Channel(Lens, Traits, Protocol):
    """What a block of attributes passes through on the device.

    `castell.extend.WeightedChannel` works all of this out from the weights alone.
    """

    @property
    def inputs(self) -> int:
        """How many answers there are."""
        ...

    @property
    def outputs(self) -> int:
        """How many reports there are."""
        ...

    @property
    def total(self) -> int:
        """What the weights of one answer sum to."""
        ...

    @property
    def draws(self) -> int:
        """How many numbers below `total` one answer takes, whatever it is."""
        ...

    @property
    def reports_answers(self) -> bool:
        """Whether a report is one of the answers, and so has a label."""
        ...

    @property
    def has_digits(self) -> bool:
        """Whether each attribute's digit of a report can be looked at alone, as in k-ary response.

        Where it cannot, only the whole report of a block says something.
        """
        ...

    @property
    def has_matrix(self) -> bool:
        """Whether there are `weights`, `forward` and `inverse`; Bloom filters are read as bits."""
        ...

    @property
    def exact_epsilon(self) -> Decimal:
        """The privacy loss of one report, from the weights alone."""
        ...

    def weights(self) -> list[list[int]]:
        """The whole matrix; small channels only."""
        ...

    def respond(self, codes: NDArray[Any], numbers: Words) -> NDArray[Any]:
        """The reports of some answers, given numbers drawn uniformly below `total`."""
        ...

    def project(self, sizes: Sequence[int], keep: Sequence[int]) -> Lens | None:
        """The lens on some of the attributes of a block alone, or None if there is none.

        `sizes` are the attributes' domain sizes and `keep` which of them are looked at.
        """
        ...

    def document(self) -> dict[str, Any]:
        """The channel as published."""
        ...
