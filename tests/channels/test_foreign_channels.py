"""Channels that castell did not write: used like its own if they keep their word, else refused."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import castell
from castell import KaryResponse, MatrixResponse, Study
from castell.channels import Kinds, channel_of, checked_channel
from castell.channels.foreign_channels import EXHAUSTIVE, check_channel
from castell.errors import ChannelError
from castell.study.design import Block, Design
from tests.foreign_channels import (
    Backwards,
    Blind,
    Certain,
    Dice,
    Digits,
    Forgetful,
    Fractions,
    Greedy,
    Halves,
    Huge,
    Impostor,
    Labels,
    Modest,
    Nameless,
    Neighbours,
    Outside,
    Public,
    Random,
    Renamed,
    Rounded,
    Shifted,
    Short,
    Shrunk,
    Stuck,
    Surprising,
    Text,
    Truthful,
    Uneven,
    Untitled,
    Unwritten,
    Weak,
)
from tests.populations import collect, population, schema

KINDS: Kinds = {"neighbours": Neighbours}
HONEST = Neighbours(3, 2)
LARGE = Neighbours(3, 2, 1 << 40)


@pytest.mark.parametrize("channel", [HONEST, LARGE, Neighbours(4, 3)], ids=str)
def test_an_honest_channel_is_taken_as_it_is(channel: Neighbours) -> None:
    assert checked_channel(channel) is channel
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
        (Public, "is special by its own word: is_public"),
        (Shrunk, "is special by its own word: blanket"),
        (Untitled, "has no name for people"),
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
        checked_channel(channel)
    # The gate is the study, however the channel gets there.
    with pytest.raises(castell.CastellError):
        Study(schema((3,)), channels={"a": channel})
    with pytest.raises(castell.CastellError):
        Study(schema((3,)), design=Design((Block(("a",), (3,), channel),)))


def test_one_number_that_is_dealt_wrongly_shows_where_all_are_tried() -> None:
    with pytest.raises(ChannelError, match="reports answer 1 as "):
        checked_channel(Shifted(3, 2))


def test_what_is_no_channel_at_all() -> None:
    class Half:
        kind = "half"

        def respond(self) -> None: ...

    with pytest.raises(
        ChannelError, match="a Half is no channel: it has no inputs, outputs, total"
    ):
        Study(schema((2,)), channels={"a": Half()})
    with pytest.raises(ChannelError, match="a Half is no channel"):
        Block(("a",), (2,), Half())  # type: ignore[arg-type]
    with pytest.raises(ChannelError, match="Neighbours is a class of channels: make a channel"):
        Study(schema((3,)), channels={"a": Neighbours})


class Words(Neighbours):
    """Its weights are texts, so that nothing adds up."""

    @property
    def total(self) -> int:
        return sum(["3", "1"])  # type: ignore[list-item]


def test_weights_that_are_no_numbers() -> None:
    with pytest.raises(ChannelError, match=r"has no total \(unsupported.*rows of whole numbers"):
        checked_channel(Words(3, 2))


def test_answers_that_are_too_many_to_be_checked() -> None:
    class Many(Neighbours):
        @property
        def inputs(self) -> int:
            return 1 << 12

        @property
        def outputs(self) -> int:
            return 1 << 12

    with pytest.raises(ChannelError, match="too many weights to be checked"):
        checked_channel(Many(3, 2))

    class One(Neighbours):
        @property
        def inputs(self) -> int:
            return 1

    with pytest.raises(ChannelError, match="1 answers and 4 reports"):
        checked_channel(One(3, 2))


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
    with pytest.raises(ChannelError, match="a int reads no channels: give a class with"):
        channel_of({"kind": "mine"}, {"mine": 3})
    # A function of the document will do as well.
    made = channel_of({"kind": "mine"}, {"mine": lambda _: Neighbours(3, 2)})
    assert made == HONEST
