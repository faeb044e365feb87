"""What is special about a channel stands in its own file, and nobody else asks for its class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np
import pytest

from castell.channels import (
    Channel,
    ClearResponse,
    KaryResponse,
    MatrixResponse,
    ParityResponse,
    SkipResponse,
    Traits,
    mechanism,
)
from castell.channels.foreign_channels import OWN_TRAITS
from tests.channels.test_guesses import CHANNELS
from tests.foreign_channels import Neighbours
from tests.import_graph import ROOT

# Where a class really is meant, and why.
MEANT = {
    "inference/bloom_filters.py": {"BloomResponse"},  # reads bits, which no other report has
    "planning/likelihoods.py": {"BloomResponse", "KaryResponse"},  # formulas of these two
    "study/declining.py": {"KaryResponse"},  # what one more value costs, by its formula
    "study/exposure.py": {"BloomResponse"},  # it has no matrix to read the numbers from
}


def _special(channel: Channel) -> set[str]:
    return {
        name
        for name in OWN_TRAITS
        if getattr(type(channel), name, None) is not getattr(Traits, name)
    }


@pytest.mark.parametrize(
    ("channel", "special"),
    [
        (Neighbours(3, 2), set[str]()),
        (MatrixResponse([[8, 2], [3, 7]]), set[str]()),
        (mechanism("oue", 3, 1.0), set[str]()),
        (ClearResponse(3), {"is_public"}),
        (SkipResponse(KaryResponse(2, 3, 1)), {"may_skip", "if_answered"}),
        (CHANNELS["leaves"], {"coarse", "tells", "fits"}),
        (ParityResponse(2, 3, 1), {"parity_gain", "tells"}),
        (mechanism("rs+fd", (2, 3), 1.0), {"blanket", "tells", "fits"}),
        (mechanism("warner", p="5/6"), {"words_on_paper", "one_sided"}),
        (KaryResponse(3, 4, 1), {"treats_alike", "worst_pair"}),
    ],
)
def test_in_what_a_channel_is_special(channel: Channel, special: set[str]) -> None:
    assert _special(channel) == special


def test_a_channel_that_is_not_special() -> None:
    channel = Neighbours(3, 2)
    assert channel.title == channel.kind
    assert channel.if_answered is channel
    assert (channel.is_public, channel.may_skip, channel.treats_alike) == (False, False, False)
    assert channel.tells(3)
    assert channel.fits((3,))
    nothing = ("coarse", "worst_pair", "blanket", "parity_gain", "words_on_paper", "one_sided")
    assert [getattr(channel, name) for name in nothing] == [None] * len(nothing)


@pytest.mark.parametrize("name", [name for name, c in CHANNELS.items() if c.worst_pair])
def test_the_worst_pair_is_one_of_the_matrix(name: str) -> None:
    """Its shares of reports, counted: no two answers that differ have more that only one likes."""
    channel = CHANNELS[name]
    pair, weights = channel.worst_pair, np.array(channel.weights())
    assert pair is not None
    low, high = int(weights.min()), int(weights.max())
    assert pair.ratio == pytest.approx(high / low)
    assert pair.common == pytest.approx(low * channel.outputs / channel.total)
    likes = weights == high
    alone = [
        (one & ~two).mean() for i, one in enumerate(likes) for j, two in enumerate(likes) if i != j
    ]
    assert pair.one == pytest.approx(max(alone))
    assert pair.both + pair.one == pytest.approx(likes[0].mean())


def test_a_parity_tells_its_attribute_if_it_has_one() -> None:
    assert ParityResponse(1, 3, 1).tells(1)
    assert not ParityResponse(2, 3, 1).tells(1)


def _asked_for(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            for name in ast.walk(node.args[1]):
                if isinstance(name, ast.Name) and name.id.endswith("Response"):
                    yield name.id


def test_nobody_outside_asks_for_a_class_but_where_it_is_meant() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): set(_asked_for(ast.parse(path.read_text("utf-8"))))
        for path in ROOT.rglob("*.py")
        if ROOT / "channels" not in path.parents
    }
    asked = {file: classes for file, classes in found.items() if classes}
    assert asked == MEANT
