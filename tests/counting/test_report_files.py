"""Folders, patterns, lists and addresses of Parquet files count as one file would."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from castell import Reports, scan_reports, tally
from castell.counting import MemoryCounts, ParquetCounts
from castell.errors import MissingExtraError, OptionError, ReportError
from castell.reports.report_files import report_files
from tests.counting.test_engines import axes_of, random_reports, random_study

fsspec = pytest.importorskip("fsspec", reason="object stores need fsspec")


def parts_of(reports: Reports, many: int = 3) -> list[Reports]:
    return [
        Reports(reports.study, [column[k::many] for column in reports.columns], secure=True)
        for k in range(many)
    ]


@pytest.fixture
def reports() -> Reports:
    return random_reports(random_study(4), 500, 4)


@pytest.fixture
def folder(reports: Reports, tmp_path: Path) -> Path:
    made = tmp_path / "reports"
    (made / "2026" / "_temporary").mkdir(parents=True)
    for k, part in enumerate(parts_of(reports)):
        part.save(made / ("2026" if k else ".") / f"part-{k}.parquet")
    # What other programs leave beside their files.
    for left in ("_SUCCESS", ".part-0.parquet.crc", "2026/_temporary/part-9.parquet"):
        (made / left).write_bytes(b"")
    return made


def _same(source: Any, reports: Reports, **options: Any) -> None:
    counts = scan_reports(source, reports.study, **options)
    every = MemoryCounts(reports)
    axes = axes_of(reports.study, reports.study.names)
    assert (counts.n, counts.secure) == (len(reports), True)
    np.testing.assert_array_equal(counts.table(axes), every.table(axes))
    np.testing.assert_array_equal(counts.pairs(axes), every.pairs(axes))


def test_a_folder_a_pattern_and_a_list_are_their_files(folder: Path, reports: Reports) -> None:
    _same(folder, reports)
    _same(str(folder), reports)
    _same(str(folder / "**" / "part-[0-2].parquet"), reports)
    _same([folder / "part-0.parquet", folder / "2026"], reports)
    _same((str(folder / "2026" / "*.parquet"), folder / "part-0.parquet"), reports)
    heard: list[float] = []
    counts = scan_reports(folder, reports.study, progress=heard.append)
    assert isinstance(counts, ParquetCounts)
    counts.table(axes_of(reports.study, reports.study.names[:1]))
    assert heard == pytest.approx([167 / 500, 333 / 500, 1.0])


def test_files_in_an_object_store(folder: Path, reports: Reports) -> None:
    memory = fsspec.filesystem("memory")
    for path in report_files(folder):
        memory.pipe(f"/castell/{Path(path).name}", Path(path).read_bytes())
    memory.pipe("/castell/_temporary/0/part-9.parquet", b"")
    _same("memory://castell/*.parquet", reports)
    _same("memory://castell", reports, engine="parquet")
    _same(f"file://{folder}/**/part-[0-2].parquet", reports)
    tally(reports).save(folder / "t.parquet")
    memory.pipe("/tallies/t.parquet", (folder / "t.parquet").read_bytes())
    _same("memory://tallies/t.parquet", reports)
    with pytest.raises(ReportError, match="there is no file"):
        scan_reports("memory://castell/no.parquet", reports.study)
    with pytest.raises((MissingExtraError, ReportError)):
        scan_reports("nosuchkind://x/a.parquet", reports.study)


def test_tallies_lie_beside_reports(folder: Path, reports: Reports) -> None:
    first, *_ = parts_of(reports)
    tally(first).save(folder / "part-0.parquet")
    _same(folder, reports)


def test_anything_that_can_be_scanned_can_be_listed(folder: Path, reports: Reports) -> None:
    first, *_ = parts_of(reports)
    _same([first.to_arrow(), folder / "2026"], reports)


def test_what_is_wrong_is_told_with_the_file(folder: Path, reports: Reports) -> None:
    study = reports.study
    with pytest.raises(ReportError, match="is named twice: its reports would count twice"):
        scan_reports([folder, folder / "part-0.parquet"], study)
    with pytest.raises(ReportError, match=r"there are no Parquet files at .*no-such"):
        scan_reports(str(folder / "no-such-*.parquet"), study)
    with pytest.raises(OptionError, match="'parquet' takes no secure"):
        scan_reports(folder, study, secure=True)
    with pytest.raises(OptionError, match="'parquet' takes no address"):
        scan_reports(folder, study, engine="parquet://x")
    random_reports(random_study(3), 20, 4).save(folder / "2026" / "other.parquet")
    with pytest.raises(ReportError, match=r"other.parquet belongs to another study"):
        scan_reports(folder, study)
    (folder / "2026" / "other.parquet").write_bytes(b"no")
    with pytest.raises(ReportError, match=r"other.parquet is not Parquet"):
        scan_reports(folder, study)


def test_one_seeded_file_marks_all(folder: Path, reports: Reports) -> None:
    first, *_ = parts_of(reports)
    Reports(first.study, first.columns, secure=False).save(folder / "part-0.parquet")
    assert not scan_reports(folder, reports.study).secure
