"""The two verbs: fit and estimate, on reports in memory and in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import castell
from castell import Reports, Study
from castell.errors import OptionError, ReportError, TableTooLargeError
from castell.estimators import reads
from castell.results.model import DEFAULT_METHOD
from tests.populations import collect, population, schema, studies

PEOPLE = population((2, 3, 4), seed=4)
STUDIES = studies()


def _reports(design: str = "mixed", n: int = 500) -> Reports:
    study = STUDIES[design] if design in STUDIES else Study(schema((2, 3, 4)), 6.0, design)
    return collect(study, PEOPLE.table, n, np.random.default_rng(6))


@pytest.mark.parametrize("method", castell.methods())
def test_a_file_gives_what_memory_gives(method: str, tmp_path: Path) -> None:
    reports = _reports("mixed" if reads(method).everybody else "bloom")
    reports.save(tmp_path / "reports.parquet")
    counts = castell.scan_reports(tmp_path / "reports.parquet", reports.study)
    held, read = castell.fit(reports, method), castell.fit(counts, method)
    one, two = held.estimate(["c", "b"]), read.estimate(["c", "b"])
    np.testing.assert_array_equal(one.probabilities, two.probabilities)
    np.testing.assert_array_equal(one.standard_errors, two.standard_errors)
    assert (one.n, one.secure, one.notes) == (two.n, two.secure, two.notes)
    cell = {"a": "a0", "b": ["b1", "b2"], "c": "c3"}
    assert held.probability(cell).value == pytest.approx(read.probability(cell).value, abs=1e-12)


def test_estimate_is_fit_and_ask() -> None:
    reports = _reports()
    short = castell.estimate(reports, ["b", "c"], "clusters", post="clip", clusters=[["b", "c"]])
    model = castell.fit(reports, "clusters", clusters=[["b", "c"]])
    long = model.estimate(["b", "c"], post="clip")
    np.testing.assert_array_equal(short.probabilities, long.probabilities)
    assert (short.method, short.post, short.notes) == ("clusters", "clip", long.notes)


def test_the_default_is_auto() -> None:
    assert DEFAULT_METHOD == castell.fit(_reports()).method == "auto"
    assert castell.estimate(_reports(), "a").method == "auto"


def test_a_model_says_what_it_is() -> None:
    model = castell.fit(_reports(), "independent")
    assert repr(model) == "<Model of 'study': method 'independent', n = 500, epsilon 6.485>"
    assert model.study is STUDIES["mixed"]


def test_options_reach_the_method() -> None:
    reports = _reports()
    errors = [
        castell.estimate(reports, ["a", "b"], "castell", target=target).standard_errors
        for target in ("population", "respondents")
    ]
    assert (errors[0] > errors[1]).all()


def test_the_limit_on_cells() -> None:
    model = castell.fit(_reports())
    assert model.estimate(["a", "b", "c"], max_cells=24).shape == (2, 3, 4)
    with pytest.raises(TableTooLargeError, match="a x b x c has 24 cells, the limit is 23"):
        model.estimate(["a", "b", "c"], max_cells=23)
    with pytest.raises(TableTooLargeError, match="raise max_cells"):
        castell.estimate(_reports(), ["a", "b"], max_cells=5)


def test_what_holds_no_reports_is_refused() -> None:
    nonsense: list[Any] = [STUDIES["mixed"], {"a": ["a0"]}, None, np.zeros((3, 2))]
    for thing in nonsense:
        with pytest.raises(ReportError, match=f"a {type(thing).__name__} holds no reports"):
            castell.fit(thing)


def test_methods_and_options_that_are_none() -> None:
    with pytest.raises(OptionError, match=r"no method 'castel'.*did you mean 'castell'\?"):
        castell.fit(_reports(), "castel")
    with pytest.raises(OptionError, match=r"no option 'taget'.*did you mean 'target'\?"):
        castell.estimate(_reports(), "a", "castell", taget="population")
    with pytest.raises(OptionError, match="'truncated' has no option 'target': it has none"):
        castell.fit(_reports(), "truncated", target="population")
    with pytest.raises(OptionError, match=r"no post-processing 'cut'"):
        castell.estimate(_reports(), "a", post="cut")
