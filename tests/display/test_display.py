"""How nouns show themselves: lines that stay short, JSON that is JSON, arrays, escaped HTML."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from castell.display.arrays import array_of
from castell.display.json_values import plain
from castell.display.notebook import heading, html_table, interval_mark
from castell.display.one_line import MOST, one_line, shorten
from castell.errors import OptionError


@given(
    st.builds(str.__mul__, st.text(max_size=40), st.integers(0, 30)),
    st.lists(st.text("abc 1", max_size=20), max_size=5),
)
def test_a_line_is_one_and_short_whatever_people_call_things(what: str, facts: list[str]) -> None:
    line = one_line("JointEstimate", what, facts)
    assert len(line) <= MOST
    assert len(line.splitlines()) == 1
    assert line.endswith(f": {', '.join(facts)}>")


@given(st.text(max_size=60), st.integers(10, 50))
def test_a_text_is_cut_to_what_there_is_room_for(text: str, most: int) -> None:
    cut, whole = shorten(text, most), " ".join(text.split())
    assert len(cut) <= most
    assert cut == whole if len(whole) <= most else "..." in cut


@given(arrays.arrays(float, arrays.array_shapes(max_dims=3, max_side=3)))
def test_arrays_are_json_and_come_back_to_the_digit(values: Any) -> None:
    text = json.dumps(plain(values), allow_nan=False)
    back = np.array(json.loads(text), dtype=float).reshape(values.shape)
    known = np.isfinite(values)
    np.testing.assert_array_equal(back[known], values[known])
    assert np.isnan(back[~known]).all()


@pytest.mark.parametrize("value", [np.float64("nan"), float("inf"), -np.inf])
def test_what_is_not_known_is_null(value: float) -> None:
    assert plain(value) is None


def test_plain_numbers_keep_their_kind() -> None:
    found = [plain(value) for value in (np.int64(3), np.float64(0.5), np.bool_(True), False)]
    assert [type(each) for each in found] == [int, float, bool, bool]


def test_no_copy_is_made_unless_it_is_asked_for_or_needed() -> None:
    values = np.array([0.25, 0.75])
    assert array_of(values, None, None) is values
    assert array_of(values, float, False) is values
    assert array_of(values, None, True) is not values
    assert array_of(values, np.float32, True).dtype == np.float32
    with pytest.raises(OptionError, match="float64 as float32 are a copy: leave copy=False out"):
        array_of(values, np.float32, False)


class _Seen(HTMLParser):
    """The tags of a page with their attributes, in order, each closed that was opened."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text(max_size=20), st.lists(st.text(max_size=8), min_size=2, max_size=2))
def test_a_table_is_whole_and_no_name_becomes_html(name: str, row: list[str]) -> None:
    nasty = f"<script>{name}</script>"
    page = html_table(heading(nasty, nasty), [nasty, "share"], [row, [nasty, "1"]], notes=[nasty])
    seen = _Seen(page)
    assert seen.open == []
    tags = [tag for tag, _ in seen.tags]
    assert "script" not in tags
    assert tags.count("table") == tags.count("caption") == 1
    scopes = [found.get("scope") for tag, found in seen.tags if tag == "th"]
    assert scopes == ["col", "col", "row", "row"]


def test_a_table_has_no_colour_of_its_own() -> None:
    """So it is read on a light page as on a dark one."""
    page = html_table(heading("a"), ["a", "b"], [["x", interval_mark(0.1, 0.2, 0.3, (0.0, 1.0))]])
    for style in (found["style"] or "" for _, found in _Seen(page).tags if "style" in found):
        assert "color:#" not in style
        assert "rgb" not in style.replace("srgb", "")
    for name in ("stroke", "fill"):
        used = {found[name] for _, found in _Seen(page).tags if name in found}
        assert used == {"currentColor"}


def test_a_mark_is_not_read_out_and_stays_on_its_scale() -> None:
    mark = interval_mark(-5.0, 0.5, 9.0, (0.0, 1.0))
    assert 'aria-hidden="true"' in mark
    assert 'x1="3.0" x2="117.0"' in mark
    assert 'cx="60.0"' in mark
    assert interval_mark(0.0, float("nan"), 1.0, (0.0, 1.0)) == ""
    assert 'cx="3.0"' in interval_mark(0.0, 0.0, 0.0, (0.0, 0.0))


def test_a_column_without_a_title_has_no_empty_heading() -> None:
    page = html_table(heading("a"), ["a", ""], [["x", "1"]])
    assert page.count('<th scope="col"') == 1
    assert page.count("<td") == 2
