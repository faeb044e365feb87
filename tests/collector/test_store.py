"""What every store promises, on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from castell import Attribute, Schema, Study, fit, scan_reports
from castell.collector.store import Store, StoreError, Submission, counts_of, is_store, open_store
from castell.collector.store.invitations import new_invitation
from castell.collector.store.store import Outcome, Refusal, this_hour
from castell.study.study import Study as StudyType
from tests.collector.respondents import PACKING, STUDY, WIDTHS, pair

OTHER = Study(Schema([Attribute("sex", ["Female", "Male"])]), epsilon=1.0)


def one(report: tuple[bytes, bytes], invitation: str | None = None) -> Submission:
    return Submission((report,), invitation)


def held(store: Store) -> Counter[tuple[int, ...]]:
    """The codes in a store, however they are ordered."""
    found: Counter[tuple[int, ...]] = Counter()
    for columns in store.batches(step=7):
        found.update(zip(*(column.tolist() for column in columns), strict=True))
    return found


def of(reports: list[tuple[bytes, bytes]]) -> Counter[tuple[int, ...]]:
    return Counter(PACKING.unpack(codes) for _, codes in reports)


def test_what_goes_in_comes_out(store: Store) -> None:
    reports = [pair() for _ in range(50)]
    assert store.count() == 0
    assert store.add([one(r) for r in reports[:20]]) == [Outcome(1)] * 20
    assert store.add([Submission(tuple(reports[20:]))]) == [Outcome(30)]
    assert store.count() == 50
    assert held(store) == of(reports)
    assert store.secure
    assert not store.needs_invitation()


def test_a_report_is_kept_once_however_often_it_comes(store: Store) -> None:
    first, second = pair(), pair()
    assert store.add([one(first), one(first)]) == [Outcome(1), Outcome(0, 1)]
    assert store.add([one(first)]) == [Outcome(0, 1)]
    assert store.add([Submission((first, second, second))]) == [Outcome(1, 2)]
    assert held(store) == of([first, second])


def test_an_id_stands_for_one_report(store: Store) -> None:
    id, codes = pair()
    other = next(c for _, c in iter(pair, None) if c != codes)
    new, newer = pair(), pair()
    store.add([one((id, codes))])
    outcomes = store.add([one((id, other)), Submission((new, (id, other))), one(newer)])
    # A submission is kept whole or not at all, and does not take others with it.
    assert outcomes == [
        Outcome(0, 0, Refusal.CONFLICT, 0),
        Outcome(0, 0, Refusal.CONFLICT, 1),
        Outcome(1),
    ]
    twice = Submission((new, (new[0], next(c for _, c in iter(pair, None) if c != new[1]))))
    assert store.add([twice]) == [Outcome(0, 0, Refusal.CONFLICT, 1)]
    assert held(store) == of([(id, codes), newer])


def test_hours_are_all_that_is_kept_of_time(store: Store) -> None:
    store.add([one(pair())])
    ((text, count),) = store.timeline()
    assert count == 1
    assert text.endswith(":00:00Z")
    ((_, hours, columns),) = list(store.dated_batches())
    assert hours.tolist() == [this_hour()]
    assert [len(column) for column in columns] == [1] * len(WIDTHS)


def test_reports_come_out_in_an_order_without_meaning(store: Store) -> None:
    reports = sorted((pair() for _ in range(100)), reverse=True)
    for report in reports:
        store.add([one(report)])
    rows = [row for columns in store.batches() for row in zip(*columns, strict=True)]
    # By the random id, whatever the order they came in.
    assert rows == [PACKING.unpack(codes) for _, codes in sorted(reports)]


def test_estimates_from_a_store(store: Store) -> None:
    answers = {
        "sex": ["Female", "Male"] * 2000,
        "smokes": ["never", "never", "now", "now"] * 1000,
        "health": ["good"] * 4000,
        "town": ["town 7"] * 4000,
    }
    reports = STUDY.randomize(answers, seed=5)
    rows = zip(*(column.tolist() for column in reports.columns), strict=True)
    store.add([Submission(tuple((pair()[0], PACKING.pack(row)) for row in rows))])
    counts = counts_of(store, STUDY)
    assert counts.n == 4000
    for method in ("castell", "auto"):
        found = fit(counts, method).estimate(["sex", "smokes"])
        expected = fit(reports, method).estimate(["sex", "smokes"])
        # Folds depend on what reports say, so a store's own order makes no difference.
        np.testing.assert_allclose(found.probabilities, expected.probabilities, atol=1e-12)
        np.testing.assert_allclose(found.conf_int(), expected.conf_int(), atol=1e-12)
    with pytest.raises(StoreError, match="another study"):
        counts_of(store, OTHER)


def test_a_store_is_a_counting_engine(place: str) -> None:
    reports = [pair() for _ in range(300)]
    with closing(open_store(place, STUDY)) as store:
        store.add([Submission(tuple(reports))])
        for engine in (None, "store"):
            counts = scan_reports(place, STUDY, engine=engine)
            store.add([one(pair())])
            (columns,) = counts.batches(range(len(WIDTHS)))
            assert counts.n == len(columns[0])
            assert counts.secure
    assert scan_reports(place, STUDY).n == len(reports) + 2
    with pytest.raises(StoreError, match="another study"):
        scan_reports(place, OTHER)


def test_a_count_holds_still_while_reports_come(store: Store) -> None:
    store.add([one(pair())])
    counts = counts_of(store)
    store.add([one(pair())])
    assert counts.n == 1
    assert counts_of(store).n == 2


def test_nothing_yet(store: Store) -> None:
    assert counts_of(store).n == 0
    assert store.timeline() == []
    assert store.add([]) == []


def test_another_study_is_refused(place: str) -> None:
    open_store(place, STUDY).close()
    with pytest.raises(StoreError, match=r"another study .*any other change makes another study"):
        open_store(place, OTHER)
    with closing(open_store(place)) as store:
        assert store.study == STUDY
    assert is_store(place)


def test_a_store_that_is_not_there(place: str) -> None:
    with pytest.raises(StoreError, match=r"there is no store.*castell serve makes"):
        open_store(place)


def test_an_insecure_store_stays_so(place: str) -> None:
    open_store(place, STUDY, secure=False).close()
    with closing(open_store(place, STUDY)) as store:
        assert not store.secure
        assert not counts_of(store).secure


def test_no_codes_at_all_close_a_store(store: Store) -> None:
    store.invite(())
    assert store.needs_invitation()
    assert store.add([Submission((pair(),))]) == [Outcome(0, 0, Refusal.INVITATION)]


def test_invitations_let_one_report_in_each(store: Store) -> None:
    codes = [new_invitation() for _ in range(3)]
    store.invite(codes)
    assert store.needs_invitation()
    first, second = pair(), pair()
    refused = Outcome(0, 0, Refusal.INVITATION)
    assert store.add([one(first)]) == [refused]
    assert store.add([one(first, new_invitation())]) == [refused]
    assert store.add([one(first, codes[0])]) == [Outcome(1)]
    # A client that did not hear the answer sends the same again: that is no second report.
    assert store.add([one(first, codes[0])]) == [Outcome(0, 1)]
    assert store.add([one(second, codes[0])]) == [refused]
    # Within one transaction as well.
    third = pair()
    assert store.add([one(second, codes[1]), one(third, codes[1])]) == [Outcome(1), refused]
    assert held(store) == of([first, second])
    # A conflict does not use the invitation up.
    wrong = (first[0], next(c for _, c in iter(pair, None) if c != first[1]))
    assert store.add([one(wrong, codes[2])]) == [Outcome(0, 0, Refusal.CONFLICT)]
    assert store.add([one(third, codes[2])]) == [Outcome(1)]


def test_a_used_invitation_is_forgotten(store: Store) -> None:
    codes = [new_invitation() for _ in range(5)]
    store.invite(codes)
    store.add([one(pair(), codes[0]), one(pair(), codes[3])])
    with store.snapshot() as snapshot:
        rows = [row for part in snapshot.rows for row in part]
        assert len(snapshot.unspent) == 3
        assert snapshot.unspent == sorted(snapshot.unspent)
        # Nothing beside a report but its hour: no code, no hash, no number of its own.
        assert [len(row) for row in rows] == [3, 3]
        assert {hour for _, _, hour in rows} == {this_hour()}


def test_invitations_stay_needed(place: str) -> None:
    with closing(open_store(place, STUDY)) as store:
        store.invite([new_invitation()])
    with closing(open_store(place, STUDY)) as store:
        assert store.needs_invitation()


def test_invitations_of_another_process_are_asked_for_at_once(place: str) -> None:
    code = new_invitation()
    with closing(open_store(place, STUDY)) as store, closing(open_store(place, STUDY)) as other:
        early = pair()
        assert store.add([one(early)]) == [Outcome(1)]
        assert store.add([one(pair(), code)]) == [Outcome(0, 0, Refusal.UNASKED)]
        other.invite([code])
        assert store.needs_invitation()
        refused = Outcome(0, 0, Refusal.INVITATION)
        assert store.add([one(pair()), one(early)]) == [refused, Outcome(0, 1)]
        assert store.add([one(pair(), code), one(pair(), code)]) == [Outcome(1), refused]


def test_two_collectors_on_one_store(place: str) -> None:
    """Each sends the same reports, at once and in other batches: still each is kept once."""
    reports = [pair() for _ in range(400)]
    stores = [open_store(place, STUDY) for _ in range(2)]
    stored, errors = [0, 0], []

    def send(which: int, size: int) -> None:
        try:
            for start in range(0, len(reports), size):
                part = reports[start : start + size]
                outcomes = stores[which].add([one(r) for r in part])
                stored[which] += sum(outcome.stored for outcome in outcomes)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=send, args=arguments) for arguments in ((0, 7), (1, 11))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sum(stored) == 400
    assert held(stores[0]) == of(reports)
    for store in stores:
        store.close()


def test_codes_that_no_report_holds_are_found(store: Store) -> None:
    from castell.errors import ReportError

    store.add([one((bytes(16), PACKING.pack([0, 0, 299]))), one((b"x" * 16, b"\xff" * 4))])
    with pytest.raises(ReportError, match="is not a report"):
        counts_of(store)


def test_the_protocol_is_all_there(store: Store) -> None:
    names: list[Any] = [name for name in vars(Store) if not name.startswith("_")]
    assert len(names) >= 10
    assert all(hasattr(store, name) for name in names)
    assert isinstance(store.study, StudyType)
