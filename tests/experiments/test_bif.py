"""Networks as text: what is read, and that nothing malformed is."""

from __future__ import annotations

import pytest

from experiments.datasets.bif import read
from experiments.datasets.population import DataError

# Children stand before their parents; `slip` has a value that never occurs, at the end.
GARDEN = """
network unknown {
}
variable slip {
  type discrete [ 3 ] { <1, 1-2, >=3 };
  property about falling;
}
variable rain {
  type discrete [ 2 ] { yes, no };
}
variable hose {
  type discrete [ 2 ] { on, off };
}
variable wet {
  type discrete [ 2 ] { yes, no };
}
variable mood {
  type discrete [ 2 ] { good, bad };
}
probability ( slip | wet ) {
  (no) 0.9, 0.1, 0.0;
  (yes) 0.33333, 0.66667, 0.0;
}
probability ( rain ) {
  table 0.2, 0.8;
}
probability ( hose | rain ) {
  (yes) 0.01, 0.99;
  (no) 0.4, 0.6;
}
probability ( wet | rain, hose ) {
  property no order is asked for;
  (yes, on) 0.99, 0.01;
  (no, on) 0.9, 0.1;
  (yes, off) 0.8, 0.2;
  (no, off) 0, 1;
}
probability ( mood | rain ) {
  (yes) 3e-1, 0.7;
  (no) 0.6, 0.4;
}
"""


def test_a_network_is_read_with_parents_before_children() -> None:
    nodes = {node.name: node for node in read(GARDEN)}
    assert list(nodes) == ["rain", "hose", "mood", "wet", "slip"]
    assert nodes["slip"].values == ("<1", "1-2", ">=3")
    assert nodes["wet"].parents == ("rain", "hose")
    assert nodes["wet"].table[1, 0].tolist() == pytest.approx([0.9, 0.1])
    assert nodes["slip"].table[1].tolist() == pytest.approx([0.9, 0.1, 0.0])
    assert nodes["mood"].values == ("good", "bad")


def test_what_rounding_left_over_is_shared_out() -> None:
    (node,) = read(
        "variable a { type discrete [ 3 ] { x, y, z }; }"
        "probability ( a ) { table 0.3333, 0.3333, 0.3333; }"
    )
    assert node.table.sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("variable rain {", "varable rain {", "not understood at 'varable rain"),
        ("  type discrete [ 2 ] { on, off };\n", "", "not understood at 'variable hose"),
        ("[ 2 ] { on, off }", "[ 3 ] { on, off }", "'hose' does not list 3 different values"),
        ("{ on, off }", "{ on, on }", "'hose' does not list 2 different values"),
        ("variable mood", "variable rain", "two variables 'rain'"),
        ("( mood | rain )", "( mood | snow )", "'snow', which is no variable"),
        ("( mood | rain )", "( hose | rain )", "'hose' has two distributions"),
        ("table 0.2, 0.8", "table 0.2, 0.7", "'rain' is no distribution: it sums to 0.9"),
        ("table 0.2, 0.8", "table -0.2, 1.2", "'rain' is no distribution"),
        ("table 0.2, 0.8", "table nan, 0.8", "'rain' is no distribution"),
        ("table 0.2, 0.8", "table 0.2, much", "'rain' holds what is no number"),
        ("table 0.2, 0.8", "table 0.2, 0.3, 0.5", "'rain' has 3 numbers for 2 values"),
        ("table 0.2, 0.8", "tables 0.2, 0.8", "a row of 'rain' is not understood: 'tables"),
        ("(no, on) 0.9", "(no, soon) 0.9", "'soon' in a row of 'wet' is no value of 'hose'"),
        ("(no, on) 0.9, 0.1", "(no) 0.9, 0.1", "'wet' gives 1 of its 2 parents.*one row for each"),
        ("(no, on) 0.9, 0.1;", "table 0.9, 0.1;", "'wet' gives 0 of its 2 parents.*one row for"),
        ("  (no, on) 0.9, 0.1;", "", "'wet' lacks a row"),
        ("(no, on) 0.9", "(yes, on) 0.9", "'wet' has the same row twice"),
        ("( rain ) {\n  table 0.2, 0.8;", "( rain | mood ) { (bad) 0, 1; (good) 1, 0;", "a circle"),
    ],
)  # fmt: skip
def test_malformed_text_is_refused(old: str, new: str, problem: str) -> None:
    assert old in GARDEN
    with pytest.raises(DataError, match=problem) as caught:
        read(GARDEN.replace(old, new, 1))
    assert "take the file anew" in str(caught.value) or "write one row" in str(caught.value)


def test_a_text_without_variables_or_a_distribution_is_refused() -> None:
    with pytest.raises(DataError, match="no variables"):
        read("network unknown {\n}\n")
    with pytest.raises(DataError, match="'a' has no distribution"):
        read("variable a { type discrete [ 2 ] { x, y }; }")
