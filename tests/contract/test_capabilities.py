"""What every method declares to read is what it reads, and all else is refused before the work."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import castell
from castell import Reports, Study, estimators
from castell.errors import MethodError, OptionError, ReportError
from castell.estimators import methods_across, options_of, reads
from castell.inference.method import (
    BLOOM,
    DRAWN,
    EVERYBODY,
    KINDS,
    MARGINS,
    PARITY,
    SETS,
    WHOLE,
    Reads,
    kinds_of,
)
from castell.study.design import Design
from tests.contract.designs import ASKED, STUDIES
from tests.populations import collect, population

# Some blocks as codes, one as Bloom filters: there is no method for both.
_FILTERS = Study(ASKED, 6.0, "bloom").design.blocks[1:]
BESIDE = Study(ASKED, design=Design((Study(ASKED, 6.0).design.blocks[0], *_FILTERS)))

each_method = pytest.mark.parametrize("method", castell.methods())
each_design = pytest.mark.parametrize("design", STUDIES)


@cache
def _reports(design: str) -> Reports:
    study = STUDIES[design]
    people = population(study.schema.sizes, seed=4)
    return collect(study, people.table, 400, np.random.default_rng(3))


def _nothing(study: Study) -> Reports:
    columns = [np.zeros(0, dtype=int) for _ in study.design.widths]
    return Reports(study, columns, secure=True)


def _named(remedy: str) -> list[str]:
    return [word for word in re.findall(r"[a-z_]+", remedy) if word in castell.methods()]


# -- every method on every design ------------------------------------------------------------------


@each_method
@each_design
def test_a_method_reads_a_design_or_fit_names_those_that_do(method: str, design: str) -> None:
    study, reports = STUDIES[design], _reports(design)
    able = castell.methods_for(study)
    assert able
    if method not in able:
        with pytest.raises(MethodError, match=f"method '{method}' reads ") as refused:
            castell.fit(reports, method)
        assert _named(refused.value.remedy) == list(able)
        return
    model = castell.fit(reports, method)
    # The widest question there is an answer to: any, or what a drawn block holds.
    across = not study.design.draw or reads(method).across
    names = study.names if across else study.design.blocks[0].names
    for asked in (some for k in range(len(names)) for some in combinations(names, k + 1)):
        joint = model.estimate(asked)
        assert joint.shape == tuple(study.schema[name].size for name in asked)
        assert np.isfinite(joint.probabilities).all()
        assert np.isfinite(joint.standard_errors).all()
        share = model.probability({name: f"{name}0" for name in asked})
        assert share.value == pytest.approx(joint.probabilities.ravel()[0], abs=1e-9)
        assert np.isfinite(share.standard_error)


@each_method
@each_design
def test_no_reports_are_refused_by_fit(method: str, design: str) -> None:
    able = method in castell.methods_for(STUDIES[design])
    with pytest.raises(ReportError if able else MethodError) as refused:
        castell.fit(_nothing(STUDIES[design]), method)
    assert (refused.value.problem == "there are no reports") == able


@each_method
def test_what_no_method_reads_is_said_to_be_so(method: str) -> None:
    assert kinds_of(BESIDE) == (EVERYBODY, BLOOM)
    assert castell.methods_for(BESIDE) == ()
    with pytest.raises(MethodError, match="no method reads that; collect with another design"):
        castell.fit(_nothing(BESIDE), method)


# -- declarations ----------------------------------------------------------------------------------


def test_the_kinds_of_reports() -> None:
    found = {design: kinds_of(study) for design, study in STUDIES.items()}
    assert (found.pop("sets"), found.pop("bloom")) == ((SETS,), (BLOOM,))
    assert found.pop("own joint") == (SETS,)
    assert (found.pop("made up"), found.pop("inpht")) == ((MARGINS,), (PARITY,))
    for partly in ("own cluster", "own and digits", "hashed cluster"):
        assert found.pop(partly) == (EVERYBODY, WHOLE)
    assert all(
        k == ((DRAWN,) if STUDIES[d].design.draw else (EVERYBODY,)) for d, k in found.items()
    )


@each_method
def test_the_methods_of_this_package_declare_what_they_read(method: str) -> None:
    declared = estimators.estimator(method).READS
    assert declared == reads(method)
    assert set(declared.kinds) <= set(KINDS)
    assert declared.kinds
    assert declared.drawn or not declared.across
    # An option with a place is an option, and has one.
    for name, kinds in declared.options.items():
        assert name in options_of(method)
        assert set(kinds) < set(declared.kinds)


def test_each_kind_of_reports_is_read_by_some_method() -> None:
    for kind in KINDS:
        assert [method for method in castell.methods() if kind in reads(method).kinds]
    assert methods_across()
    assert set(methods_across()) <= set(castell.methods_for(STUDIES["sample"]))


# -- options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", [name for name in STUDIES if STUDIES[name].design.draw])
@pytest.mark.parametrize("method", [m for m in castell.methods() if "target" in options_of(m)])
def test_a_target_is_refused_where_blocks_are_drawn(method: str, design: str) -> None:
    if method not in castell.methods_for(STUDIES[design]):
        with pytest.raises(MethodError):
            castell.fit(_reports(design), method, target="respondents")
        return
    for target in ("respondents", "people", np.array(["population"])):
        with pytest.raises(
            OptionError, match=r"hold (one drawn|parities of drawn).*: leave it out"
        ):
            castell.fit(_reports(design), method, target=target)
    # What it is anyway may be said.
    names = STUDIES[design].design.blocks[0].names
    one = castell.estimate(_reports(design), names, method, target="population")
    two = castell.estimate(_reports(design), names, method)
    np.testing.assert_array_equal(one.standard_errors, two.standard_errors)


def test_an_option_of_other_methods_is_refused_with_their_names() -> None:
    with pytest.raises(
        OptionError, match="'auto' has no option 'target': it has none; "
    ) as refused:
        castell.fit(_reports("independent"), "auto", target="respondents")
    named = _named(refused.value.remedy)
    assert named == [m for m in castell.methods() if "target" in options_of(m)]
    # Nobody takes a target there, so nobody is named.
    with pytest.raises(OptionError, match=r"has no option 'target': it has none$"):
        castell.fit(_reports("drawn pairs"), "auto", target="respondents")


# -- a file that declares nothing, and one that does -----------------------------------------------

PLAIN = '''"""Halves: every share is one half, whatever the reports say."""

import numpy as np

from castell.inference.method import Reads
from castell.inference.method import Fitted, Solution
from castell.inference.shares import Shares
from castell.inference.intervals import Normal


def fit(counts, *, loud=False):
    def joint(names, max_cells):
        table = np.full([counts.study.schema[name].size for name in names], 0.5)
        return Solution(table, lambda names: Normal(np.zeros(1)))

    def shares(queries):
        zeros = np.zeros(len(queries))
        return Shares(zeros + 0.5, Normal(zeros), (np.diag(zeros),))

    return Fitted(counts, joint, shares)
'''
SAYING = """
READS = Reads(
    drawn=True,
    sets=True,
    whole=True,
    margins=True,
    parity=True,
    bloom=True,
    options={"loud": ("drawn", "bloom")},
)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(estimators, "__path__", [*estimators.__path__, str(tmp_path)])
    estimators.forget()
    yield tmp_path
    for name in ("plain", "saying"):
        sys.modules.pop(f"castell.estimators.{name}", None)
        estimators.__dict__.pop(name, None)
    monkeypatch.undo()
    estimators.forget()


def test_a_file_that_declares_nothing_reads_what_everybody_reports(folder: Path) -> None:
    (folder / "plain.py").write_text(PLAIN, encoding="utf-8")
    assert reads("plain") == Reads()
    assert Reads().kinds == (EVERYBODY,)
    for design, study in STUDIES.items():
        able = kinds_of(study) == (EVERYBODY,)
        assert ("plain" in castell.methods_for(study)) == able
        if able:
            assert (
                castell.fit(_reports(design), "plain", loud=True).probability(a="a0").value == 0.5
            )
        else:
            with pytest.raises(MethodError, match="method 'plain' reads every block"):
                castell.fit(_reports(design), "plain")


def test_a_declaration_is_all_it_takes_to_be_named(folder: Path) -> None:
    (folder / "saying.py").write_text(PLAIN + SAYING, encoding="utf-8")
    for design, study in STUDIES.items():
        assert "saying" in castell.methods_for(study)
        castell.fit(_reports(design), "saying", loud=False)
    castell.fit(_nothing_but_one(BESIDE), "saying")
    with pytest.raises(MethodError, match=r"use lopub or saying$"):
        castell.fit(_reports("bloom"), "em")
    with pytest.raises(MethodError, match=r"use auto, castell, independent, latent or saying$"):
        castell.fit(_reports("sample"), "em")
    castell.fit(_reports("sample"), "saying", loud=True)
    with pytest.raises(
        OptionError, match="loud is True, which means nothing for reports that hold"
    ):
        castell.fit(_reports("joint"), "saying", loud=True)


def _nothing_but_one(study: Study) -> Reports:
    return Reports(study, [np.zeros(1, dtype=int) for _ in study.design.widths], secure=True)
