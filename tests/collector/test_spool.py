"""The spool and filing: what waits, what is drawn, and a crash at every step in between."""

from __future__ import annotations

import stat
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from castell.collector.store import Store, StoreError, Submission, open_store
from castell.collector.store import spool as module
from castell.collector.store.filing import POOL, drawn, goes_straight, is_due
from castell.collector.store.invitations import invitation_key, new_invitation
from castell.collector.store.spool import Spool, Waiting
from castell.collector.store.spooled import SpooledStore
from castell.collector.store.spoolfolder import folder_name, spool_folder
from castell.collector.store.store import Outcome, Refusal, this_hour
from tests.collector.respondents import PACKING, STUDY, pair

NAME = b"n" * 16


def spool_at(path: Path, name: bytes = NAME) -> Spool:
    return Spool(path, name, PACKING.size)


def waiting(reports: int, spent: int = 0) -> Waiting:
    keys = frozenset(invitation_key(STUDY, new_invitation()) for _ in range(spent))
    return Waiting(dict(pair() for _ in range(reports)), keys, this_hour())


def keys_of(store: Store) -> set[bytes]:
    with store.snapshot() as snapshot:
        return {key for part in snapshot.rows for key, _, _ in part}


# -- the file ----------------------------------------------------------------------------------


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
    (said,) = caplog.messages
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


# -- what is drawn -----------------------------------------------------------------------------


def test_what_is_filed_is_drawn_at_random_and_a_pool_stays() -> None:
    """Whoever came when, each is as likely to be filed; reports and invitations on their own."""
    held = waiting(2 * POOL, 2 * POOL)
    assert is_due(len(held.reports))
    pairs = list(zip(sorted(held.reports), sorted(held.spent), strict=True))
    times, both = 600, 0
    filed: Counter[bytes] = Counter()
    for _ in range(times):
        chosen = drawn(held)
        assert len(chosen.reports) == len(chosen.spent) == POOL
        filed.update([*chosen.reports, *chosen.spent])
        both += sum(key in chosen.reports and code in chosen.spent for key, code in pairs)
    # Each count has mean 300 and standard deviation 12.2; `both` 19,200 and less than 100.
    assert len(filed) == 4 * POOL
    assert all(200 < count < 400 for count in filed.values())
    assert abs(both - times * POOL / 2) < 1000


def test_few_invitations_stay_with_the_pool() -> None:
    """Reports that needed none are among those that wait: a single one used must not be filed."""
    chosen = drawn(waiting(2 * POOL, 1))
    assert (len(chosen.reports), len(chosen.spent)) == (POOL, 0)
    assert not is_due(2 * POOL - 1)
    assert goes_straight(waiting(POOL), waiting(POOL).reports)
    assert not goes_straight(waiting(POOL - 1), waiting(POOL).reports)
    assert not goes_straight(waiting(POOL), waiting(POOL - 1).reports)


def test_the_database_never_sees_fewer_than_a_pool(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever comes, one by one or many at once, with invitations or without."""
    filings: list[tuple[int, int]] = []
    with closing(open_store(place, STUDY)) as store:
        assert isinstance(store, SpooledStore)
        real = store._insert

        def noted(link, reports, spent, hour):  # type: ignore[no-untyped-def]
            filings.append((len(reports), len(spent)))
            return real(link, reports, spent, hour)

        monkeypatch.setattr(store, "_insert", noted)
        sent = 0
        for size in (1, 1, 70, 3, 60, 1, 64, 63, 200, 1, 500, 2):
            store.add([Submission((pair(),)) for _ in range(size)])
            sent += size
            left = len(store.spool.read().reports)
            assert left == sent if sent <= 2 * POOL else left >= POOL
        store.rest()
        assert POOL <= len(store.spool.read().reports) < 2 * POOL
        codes = [new_invitation() for _ in range(1000)]
        store.invite(codes)
        for size in (1, 63, 64, 1, 1, 200, 66, 500):
            part, codes = codes[:size], codes[size:]
            store.add([Submission((pair(),), code) for code in part])
            sent += size
        assert store.count() == sent
        with store.snapshot() as snapshot:
            assert sorted(snapshot.unspent) == sorted(invitation_key(STUDY, c) for c in codes)
    assert len(filings) >= 8
    assert all(reports >= POOL for reports, _ in filings)


# -- crashes -----------------------------------------------------------------------------------


class Crash(BaseException):
    """Nothing catches it: as if the process had ended here."""


@pytest.mark.parametrize("step", ["before the filing", "after the filing", "after the spool"])
def test_a_crash_at_every_step_loses_and_doubles_nothing(
    place: str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = [new_invitation() for _ in range(300)]
    sent = [Submission((pair(),), code) for code in codes]
    first, last = sent[: 2 * POOL], sent[2 * POOL]
    with closing(open_store(place, STUDY)) as store:
        assert isinstance(store, SpooledStore)
        store.invite(codes)
        store.add(first)
        real = Spool.write

        def crash(*_: object) -> None:
            raise Crash

        def write(spool: Spool, content: Waiting) -> None:
            if step == "after the filing":
                raise Crash
            real(spool, content)
            if step == "after the spool":
                raise Crash

        with monkeypatch.context() as patch:
            patch.setattr(Spool, "write", write)
            if step == "before the filing":
                patch.setattr(store, "_insert", crash)
            with pytest.raises(Crash):
                store.add([last])
    with closing(open_store(place, STUDY)) as store:
        kept = {key for one in first for key, _ in one.reports}
        ((key, _),) = last.reports
        if step == "after the spool":
            kept |= {key}
        assert keys_of(store) == kept
        assert store.count() == len(kept)
        # The device heard nothing and sends the same again.
        assert store.add([last]) == [Outcome(0, 1) if key in kept else Outcome(1)]
        assert store.add(first) == [Outcome(0, 1)] * len(first)
        assert keys_of(store) == kept | {key}
        # A used invitation stays used, an unused one is good.
        refused = Outcome(0, 0, Refusal.INVITATION)
        assert store.add([Submission((pair(),), codes[0])]) == [refused]
        assert store.add([Submission((pair(),), last.invitation)]) == [refused]
        assert {outcome.stored for outcome in store.add(sent[2 * POOL + 1 :])} == {1}
        assert store.count() == 300
        with store.snapshot() as snapshot:
            assert snapshot.unspent == []


def test_the_hour_is_that_of_the_filing(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow study has no hour with a single report; what waits has the hour of its last."""
    from castell.collector.store import spooled

    hour = 0
    monkeypatch.setattr(spooled, "this_hour", lambda: hour)
    with closing(open_store(place, STUDY)) as store:
        for number in range(1, 2 * POOL + 1):
            hour = 3600 * number
            store.add([Submission((pair(),))])
            # However slowly they come: all of them wait, under the hour of the last.
            assert [count for _, count in store.timeline()] == [number]
        hour += 3600
        store.add([Submission((pair(),))])
        assert [count for _, count in store.timeline()] == [2 * POOL + 1]
        hour += 3600
        store.add([Submission((pair(),))])
        assert [count for _, count in store.timeline()] == [POOL, POOL + 2]
        assert sum(len(hours) for hours, _ in store.dated(step=7)) == 2 * POOL + 2
