"""The rules without a database: what becomes of submissions, ids and codes as bytes."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castell import Attribute, Schema, Study
from castell.collector.store import Packing, Submission
from castell.collector.store.acceptance import settle
from castell.collector.store.invitations import invitation_key, new_invitation
from castell.collector.store.store import Refusal, report_key
from castell.collector.wire import id_bytes, id_text, new_id, wire_of
from castell.errors import ReportError, StudyError
from tests.collector.respondents import STUDY

# No test looks at the clock.
relaxed = settings(deadline=None)

# Few ids, codes and invitations, so that they meet.
reports = st.tuples(st.sampled_from([b"a", b"b", b"c"]), st.sampled_from([b"0", b"1"]))
submissions = st.lists(
    st.builds(
        Submission,
        st.lists(reports, min_size=1, max_size=3).map(tuple),
        st.sampled_from([None, "x", "y"]),
        st.booleans(),
    ),
    max_size=8,
)


@relaxed
@given(
    st.dictionaries(st.sampled_from([b"a", b"b"]), st.sampled_from([b"0", b"1"])),
    submissions,
    st.booleans(),
)
def test_settling_together_is_settling_one_by_one(
    known: dict[bytes, bytes], sent: list[Submission], paused: bool
) -> None:
    """A batch gives each submission what it would have got alone, after those before it."""
    for invited in (False, True):
        left = {"x", "y"}

        def spend(code: str | None, left: set[str] = left) -> bool:
            if code not in left:
                return False
            left.remove(code)
            return True

        outcomes, written = settle(sent, known, spend if invited else None, paused=paused)
        held, unspent = dict(known), {"x", "y"}
        for submission, outcome in zip(sent, outcomes, strict=True):
            after, problem = dict(held), None
            for id, codes in submission.reports:
                if after.setdefault(id, codes) != codes:
                    problem = Refusal.CONFLICT
                    break
            new = len(after) - len(held)
            if problem is None and new and not submission.in_hours:
                problem = Refusal.CLOSED
            if problem is None and new and paused:
                problem = Refusal.PAUSED
            if problem is None and not invited and submission.invitation:
                problem = Refusal.UNASKED
            if problem is None and new and invited:
                if submission.invitation not in unspent:
                    problem = Refusal.INVITATION
                else:
                    unspent.remove(submission.invitation)
            assert outcome.refusal is problem
            if problem is None:
                held = after
                assert outcome.stored == new
                assert outcome.stored + outcome.repeated == len(submission.reports)
            else:
                assert (outcome.stored, outcome.repeated) == (0, 0)
        assert {**known, **written} == held
        assert not set(known) & set(written)
        if invited:
            assert left == unspent


@relaxed
@given(st.lists(st.integers(2, 70_000), min_size=1, max_size=6), st.data())
def test_codes_survive_packing(widths: list[int], data: st.DataObject) -> None:
    packing = Packing(widths)
    rows = data.draw(st.lists(st.tuples(*(st.integers(0, w - 1) for w in widths)), max_size=5))
    packed = [packing.pack(row) for row in rows]
    assert [packing.unpack(row) for row in packed] == rows
    columns = packing.columns(packed)
    assert [tuple(row) for row in zip(*(c.tolist() for c in columns), strict=True)] == rows
    assert all(len(row) == packing.size for row in packed)


def test_rows_of_another_length_are_refused() -> None:
    packing = Packing((4, 300))
    for rows in ([b"\x00"], [b"\x00" * 4, b"\x00" * 2]):
        with pytest.raises(ReportError, match="cut short"):
            packing.columns(rows)


@relaxed
@given(st.binary(min_size=16, max_size=16))
def test_an_id_is_written_one_way(raw: bytes) -> None:
    text = id_text(raw)
    assert len(text) == 22
    assert id_bytes(text) == raw


def test_ids_are_random() -> None:
    assert len({new_id() for _ in range(1000)}) == 1000


def test_invitations_are_bound_to_the_study() -> None:
    other = Study(Schema([Attribute("a", ["x", "y"])]), epsilon=1.0)
    code = new_invitation()
    assert invitation_key(STUDY, code) != invitation_key(other, code)
    assert len({new_invitation() for _ in range(1000)}) == 1000


def test_ids_made_in_an_order_have_keys_without_one() -> None:
    """Ids that count up, or begin with the time, must not tell the order by their keys."""
    other = Study(Schema([Attribute("a", ["x", "y"])]), epsilon=1.0)
    ids = [i.to_bytes(16, "big") for i in range(1000)]
    keys = [report_key(STUDY, id) for id in ids]
    assert len(set(keys)) == 1000
    assert {len(key) for key in keys} == {16}
    pairs = itertools.pairwise(keys)
    assert 400 < sum(a < b for a, b in pairs) < 600
    assert report_key(other, ids[0]) != keys[0]


def test_a_report_of_a_drawn_design_is_one_integer() -> None:
    schema = Schema([Attribute("a", ["x", "y"]), Attribute("b", ["1", "2", "3"])])
    drawn = Study(schema, epsilon=1.0, design="singles")
    wire = wire_of(drawn)
    body = '{"id":"AAAAAAAAAAAAAAAAAAAAAA","study":"%s","codes":[%s]}'
    read = wire.decode_one((body % (drawn.digest, "4")).encode())
    assert read.reports == ((report_key(drawn, bytes(16)), b"\x04"),)
    for codes in ("5", "0,1", ""):
        with pytest.raises(Exception, match="code"):
            wire.decode_one((body % (drawn.digest, codes)).encode())


def test_reports_too_large_for_a_browser_are_not_collected() -> None:
    filters = Study(Schema([Attribute("a", ["x", "y"])]), epsilon=1.0, design="bloom")
    with pytest.raises(StudyError, match="too large for a browser"):
        wire_of(filters)
