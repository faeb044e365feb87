"""Channels that castell did not write: used like its own if they keep their word, else refused."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

import castell
from castell import KaryResponse, MatrixResponse, Study
from castell.channels import Kinds, WeightedChannel, channel_of, checked
from castell.channels.budget import log_ratio
from castell.channels.checking import EXHAUSTIVE, check_channel
from castell.channels.published import entries
from castell.errors import ChannelError
from castell.linear.operators import Dense
from castell.study.design import Block, Design
from tests.populations import collect, population, schema


@dataclass(frozen=True)
class Neighbours(WeightedChannel):
    """For ordered values: the nearer a report is to the answer, the more it weighs."""

    kind: ClassVar[str] = "neighbours"

    size: int
    base: int
    scale: int = 1

    def weights(self) -> list[list[int]]:
        rows = []
        for x in range(self.size):
            row = [self.scale * self.base ** (self.size - 1 - abs(x - y)) for y in range(self.size)]
            most = self.scale * self.base ** (self.size - 1) * self.size
            rows.append([*row, most - sum(row) + self.scale])  # the rest: no answer at all
        return rows

    def document(self) -> dict[str, Any]:
        return {"kind": self.kind, "size": self.size, "base": self.base, "scale": self.scale}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Neighbours:
        return cls(*entries(document, "size", "base", "scale"))


KINDS: Kinds = {"neighbours": Neighbours}
HONEST = Neighbours(3, 2)
LARGE = Neighbours(3, 2, 1 << 40)


@pytest.mark.parametrize("channel", [HONEST, LARGE, Neighbours(4, 3)], ids=str)
def test_an_honest_channel_is_taken_as_it_is(channel: Neighbours) -> None:
    assert checked(channel) is channel
    assert channel_of(channel.document(), KINDS) == channel
    assert not channel.reports_answers
    # Both ways of looking at what it responds are in use.
    assert LARGE.inputs * LARGE.total > EXHAUSTIVE
    assert HONEST.inputs * HONEST.total < EXHAUSTIVE


@pytest.mark.parametrize("design", ["independent", "singles", [["a", "b"]]])
def test_it_randomises_is_published_and_estimated_like_any_other(design: Any) -> None:
    cluster = isinstance(design, list)
    own: Any = {("a", "b"): Neighbours(6, 2)} if cluster else {"b": HONEST}
    study = Study(schema((2, 3)), None if cluster else 6.0, design, channels=own)
    assert Study.from_json(study.to_json(), KINDS) == study
    with pytest.raises(ChannelError, match=r"'neighbours' is unknown here: .* install the package"):
        Study.from_json(study.to_json())
    assert study.statement().words()
    people = population((2, 3), seed=2)
    reports = study.randomize(people.answers(4000, seed=1), seed=3)
    assert all(len(column) == 4000 for column in reports.columns)
    exact = collect(study, people.table, 200_000, np.random.default_rng(1))
    for method in castell.methods_for(study):
        if method in ("locop", "auto"):
            continue
        joint = castell.estimate(exact, "b", method)
        np.testing.assert_allclose(joint.probabilities, people.margin("b"), atol=0.03)


def test_it_can_stand_in_a_study_file_and_in_a_design() -> None:
    text = (
        'epsilon = 4\n[[attribute]]\nname = "a"\nvalues = ["a0", "a1"]\n'
        '[[attribute]]\nname = "b"\nvalues = ["b0", "b1", "b2"]\n'
        '[[channel]]\nattributes = ["b"]\nkind = "neighbours"\nsize = 3\nbase = 2\nscale = 1\n'
    )
    study = Study.from_toml(text, KINDS)
    assert study.design.blocks[1].channel == HONEST
    blocks = (*study.design.blocks[:1], Block(("b",), (3,), HONEST))
    assert Study(study.schema, design=Design(blocks)) == study


# -- what is refused ------------------------------------------------------------------------------


class Weak(Neighbours):
    """States half of what it costs."""

    @property
    def exact_epsilon(self) -> Decimal:
        return super().exact_epsilon / 2


class Rounded(Neighbours):
    """States a float."""

    @property
    def exact_epsilon(self) -> Any:
        return float(super().exact_epsilon)


class Truthful(Neighbours):
    """Says the truth, whatever its weights say."""

    def respond(self, codes: Any, numbers: Any) -> Any:  # noqa: ARG002
        return codes


class Shifted(Neighbours):
    """One number in all is dealt to another report."""

    def respond(self, codes: Any, numbers: Any) -> Any:
        reports = super().respond(codes, numbers)
        return np.where((numbers == 0) & (codes == 1), self.outputs - 1, reports)


class Random(Neighbours):
    """Has randomness of its own."""

    def respond(self, codes: Any, numbers: Any) -> Any:
        own = np.random.default_rng().integers(0, self.total, len(numbers), dtype=np.uint64)
        return super().respond(codes, own)


class Greedy(Neighbours):
    """Writes to the numbers it is given."""

    def respond(self, codes: Any, numbers: Any) -> Any:
        reports = super().respond(codes, numbers)
        numbers[:] = 0
        return reports


class Outside(Neighbours):
    def respond(self, codes: Any, numbers: Any) -> Any:
        return super().respond(codes, numbers) + 1


class Halves(Neighbours):
    def respond(self, codes: Any, numbers: Any) -> Any:
        return super().respond(codes, numbers) / 2


class Uneven(Neighbours):
    def weights(self) -> list[list[int]]:
        rows = super().weights()
        rows[1][0] += 1
        return rows


class Fractions(Neighbours):
    def weights(self) -> list[list[Any]]:
        return [[float(w) for w in row] for row in super().weights()]

    @property
    def total(self) -> int:
        return int(super().total)


class Certain(Neighbours):
    def weights(self) -> list[list[int]]:
        rows = super().weights()
        rows[0][1], rows[0][2] = 0, rows[0][1] + rows[0][2]
        return rows

    @property
    def exact_epsilon(self) -> Decimal:
        return log_ratio(Fraction(4))


class Short(Neighbours):
    @property
    def outputs(self) -> int:
        return super().outputs + 1


class Text(Neighbours):
    @property
    def total(self) -> Any:
        return str(super().total)


class Huge(Neighbours):
    @property
    def total(self) -> int:
        return 2**53 + 1


class Digits(Neighbours):
    has_digits: ClassVar[bool] = True


class Labels(Neighbours):
    reports_answers = True


class Dice(Neighbours):
    draws: ClassVar[int] = 2


class Backwards(Neighbours):
    @property
    def forward(self) -> Dense:
        return Dense(super().forward.dense()[::-1])


class Stuck(Neighbours):
    @property
    def inverse(self) -> Dense:
        return Dense(super().forward.dense().T)


class Modest(Neighbours):
    @property
    def best_guess(self) -> float:
        return 0.34


class Surprising(Neighbours):
    @property
    def worst_guess(self) -> float:
        return 0.4


class Blind(Neighbours):
    def project(self, sizes: Any, keep: Any) -> Any:  # noqa: ARG002
        return None


class Nameless(Neighbours):
    kind: ClassVar[str] = ""


class Impostor(Neighbours):
    kind: ClassVar[str] = "kary"


class Unwritten(Neighbours):
    def document(self) -> dict[str, Any]:
        return {"kind": self.kind, "size": {3}}


class Renamed(Neighbours):
    def document(self) -> dict[str, Any]:
        return {**super().document(), "kind": "other"}


class Forgetful(Neighbours):
    """Reads another channel from what it published."""

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Neighbours:
        return cls(document["size"], document["base"] + 1, document["scale"])


@pytest.mark.parametrize("scale", [1, 1 << 40], ids=["every number", "a sample"])
@pytest.mark.parametrize(
    ("made_by", "message"),
    [
        (Weak, "states epsilon = 0.69.*, and its weights give 1.38"),
        (Rounded, "states epsilon"),
        (Truthful, "reports answer 0 as 0 with chance 1, not 0"),
        (Random, "responds otherwise to the same answer and number"),
        (Greedy, "responds otherwise to the same answer and number"),
        (Outside, "reports run from 0 to 3"),
        (Halves, "does not respond with a whole number each"),
        (Uneven, "weights of answer 1 that sum to"),
        (Fractions, "positive whole numbers"),
        (Certain, "has weight 0 for report 1 of answer 0"),
        (Short, "not 3 rows of 5"),
        (Text, "has total = '"),
        (Huge, "keep them below 2\\^53"),
        (Digits, "set has_digits to False"),
        (Labels, "and reports_answers too"),
        (Dice, "draws several numbers"),
        (Backwards, "a forward map that is not its weights"),
        (Stuck, "an inverse that does not take it back out"),
        (Modest, "states best_guess = 0.34"),
        (Surprising, "states worst_guess = 0.4"),
        (Blind, "no view of the whole block"),
        (Nameless, "a channel's kind is ''"),
        (Impostor, "is not castell's own, which has that name"),
        (Unwritten, "a document that is no JSON object with its kind"),
        (Renamed, "a document that is no JSON object with its kind"),
        (Forgetful, "is another one when it is read from its document"),
    ],
)
def test_a_channel_that_does_not_keep_its_word(
    made_by: type[Neighbours], message: str, scale: int
) -> None:
    channel = made_by(3, 2, scale)
    with pytest.raises(ChannelError, match=message):
        checked(channel)
    # The gate is the study, however the channel gets there.
    with pytest.raises(castell.CastellError):
        Study(schema((3,)), channels={"a": channel})
    with pytest.raises(castell.CastellError):
        Study(schema((3,)), design=Design((Block(("a",), (3,), channel),)))


def test_one_number_that_is_dealt_wrongly_shows_where_all_are_tried() -> None:
    with pytest.raises(ChannelError, match="reports answer 1 as "):
        checked(Shifted(3, 2))


def test_what_is_no_channel_at_all() -> None:
    class Half:
        kind = "half"

        def respond(self) -> None: ...

    with pytest.raises(
        ChannelError, match="a Half is no channel: it has no inputs, outputs, total"
    ):
        Study(schema((2,)), channels={"a": Half()})
    block: Any = Block(("a",), (2,), Half())  # type: ignore[arg-type]
    for draw in (False, True):
        with pytest.raises(ChannelError, match="a Half is no channel"):
            Study(schema((2,)), design=Design((block,), draw=draw))


def test_answers_that_are_too_many_to_be_checked() -> None:
    class Many(Neighbours):
        @property
        def inputs(self) -> int:
            return 1 << 12

        @property
        def outputs(self) -> int:
            return 1 << 12

    with pytest.raises(ChannelError, match="too many weights to be checked"):
        checked(Many(3, 2))

    class One(Neighbours):
        @property
        def inputs(self) -> int:
            return 1

    with pytest.raises(ChannelError, match="1 answers and 4 reports"):
        checked(One(3, 2))


def test_an_epsilon_that_is_no_privacy_choice() -> None:
    class Loud(MatrixResponse):
        kind: ClassVar[str] = "loud"

        def _check(self) -> None: ...

    with pytest.raises(ChannelError, match="above 32"):
        check_channel(Loud([[2**50, 1], [1, 2**50]]))


def test_kinds_do_not_replace_castells_own() -> None:
    document = KaryResponse(2, 3, 1).document()
    with pytest.raises(ChannelError, match="'kary' is a kind of channel that castell has"):
        channel_of(document, {"kary": Neighbours})
    # A function of the document will do as well.
    made = channel_of({"kind": "mine"}, {"mine": lambda _: Neighbours(3, 2)})
    assert made == HONEST
