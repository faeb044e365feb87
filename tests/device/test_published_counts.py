"""Counts of surveys in print, read from a file as they are, and the estimates printed with them.

zapstRR's vignette prints prevalences of hunting in Southwest China (`huntRRdata`, 189 men, forced
response with p00 = p11 = 5/6: Barbet 1.2, Bulbul 19.4, Partridge -0.4 percent, standard errors 4.1,
5.0 and 4.0); RRreg's vignette that of 1,000 simulated answers (Warner, p = 0.2: 0.266667, standard
error 0.025311).
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import castell
from castell import Attribute, Study, mechanism
from castell.channels import Channel
from castell.errors import AnswerError, OptionError

FORCED = mechanism("forced", forced=["1/6", "1/6"])


def _study(design: Channel) -> Study:
    return Study([Attribute("hunted", ["no", "yes"])], channels={"hunted": design})


def _estimate(folder: Path, design: Channel, yes: int, n: int) -> tuple[float, float]:
    said = folder / "said.csv"
    said.write_text(f"people;hunted\n{yes};yes\n{n - yes};No\n")
    study = _study(design)
    assert castell.import_file(study, said, folder / "r.parquet", counts="people") == n
    reports = castell.scan_reports(folder / "r.parquet", study)
    found = castell.fit(reports, "castell").probability(hunted="yes")
    return found.value, found.standard_error


@pytest.mark.parametrize(
    ("yes", "share", "error"), [(33, 1.2, 4.1), (56, 19.4, 5.0), (31, -0.4, 4.0)]
)
def test_hunters_are_as_many_as_zapstrr_prints(
    tmp_path: Path, yes: int, share: float, error: float
) -> None:
    found, spread = _estimate(tmp_path, FORCED, yes, 189)
    assert (round(100 * found, 1), round(100 * spread, 1)) == (share, error)
    # No other count gives the printed share.
    for other in (yes - 1, yes + 1):
        (tmp_path / "r.parquet").unlink()
        assert round(100 * _estimate(tmp_path, FORCED, other, 189)[0], 1) != share


def test_warners_example_is_as_rrreg_prints_it(tmp_path: Path) -> None:
    found, spread = _estimate(tmp_path, mechanism("warner", p="0.2"), 640, 1000)
    assert round(found, 6) == 0.266667
    # RRreg divides by n - 1.
    assert round(spread * math.sqrt(1000 / 999), 6) == 0.025311


@pytest.mark.parametrize("wrong", ["-1", "1.5", "many", "", "1e12"])
def test_counts_that_are_none_are_told(tmp_path: Path, wrong: str) -> None:
    (tmp_path / "said.csv").write_text(f"hunted,people\nyes,3\nno,{wrong}\n")
    with pytest.raises(AnswerError, match="row 2: 'people' is no number of people"):
        castell.import_file(
            _study(FORCED), tmp_path / "said.csv", tmp_path / "r.parquet", counts="people"
        )
    assert not (tmp_path / "r.parquet").exists()


def test_other_mistakes_about_counts_are_told(tmp_path: Path) -> None:
    study, said, target = _study(FORCED), tmp_path / "said.csv", tmp_path / "r.parquet"
    said.write_text("hunted,people\nyes,0\nno,0\n")
    with pytest.raises(AnswerError, match="has no rows"):
        castell.import_file(study, said, target, counts="people")
    with pytest.raises(AnswerError, match="no column 'persons'"):
        castell.import_file(study, said, target, counts="persons")
    with pytest.raises(OptionError, match="'hunted' is a question"):
        castell.import_file(study, said, target, counts="hunted")
    said.write_text("hunted,people\nyes,90000000\nno,90000000\n")
    with pytest.raises(AnswerError, match="more than 100,000,000 people"):
        castell.import_file(study, said, target, counts="people")


def test_lines_that_are_none_are_counted_as_lines(tmp_path: Path) -> None:
    said = tmp_path / "said.csv"
    said.write_text("hunted,people\nyes,2\nperhaps,5\n")
    with pytest.raises(AnswerError, match="row 2"):
        castell.import_file(_study(FORCED), said, tmp_path / "r.parquet", counts="people")
    said.write_text("hunted,people\nyes,2\nno,3\n")
    castell.import_file(_study(FORCED), said, tmp_path / "r.parquet", counts="people")
    counts = castell.scan_reports(tmp_path / "r.parquet", _study(FORCED))
    np.testing.assert_array_equal(counts.n, 5)
