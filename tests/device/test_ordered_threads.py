"""Parts are worked on side by side, and nobody sees it but by the time it takes."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from castell.device.ordered_threads import in_order


def test_results_come_in_order_though_the_first_is_done_last() -> None:
    second = threading.Event()

    def work(part: int) -> int:
        if part == 0:
            assert second.wait(60.0)  # it would wait for ever if parts came one after the other
        elif part == 1:
            second.set()
        return part * part

    assert list(in_order(work, range(6), 2)) == [0, 1, 4, 9, 16, 25]


@pytest.mark.parametrize(("threads", "ahead"), [(1, 0), (2, 2), (3, 3)])
def test_few_parts_are_read_ahead(threads: int, ahead: int) -> None:
    read: list[int] = []

    def parts() -> Iterator[int]:
        for part in range(20):
            read.append(part)
            yield part

    for result in in_order(lambda part: part, parts(), threads):
        assert len(read) <= result + 1 + ahead
    assert read == list(range(20))


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_is_that_of_the_work_and_ends_it(threads: int) -> None:
    begun: list[int] = []

    def work(part: int) -> int:
        begun.append(part)
        if part == 2:
            raise ValueError(part)
        return part

    with pytest.raises(ValueError, match="2"):
        list(in_order(work, range(1000), threads))
    assert len(begun) <= 3 + threads


def test_who_stops_early_leaves_no_thread() -> None:
    before = threading.active_count()
    results = in_order(lambda part: part, range(1000), 3)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
