"""A real Spark session on this machine: the same whole numbers from every partition."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from castell import Reports, fit, scan_reports
from castell.counting import MemoryCounts
from castell.counting.kernels import PairSum, TableSum
from castell.counting.spark import SparkCounts
from castell.errors import OptionError, ReportError
from tests.counting.test_engines import axes_of, random_reports, random_study

sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed: castell[spark]")
pytestmark = [
    # PySpark warns of versions of pandas that it does not know yet.
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs a Java runtime"),
]


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
    }
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    yield made
    made.stop()


def test_files_and_frames_in_spark(session: Any, tmp_path: Path) -> None:
    reports = random_reports(random_study(4), 600, 4)
    for k in range(3):
        columns = [column[k::3] for column in reports.columns]
        Reports(reports.study, columns, secure=True).save(tmp_path / f"{k}.parquet")
    files = scan_reports(tmp_path, reports.study, engine="spark")
    assert isinstance(files, SparkCounts)
    assert files.secure
    every, axes = MemoryCounts(reports), axes_of(reports.study, reports.study.names)
    # In one pass over the partitions: each costs a start of Python workers.
    table, pairs = TableSum([axes]), PairSum(axes)
    files.add_up(table, pairs)
    np.testing.assert_array_equal(table.arrays[0], every.table(axes))
    np.testing.assert_array_equal(pairs.total, every.pairs(axes))
    assert sum(len(columns[0]) for columns in files.batches([0])) == 600
    frame = session.read.parquet(str(tmp_path))
    counts = scan_reports(frame, reports.study)
    assert isinstance(counts, SparkCounts)
    assert (counts.n, counts.secure) == (600, False)
    names = reports.study.names[:2]
    joint, expected = (fit(each, "castell").estimate(names) for each in (counts, reports))
    np.testing.assert_array_equal(joint.probabilities, expected.probabilities)
    np.testing.assert_array_equal(joint.standard_errors, expected.standard_errors)
    with pytest.raises(ReportError, match="the frame has no column"):
        scan_reports(frame.select("a0"), reports.study)
    with pytest.raises(OptionError, match="files say themselves"):
        scan_reports(tmp_path, reports.study, engine="spark", secure=True)
