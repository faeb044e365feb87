"""A real Dask cluster on this machine: the same whole numbers, also when a worker is killed."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

import castell
import castell.counting.dask
from castell import Reports, fit, scan_reports
from castell.counting import Counts, Factor, MemoryCounts
from castell.counting.dask import DaskFiles, DaskFrame
from castell.counting.dask_clients import connect
from castell.errors import OptionError, ReportError
from tests.cli.test_app import Shell
from tests.cli.test_app import castell as shell
from tests.contract.test_answers import (
    ENGINES,
    _in_another_order,
    _in_file,
    _in_folder,
    _in_store,
)
from tests.counting.test_engines import axes_of, random_reports, random_study

__all__ = ["shell"]  # a fixture

distributed = pytest.importorskip("distributed", reason="Dask is not installed: castell[dask]")

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as made:
        yield made
    # A client that stays looks for its scheduler, in a thread that disturbs the tests after these.
    assert not _running()


def _running() -> list[Any]:
    gc.collect()
    return [client for client in distributed.Client._instances if client.status != "closed"]


def _engine(cluster: Any) -> str:
    return f"dask://{cluster.scheduler_address.partition('://')[2]}"


@pytest.fixture
def reports() -> Reports:
    return random_reports(random_study(4), 600, 4)


@pytest.fixture
def folder(reports: Reports, tmp_path: Path) -> Path:
    many = 40
    for k in range(many):
        columns = [column[k::many] for column in reports.columns]
        Reports(reports.study, columns, secure=True).save(tmp_path / f"{k:02}.parquet")
    return tmp_path


def same_counts(counts: Counts, reports: Reports) -> None:
    every, study = MemoryCounts(reports), reports.study
    assert counts.n == len(reports)
    axes = axes_of(study, study.names)
    np.testing.assert_array_equal(counts.table(axes), every.table(axes))
    np.testing.assert_array_equal(counts.pairs(axes), every.pairs(axes))
    query = [[Factor((axes[0],), np.linspace(-1, 2, axes[0].size))]]
    np.testing.assert_array_equal(counts.moments(query).product, every.moments(query).product)
    assert sum(len(columns[0]) for columns in counts.batches([0])) == len(reports)


def test_files_and_frames_on_a_cluster(cluster: Any, folder: Path, reports: Reports) -> None:
    counts = scan_reports(folder, reports.study, engine=_engine(cluster))
    assert isinstance(counts, DaskFiles)
    assert counts.secure
    same_counts(counts, reports)
    frames = pytest.importorskip("dask.dataframe", reason="Dask frames need pandas")
    frame = frames.from_pandas(reports.to_arrow().to_pandas(), npartitions=3)
    with distributed.Client(cluster):
        found = scan_reports(frame, reports.study, secure=True)
        assert isinstance(found, DaskFrame)
        same_counts(found, reports)
        same_counts(scan_reports(folder, reports.study, engine="dask"), reports)
        with pytest.raises(ReportError, match="the frame has no column"):
            scan_reports(frame[["a0"]], reports.study)
    one, two = castell.fit(counts, "castell"), castell.fit(reports, "castell")
    np.testing.assert_array_equal(
        one.estimate(reports.study.names).probabilities,
        two.estimate(reports.study.names).probabilities,
    )


def _in_dask(cluster: Any, reports: Reports, folder: Path) -> Counts:
    _in_folder(reports, folder)
    return scan_reports(folder, reports.study, engine=_engine(cluster))


def _in_ibis(reports: Reports, folder: Path) -> Counts:
    ibis: Any = import_module("ibis")
    _in_folder(reports, folder)
    table = ibis.duckdb.connect().read_parquet(f"{folder}/*.parquet")
    return scan_reports(table, reports.study, secure=True)


def test_one_estimate_to_the_last_bit_from_everywhere(
    cluster: Any, reports: Reports, tmp_path: Path, shell: Shell
) -> None:
    """Memory, file, folder, DuckDB, Polars, ibis, a tally, Dask and the collector's store."""
    holders: list[Callable[[Reports, Path], Counts]]
    holders = [*ENGINES, _in_file, _in_store, _in_another_order, partial(_in_dask, cluster)]
    if find_spec("ibis"):
        holders.append(_in_ibis)
    names = reports.study.names[:3]
    expected = fit(reports, "castell").estimate(names)
    for k, holder in enumerate(holders):
        place = tmp_path / str(k)
        place.mkdir()
        joint = fit(holder(reports, place), "castell").estimate(names)
        np.testing.assert_array_equal(joint.probabilities, expected.probabilities)
        np.testing.assert_array_equal(joint.standard_errors, expected.standard_errors)
        np.testing.assert_array_equal(joint.conf_int(), expected.conf_int())
    reports.study.save(tmp_path / "study.json")
    ask = ("estimate", str(tmp_path / "study.json"), str(tmp_path / "0"), *names, "--json")
    ask = (*ask, "--method", "castell")
    alone, together = shell(*ask), shell(*ask, "--engine", _engine(cluster))
    assert together.code == 0
    assert together.json == alone.json


def test_a_worker_that_is_killed_changes_nothing(
    cluster: Any, folder: Path, reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(castell.counting.dask, "PART", 1)  # every file a task of its own
    killed: list[int] = []

    def kill_one(_: float) -> None:
        if not killed:
            pids = counts.connection.client.run(os.getpid)  # type: ignore[attr-defined]
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    counts = scan_reports(folder, reports.study, engine=_engine(cluster), progress=kill_one)
    axes = axes_of(reports.study, reports.study.names)
    np.testing.assert_array_equal(counts.table(axes), MemoryCounts(reports).table(axes))
    assert killed


def test_interrupted_nothing_goes_on(cluster: Any, folder: Path, reports: Reports) -> None:
    def stop(_: float) -> None:
        raise KeyboardInterrupt

    counts = scan_reports(folder, reports.study, engine=_engine(cluster), progress=stop)
    with pytest.raises(KeyboardInterrupt):
        counts.table(axes_of(reports.study, reports.study.names))
    again = scan_reports(folder, reports.study, engine=_engine(cluster))
    same_counts(again, reports)


def test_what_a_worker_finds_wrong_is_told(cluster: Any, folder: Path, reports: Reports) -> None:
    counts = scan_reports(folder, reports.study, engine=_engine(cluster))
    Reports(reports.study, [c[:3] for c in reports.columns], secure=True).save(
        folder / "07.parquet"
    )
    with pytest.raises(ReportError, match=r"07.parquet was changed since it was opened"):
        counts.table(axes_of(reports.study, reports.study.names))
    with pytest.raises(OptionError, match="files say themselves"):
        scan_reports(folder, reports.study, engine=_engine(cluster), secure=True)


def test_a_client_goes_with_the_last_counts_that_use_it(
    cluster: Any, folder: Path, reports: Reports
) -> None:
    assert not _running()
    first = scan_reports(folder, reports.study, engine=_engine(cluster))
    second = scan_reports(folder, reports.study, engine=_engine(cluster))
    assert len(_running()) == 1
    model = fit(first, "castell")
    del first, second
    assert len(_running()) == 1  # the model still counts
    same_counts(pickle.loads(pickle.dumps(model.counts)), reports)  # noqa: S301
    del model
    assert not _running()
    with distributed.Client(cluster) as mine:
        counts = scan_reports(folder, reports.study, engine="dask")
        same_counts(counts, reports)
        del counts
        assert _running() == [mine]  # is not castell's to close


def test_a_cluster_that_castell_started_goes_too(folder: Path, reports: Reports) -> None:
    counts = scan_reports(folder, reports.study, engine="dask")
    same_counts(counts, reports)
    assert len(_running()) == 1
    with pytest.raises(ValueError, match="No clients found"):
        distributed.Client.current()  # other code does not get a client that will be closed
    del counts
    assert not _running()


def test_the_last_counts_may_go_in_the_thread_of_the_client(cluster: Any) -> None:
    kept = [connect(cluster.scheduler_address)]
    client = kept[0].client
    client.loop.add_callback(kept.clear)
    for _ in range(1000):
        if client.status == "closed":
            break
        Event().wait(0.01)
    assert client.status == "closed"


def test_a_script_that_starts_workers_unguarded_is_told_where_to_put_it(
    folder: Path, reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    import distributed

    class Unguarded(distributed.Client):  # type: ignore[misc]
        def __new__(cls, *_: object, **__: object) -> Unguarded:
            raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "Client", Unguarded)
    with pytest.raises(OptionError, match="below if __name__"):
        scan_reports(folder, reports.study, engine="dask")


def test_no_scheduler_is_one_line_and_leaves_no_client(
    folder: Path, reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(castell.counting.dask_clients, "_PATIENCE", 0.2)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        engine = f"dask://127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(OptionError, match="no Dask scheduler answers at 127"):
            scan_reports(folder, reports.study, engine=engine)
    assert not _running()


@pytest.mark.parametrize("groups", [1, 5])
def test_parts_hold_every_row_group_once(groups: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(castell.counting.dask, "PART", 1000)
    files = [
        castell.counting.parquet.Scanned(f"{n}.parquet", n, True, groups if n else 0)
        for n in (0, 10, 2500, 700, 700)
    ]
    parts = list(castell.counting.dask._parts(files))
    found = sorted((file.path, g) for part in parts for file, some in part for g in some)
    assert found == sorted((file.path, g) for file in files for g in range(file.groups))
    assert len(parts) > 1
