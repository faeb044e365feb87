"""The largest cells of tables that are too large to build, against tables that are built."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from castell import Study, fit, scan_reports, tally
from castell.counting import MemoryCounts
from castell.counting.prefix_sums import PrefixSum
from castell.errors import OptionError, QueryError
from castell.inference import top_cells as inference
from castell.inference.inversion import parts_of
from castell.reports.reports import Reports
from castell.results import top_cells as results
from castell.results.model import Model
from tests.populations import schema

SIZES = (3, 4, 2, 5, 3)
NAMES = ("a", "b", "c", "d", "e")


def collect(study: Study, n: int = 3000, seed: int = 2) -> Reports:
    """A few kinds of people, most of whom answer as their kind does."""
    generator = np.random.default_rng(seed)
    kind = generator.choice(6, size=n, p=[0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    answers = {}
    for attribute in study.schema:
        usual = generator.integers(0, attribute.size, 6)[kind]
        other = generator.integers(0, attribute.size, n)
        codes = np.where(generator.random(n) < 0.85, usual, other)
        answers[attribute.name] = np.array(attribute.values, dtype=object)[codes]
    return study.randomize(answers, seed=seed)


DESIGNS = {
    "independent": Study(schema(SIZES), 15.0),
    "clusters": Study(schema(SIZES), 15.0, [["d", "b"], ["a", "e"]]),
}


@pytest.fixture(params=DESIGNS)
def model(request: pytest.FixtureRequest) -> Model:
    return fit(collect(DESIGNS[request.param]), "castell")


@pytest.mark.parametrize("names", [NAMES, ("e", "a", "d", "c")])
def test_without_a_limit_the_search_finds_what_the_table_has(
    model: Model, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = model.top(names, 25)
    monkeypatch.setattr(results, "FEW_CELLS", 1)
    found = model.top(names, 25, beam=10**6)
    assert found.beyond == 0.0
    assert np.allclose(found.values, whole.values, atol=1e-12)
    assert np.allclose(found.standard_errors, whole.standard_errors, rtol=1e-9)
    assert set(found.labels) == set(whole.labels)
    for level in (0.5, 0.95):
        assert np.allclose(found.conf_int(level), whole.conf_int(level), atol=1e-9)
    table = model.estimate(names)
    for labels, value in zip(found.labels, found.values, strict=True):
        cell = table.probability(**dict(zip(names, labels, strict=True)))
        assert cell == pytest.approx(value, abs=1e-12)


def test_a_narrow_beam_tells_what_it_left_out(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "FEW_CELLS", 1)
    narrow = model.top(NAMES, 2, beam=4)
    wide = model.top(NAMES, 2, beam=10**6)
    assert narrow.labels == wide.labels  # these two are far above the noise
    assert narrow.beyond > 0.0
    # It is the largest estimate among the prefixes that were not lengthened.
    prefixes = model.fitted.prefixes
    assert prefixes is not None
    steps, left = prefixes(NAMES).steps, []
    for k in range(1, len(steps)):
        names = [name for step in steps[:k] for name in step]
        table = np.sort(model.estimate(names).probabilities, axis=None)[::-1]
        left.append(table[4] if table.size > 4 else 0.0)
    assert narrow.beyond <= max(left) + 1e-9


@pytest.mark.parametrize("method", ["latent", "auto", "independent"])
def test_models_are_searched_too(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"classes": 4, "steps": 30, "starts": 2} if method == "latent" else {}
    model = fit(collect(DESIGNS["independent"], n=800), method, **options)
    monkeypatch.setattr("castell.estimators.auto.MOST_AVERAGED_CELLS", 1)
    table = fit(model.counts, "latent").top(NAMES, 7) if method == "auto" else model.top(NAMES, 7)
    monkeypatch.setattr(results, "FEW_CELLS", 1)
    found = model.top(NAMES, 7, beam=60)
    assert found.labels == table.labels
    assert np.allclose(found.values, table.values, atol=1e-12)
    # Tables of one distribution: nothing that was left out can be larger than its prefix.
    if found.beyond < found.values[-1]:
        assert set(found.labels) == set(table.labels)


def test_the_model_with_impossible_combinations_is_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from castell import Attribute, Schema

    attributes = [Attribute(a.name, a.values) for a in schema((3, 4, 2))]
    first, second = attributes[0].values[0], attributes[1].values[0]
    rules = [{"a": [first], "b": [second]}]
    study = Study(Schema(attributes, impossible=rules), 12.0)
    generator = np.random.default_rng(3)
    codes = {a.name: generator.integers(1, a.size, 500) for a in attributes}
    answers = {a.name: np.array(a.values, dtype=object)[codes[a.name]] for a in attributes}
    model = fit(study.randomize(answers, seed=1), "latent", classes=2, steps=5, starts=1)
    whole = model.top(("a", "b", "c"), 24)
    monkeypatch.setattr(results, "FEW_CELLS", 1)
    found = model.top(("a", "b", "c"), 24)
    assert np.allclose(found.values, whole.values, atol=1e-9)
    assert found.values[-1] == pytest.approx(0.0, abs=1e-12)


def test_intervals_hold_for_all_cells_at_once() -> None:
    """In how many of 200 collections all intervals hold the truth: 95 % at least."""
    study = Study(schema((4, 5)), 3.0)
    truth = np.random.default_rng(1).dirichlet(np.ones(20))
    missed = 0
    for seed in range(200):
        generator = np.random.default_rng(seed)
        a, b = np.divmod(generator.choice(20, size=2000, p=truth), 5)
        one, two = (np.array(x.values, dtype=object) for x in study.schema)
        top = fit(study.randomize({"a": one[a], "b": two[b]}, seed=seed), "castell").top(["a", "b"])
        low, high = top.conf_int(0.95)
        true = truth.reshape(4, 5)[tuple(top.codes.T)]
        missed += bool(((true < low) | (true > high)).any())
        narrow = top.conf_int(0.95, simultaneous=False)
        assert (narrow[0] >= low).all()
        assert (narrow[1] <= high).all()
    assert missed <= 27  # binomial with 200 and 0.05: more than that once in a million


def test_sums_are_the_same_in_any_order_and_any_parts() -> None:
    study = DESIGNS["clusters"]
    reports = collect(study)
    parts = parts_of(study, NAMES)
    rows = np.array([[0, 1], [2, 1], [5, 0]])
    entries = [
        (part.axes, np.array([part.lens.inverse.combine(np.array([r])) for r in range(6)]), which)
        for part, which in zip(parts[:2], rows.T, strict=True)
    ]
    make = partial(PrefixSum, entries, parts[2].axes)
    sums = []
    for counts in (MemoryCounts(reports), tally(reports)):
        total = make()
        counts.add_up(total)
        sums.append(total.result())
    assert (sums[0] == sums[1]).all()
    many = tally(reports)
    for _ in range(20):  # so often that counts need more than one piece of 16 bits
        many = many + many
    total = make()
    many.add_up(total)
    assert (total.result() == sums[0] * 2.0**20).all()
    # By brute force.
    columns = [reports.columns[axis.block] for part in parts for axis in part.axes]
    assert len(columns) >= 3
    keys = []
    for part in parts[:3]:
        key = np.zeros(len(reports), dtype=np.intp)
        for axis in part.axes:
            key = key * axis.size + (reports.columns[axis.block] // axis.stride) % axis.size
        keys.append(key)
    for cell in range(3):
        weights = entries[0][1][rows[cell, 0], keys[0]] * entries[1][1][rows[cell, 1], keys[1]]
        width = total.codes
        expected = np.bincount(keys[2], weights, minlength=width)
        assert np.allclose(sums[0][cell], expected, atol=1e-5)


def test_what_is_not_offered_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = collect(DESIGNS["independent"], n=300)
    model = fit(reports, "castell")
    for wrong in (0, 2.5, True, "3"):
        with pytest.raises(OptionError, match=r"give a whole number from 1 up"):
            model.top(NAMES, wrong)  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="beam is"):
            model.top(NAMES, 2, beam=wrong)  # type: ignore[arg-type]
    monkeypatch.setattr(results, "FEW_CELLS", 1)
    with pytest.raises(QueryError, match="more than this method builds"):
        fit(reports, "truncated").top(NAMES, 3)
    with pytest.raises(QueryError, match="several samples"):
        fit([collect(DESIGNS["clusters"], n=300), reports], "castell").top(NAMES, 3)


def test_a_step_with_too_many_children_takes_fewer_prefixes(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "FEW_CELLS", 1)
    best = model.top(NAMES, 3, beam=50)
    monkeypatch.setattr(inference, "MOST_CHILDREN", 60)
    found = model.top(NAMES, 3, beam=50)
    assert found.labels[0] == best.labels[0]
    assert found.beyond >= best.beyond


def test_the_same_cells_from_a_file(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "FEW_CELLS", 1)
    study = DESIGNS["independent"]
    reports = collect(study)
    place = f"{tmp_path}/r.parquet"
    reports.save(place)
    here = fit(reports, "castell").top(NAMES, 5)
    there = fit(scan_reports(place, study), "castell").top(NAMES, 5)
    assert (here.codes == there.codes).all()
    assert (here.values == there.values).all()
    assert here.to_dict() == there.to_dict()
    frame = here.to_frame("polars")
    assert frame.columns == [*NAMES, "probability", "standard_error", "lower", "upper"]
    assert "intervals hold for all 360 cells at once" in here.summary()
    assert "TopCells" in repr(here)
