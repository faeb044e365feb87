"""Studies of every kind of design and channel, for the contract tests."""

from __future__ import annotations

from math import prod

import numpy as np

from castell import Attribute, KaryResponse, MatrixResponse, Study
from castell.channels import CyclicResponse, HadamardResponse, mechanism
from castell.channels.difference_sets import singer
from castell.study.design import Block, Design
from tests.coarse_studies import coarse_studies
from tests.populations import drawn_studies, rectangular, schema, studies

ASKED = schema((2, 3, 4))


def _one_block() -> Study:
    """Sets of reports for all attributes at once, from everybody."""
    channel = CyclicResponse(12, 13, singer(3, 3), 11, 4)
    block = Block(("c", "a", "b"), (2, 2, 3), channel)
    return Study(schema((2, 3, 2)), design=Design((block,)))


def _hadamard() -> Study:
    """Computed sets for one attribute, beside k-ary response."""
    first = Block(("a",), (2,), KaryResponse(2, 9, 2))
    rest = [("b", 3, HadamardResponse(3, 1, 11, 4)), ("c", 4, HadamardResponse(4, 2, 19, 4))]
    blocks = (first, *(Block((name,), (size,), channel) for name, size, channel in rest))
    return Study(ASKED, design=Design(blocks))


def _own(sizes: tuple[int, ...], seed: int, more: int = 0) -> MatrixResponse:
    """A matrix that is not symmetric, over the combinations of some values."""
    cells = prod(sizes)
    weights = np.random.default_rng(seed).integers(1, 9, (cells, cells + more))
    weights[np.arange(cells), np.arange(cells)] += 40
    weights[:, -1] += weights.sum(axis=1).max() - weights.sum(axis=1)
    return MatrixResponse(weights.tolist())


def _own_matrices() -> dict[str, Study]:
    """Matrices of one's own over several attributes: of all, beside others, in drawn blocks."""
    pair, wide, every = _own((4, 2), 1), _own((2, 3), 2, more=3), _own((2, 3, 2), 3)
    clusters = [["c", "a"], ["b"]]
    drawn = [["c", "a"], ["b"], ["b", "c"]]
    return {
        "own joint": Study(schema((2, 3, 2)), None, "joint", channels={("a", "b", "c"): every}),
        "own cluster": Study(
            ASKED, shares={"b": 2.0}, design=clusters, channels={("c", "a"): pair}
        ),
        "own and digits": Study(
            schema((2, 3, 2, 2)),
            design=[["a", "b"], ["c", "d"]],
            shares={"c": 1.0, "d": 1.0},
            channels={("a", "b"): wide},
        ),
        "own drawn": Study(ASKED, 5.0, drawn, draw=True, channels={("c", "a"): pair, "b": OWN_B}),
        "own pairs": Study(ASKED, 5.0, "pairs", channels={("a", "b"): wide}),
    }


def _mechanisms() -> dict[str, Study]:
    """Mechanisms of the literature: of single attributes, of a cluster, in drawn blocks."""
    three = {"a": mechanism("oue", 2, 2.0), "b": mechanism("subset", 3, 1.0)}
    three["c"] = mechanism("thermometer", 4, 4.0)
    pair = mechanism("olh", 8, 2.0)
    singles = {"a": mechanism("sue", 2, 3.0), "b": mechanism("square-wave", 3, 3.0)}
    return {
        "unary and subsets": Study(
            ASKED, channels={**three, "c": mechanism("thermometer", 4, 4.0)}
        ),
        "hashed cluster": Study(
            ASKED, shares={"b": 2.0}, design=[["c", "a"], ["b"]], channels={("c", "a"): pair}
        ),
        "drawn mechanisms": Study(ASKED, 3.0, "singles", channels=singles),
    }


OWN_B = [[0.7, 0.2, 0.1], [0.15, 0.8, 0.05], [0.3, 0.1, 0.6]]


def _public(*, drawn: bool) -> Study:
    """Attributes in clear: two beside a cluster of two, or one beside sets that are drawn."""
    public = "b" if drawn else "bd"
    shown = [
        Attribute(a.name, a.values, public=name in public)
        for name, a in zip("abcd", schema((2, 3, 4, 2)), strict=True)
    ]
    return Study(shown, 3.0, "pairs") if drawn else Study(shown, 3.0, [["c", "a"]])


STUDIES: dict[str, Study] = {
    **studies(),
    "rectangular": rectangular(),
    "sets": _one_block(),
    **{f"drawn {name}": study for name, study in drawn_studies().items()},
    "sample": Study(ASKED, 2.0, sample=2),
    "hadamard": _hadamard(),
    **_own_matrices(),
    **_mechanisms(),
    "drawn unequal": coarse_studies(ASKED)["fine, unequal"],
    "public": _public(drawn=False),
    "drawn public": _public(drawn=True),
    "made up": Study(
        ASKED, None, "joint", channels={("a", "b", "c"): mechanism("rs+fd", (2, 3, 4), 3.0)}
    ),
    "inpht": Study(schema((2, 2, 2)), 3.0, "inpht", sample=3),
    "bloom": Study(ASKED, 6.0, "bloom"),
}
