"""Sums without rounding, and the moments that rest on them."""

from fractions import Fraction
from math import fsum
from pathlib import Path

import numpy as np
import pytest

import castell.counting.moments
from castell import Attribute, Reports, Schema, Study
from castell.counting import Factor, MemoryCounts, exact_sum, scan_reports, tally
from tests.counting.test_engines import axes_of


def _mean(values: object, times: object = None) -> float:
    total = exact_sum.nothing(1)[0]
    exact_sum.add(total, np.asarray(values, dtype=float), times)  # type: ignore[arg-type]
    return exact_sum.mean(total, 1)


@pytest.mark.parametrize("seed", range(20))
def test_a_sum_is_the_true_one_rounded_once(seed: int) -> None:
    random = np.random.default_rng(seed)
    scale = 2.0 ** random.integers(-300, 300, 500)
    values = random.standard_normal(500) * scale
    assert _mean(values) == fsum(values)
    times = random.integers(1, 10**6, 500)
    exact = sum(Fraction(v) * int(t) for v, t in zip(values, times, strict=True))
    assert _mean(values, times) == float(exact)


@pytest.mark.parametrize("extreme", [5e-324, -5e-324, 2.3e-308, 1.7e308, -1.7e308, 0.0, -0.0])
def test_the_smallest_and_the_largest_numbers(extreme: float) -> None:
    assert _mean([extreme]) == extreme
    assert _mean([extreme, 1.0, -extreme]) == 1.0


@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan])
def test_what_is_no_number_makes_no_number(wrong: float) -> None:
    assert np.isnan(_mean([1.0, wrong]))


def _wide() -> tuple[Reports, list[list[Factor]]]:
    schema = Schema(Attribute(f"a{i}", range(5)) for i in range(9))
    study = Study(schema, 30.0)
    random = np.random.default_rng(0)
    columns = [random.integers(0, 5, 70_000) for _ in range(9)]
    reports = Reports(study, columns, secure=True)
    one = [Factor(tuple(axes_of(study, [name])), random.normal(size=5)) for name in study.names]
    return reports, [one, one[:2], one[5:]]


def test_wide_moments_do_not_depend_on_order_parts_or_engine(tmp_path: Path) -> None:
    """5^9 cells are too many for a table: these are added up, and still the same."""
    reports, queries = _wide()
    expected = MemoryCounts(reports).moments(queries)
    turned = Reports(reports.study, [c[::-1] for c in reports.columns], secure=True)
    reports.save(tmp_path / "r.parquet")
    others = [MemoryCounts(turned), scan_reports(tmp_path / "r.parquet", reports.study)]
    others += [tally(reports), tally(turned)]
    values = np.ones((3, len(reports)))
    for i, query in enumerate(queries):
        for factor in query:
            values[i] *= factor.values[reports.columns[factor.axes[0].block]]
    for moments in (expected, *(counts.moments(queries) for counts in others)):
        np.testing.assert_array_equal(moments.mean, expected.mean)
        np.testing.assert_array_equal(moments.product, expected.product)
    np.testing.assert_allclose(expected.mean, values.mean(axis=1), rtol=1e-9)
    np.testing.assert_allclose(expected.product, values @ values.T / len(reports), rtol=1e-9)


def test_tables_and_sums_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    reports, queries = _wide()
    read = MemoryCounts(reports).moments([queries[1]])
    monkeypatch.setattr(castell.counting.moments, "FEW_CELLS", 1)
    added = MemoryCounts(reports).moments([queries[1]])
    np.testing.assert_allclose(read.mean, added.mean, rtol=1e-12)
    np.testing.assert_allclose(read.product, added.product, rtol=1e-12)
