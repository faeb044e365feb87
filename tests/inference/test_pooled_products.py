"""Estimates from drawn blocks: against dense matrices, and over many collections."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest

import castell
from castell import JointEstimate, Reports, Study
from castell.channels import CyclicResponse
from castell.errors import (
    CastellError,
    MethodError,
    OptionError,
    QueryError,
    ReportError,
    TableTooLargeError,
)
from castell.inference.reasons import Code
from castell.inference.support import Checked
from castell.linear.operators import Floats
from castell.study.design import Block, Design
from tests.populations import (
    Population,
    collect,
    drawn_matrix,
    drawn_studies,
    matrix,
    population,
    report_distribution,
    schema,
    tiny_drawn,
)

STUDIES = drawn_studies()
each_study = pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
each_method = pytest.mark.parametrize("method", ["castell", "independent"])

Group = tuple[str, ...]


def people_of(study: Study) -> Population:
    return population(study.schema.sizes, seed=5)


def reports_of(study: Study, n: int = 4000, seed: int = 1) -> Reports:
    return collect(study, people_of(study).table, n, np.random.default_rng(seed))


def groups_of(method: str, names: Sequence[str]) -> list[Group]:
    return [tuple(names)] if method == "castell" else [(name,) for name in names]


def askable(study: Study, method: str) -> list[Group]:
    """Questions a method can answer: for castell some respondents must have reported them all."""
    every = [p for r in (1, 2, 3) for p in permutations(study.names, r)]
    if method == "independent":
        return every
    return [p for p in every if any(set(p) <= set(b.names) for b in study.design.blocks)]


# -- an oracle of dense matrices -----------------------------------------------------------------


@cache
def adds(block: Block, group: Group) -> Floats:
    """What each report of a block adds to each cell of a group: an axis for each, and reports."""
    chances = matrix(block)
    if isinstance(block.channel, CyclicResponse):
        # By how often a report is in a cell's own set and in others', evened out to sum to one.
        inside = chances * block.channel.total > block.channel.other + 0.5
        hits = chances @ inside.T
        own, others = hits[0, 0], hits[0, 1]
        inverse = (inside - others) / (own - others)
        inverse = inverse + (1.0 - inverse.sum(axis=0)) / len(inverse)
    else:
        inverse = np.linalg.inv(chances.T)
    table = inverse.reshape(*block.sizes, -1)
    gone = tuple(i for i, name in enumerate(block.names) if name not in group)
    kept = [name for name in block.names if name in group]
    order = [kept.index(name) for name in group]
    return np.asarray(table.sum(axis=gone).transpose([*order, len(group)]))


def weights_of(study: Study, counts: Sequence[Floats], group: Group) -> dict[int, float]:
    """How much each block that holds a group and has reports is believed."""
    known = {}
    for i, block in enumerate(study.design.blocks):
        if set(group) <= set(block.names) and counts[i].sum():
            inverse = adds(block, group).reshape(-1, block.channel.outputs)
            known[i] = counts[i].sum() / ((inverse**2).mean() - 1 / len(inverse) ** 2)
    return {i: value / sum(known.values()) for i, value in known.items()}


def split(study: Study, reports: Reports) -> list[Floats]:
    counts = np.bincount(reports.columns[0], minlength=study.design.widths[0])
    return np.split(counts.astype(float), study.design.starts[1:])


def brute_force(
    study: Study, reports: Reports, groups: list[Group], names: Group, out_of: list[Group]
) -> tuple[Floats, Floats]:
    """The product of the groups' pooled tables, and its variance to first order.

    `groups` are parts of `out_of`, the groups of the table that this is a marginal of.
    """
    counts = split(study, reports)
    weights = {g: weights_of(study, counts, w) for g, w in zip(groups, out_of, strict=True)}

    def spread(table: Floats, group: Group, more: int) -> Floats:
        """With an axis of length one for each name that is not in the group."""
        order = [group.index(name) for name in names if name in group]
        shape = [study.schema[name].size if name in group else 1 for name in names]
        return table.transpose([*order, *range(len(group), table.ndim)]).reshape(
            *shape, *table.shape[len(group) :][:more]
        )

    tables = {}
    for group in groups:
        parts = [
            w * adds(study.design.blocks[i], group) @ (counts[i] / counts[i].sum())
            for i, w in weights[group].items()
        ]
        tables[group] = spread(np.asarray(sum(parts)), group, 0)
    ones = np.ones([study.schema[name].size for name in names])
    variance = np.zeros(ones.shape)
    for i, block in enumerate(study.design.blocks):
        moves = np.zeros((*ones.shape, block.channel.outputs))
        n = counts[i].sum()
        if not n:
            continue
        # Variances are those of a smooth distribution: sqrt(n) more reports, spread evenly.
        smooth = (counts[i] + np.sqrt(n) / len(counts[i])) / (n + np.sqrt(n))
        for group in groups:
            if i in weights[group]:
                others = reduce(np.multiply, (t for g, t in tables.items() if g != group), ones)
                moves += (
                    weights[group][i] * others[..., None] * spread(adds(block, group), group, 1)
                )
        variance += (moves**2 @ smooth - (moves @ smooth) ** 2) / n
    return np.asarray(reduce(np.multiply, tables.values(), ones)), variance


@each_study
@each_method
def test_every_table_and_error_is_what_dense_matrices_say(study: Study, method: str) -> None:
    reports = reports_of(study)
    model = castell.fit(reports, method)
    for names in askable(study, method):
        groups = groups_of(method, names)
        table, variance = brute_force(study, reports, groups, names, groups)
        joint = model.estimate(names)
        assert joint.names == names
        assert joint.n == len(reports)
        np.testing.assert_allclose(joint.probabilities, table, atol=1e-10)
        if joint.checked is Checked.NOTHING:
            # Nobody reported two of them together: errors are what the margins leave open.
            assert (joint.standard_errors**2 > variance).all()
        else:
            np.testing.assert_allclose(joint.standard_errors**2, variance, rtol=1e-6, atol=1e-14)
        assert joint.probabilities.sum() == pytest.approx(1.0, abs=1e-9)


@each_study
@each_method
def test_a_marginal_of_a_table_has_the_error_of_that_table(study: Study, method: str) -> None:
    """It comes from the reports of the table alone; other blocks may know more, but not of it."""
    reports = reports_of(study)
    model = castell.fit(reports, method)
    for names in askable(study, method):
        joint = model.estimate(names)
        for kept in (p for r in range(1, len(names)) for p in combinations(names, r)):
            margin = joint.project(kept)
            groups = groups_of(method, kept)
            out_of = [names] if method == "castell" else groups
            table, variance = brute_force(study, reports, groups, kept, out_of)
            np.testing.assert_allclose(margin.probabilities, table, atol=1e-10)
            if margin.checked is not Checked.NOTHING:
                np.testing.assert_allclose(
                    margin.standard_errors**2, variance, rtol=1e-6, atol=1e-14
                )
            low, high = margin.conf_int()
            possible = np.clip(margin.probabilities, 0.0, 1.0)
            assert (low <= possible + 1e-12).all()
            assert (possible <= high + 1e-12).all()


def test_with_more_blocks_to_ask_the_error_is_smaller() -> None:
    model = castell.fit(reports_of(STUDIES["pairs"]), "castell")
    pooled, margin = model.estimate("a"), model.estimate(["a", "b"]).project("a")
    assert (pooled.standard_errors < 0.8 * margin.standard_errors).all()


# -- the truth -----------------------------------------------------------------------------------


def expected_reports(study: Study, people: Any, times: Sequence[int]) -> Reports:
    """As many of each report as expected, exactly: integer weights times whole people."""
    codes: list[int] = []
    for block, start, many in zip(study.design.blocks, study.design.starts, times, strict=True):
        margin = Population(study.schema, people).margin(block.names).ravel()
        counts = many * (margin.astype(int) @ np.array(block.channel.weights()))
        codes += np.repeat(start + np.arange(len(counts)), counts).tolist()
    return Reports(study, [np.array(codes)], secure=True)


@each_method
def test_reports_as_often_as_expected_give_the_truth(method: str) -> None:
    study = tiny_drawn()
    people = np.random.default_rng(3).integers(0, 4, (3, 5, 2))
    truth = Population(study.schema, people / people.sum())
    # Blocks with very different numbers of reports.
    reports = expected_reports(study, people, [3, 1, 2, 1, 5])
    model = castell.fit(reports, method)
    for names in askable(study, method):
        margins = [truth.margin(group) for group in groups_of(method, names)]
        expected = reduce(np.multiply.outer, margins)
        np.testing.assert_allclose(model.estimate(names).probabilities, expected, atol=1e-10)


def rounds(study: Study, names: Group, method: str, n: int, many: int) -> list[JointEstimate]:
    chances = report_distribution(study, people_of(study).table)
    generator = np.random.default_rng(9)
    joints = []
    for counts in generator.multinomial(n, chances / chances.sum(), many):
        codes = np.repeat(np.arange(len(counts)), counts)
        reports = Reports(study, [codes], secure=True)
        joints.append(castell.estimate(reports, names, method))
    return joints


@pytest.mark.parametrize(
    ("name", "names", "method"),
    [
        ("pairs", ("a",), "castell"),
        ("pairs", ("c", "a"), "castell"),
        ("tiny", ("a", "b"), "castell"),
        ("tiny", ("c",), "castell"),
        ("pairs", ("a", "b", "c"), "independent"),
    ],
)
def test_over_many_collections(name: str, names: Group, method: str) -> None:
    """No bias, the errors that are stated, and intervals that hold the truth."""
    study, many = STUDIES[name], 300
    people = people_of(study)
    joints = rounds(study, names, method, 3000, many)
    margins = [people.margin(group) for group in groups_of(method, names)]
    truth = reduce(np.multiply.outer, margins)
    tables = np.array([joint.probabilities for joint in joints])
    spread = tables.std(axis=0, ddof=1)
    # A chance of 1e-7 each: no more than a few dozen cells are looked at here.
    off = np.abs(tables.mean(axis=0) - truth) / (spread / np.sqrt(many))
    # A product's bias is of second order; a table's is none.
    assert off.max() < (5.5 if method == "castell" else 6.5)
    stated = np.sqrt(np.mean([joint.standard_errors**2 for joint in joints], axis=0))
    assert np.abs((spread / stated) ** 2 - 1).max() < 6.0 * np.sqrt(2 / many)
    ends = np.array([joint.conf_int() for joint in joints])
    covered = ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean(axis=0)
    sigma = np.sqrt(0.95 * 0.05 / many)
    assert covered.min() > 0.95 - 5.5 * sigma
    assert abs(covered.mean() - 0.95) < 0.03


def test_a_budget_for_one_block_beats_a_share_for_each() -> None:
    """What the design is for: pairs of many attributes at a small total epsilon."""
    people = population((4,) * 5, seed=2)
    drawn, divided = Study(people.schema, 2.0, "pairs"), Study(people.schema, 2.0)
    generator = np.random.default_rng(0)
    errors = []
    for study in (drawn, divided):
        reports = collect(study, people.table, 20000, generator)
        joint = castell.estimate(reports, ["b", "d"], "castell")
        errors.append(float(np.sqrt((joint.standard_errors**2).mean())))
        assert study.epsilon == pytest.approx(2.0)
    assert errors[0] < errors[1] / 2


# -- single cells --------------------------------------------------------------------------------


@each_study
@each_method
def test_single_cells_are_the_cells_of_the_table(study: Study, method: str) -> None:
    model = castell.fit(reports_of(study), method)
    for names in askable(study, method):
        joint = model.estimate(names)
        low, high = joint.conf_int(0.9)
        size = [study.schema[name].size for name in names]
        for place in (tuple(0 for _ in names), tuple(k - 1 for k in size)):
            labels = {
                name: study.schema[name].values[code]
                for name, code in zip(names, place, strict=True)
            }
            cell = model.probability(labels)
            assert type(cell.value) is float
            assert cell.value == pytest.approx(joint.probabilities[place], abs=1e-10)
            assert cell.standard_error == pytest.approx(joint.standard_errors[place], rel=1e-6)
            assert cell.conf_int(0.9) == pytest.approx((low[place], high[place]), abs=1e-9)
            # A table has a verdict; a share that the reports contradict says so among its reasons.
            told = tuple(r for r in cell.reasons if r.code is not Code.SHARE_CONTRADICTED)
            assert told == joint.reasons


@each_method
def test_several_values_at_once_are_the_sum_of_their_cells(method: str) -> None:
    study = STUDIES["tiny"]
    model = castell.fit(reports_of(study), method)
    table = model.estimate(["a", "b"]).probabilities
    share = model.probability(a=["a0", "a2"], b=["b1", "b3", "b4"])
    assert share.value == pytest.approx(table[np.ix_([0, 2], [1, 3, 4])].sum(), abs=1e-10)
    everybody = model.probability(a=["a0", "a1", "a2"])
    assert everybody.value == pytest.approx(1.0, abs=1e-10)
    assert everybody.standard_error == pytest.approx(0.0, abs=1e-8)


# -- few reports, and what cannot be told --------------------------------------------------------


@each_method
def test_one_report_is_an_estimate(method: str) -> None:
    study = Study(schema((3,)), 1.0, "singles")
    joint = castell.estimate(Reports(study, [np.array([2])], secure=True), "a", method)
    assert joint.n == 1
    assert joint.probabilities.argmax() == 2
    assert joint.probabilities.sum() == pytest.approx(1.0)
    assert np.isfinite(joint.standard_errors).all()
    assert np.isfinite(joint.conf_int()).all()


def test_blocks_nobody_drew_are_left_out() -> None:
    # All reports are of ("c", "a"), codes 15 to 20: a and c are known from them alone.
    study = STUDIES["tiny"]
    reports = Reports(study, [np.array([15, 17, 17, 20])], secure=True)
    model = castell.fit(reports, "castell")
    table, variance = brute_force(study, reports, [("a", "c")], ("a", "c"), [("a", "c")])
    joint = model.estimate(["a", "c"])
    np.testing.assert_allclose(joint.probabilities, table, atol=1e-12)
    np.testing.assert_allclose(joint.standard_errors**2, variance, rtol=1e-9, atol=1e-14)
    for names in (["b"], ["a", "b"], ["b", "c"]):
        with pytest.raises(ReportError, match=f"nobody reported {', '.join(names)} yet: collect"):
            model.estimate(names)
        with pytest.raises(ReportError, match="nobody reported"):
            model.probability({name: f"{name}0" for name in names})
    with pytest.raises(ReportError, match="nobody reported b yet"):
        castell.estimate(reports, ["a", "b"], "independent")


@each_method
def test_no_reports_are_no_estimate(method: str) -> None:
    empty = Reports(STUDIES["pairs"], [np.empty(0, np.uint8)], secure=True)
    with pytest.raises(ReportError, match="there are no reports"):
        castell.fit(empty, method)
    others = [i for i, b in enumerate(STUDIES["pairs"].design.blocks) if "a" not in b.names]
    codes = [STUDIES["pairs"].design.starts[i] for i in others]
    model = castell.fit(Reports(STUDIES["pairs"], [np.array(codes)], secure=True), method)
    with pytest.raises(ReportError, match="nobody reported a yet"):
        model.estimate(["a"])
    with pytest.raises(ReportError, match="nobody reported a yet"):
        model.probability(a="a0")


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("singles", ("a", "b")),
        ("pairs", ("a", "b", "c")),
        ("clusters", ("b", "a")),
        ("tiny", ("c", "a", "b")),
    ],
)
def test_what_nobody_reported_together_is_refused(name: str, names: Group) -> None:
    model = castell.fit(reports_of(STUDIES[name]), "castell")
    with pytest.raises(
        QueryError, match=f"no respondent reported {', '.join(names)} together"
    ) as e:
        model.estimate(names)
    assert e.value.remedy == (
        "ask for fewer attributes, or use a method that models all of them, such as auto"
    )
    with pytest.raises(QueryError, match="no respondent reported"):
        model.probability({name: f"{name}0" for name in names})


@pytest.mark.parametrize("method", castell.methods())
def test_every_method_is_right_about_a_draw_or_refuses_it(method: str) -> None:
    study = Study(schema((2, 3, 4)), 6.0, "pairs")
    reports = reports_of(study, 30000)
    truth = people_of(study).margin(["b", "a"])
    if method == "independent":
        truth = np.outer(truth.sum(axis=1), truth.sum(axis=0))
    if method not in castell.methods_for(study):
        with pytest.raises(MethodError, match="these reports hold one drawn block"):
            castell.fit(reports, method)
        return
    model = castell.fit(reports, method)
    np.testing.assert_allclose(model.estimate(["b", "a"]).probabilities, truth, atol=0.05)
    assert model.probability(b="b1", a="a0").value == pytest.approx(truth[1, 0], abs=0.05)


@each_method
def test_tables_too_large_and_options_that_are_none(method: str) -> None:
    model = castell.fit(reports_of(STUDIES["pairs"]), method)
    with pytest.raises(TableTooLargeError, match="b x c has 12 cells, the limit is 11"):
        model.estimate(["b", "c"], max_cells=11)
    assert model.estimate(["b", "c"], max_cells=12).shape == (3, 4)
    with pytest.raises(OptionError, match="target is 'people'"):
        castell.fit(reports_of(STUDIES["pairs"]), method, target="people")
    with pytest.raises(CastellError):
        model.estimate(["a", "z"])


@each_study
def test_what_is_spent_is_the_budget_of_one_block(study: Study) -> None:
    joint = castell.estimate(reports_of(study), study.names[0], "castell")
    blocks = [study.design.blocks[i] for i in study.design.holders(study.names[0])]
    chances = [matrix(block) for block in blocks]
    worst = max(np.log((c.max(axis=0) / c.min(axis=0)).max()) for c in chances)
    assert joint.spent == pytest.approx(worst)
    assert joint.epsilon == study.epsilon >= joint.spent


def test_a_draw_from_one_block_is_that_block() -> None:
    drawn = Study(schema((2, 3)), 2.0, [["b", "a"]], draw=True)
    always = Study(drawn.schema, design=Design(drawn.design.blocks))
    np.testing.assert_allclose(
        drawn_matrix(drawn).reshape(2, 3, -1).transpose(1, 0, 2).reshape(6, 6),
        matrix(drawn.design.blocks[0]),
    )
    codes = np.random.default_rng(0).integers(0, 6, 500)
    one, two = (
        castell.estimate(Reports(study, [codes], secure=True), ["a", "b"], "castell")
        for study in (drawn, always)
    )
    np.testing.assert_allclose(one.probabilities, two.probabilities, atol=1e-14)
    # Of 500 reports; blocks may have few, so a little is added to what they show of their scatter.
    np.testing.assert_allclose(one.standard_errors, two.standard_errors, rtol=0.01)
    np.testing.assert_allclose(one.conf_int(), two.conf_int(), atol=1e-3)
