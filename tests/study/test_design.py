"""Blocks, and a total that is never overspent."""

import math
from collections.abc import Sequence
from dataclasses import FrozenInstanceError
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from castell import Attribute, CastellError, KaryResponse, MatrixResponse, Schema
from castell.channels import Channel, ClearResponse, CyclicResponse
from castell.errors import ChannelError, StudyError
from castell.study.build_design import build_design
from castell.study.design import Block, Design, lens_on

DIGITS = Context(prec=90)
STEP = DIGITS.power(Decimal(2), Decimal(-30))

MATRIX = [[0.8, 0.2], [0.3, 0.7]]


def schema_of(*sizes: int) -> Schema:
    return Schema(Attribute("abcdefghijkl"[i], range(size)) for i, size in enumerate(sizes))


def loss(channel: Channel) -> Decimal:
    """The worst log ratio of two weights of one report, by more digits than the code uses."""
    if isinstance(channel, (KaryResponse, CyclicResponse)):
        worst = Fraction(channel.same, channel.other)
    else:
        worst = max(Fraction(max(c), min(c)) for c in zip(*channel.weights(), strict=True))
    above, below = Decimal(worst.numerator), Decimal(worst.denominator)
    return DIGITS.subtract(DIGITS.ln(above), DIGITS.ln(below))


def spent(design: Design) -> Decimal:
    total = Decimal(0)
    for block in design.blocks:
        total = DIGITS.add(total, loss(block.channel))
    return total


def groups(design: Design) -> list[tuple[str, ...]]:
    return [block.names for block in design.blocks]


# -- which blocks --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("independent", [("a",), ("b",), ("c",), ("d",)]),
        ("joint", [("a", "b", "c", "d")]),
        ([], [("a",), ("b",), ("c",), ("d",)]),
        # Blocks stand where their first attribute stands; inside, the order is as written.
        ([["d", "b"]], [("a",), ("d", "b"), ("c",)]),
        ([["c", "d"], ["b", "a"]], [("b", "a"), ("c", "d")]),
        ((("d", "a"), ("c",)), [("d", "a"), ("b",), ("c",)]),
    ],
)
def test_blocks_stand_in_the_order_of_the_questions(
    asked: str | Sequence[Sequence[str]], expected: list[tuple[str, ...]]
) -> None:
    schema = schema_of(2, 3, 4, 5)
    design = build_design(schema, 4.0, asked)
    assert groups(design) == expected
    for block in design.blocks:
        sizes = tuple(schema[name].size for name in block.names)
        assert block.sizes == sizes
        assert block.channel.inputs == math.prod(sizes)
    assert [design.holders(name) for name in "abcd"] == [
        tuple(i for i, names in enumerate(expected) if name in names) for name in "abcd"
    ]


def test_an_axis_is_a_digit_of_the_blocks_code() -> None:
    design = build_design(schema_of(2, 3, 4, 5), 4.0, [["b", "d", "c"]])
    (block,) = (block for block in design.blocks if len(block.names) == 3)
    codes = np.arange(60)
    digits = np.unravel_index(codes, (3, 5, 4))
    for position, name in enumerate("bdc"):
        (axis,) = block.axes(1, [name])
        assert axis.block == 1
        assert axis.size == (3, 5, 4)[position]
        digit = codes // axis.stride
        if axis.inner:
            digit = digit % axis.size
        np.testing.assert_array_equal(digit, digits[position])
    # Several stand in the order of the block, whatever the order asked.
    assert block.axes(1, ["c", "b"]) == (*block.axes(1, ["b"]), *block.axes(1, ["c"]))


def test_an_attribute_alone_has_as_many_digits_as_reports() -> None:
    wide = MatrixResponse([[7, 2, 1], [1, 2, 7]])
    design = build_design(schema_of(2, 4), 4.0, "independent", None, {"a": wide})
    sizes = [block.axes(i, block.names)[0].size for i, block in enumerate(design.blocks)]
    assert sizes == [3, 4]


def test_a_lens_looks_at_part_of_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    design = build_design(schema_of(2, 3, 4), 4.0, "joint")
    (block,) = design.blocks
    assert lens_on(block, ["a", "b", "c"]) is block.channel
    assert lens_on(block, ["c", "a"]).forward.rows == 8  # in the block's own order

    whole = MatrixResponse((np.eye(4, dtype=int) * 6 + 1).tolist())
    monkeypatch.setattr(MatrixResponse, "project", lambda *_: None)
    with pytest.raises(StudyError, match="cannot be looked at in part"):
        lens_on(Block(("a", "b"), (2, 2), whole), ["b"])


# -- how much ------------------------------------------------------------------------------------


AWKWARD = ["0.3", "0.1", "1", "0.7", "3.3333333333333335", "2.675", "10.1", "0.30000000000000004"]


@pytest.mark.parametrize("total", AWKWARD)
@pytest.mark.parametrize("attributes", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("asked", ["independent", "joint", [["a"]]])
def test_equal_shares_never_sum_to_more_than_asked(total: str, attributes: int, asked: Any) -> None:
    schema = schema_of(*([2] * attributes))
    for epsilon in (float(total), Decimal(total)):
        design = build_design(schema, epsilon, asked)
        wanted = Decimal(repr(epsilon)) if isinstance(epsilon, float) else epsilon
        real = spent(design)
        assert real <= wanted
        assert wanted - real < STEP * len(design.blocks)
        assert abs(design.exact_epsilon - real) < Decimal("1e-25")
        assert Decimal(design.epsilon) >= real - Decimal("1e-25")
        shares = [loss(block.channel) / len(block.names) for block in design.blocks]
        assert max(shares) - min(shares) < STEP


@settings(max_examples=150, deadline=None)
@given(data=st.data(), sizes=st.lists(st.integers(2, 6), min_size=2, max_size=12))
@example(data=None, sizes=[2] * 10)
def test_shares_are_kept_and_the_rest_takes_what_is_left(
    data: st.DataObject | None, sizes: list[int]
) -> None:
    schema = schema_of(*sizes)
    if data is None:
        parts = {"a": Decimal("0.1"), "b": Decimal("0.2"), "c": Decimal("0.7")}
        total = Decimal("1.3")
    else:
        some = data.draw(st.sets(st.sampled_from(schema.names), max_size=len(sizes) - 1))
        amount = st.decimals(Decimal("0.001"), Decimal("0.9"), places=6)
        parts = {name: data.draw(amount) for name in sorted(some)}
        left = data.draw(st.decimals(Decimal("0.01"), Decimal(3), places=7))
        total = sum(parts.values(), left)
    floats = {name: float(part) for name, part in parts.items()}
    for shares in (parts, floats):
        design = build_design(schema, total, "independent", shares)
        assert total - STEP * len(sizes) < spent(design) <= total
        for block in design.blocks:
            if (name := block.names[0]) in parts:
                assert parts[name] - STEP < loss(block.channel) <= parts[name]


def test_shares_that_make_up_the_total_need_no_rest() -> None:
    # As floats, 0.1 + 0.2 is more than 0.3; as people write them they are the same.
    for epsilon in (0.3, Decimal("0.3"), None):
        design = build_design(schema_of(2, 2), epsilon, "independent", {"a": 0.1, "b": 0.2})
        assert Decimal("0.3") - 2 * STEP < spent(design) <= Decimal("0.3")


def test_a_cluster_spends_the_shares_of_its_attributes_at_once() -> None:
    design = build_design(schema_of(2, 3, 4), 2.0, [["c", "a"]], {"a": 0.5})
    assert groups(design) == [("c", "a"), ("b",)]
    together, alone = (loss(block.channel) for block in design.blocks)
    assert Decimal("1.25") - STEP < together <= Decimal("1.25")
    assert Decimal("0.75") - STEP < alone <= Decimal("0.75")


@pytest.mark.parametrize(
    "matrix", [MATRIX, np.array(MATRIX), MatrixResponse([[8, 2], [3, 7]]), KaryResponse(2, 7, 2)]
)
def test_a_matrix_costs_what_it_costs(matrix: Any) -> None:
    schema = schema_of(2, 3, 4)
    design = build_design(schema, 3.0, "independent", {"c": 1.0}, {"a": matrix})
    channel = design.blocks[0].channel
    # ln(7/2), and what is left of the total after it and the share goes to b.
    cost = DIGITS.ln(Decimal("3.5"))
    assert channel.outputs == 2
    assert abs(loss(channel) - cost) < Decimal("1e-50")
    assert Decimal(3) - 2 * STEP < spent(design) <= 3
    left = DIGITS.subtract(Decimal(2), cost)
    assert left - STEP < loss(design.blocks[1].channel) <= left + Decimal("1e-27")
    # A matrix for everything: it may spend less than the total, and needs none.
    for epsilon in (3.0, None):
        only = build_design(schema_of(2), epsilon, "independent", None, {"a": matrix})
        assert abs(spent(only) - cost) < Decimal("1e-50")


@pytest.mark.parametrize("digits", [3, 28])
def test_the_callers_decimal_context_changes_nothing(digits: int) -> None:
    with localcontext() as context:
        context.prec = digits
        design = build_design(schema_of(2, 2, 2), 1.0, "independent", {"a": 0.123456789})
        stated = design.exact_epsilon
    assert spent(design) <= 1
    assert abs(DIGITS.subtract(stated, spent(design))) < Decimal("1e-20")


# -- every refusal -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"design": "clusters"}, "not a design"),
        ({"design": "independant"}, "not a design"),
        ({"design": None}, "not a design"),
        ({"design": 3}, "not a design"),
        ({"design": ["ab", "c"]}, "not a cluster"),
        ({"design": [[]]}, "not a cluster"),
        ({"design": [3]}, "not a cluster"),
        ({"design": [["a", "sex"]]}, "names 'sex'"),
        ({"design": [["a", 3]]}, "names 3"),
        ({"design": [["a", "b"], ["b", "c"]]}, "'b' is in two clusters"),
        ({"design": [["a", "a"]]}, "names one twice"),
        ({"shares": {"z": 1.0}}, "share for 'z'"),
        ({"shares": {"a": 4.5}}, "sum to 4.5 of a total"),
        ({"shares": {"a": 4.0}}, "b needs one too"),
        ({"shares": {"a": 2.0, "b": 1.5, "c": 1.0}}, "sum to 4.5 of a total"),
        ({"shares": {"a": 1.0, "b": 1.0, "c": 1.0}}, "less than epsilon"),
        ({"epsilon": None}, "no epsilon and no share for a, b, c"),
        ({"epsilon": None, "shares": {"a": 1.0}}, "no share for b, c"),
        ({"channels": {"z": MATRIX}}, "channel for 'z'"),
        ({"channels": {"b": MATRIX}}, "2 rows for 3 values"),
        ({"channels": {"b": KaryResponse(4, 3, 1)}}, "4 rows for 3 values"),
        ({"channels": {"a": MATRIX}, "shares": {"a": 1.0}}, "a share and a channel"),
        ({"channels": {"a": MATRIX}, "design": [["a", "b"]]}, "shares a block"),
        ({"channels": {"a": MATRIX}, "design": "joint"}, "shares a block"),
        ({"channels": {"a": MATRIX}, "epsilon": 1.0}, "sum to 1.25276 of a total"),
    ],
)
def test_a_design_that_is_none_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        build_design(schema_of(2, 3, 4), **{"epsilon": 4.0, **arguments})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 0}, "epsilon is 0"),
        ({"epsilon": -1.0}, "epsilon is -1"),
        ({"epsilon": math.nan}, "epsilon is nan"),
        ({"epsilon": True}, "epsilon is True"),
        ({"epsilon": "4"}, "epsilon is '4'"),
        ({"epsilon": 1000}, "the share of a is 333.333, above 32"),
        ({"epsilon": 1e-6}, "the share of a is .*below 2\\^-20"),
        ({"shares": {"a": 0}}, "the share of 'a' is 0"),
        ({"shares": {"a": -1}}, "the share of 'a' is -1"),
        ({"shares": {"b": "1"}}, "the share of 'b' is '1'"),
        ({"shares": {"a": 1e-9}}, "the share of a is .*below 2\\^-20"),
        ({"design": "joint", "epsilon": 40}, "the share of a x b x c is 40"),
        ({"channels": {"a": [[0.5, 0.5], [0.5, 0.5]]}}, "singular"),
        ({"channels": {"a": [[0.5, 0.6], [0.5, 0.5]]}}, "row 1 of the matrix of 'a'"),
    ],
)
def test_a_budget_that_is_none_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ChannelError, match=message):
        build_design(schema_of(2, 3, 4), **{"epsilon": 4.0, **arguments})


def test_a_block_too_large_for_exact_weights_is_refused() -> None:
    with pytest.raises(CastellError, match="smaller clusters"):
        build_design(Schema(Attribute(f"a{i}", range(10)) for i in range(12)), 1.0, "joint")


def test_nothing_changes_after_construction() -> None:
    design = build_design(schema_of(2, 3), 1.0)
    with pytest.raises(FrozenInstanceError):
        design.blocks = ()  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        design.blocks[0].channel = KaryResponse(2, 3, 1)  # type: ignore[misc]


# -- one block for each respondent ---------------------------------------------------------------


def test_a_draw_costs_as_much_as_its_worst_block() -> None:
    schema = schema_of(2, 3, 4, 5)
    for asked in ("singles", "pairs", "cover", [["d", "a"], ["b", "c"], ["a", "c"]]):
        design = build_design(schema, 1.7, asked, draw=True)
        each = [loss(block.channel) for block in design.blocks]
        assert design.draw
        assert Decimal("1.7") - STEP < max(each) <= Decimal("1.7")
        assert abs(design.exact_epsilon - max(each)) < Decimal("1e-25")
        assert Decimal(design.epsilon) >= design.exact_epsilon
    cheap, dear = (
        Block(("a",), (2,), KaryResponse(2, 3, 1)),
        Block(("a",), (2,), KaryResponse(2, 9, 1)),
    )
    for blocks in ((cheap, dear), (dear, cheap), (cheap, dear, cheap)):
        drawn, every = Design(blocks, draw=True), Design(blocks)
        assert abs(drawn.exact_epsilon - DIGITS.ln(Decimal(9))) < Decimal("1e-25")
        assert every.exact_epsilon > drawn.exact_epsilon
        assert drawn != every


def test_codes_of_a_draw_are_numbered_through() -> None:
    design = build_design(schema_of(2, 3, 4), 9.0, [["c", "a"], ["b"], ["b", "c"]], draw=True)
    assert [block.channel.outputs for block in design.blocks] == [8, 3, 12]
    assert design.widths == (23,)
    assert design.starts == (0, 8, 11)
    every = Design(design.blocks)
    assert every.widths == (8, 3, 12)
    assert Design(design.blocks[:1], draw=True).starts == (0,)


def test_a_draw_from_one_block_is_none() -> None:
    """Everybody reports it: one sample, like that of a design without a draw."""
    coin = KaryResponse.with_epsilon(2, 1.0)
    one, two = (Block((name,), (2,), coin) for name in "ab")
    shown = Block(("c",), (2,), ClearResponse(2))
    assert Design((one, two), draw=True).is_drawn
    assert not Design((one, two)).is_drawn
    assert not Design((one, shown), draw=True).is_drawn
    assert Design((one, shown), draw=True).asked_together == (("a", "c"),)
    assert Design((one, two, shown), draw=True).asked_together == (("a", "c"), ("b", "c"))


def test_blocks_that_may_be_drawn_share_a_column() -> None:
    coin = KaryResponse.with_epsilon(2, 1.0)
    blocks = [Block((name,), (2,), coin) for name in "ab"]
    blocks += [Block((name,), (2,), ClearResponse(2)) for name in "cd"]
    for draw, columns in ((True, [0, 0, 1, 2]), (False, [0, 1, 2, 3])):
        design = Design(tuple(blocks), draw=draw)
        assert [design.column_of(i) for i in range(4)] == columns
        assert len(design.columns) == columns[-1] + 1


def test_holders_are_the_blocks_with_all_of_some_attributes() -> None:
    design = build_design(schema_of(2, 3, 4), 2.0, [["c", "a"], ["b"], ["b", "c"]], draw=True)
    assert [design.holders(name) for name in "abc"] == [(0,), (1, 2), (0, 2)]
    assert design.holders(["a", "c"]) == (0,)
    assert design.holders(("c", "b")) == (2,)
    assert design.holders(["a", "b"]) == ()
    assert design.holders([]) == (0, 1, 2)


def test_a_set_valued_block_has_no_digits_even_with_as_many_reports_as_answers() -> None:
    design = build_design(schema_of(3, 5), 0.7, "pairs")
    (block,) = design.blocks
    assert isinstance(block.channel, CyclicResponse)
    assert (block.channel.inputs, block.channel.outputs) == (15, 15)
    assert not block.reports_answers
    for names in (["a"], ["b"], ["a", "b"]):
        (axis,) = block.axes(0, names)
        assert (axis.stride, axis.size, axis.inner) == (1, 15, False)
    (wide,) = build_design(schema_of(3, 5), 4.0, "pairs").blocks
    assert wide.reports_answers
    assert [axis.size for axis in wide.axes(0, ["a", "b"])] == [3, 5]


@pytest.mark.parametrize("draw", [0, 1, 2, "true", None, []])
def test_a_draw_is_true_or_false(draw: Any) -> None:
    with pytest.raises(StudyError, match="draw is"):
        build_design(schema_of(2, 3), 2.0, [["a", "b"]], draw=draw)


@pytest.mark.parametrize("draw", [False, True])
def test_the_columns_of_a_report_say_which_blocks_they_hold(draw: bool) -> None:
    blocks = tuple(Block((n,), (k,), KaryResponse(k, 3, 1)) for n, k in {"a": 2, "b": 3}.items())
    design = Design((*blocks, Block(("p",), (4,), ClearResponse(4))), draw=draw)
    held = [column.blocks for column in design.layout]
    assert held == ([(0, 1), (2,)] if draw else [(0,), (1,), (2,)])
    assert [column.width for column in design.layout] == ([5, 4] if draw else [2, 3, 4])
    assert design.code_types == tuple(np.dtype(np.uint8) for _ in held)
    for i, column in enumerate(design.layout):
        places = column.places_of(np.arange(column.width))
        found = [column.blocks[place] for place in places]
        assert found == [b for b in column.blocks for _ in range(design.blocks[b].channel.outputs)]
        assert {design.column_of(b) for b in column.blocks} == {i}


def test_codes_are_kept_in_the_smallest_integers() -> None:
    for outputs, kind in {256: np.uint8, 257: np.uint16, 70_000: np.uint32}.items():
        block = Block(("a",), (outputs,), KaryResponse(outputs, 3, 1))
        assert Design((block,)).code_types == (np.dtype(kind),)
