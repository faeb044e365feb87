"""Filing: what is drawn from the spool, and a crash at every step in between."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import pytest

from castell.collector.store import Store, Submission, open_store
from castell.collector.store.filing import POOL, choose_for_filing, goes_straight, is_due
from castell.collector.store.invitations import invitation_key, new_invitation
from castell.collector.store.spool import Spool, Waiting
from castell.collector.store.spooled_store import SpooledStore
from castell.collector.store.store import Outcome, Refusal
from tests.collector.respondents import STUDY, pair, waiting


def keys_of(store: Store) -> set[bytes]:
    with store.snapshot() as snapshot:
        return {key for part in snapshot.rows for key, _, _ in part}


# -- what is drawn -----------------------------------------------------------------------------


def test_what_is_filed_is_drawn_at_random_and_a_pool_stays() -> None:
    """Whoever came when, each is as likely to be filed; reports and invitations on their own."""
    held = waiting(2 * POOL, 2 * POOL)
    assert is_due(len(held.reports))
    pairs = list(zip(sorted(held.reports), sorted(held.spent), strict=True))
    times, both = 600, 0
    filed: Counter[bytes] = Counter()
    for _ in range(times):
        chosen = choose_for_filing(held)
        assert len(chosen.reports) == len(chosen.spent) == POOL
        filed.update([*chosen.reports, *chosen.spent])
        both += sum(key in chosen.reports and code in chosen.spent for key, code in pairs)
    # Each count has mean 300 and standard deviation 12.2; `both` 19,200 and less than 100.
    assert len(filed) == 4 * POOL
    assert all(200 < count < 400 for count in filed.values())
    assert abs(both - times * POOL / 2) < 1000


def test_few_invitations_stay_with_the_pool() -> None:
    """Reports that needed none are among those that wait: a single one used must not be filed."""
    chosen = choose_for_filing(waiting(2 * POOL, 1))
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

    hour = 0
    from castell.collector.store import spooled_store

    monkeypatch.setattr(spooled_store, "this_hour", lambda: hour)
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
        assert sum(len(hours) for _, hours, _ in store.dated_batches(step=7)) == 2 * POOL + 2
