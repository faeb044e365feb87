"""What results say of themselves: in a cell of a notebook, in a line, in words."""

from __future__ import annotations

from functools import cache

import numpy as np

import castell
from castell import Model, Study
from castell.results.notebook_table import MOST_ROWS
from tests.populations import collect, population, schema

SIZES = (3, 4, 5)


@cache
def _model() -> Model:
    study = Study(schema(SIZES), 12.0, name="big & <small>")
    people = population(SIZES, seed=1)
    reports = collect(study, people.table, 2000, np.random.default_rng(0))
    return castell.fit(reports, "castell")


def test_every_cell_of_a_small_table_is_shown_with_its_interval() -> None:
    joint = _model().estimate(["a", "b"])
    page = joint._repr_html_()
    assert page.count("<tr>") == 1 + 12
    low, high = joint.conf_int()
    for cell in np.ndindex(joint.shape):
        assert f">{joint.probabilities[cell]:.4f}<" in page
        assert f">{low[cell]:.4f} to {high[cell]:.4f}<" in page
    assert "largest" not in page


def test_a_large_table_is_shortened_and_says_so() -> None:
    joint = _model().estimate(["a", "b", "c"])
    page = joint._repr_html_()
    assert page.count("<tr>") == 1 + MOST_ROWS
    assert f"The {MOST_ROWS} largest of 60 cells are shown; to_frame() has all." in page
    shown = np.sort(joint.probabilities, axis=None)[-MOST_ROWS:]
    assert all(f">{value:.4f}<" in page for value in shown)


def test_one_number_is_one_row_without_a_line_to_compare() -> None:
    share = _model().probability(a="a0", b=["b0", "b2"])
    page = share._repr_html_()
    assert page.count("<tr>") == 2
    assert "<svg" not in page
    assert "Share of respondents with a = a0 and b = b0 or b2" in page
    assert "<svg" in _model().conditional("a", given={"b": "b0"})._repr_html_()


def test_a_share_says_what_it_is_of_and_so_does_what_is_left() -> None:
    share = _model().probability({"b": ["b2", "b0", "b2"]}, a="a0")
    assert share.title == "share of respondents with b = b2 or b0 and a = a0"
    assert share.summary(0.9).splitlines()[0] == share.title
    assert "90% interval [" in share.summary(0.9)
    rest = share.complement()
    assert rest.title == "share of all respondents but those with b = b2 or b0 and a = a0"
    assert (rest.to_dict()["negated"], rest.complement().to_dict()["negated"]) == (True, False)
    assert float(rest) == 1.0 - float(share)
    assert rest.where == share.where == {"b": ("b2", "b0"), "a": ("a0",)}


def test_everybody_is_named_too() -> None:
    share = _model().probability(a=["a0", "a1", "a2"])
    assert share.to_dict()["where"] == {"a": ["a0", "a1", "a2"]}
    assert share.to_dict()["probability"] == 1.0


def test_a_difference_says_which_share_is_less() -> None:
    found = _model().difference({"a": "a0"}, {"b": "b1", "c": ["c0", "c1"]})
    assert found.title == (
        "share of respondents with a = a0 less that with b = b1 and c = c0 or c1"
    )
    assert str(found).splitlines()[0] == found.title
    document = found.to_dict()
    assert (document["one"], document["other"]) == ({"a": ["a0"]}, {"b": ["b1"], "c": ["c0", "c1"]})


def test_names_of_people_are_no_html() -> None:
    for noun in (_model(), _model().study, _model().study.statement()):
        assert "<small>" not in noun._repr_html_()
        assert "&lt;small&gt;" in noun._repr_html_()


def test_a_statement_has_its_sentences_below_its_table() -> None:
    statement = _model().study.statement()
    page = statement._repr_html_().replace("&#x27;", "'")
    assert all(sentence in page for sentence in statement.words())
    assert "forged report" in page
