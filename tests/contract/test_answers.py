"""What every answer must hold: each method, on each design it reads, from each engine."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations
from math import prod
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

import castell
from castell import Checked, Model, Reports, Study, Verdict
from castell.collector.store import counts_of
from castell.collector.store.packing import Packing
from castell.collector.store.sqlite import SqliteStore
from castell.collector.store.store import Submission
from castell.counting import Counts, MemoryCounts, samples_of
from castell.errors import QueryError, ReportError
from castell.estimators import reads
from castell.population import SCHEMA, health_survey
from tests.contract.designs import STUDIES
from tests.populations import collect, population

CASES = [(m, d) for d, study in STUDIES.items() for m in castell.methods_for(study)]
each_case = pytest.mark.parametrize(("method", "design"), CASES)
# Counted in synthetic rows: a share is a count, and its error that of few simulations.
BY_ROWS = ("locop", "lopub")


@cache
def _reports(design: str, n: int = 500, seed: int = 3) -> Reports:
    study = STUDIES[design]
    people = population(study.schema.sizes, seed=4)
    return collect(study, people.table, n, np.random.default_rng(seed))


@cache
def _model(method: str, design: str, n: int = 500) -> Model:
    return castell.fit(_reports(design, n), method)


def _askable(method: str, design: str) -> list[tuple[str, ...]]:
    """Sets of attributes a method answers: any, or those a drawn block holds."""
    study = STUDIES[design]
    every = [some for k in (1, 2, 3) for some in combinations(study.names, k)]
    if not study.design.draw or reads(method).across:
        return every
    public = set(study.schema.public)  # in every report
    return [some for some in every if study.design.holders(set(some) - public)]


@each_case
def test_the_order_asked_permutes_the_axes(method: str, design: str) -> None:
    """Asked again as it was, the other way round, and turned by one: of these two every order is
    made."""
    model = _model(method, design)
    names = _askable(method, design)[-1]
    straight = model.estimate(names)
    for other in {names, names[::-1], (*names[1:], names[0])}:
        joint = model.estimate(other)
        order = [names.index(name) for name in other]
        for one, two in (
            (joint.probabilities, straight.probabilities),
            (joint.standard_errors, straight.standard_errors),
            (joint.conf_int()[0], straight.conf_int()[0]),
            (joint.conf_int()[1], straight.conf_int()[1]),
        ):
            np.testing.assert_allclose(one, two.transpose(order), atol=1e-9)
        assert joint.checked is straight.checked
        assert joint.verdict is straight.verdict


@each_case
def test_a_share_is_the_sum_of_its_cells_and_one_cell_is_the_cell(method: str, design: str) -> None:
    model = _model(method, design)
    for names in _askable(method, design):
        joint = model.estimate(names)
        low, high = joint.conf_int(0.9)
        first = {a.name: a.values[0] for a in joint.attributes}
        one = model.probability(first)
        place = (0,) * len(names)
        if method != "truncated":
            assert one.value == pytest.approx(joint.unprocessed[place], abs=1e-9)
        assert one.checked is joint.checked
        if method in ("truncated", *BY_ROWS):
            continue  # their errors are simulated, of tables and of shares apart
        assert one.standard_error == pytest.approx(joint.standard_errors[place], rel=1e-5, abs=1e-9)
        assert one.conf_int(0.9) == pytest.approx((low[place], high[place]), abs=1e-7)
        assert one.reasons == joint.reasons
        group = {a.name: list(a.values[:-1]) for a in joint.attributes}
        share = model.probability(group)
        inside = joint.unprocessed[tuple(slice(0, -1) for _ in names)]
        assert share.value == pytest.approx(float(inside.sum()), abs=1e-9)
        # An interval belongs to its share: in [0, 1], and it holds what can be a share.
        least, most = share.conf_int()
        assert 0.0 <= least <= min(max(share.value, 0.0), 1.0) <= most <= 1.0
        rest = share.complement().conf_int()
        assert rest == pytest.approx((1 - most, 1 - least))


# Truncated cuts a group and the others apart; rows are simulated.
WHOLE = [case for case in CASES if case[0] not in ("truncated", *BY_ROWS)]


@pytest.mark.parametrize(("method", "design"), WHOLE)
def test_a_group_and_all_others_are_known_alike(method: str, design: str) -> None:
    """Whoever is not in one is in the other, however few reports a block has."""
    for n in (30, 500):
        model = castell.fit(_reports(design, n), method)
        for attribute in model.study.schema:
            if model.support([attribute.name]).together:
                one = model.probability({attribute.name: attribute.values[0]})
                rest = model.probability({attribute.name: list(attribute.values[1:])})
                assert one.standard_error == pytest.approx(rest.standard_error, rel=1e-6, abs=1e-9)
                low, high = rest.conf_int()
                assert one.conf_int() == pytest.approx((1 - high, 1 - low), abs=1e-6)


@each_case
def test_everybody_is_certain(method: str, design: str) -> None:
    model = _model(method, design)
    for names in _askable(method, design)[-2:]:
        everything = {n: list(model.study.schema[n].values) for n in names}
        share = model.probability(everything)
        assert share.value == pytest.approx(1.0, abs=1e-9)
        if method != "truncated":
            assert share.conf_int() == pytest.approx((1.0, 1.0), abs=1e-6)


@each_case
def test_margins_agree(method: str, design: str) -> None:
    """To rounding where a method is linear or one model; else as far as they are uncertain."""
    model = _model(method, design)
    exact = method in ("castell", "independent", "latent", *BY_ROWS)
    if STUDIES[design].design.draw:
        exact = method in ("independent", "latent")  # other blocks know more of a margin
    for names in _askable(method, design):
        if len(names) < 2 or method == "truncated":
            continue
        joint = model.estimate(names)
        for kept in combinations(names, len(names) - 1):
            own, summed = model.estimate(kept), joint.project(kept)
            assert (summed.checked, summed.reasons[-1]) == (own.checked, own.reasons[-1])
            told = {name for each in summed.reasons for name in each.names}
            assert told <= set(kept)
            gap = np.abs(own.unprocessed - summed.unprocessed)
            if exact:
                np.testing.assert_allclose(gap, 0.0, atol=1e-9)
            else:
                reach = own.standard_errors + summed.standard_errors
                assert (gap <= 5 * reach + 1e-9).all()


@each_case
def test_differences_and_conditionals_have_intervals(method: str, design: str) -> None:
    model = _model(method, design)
    names = next(some for some in reversed(_askable(method, design)) if len(some) <= 2)
    one, *others = (model.study.schema[name] for name in names)
    first, second = {one.name: one.values[0]}, {one.name: one.values[1]}
    for other in others:
        first[other.name], second[other.name] = other.values[1], other.values[1]
    found = model.difference(first, second)
    shares = [model.probability(each) for each in (first, second)]
    if method not in BY_ROWS:
        assert found.value == pytest.approx(shares[0].value - shares[1].value, abs=1e-9)
    low, high = found.conf_int()
    assert -1.0 <= low <= high <= 1.0
    assert low - 1e-12 <= min(max(found.value, -1.0), 1.0) <= high + 1e-12
    # No longer than if both were as wrong as can be, each its own way.
    if method not in BY_ROWS:
        each = [share.conf_int() for share in shares]
        assert low >= each[0][0] - each[1][1] - 1e-6
        assert high <= each[0][1] - each[1][0] + 1e-6
    for other in others:
        given = model.conditional(one.name, given={other.name: other.values[1]})
        ends = given.conf_int()
        assert (ends[0] >= 0.0).all()
        assert (ends[1] <= 1.0).all()
        assert (ends[0] <= ends[1]).all()


# Twenty simulations of rows tell an error to a sixth; their own tests look at it.
TOLD = [case for case in CASES if case[0] not in BY_ROWS]


@pytest.mark.parametrize(("method", "design"), TOLD)
def test_errors_shrink_as_the_root_of_n(method: str, design: str) -> None:
    name = STUDIES[design].names[0]
    few, many = (_model(method, design, n).estimate(name).standard_errors for n in (500, 50_000))
    ratio = float(np.sqrt((few**2).mean() / (many**2).mean()))
    assert 7.0 < ratio < 14.0


def _refused(method: str, design: str) -> list[tuple[str, ...]]:
    """The sets of attributes that a method cannot answer, as no block holds them."""
    every = [some for k in (2, 3) for some in combinations(STUDIES[design].names, k)]
    return [names for names in every if names not in _askable(method, design)]


@pytest.mark.parametrize(("method", "design"), [case for case in CASES if _refused(*case)])
def test_a_question_nobody_can_answer_is_a_typed_error(method: str, design: str) -> None:
    study, model = STUDIES[design], _model(method, design)
    for names in _refused(method, design):
        with pytest.raises(QueryError, match="no respondent reported"):
            model.estimate(names)
        with pytest.raises(QueryError, match="no respondent reported"):
            model.probability({name: study.schema[name].values[0] for name in names})


# -- certainty -------------------------------------------------------------------------------------


CERTAIN: dict[str, Study] = {
    "independent": Study(SCHEMA, 30.0 * len(SCHEMA)),
    "joint": Study(SCHEMA.select(("health", "smokes")), 30.0, "joint"),
    "clusters": Study(
        SCHEMA.select(("health", "smokes", "age")), 45.0, [["health", "smokes"], ["age"]]
    ),
}


@pytest.mark.parametrize("design", CERTAIN)
@pytest.mark.parametrize("method", [m for m in castell.methods() if not reads(m).bloom])
def test_without_noise_the_data_come_back(method: str, design: str) -> None:
    """What everybody answered, from any method that does not assume it away."""
    people = health_survey(400, seed=2)
    study = CERTAIN[design]
    names = ("smokes", "health")
    joint = castell.fit(study.randomize(people, seed=1), method).estimate(names)
    truth = castell.tabulate(SCHEMA, people, names)
    truth = truth / truth.sum()
    if method in ("independent", "clusters", "hybrid"):
        for name in names:
            own = joint.project(name).probabilities
            np.testing.assert_allclose(own, truth.sum(axis=1 - names.index(name)), atol=1e-9)
        return
    close = {"latent": 0.02, "locop": 0.05, "em": 0.02, "auto": 1e-3}.get(method, 1e-9)
    np.testing.assert_allclose(joint.probabilities, truth, atol=close)


# -- engines ---------------------------------------------------------------------------------------


def _in_file(reports: Reports, folder: Path) -> Counts:
    reports.save(folder / "reports.parquet")
    return castell.scan_reports(folder / "reports.parquet", reports.study)


def _in_store(reports: Reports, folder: Path) -> Counts:
    """As the collector keeps them: in the order of random ids."""
    ids = np.random.default_rng(3).permutation(len(reports))
    packing = Packing(reports.study.design.widths)
    packed = [packing.pack(row) for row in zip(*(c.tolist() for c in reports.columns), strict=True)]
    rows = [(int(i).to_bytes(16, "big"), codes) for i, codes in zip(ids, packed, strict=True)]
    store = SqliteStore(folder / "store.db", reports.study)
    store.add([Submission((row,)) for row in rows])
    counts = counts_of(store)
    store.close()
    return counts


def _in_another_order(reports: Reports, folder: Path) -> Counts:
    del folder
    order = np.random.default_rng(2).permutation(len(reports))
    columns = [column[order] for column in reports.columns]
    return MemoryCounts(Reports(reports.study, columns, secure=True))


def _in_folder(reports: Reports, folder: Path) -> Counts:
    for k in range(3):
        columns = [column[k::3] for column in reports.columns]
        Reports(reports.study, columns, secure=True).save(folder / f"{k}.parquet")
    return castell.scan_reports(folder, reports.study)


def _in_duckdb(reports: Reports, folder: Path) -> Counts:
    connection = duckdb.connect(folder / "reports.duckdb")
    connection.register("given", reports.to_arrow())
    connection.execute("create table reports as select * from given order by random()")
    return castell.scan_reports(connection.table("reports"), reports.study, secure=True)


def _in_polars(reports: Reports, folder: Path) -> Counts:
    _in_folder(reports, folder)
    lazy = pl.scan_parquet(folder / "*.parquet")
    return castell.scan_reports(lazy, reports.study, secure=True)


def _in_tally(reports: Reports, folder: Path) -> Counts:
    first, last = (
        Reports(reports.study, [column[part] for column in reports.columns], secure=True)
        for part in (slice(0, 200), slice(200, None))
    )
    (castell.tally(first) + castell.tally(last)).save(folder / "tally.parquet")
    return castell.scan_reports(folder / "tally.parquet", reports.study)


FEW_DESIGNS = ("independent", "mixed", "drawn cover", "bloom")
ENGINES = [_in_folder, _in_duckdb, _in_polars, _in_tally]
HELD = [(*case, engine) for case in CASES for engine in (_in_file, _in_store, _in_another_order)]
HELD += [(*case, engine) for case in CASES if case[1] in FEW_DESIGNS for engine in ENGINES]


@pytest.mark.parametrize(("method", "design", "engine"), HELD)
def test_whoever_holds_the_reports_says_the_same_to_the_last_digit(
    method: str, design: str, engine: Callable[[Reports, Path], Counts], tmp_path: Path
) -> None:
    reports = _reports(design)
    other = castell.fit(engine(reports, tmp_path), method)
    names = _askable(method, design)[-1]
    one, two = _model(method, design).estimate(names), other.estimate(names)
    np.testing.assert_array_equal(one.probabilities, two.probabilities)
    np.testing.assert_array_equal(one.standard_errors, two.standard_errors)
    assert one.to_dict() == two.to_dict()  # intervals, reasons and verdict too
    first = {name: reports.study.schema[name].values[0] for name in names}
    shares = [model.probability(first) for model in (_model(method, design), other)]
    assert shares[0].to_dict() == shares[1].to_dict()


# -- what is not known -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "latent"])
def test_attributes_nobody_reported_together_may_go_together_in_any_way(method: str) -> None:
    """Two identical attributes, each reported alone: the truth must be inside the interval."""
    people = np.array([[0.5, 0.0], [0.0, 0.5]])
    study = Study(castell.Schema(SAME), 4.0, "singles")
    reports = collect(study, people, 20_000, np.random.default_rng(0))
    joint = castell.fit(reports, method).estimate(["x", "y"])
    low, high = joint.conf_int()
    assert (low <= people).all()
    assert (people <= high).all()
    assert joint.checked is Checked.NOTHING
    assert joint.verdict is Verdict.UNKNOWN
    share = castell.fit(reports, method).probability(x="yes", y="yes")
    assert share.conf_int() == pytest.approx((low[1, 1], high[1, 1]))
    # The bounds of Frechet and Hoeffding, and a little for the margins.
    assert low[0, 0] == 0.0
    assert 0.5 < high[0, 0] < 0.53
    # Single attributes are known.
    assert joint.project("x").conf_int()[0].min() > 0.45


SAME = [castell.Attribute("x", ["no", "yes"]), castell.Attribute("y", ["no", "yes"])]


def _drawn(design: str) -> list[int]:
    return [block.n for block in samples_of(MemoryCounts(_reports(design, n=1)))]


@pytest.mark.parametrize("method", castell.methods())
@pytest.mark.parametrize("design", [d for d, s in STUDIES.items() if s.design.draw])
def test_one_report_is_enough_or_is_said_to_be_too_little(method: str, design: str) -> None:
    """Of a drawn design one report is of one block, and the others are empty."""
    if method not in castell.methods_for(STUDIES[design]):
        return
    model = castell.fit(_reports(design, n=1), method)
    answered = 0
    for names in _askable(method, design):
        drew, public = STUDIES[design].design.hidden, STUDIES[design].schema.public
        held = [{*b.names, *public} for b, n in zip(drew, _drawn(design), strict=True) if n]
        if not any(name in block for name in names for block in held) or (
            method == "castell" and not any(set(names) <= block for block in held)
        ):
            # Nobody reported it: an error of its own kind, with what to do.
            with pytest.raises(ReportError, match="nobody reported"):
                model.estimate(names)
            continue
        try:
            joint = model.estimate(names)
        except ReportError:
            continue  # some attribute of several has no report
        answered += 1
        low, high = joint.conf_int()
        assert joint.probabilities.size == prod(joint.shape)
        assert np.isfinite(joint.probabilities).all()
        assert (low <= high).all()
        assert joint.summary()
    # A table is made of the parities of all sets of its attributes, and one report is of one set.
    assert answered or design == "inpht"
