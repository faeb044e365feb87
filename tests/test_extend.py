"""Methods from outside: functions given to `castell.fit`, and tables made into methods."""

from __future__ import annotations

import ast
import json
import pickle
import types
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import castell
from castell import Code, Study, extend
from castell.errors import MethodError, OptionError, ReportError, TableTooLargeError
from castell.estimators import describe, name_of, options_of, reads
from tests.populations import collect, population, schema

PEOPLE = population((2, 3, 4), seed=4)
STUDY = Study(schema((2, 3, 4)), 6.0)
DRAWN = Study(schema((2, 3, 4)), 3.0, "pairs")
REPORTS = collect(STUDY, PEOPLE.table, 3000, np.random.default_rng(1))
NAMES = ("c", "a")


def even(counts: extend.Counts, *, target: str = "population") -> extend.Fitted:
    """All of castell, under another name."""
    return extend.product_model(counts, [counts.study.names], target)


@extend.table_method
def halfway(counts: extend.Counts, names: tuple[str, ...], share: float = 0.5) -> Any:
    """Halfway between castell and independence.

    More of it that no list shows.
    """
    one, two = (
        castell.fit(counts, method).estimate(names) for method in ("castell", "independent")
    )
    return share * one.probabilities + (1 - share) * two.probabilities


@extend.table_method(reads=extend.Reads(drawn=True))
def stated(counts: extend.Counts, names: tuple[str, ...]) -> Any:
    joint = castell.fit(counts, "castell").estimate(names)
    return joint.probabilities, joint.standard_errors


# -- a function as a method -----------------------------------------------------------------------


def test_a_function_of_tables_is_told_how_to_be_a_method() -> None:
    def bare(counts: extend.Counts, names: tuple[str, ...]) -> Any:
        raise AssertionError(counts, names)

    with pytest.raises(OptionError, match=r"bare asks for names besides counts.*table_method"):
        castell.fit(REPORTS, bare)


def test_a_function_is_a_method() -> None:
    model = castell.fit(REPORTS, even)
    known = castell.fit(REPORTS, "castell")
    assert model.method == "even"
    assert repr(model).startswith("<Model of 'study': method 'even'")
    mine, theirs = model.estimate(NAMES), known.estimate(NAMES)
    np.testing.assert_array_equal(mine.probabilities, theirs.probabilities)
    np.testing.assert_array_equal(mine.conf_int(), theirs.conf_int())
    assert "method    even" in mine.summary()
    asked = castell.estimate(REPORTS, NAMES, even, target="respondents", post="simplex")
    assert (asked.method, asked.post) == ("even", "simplex")
    assert (asked.standard_errors < mine.standard_errors).any()
    assert describe(even) == "All of castell, under another name."
    assert options_of(even) == {"target": "population"}
    assert reads(even) == extend.Reads()


def test_a_module_an_object_and_a_partial_are_methods() -> None:
    module = types.ModuleType("my.methods.shrunk", "Shrunk.")
    module.fit = even  # type: ignore[attr-defined]
    module.READS = extend.Reads(drawn=True)  # type: ignore[attr-defined]
    assert castell.fit(REPORTS, module).method == "shrunk"
    assert describe(module) == "Shrunk."
    assert reads(module).drawn

    class Mine:
        def fit(self, counts: extend.Counts, **options: Any) -> extend.Fitted:
            assert options == {"anything": 1}
            return even(counts)

    assert castell.fit(REPORTS, Mine(), anything=1).method == "Mine"
    fixed = partial(even, target="respondents")
    joint = castell.estimate(REPORTS, NAMES, fixed)
    assert joint.method == "even"
    wanted = castell.estimate(REPORTS, NAMES, "castell", target="respondents")
    np.testing.assert_array_equal(joint.standard_errors, wanted.standard_errors)


def test_a_method_of_ones_own_never_passes_for_another() -> None:
    def em(counts: extend.Counts) -> extend.Fitted:
        return even(counts)

    assert name_of(em) == castell.fit(REPORTS, em).method == "em (own)"
    assert name_of("em") == "em"


@pytest.mark.parametrize("given", [None, 3, ["castell"], np.zeros(2)], ids=str)
def test_what_is_no_method(given: Any) -> None:
    with pytest.raises(OptionError, match="is no method: give a name, a function"):
        castell.fit(REPORTS, given)


def test_a_method_takes_counts_first() -> None:
    for given in (lambda: 3, lambda *, counts: counts):
        with pytest.raises(OptionError, match="takes no counts: make that its first parameter"):
            castell.fit(REPORTS, given)
    for kind in (int, dict, extend.Fitted):
        with pytest.raises(OptionError, match="a type is no method"):
            castell.fit(REPORTS, kind)


@extend.table_method
def alike(counts: extend.Counts, names: tuple[str, ...]) -> Any:
    return np.full([counts.study.schema[name].size for name in names], 0.1)


def test_a_model_of_a_method_of_ones_own_is_pickled_with_it() -> None:
    model = pickle.loads(pickle.dumps(castell.fit(REPORTS, alike)))  # noqa: S301
    assert model.estimate(NAMES).probabilities.min() == 0.1
    assert repr(alike) == "<method 'alike' of a function that gives tables>"


def test_what_only_looks_like_reports() -> None:
    with pytest.raises(ReportError, match="a SimpleNamespace holds no reports"):
        castell.fit(types.SimpleNamespace(moments=1, n=3))
    with pytest.raises(ReportError, match="a SimpleNamespace holds no reports"):
        castell.tally(types.SimpleNamespace(moments=1, n=3))


def test_a_function_is_held_to_what_it_declares() -> None:
    drawn = collect(DRAWN, PEOPLE.table, 300, np.random.default_rng(1))
    with pytest.raises(MethodError, match="'even' reads every block from everybody, and these"):
        castell.fit(drawn, even)
    with pytest.raises(OptionError, match="method 'even' has no option 'targets': did you mean"):
        castell.fit(REPORTS, even, targets="respondents")
    with pytest.raises(ReportError, match="no reports"):
        castell.fit(collect(STUDY, PEOPLE.table, 0, np.random.default_rng(1)), even)

    def wrong(counts: extend.Counts) -> Any:
        return counts.n

    with pytest.raises(MethodError, match="'wrong' returned a int: return a "):
        castell.fit(REPORTS, wrong)
    wrong.READS = "drawn"  # type: ignore[attr-defined]
    with pytest.raises(OptionError, match="READS of a method is a str"):
        castell.fit(REPORTS, wrong)

    def failing(counts: extend.Counts) -> Any:
        raise ZeroDivisionError(counts.n)

    with pytest.raises(ZeroDivisionError):  # an author sees the fault where it is
        castell.fit(REPORTS, failing)


# -- tables as a method ---------------------------------------------------------------------------


def test_a_function_that_gives_tables_is_a_method() -> None:
    model = castell.fit(REPORTS, halfway, share=0.25)
    assert model.method == "halfway"
    assert describe(halfway) == "Halfway between castell and independence."
    assert options_of(halfway) == {"share": 0.5}
    joint = model.estimate(NAMES)
    one, two = (castell.estimate(REPORTS, NAMES, m) for m in ("castell", "independent"))
    wanted = 0.25 * one.probabilities + 0.75 * two.probabilities
    np.testing.assert_allclose(joint.probabilities, wanted)
    np.testing.assert_allclose(joint.project("a").probabilities, wanted.sum(axis=0))
    group = model.probability(c=["c0", "c2"], a="a1")
    assert group.value == pytest.approx(wanted[[0, 2], 1].sum())
    given = model.conditional("c", given={"a": "a1"})
    assert given.probabilities == pytest.approx(wanted[:, 1] / wanted[:, 1].sum())
    difference = model.difference({"a": "a0"}, {"a": "a1"})
    margin = model.estimate("a").probabilities
    assert difference.value == pytest.approx(margin[0] - margin[1])
    with pytest.raises(TableTooLargeError):
        model.estimate(NAMES, max_cells=4)


def test_an_error_that_nobody_stated_does_not_look_like_certainty() -> None:
    model = castell.fit(REPORTS, halfway)
    joint = model.estimate(NAMES)
    low, high = joint.conf_int()
    assert (low == 0.0).all()
    assert (high == 1.0).all()
    assert (joint.standard_errors > 0.25).all()
    assert Code.ERRORS_UNKNOWN in [each.code for each in joint.reasons]
    assert "states no errors" in joint.summary()
    json.dumps(joint.to_dict(), allow_nan=False)
    share = model.probability(a="a0", c="c1")
    assert share.conf_int() == (0.0, 1.0)
    assert share.complement().conf_int() == (0.0, 1.0)
    assert Code.ERRORS_UNKNOWN in [each.code for each in share.reasons]
    assert model.difference({"a": "a0"}, {"c": "c1"}).conf_int() == (-1.0, 1.0)
    low, high = model.conditional("c", given={"a": "a0"}).conf_int()
    assert (np.asarray(low) == 0.0).all()
    assert (np.asarray(high) == 1.0).all()
    projected = joint.project("a")
    assert (np.asarray(projected.conf_int()) == [[0, 0], [1, 1]]).all()


def test_stated_errors_bound_those_of_groups() -> None:
    model, known = castell.fit(REPORTS, stated), castell.fit(REPORTS, "castell")
    joint = model.estimate(NAMES)
    wanted = known.estimate(NAMES)
    np.testing.assert_allclose(joint.standard_errors, wanted.standard_errors)
    np.testing.assert_allclose(
        joint.project("a").standard_errors, known.estimate("a").standard_errors
    )
    assert Code.ERRORS_UNKNOWN not in [each.code for each in joint.reasons]
    for asked in ({"c": ["c0", "c1"], "a": "a0"}, {"c": ["c0", "c1", "c2"]}, {"c": "c3"}):
        mine, theirs = model.probability(asked), known.probability(asked)
        assert mine.value == pytest.approx(theirs.value)
        assert mine.standard_error >= theirs.standard_error * (1 - 1e-9)
    # All values but one err as much as that one.
    one, rest = model.probability(c="c3"), model.probability(c=["c0", "c1", "c2"])
    assert one.standard_error == pytest.approx(rest.standard_error)
    apart, less = (m.difference({"c": "c0"}, {"c": "c1"}) for m in (model, known))
    assert apart.standard_error >= less.standard_error
    # It declared to read them.
    drawn = collect(DRAWN, PEOPLE.table, 300, np.random.default_rng(1))
    assert castell.estimate(drawn, NAMES, stated).shape == (4, 2)


def test_a_table_is_tested_against_the_reports_it_was_made_from() -> None:
    @extend.table_method
    def lonely(counts: extend.Counts, names: tuple[str, ...]) -> Any:
        table = np.zeros([counts.study.schema[name].size for name in names])
        table.ravel()[0] = table.ravel()[-1] = 0.5
        return table

    joint = castell.estimate(REPORTS, NAMES, lonely)
    assert joint.verdict is castell.Verdict.DOUBTFUL


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda _: np.zeros((2, 4)), r"with shape \(2, 4\).*in the order asked: \(4, 2\)"),
        (lambda _: 0.5, r"with shape \(\)"),
        (lambda _: "half", "the method gave 'half' for a table of c x a: give an array"),
        (lambda _: np.full((4, 2), np.nan), "numbers that are none"),
        (lambda _: (np.zeros((4, 2)), np.zeros(8)), "a table of standard errors of c x a"),
        (lambda _: (np.zeros((4, 2)), np.full((4, 2), -1.0)), "a standard error below 0"),
    ],
)
def test_a_table_that_is_none(given: Any, message: str) -> None:
    def wrong(counts: extend.Counts) -> extend.Fitted:
        return extend.from_tables(counts, given)

    with pytest.raises(MethodError, match=message):
        castell.fit(REPORTS, wrong).estimate(NAMES)


# -- the one place to import from -----------------------------------------------------------------


def test_the_names_are_there_and_nothing_else_is_in_the_file() -> None:
    assert all(getattr(extend, name) is not None for name in extend.__all__)
    tree = ast.parse(Path(extend.__file__).read_text(encoding="utf-8"))
    kinds = {type(node) for node in tree.body}
    assert kinds == {ast.Expr, ast.ImportFrom, ast.Assign}
    names = {
        a.asname or a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names
    }
    assert names == set(extend.__all__)
