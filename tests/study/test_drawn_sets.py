"""Sets to draw from: the ones a person asks for, and covers of every pair."""

import math
from itertools import combinations
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import castell.study.drawn_sets
from castell.errors import StudyError
from castell.study.drawn_sets import DRAWN, MOST_BLOCKS, clusters, sets_to_draw_from
from tests.populations import schema

FOUR = schema((2, 3, 4, 5))


def draws(design: Any = "independent", sample: Any = None, sizes: Any = (2, 3, 4, 5)) -> list[str]:
    """The sets as words, the names of these attributes being letters."""
    return ["".join(s) for s in sets_to_draw_from(schema(sizes), design, sample, 2.0)]


def test_all_sets_of_a_width() -> None:
    assert draws("singles") == ["a", "b", "c", "d"] == draws(sample=1)
    assert draws("pairs") == ["ab", "ac", "ad", "bc", "bd", "cd"] == draws(sample=2)
    assert draws(sample=3) == ["abc", "abd", "acd", "bcd"]
    # With fewer attributes than that there is one set, of all.
    assert draws(sample=4) == draws(sample=9) == ["abcd"]
    for design in DRAWN:
        assert draws(design, sizes=(3,)) == ["a"]
    assert draws("pairs", sizes=(3, 2)) == draws("cover", sizes=(3, 2)) == ["ab"]


def test_sets_as_listed() -> None:
    # In the order written; overlap is welcome.
    assert draws([["c", "a"], ["b", "c"], ["d"]]) == ["ca", "bc", "d"]
    assert clusters(FOUR, [["d", "a"], ["a"]]) == [("d", "a"), ("a",)]


@settings(max_examples=200, deadline=None)
@given(
    sizes=st.lists(st.integers(2, 30), min_size=2, max_size=14),
    epsilon=st.floats(0.01, 12.0),
)
@example(sizes=[2] * 14, epsilon=9.704060527839234)  # e^epsilon is 2^14 in floating point
@example(sizes=[2, 2], epsilon=0.01)
@example(sizes=[30] * 14, epsilon=0.01)
def test_a_cover_holds_every_pair_and_what_fits(sizes: list[int], epsilon: float) -> None:
    asked = schema(sizes)
    sets = sets_to_draw_from(asked, "cover", None, epsilon)
    size = dict(zip(asked.names, sizes, strict=True))
    held = [set(combinations(s, 2)) for s in sets]
    # Each set is in the order of the schema, so its pairs are too.
    assert set.union(*held) == set(combinations(asked.names, 2))
    for chosen in sets:
        assert len(set(chosen)) == len(chosen) >= 2
        assert list(chosen) == sorted(chosen, key=asked.names.index)
        if len(chosen) > 2:
            assert math.prod(size[name] for name in chosen) <= math.exp(epsilon) * (1 + 1e-9)
    assert len({frozenset(s) for s in sets}) == len(sets)
    # None is there for nothing: each brings a pair that no set before it has. And none has room
    # for another attribute that would bring one more.
    seen: set[frozenset[str]] = set()
    for chosen in sets:
        pairs = {frozenset(pair) for pair in combinations(chosen, 2)}
        assert pairs - seen
        for name in set(asked.names) - set(chosen):
            if math.prod(size[n] for n in (*chosen, name)) <= math.exp(epsilon) * (1 - 1e-9):
                assert {frozenset((name, other)) for other in chosen} <= seen
        seen |= pairs
    assert sets == sets_to_draw_from(asked, "cover", None, epsilon)


def test_a_cover_of_small_attributes_takes_many_at_once() -> None:
    # 2^5 combinations fit into e^3.5: two dozen sets instead of 66 pairs.
    sets = sets_to_draw_from(schema((2,) * 12), "cover", None, 3.5)
    assert max(len(s) for s in sets) == 5
    assert len(sets) < 24
    assert sets_to_draw_from(schema((2,) * 5), "cover", None, 3.5) == [tuple("abcde")]
    # Next to no budget: the pairs, and nothing else.
    assert sorted(sets_to_draw_from(FOUR, "cover", None, 0.1)) == list(combinations("abcd", 2))


# -- every refusal -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("design", "sample", "message"),
    [
        ("independent", 0, "sample is 0"),
        ("independent", -1, "sample is -1"),
        ("independent", True, "sample is True"),
        ("independent", 1.5, "sample is 1.5"),
        ("independent", 2.0, "sample is 2.0"),
        ("independent", "2", "sample is '2'"),
        ("independent", None, "'independent' with a draw"),
        ("joint", None, "'joint' with a draw"),
        ("triples", None, "'triples' is not a design: use 'independent', 'joint', 'singles'"),
        (None, None, "None is not a design"),
        (3, None, "3 is not a design"),
        ([], None, "no cluster to draw from holds a, b, c, d"),
        ([["a", "b"], ["d"]], None, "no cluster to draw from holds c"),
        ([["a", "b"], ["c", "d"], ["b", "a"]], None, "are the same"),
        ([["a", "b", "c", "d"], ["a", "x"]], None, "names 'x'"),
        ([["a", "b", "c", "d"], ["a", "a"]], None, "names one twice"),
        ([["a", "b", "c", "d"], []], None, "not a cluster"),
        (["ab", "cd"], None, "'ab' is not a cluster"),
    ],
    ids=str,
)
def test_what_cannot_be_drawn_from_is_refused(design: Any, sample: Any, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        draws(design, sample)


def test_more_sets_than_respondents_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    many = schema((2,) * 200, [f"x{i}" for i in range(200)])
    assert math.comb(200, 2) > MOST_BLOCKS
    for design, sample in (("pairs", None), ("independent", 2), ("independent", 100)):
        with pytest.raises(StudyError, match="too few respondents"):
            sets_to_draw_from(many, design, sample, 1.0)
    # A cover with no room for a third attribute in any set is all pairs too.
    monkeypatch.setattr(castell.study.drawn_sets, "MOST_BLOCKS", 6)
    assert len(sets_to_draw_from(FOUR, "cover", None, 0.1)) == 6
    with pytest.raises(StudyError, match="too few respondents"):
        sets_to_draw_from(schema((2,) * 5), "cover", None, 0.1)
