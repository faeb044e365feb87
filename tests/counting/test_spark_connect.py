"""Spark Connect, served by Sail: a server without Java that speaks Spark's protocol."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from castell import Reports, fit, scan_reports
from castell.counting import MemoryCounts
from castell.counting.kernels import PairSum, TableSum
from castell.counting.spark import SparkCounts
from castell.errors import OptionError
from tests.counting.test_engines import axes_of, random_reports, random_study

pytest.importorskip("pyspark.sql", reason="Spark is not installed: make spark")
sail = pytest.importorskip("pysail.spark", reason="Sail is not installed: make spark")
# PySpark warns of versions of pandas that it does not know yet.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def engine() -> Iterator[str]:
    server = sail.SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    host, port = server.listening_address
    yield f"spark://{host}:{port}"
    server.stop()


def test_files_behind_spark_connect_are_counted_to_the_same_numbers(
    engine: str, tmp_path: Path
) -> None:
    reports = random_reports(random_study(4), 600, 4)
    for k in range(3):
        columns = [column[k::3] for column in reports.columns]
        Reports(reports.study, columns, secure=True).save(tmp_path / f"{k}.parquet")
    counts = scan_reports(tmp_path, reports.study, engine=engine)
    assert isinstance(counts, SparkCounts)
    assert (counts.n, counts.secure) == (600, True)
    every, axes = MemoryCounts(reports), axes_of(reports.study, reports.study.names)
    table, pairs = TableSum([axes]), PairSum(axes)
    counts.add_up(table, pairs)
    np.testing.assert_array_equal(table.arrays[0], every.table(axes))
    np.testing.assert_array_equal(pairs.total, every.pairs(axes))
    assert sum(len(columns[0]) for columns in counts.batches([0])) == 600
    names = reports.study.names[:2]
    joint, expected = (fit(each, "castell").estimate(names) for each in (counts, reports))
    np.testing.assert_array_equal(joint.probabilities, expected.probabilities)
    np.testing.assert_array_equal(joint.standard_errors, expected.standard_errors)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:1/;user_id=me", "127.0.0.1:many"])
def test_a_server_that_is_not_there_is_told_at_once(address: str, tmp_path: Path) -> None:
    """PySpark would try for ten minutes."""
    reports = random_reports(random_study(4), 10, 4)
    reports.save(tmp_path / "r.parquet")
    with pytest.raises(OptionError, match=r"no Spark Connect server answers at .*: start one"):
        scan_reports(tmp_path / "r.parquet", reports.study, engine=f"spark://{address}")
