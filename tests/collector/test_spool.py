"""The spool: a file of what waits, whole after a power cut, without a history."""

from __future__ import annotations

import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from castell.collector.store import StoreError, Submission, open_store
from castell.collector.store import spool as module
from castell.collector.store.spool import Spool, Waiting
from castell.collector.store.spool_folder import folder_name, spool_folder
from castell.collector.store.spooled_store import SpooledStore
from tests.collector.respondents import PACKING, STUDY, pair, waiting

NAME = b"n" * 16


def spool_at(path: Path, name: bytes = NAME) -> Spool:
    return Spool(path, name, PACKING.size)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    spool = spool_at(tmp_path / "s")
    assert spool.read() == Waiting()
    for held in (waiting(1), waiting(100, 40), waiting(0, 3), waiting(5)):
        spool.write(held)
        assert spool.read() == held
        assert [path.name for path in tmp_path.iterdir()] == ["s"]
        assert stat.S_IMODE(spool.path.stat().st_mode) == 0o600
    spool.write(Waiting())
    assert spool.read() == Waiting()


def test_the_file_is_the_same_whatever_the_order(tmp_path: Path) -> None:
    held = waiting(50, 50)
    turned = Waiting(dict(list(held.reports.items())[::-1]), held.spent, held.hour)
    contents = []
    for content in (held, turned):
        spool = spool_at(tmp_path / "s")
        for before in (waiting(1), waiting(60, 60), waiting(2, 2)):
            spool.write(before)
        spool.write(content)
        whole = spool.path.read_bytes()
        # What was there before leaves nothing: the other half is zeros.
        halves = whole[: len(whole) // 2], whole[len(whole) // 2 :]
        assert sorted(half.strip(b"\x00") == b"" for half in halves) == [False, True]
        contents.append(max(halves))
        spool.path.unlink()
    assert contents[0] == contents[1]


def test_a_power_cut_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    """Whatever part of a write has reached the disk, and whether the old half is cleared or not."""
    for turns in range(3):  # each of the numbers that tell which half is newer
        path = tmp_path / f"s{turns}"
        spool = spool_at(path)
        for _ in range(turns + 1):
            old = waiting(20, 20)
            spool.write(old)
        before = path.read_bytes()
        new = waiting(21, 21)
        spool.write(new)
        after = path.read_bytes()
        assert len(before) == len(after)
        half = len(before) // 2
        first = slice(half) if after[half:].strip(b"\x00") == b"" else slice(half, None)
        both = bytearray(before)
        both[first] = after[first]
        path.write_bytes(both)
        assert spool.read() == new
        spool.tidy()
        assert path.read_bytes() == after
        for cut in (1, 100, 500):
            torn = bytearray(before)
            start = first.start or 0
            torn[start : start + cut] = after[start : start + cut]
            path.write_bytes(torn)
            assert spool.read() == old
            spool.write(new)
            assert spool.read() == new


def test_a_sync_that_fails_keeps_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(handle: int) -> None:
        raise OSError(5, "no disk", str(handle))

    spool = spool_at(tmp_path / "s")
    held = waiting(10)
    spool.write(held)
    with monkeypatch.context() as patch:
        patch.setattr(module, "_sync_data", fail)
        with pytest.raises(StoreError, match=r"cannot write .*no disk.*see to the disk"):
            spool.write(waiting(11))
    assert spool.read() == held


def test_the_file_grows_and_shrinks(tmp_path: Path) -> None:
    spool = spool_at(tmp_path / "s")
    sizes = []
    for number in (1, 5000, 5001, 3):
        held = waiting(number)
        spool.write(held)
        assert spool.read() == held
        sizes.append(spool.path.stat().st_size)
    assert sizes[0] == sizes[3] < 20_000 < 100_000 < sizes[1] == sizes[2]


def test_reading_while_another_writes(tmp_path: Path) -> None:
    """A reader holds no lock, and still finds what one write or another has left."""
    spool = spool_at(tmp_path / "s")
    states = [waiting(number, number) for number in range(30, 60)]
    spool.write(states[0])
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            for state in states:
                spool.write(state)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(300):
            assert spool.read() in states
    finally:
        stop.set()
        writer.join()


def test_what_is_damaged_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BETWEEN", 0.0)
    spool = spool_at(tmp_path / "s")
    spool.write(waiting(5, 5))
    whole = spool.path.read_bytes()
    for content in (b"", b"dear diary", whole[:200], b"\x00" + whole[1:], bytes(len(whole))):
        spool.path.write_bytes(content)
        for ask in (spool.read, lambda: spool.write(waiting(1))):
            with pytest.raises(StoreError, match="is damaged: restore a backup"):
                ask()
    # Rows of another length: a study's codes have one.
    spool.path.unlink()
    Spool(tmp_path / "s", NAME, PACKING.size + 1).write(Waiting({b"k" * 16: b"c" * 5}))
    with pytest.raises(StoreError, match="is damaged"):
        spool.read()
    spool.path.unlink()
    spool_at(tmp_path / "s", b"m" * 16).write(waiting(1))
    with pytest.raises(StoreError, match="another store"):
        spool.read()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "s.part").mkdir()
    with pytest.raises(StoreError, match=r"cannot write .*see to the disk"):
        spool_at(tmp_path / "s").write(waiting(1))
    (tmp_path / "s").mkdir()
    with pytest.raises(StoreError, match=r"cannot be read .*see to its rights"):
        spool_at(tmp_path / "s").read()


def test_what_a_crash_in_a_write_has_left_is_removed(place: str) -> None:
    with closing(open_store(place, STUDY)) as store:
        assert isinstance(store, SpooledStore)
        store.add([Submission((pair(),))])
        part = store.spool.path.with_name(store.spool.path.name + ".part")
        part.write_bytes(b"half of a spool")
        store.rest()
        assert not part.exists()
        assert store.count() == 1


def test_a_spool_that_is_lost_is_missed(place: str, caplog: pytest.LogCaptureFixture) -> None:
    with closing(open_store(place, STUDY)) as store:
        assert isinstance(store, SpooledStore)
        store.add([Submission((pair(),)) for _ in range(200)])
    away = store.spool.path.rename(store.spool.path.with_name("away"))
    with pytest.raises(StoreError, match=r"missing, and reports waited in it: bring it back; if"):
        open_store(place, STUDY)
    assert [r for r in caplog.records if r.name == "castell"] == []
    with closing(open_store(place)) as reader:
        assert reader.count() == 136
    (said,) = [r.getMessage() for r in caplog.records if r.name == "castell"]
    assert "missing, and reports waited in it: bring it back" in said
    away.rename(store.spool.path)
    with closing(open_store(place, STUDY)) as store:
        assert store.count() == 200


def test_a_spool_folder_has_a_name_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a" / "b"
    name = folder_name(folder)
    assert folder_name(folder) == name
    assert [path.name for path in folder.iterdir()] == ["name"]
    assert folder_name(tmp_path / "c") != name
    (folder / "name").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="is damaged"):
        folder_name(folder)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot be used .*--spool"):
        folder_name(tmp_path / "file")
    # Where it is, unless it is given.
    assert spool_folder(tmp_path) == tmp_path
    monkeypatch.setenv("CASTELL_SPOOL", str(folder))
    assert spool_folder() == folder
    monkeypatch.delenv("CASTELL_SPOOL")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert spool_folder() == tmp_path / "castell"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert spool_folder() == Path.home() / ".local" / "state" / "castell"
