"""The results page over HTTP: who may look, when, at what, and what a refusal says."""

from __future__ import annotations

import gzip
import hashlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vl_convert

from castell import Attribute, Reports, Schema, Study, estimate, methods, methods_for
from castell.collector.results import vega_bundle
from castell.collector.settings import State
from castell.collector.store import StoreError
from castell.results.model import DEFAULT_METHOD
from tests.collector.results.stores import (
    PAIRS,
    STUDY,
    ask,
    ask_each,
    fill_store,
    query,
    reports_of,
    spread,
    state_of,
)

OVERVIEW, ESTIMATE = "/results/api/overview", "/results/api/estimate"
DOWNLOAD = "/results/api/download"
PAIR = query(["smokes", "health"])


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    store = fill_store(tmp_path / "s.sqlite", reports_of(3000), spread(3000, 3))
    yield state_of(store)
    store.close()


def _signals(answer: Any) -> dict[str, Any]:
    return {signal["key"]: signal for signal in answer.json()["signals"]}


@pytest.mark.parametrize("path", [OVERVIEW, f"{ESTIMATE}?{PAIR}", f"{DOWNLOAD}?{PAIR}&format=csv"])
@pytest.mark.parametrize("given", [{}, {"authorization": "Bearer not-the-token-at-all"}])
def test_nothing_is_told_without_the_token(state: State, path: str, given: dict[str, str]) -> None:
    (answer,) = ask(state, path, headers={"accept": "*/*", **given})
    assert answer.status_code == 401
    assert set(answer.json()) == {"error", "remedy", "needs"}


def test_the_page_itself_is_open_and_holds_nothing(state: State) -> None:
    (page,) = ask(state, "/results", headers={"accept": "*/*"})
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "unsafe" not in page.headers["content-security-policy"]
    # Nothing inline, nothing from elsewhere.
    assert not re.search(r"<style|\sstyle=|\son\w+=|https?://", page.text)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page.text))
    for name in (STUDY.digest, "smokes", "3000"):
        assert name not in page.text


def test_the_overview_tells_the_study_the_reports_and_their_hours(state: State) -> None:
    (answer,) = ask(state, OVERVIEW)
    told = answer.json()
    assert answer.status_code == 200
    assert (told["ready"], told["n"], told["minimum"]) == (True, 3000, 100)
    assert told["study"]["digest"] == STUDY.digest
    assert [a["name"] for a in told["study"]["attributes"]] == list(STUDY.names)
    assert [m["name"] for m in told["methods"]] == list(methods_for(STUDY))
    assert all(m["about"] for m in told["methods"])
    assert told["method"] == DEFAULT_METHOD
    assert sum(point["reports"] for point in told["timeline"]) == 3000
    assert told["timeline_spec"]["mark"]["type"] == "bar"
    assert told["secure"] is False


def test_below_the_minimum_only_a_rounded_number_is_told(tmp_path: Path) -> None:
    store = fill_store(tmp_path / "s.sqlite", reports_of(87), spread(87, 1))
    told, *refused = ask(
        state_of(store),
        OVERVIEW,
        f"{ESTIMATE}?{PAIR}",
        *(f"{DOWNLOAD}?{PAIR}&format={kind}" for kind in ("csv", "json", "script", "reports")),
    )
    store.close()
    assert (told.json()["ready"], told.json()["n"]) == (False, 80)
    assert not {"timeline", "timeline_spec", "secure"} & set(told.json())
    for answer in refused:
        assert answer.status_code == 409
        assert answer.json()["error"] == "there are fewer than 100 reports"


@pytest.mark.parametrize("method", methods_for(STUDY))
def test_every_method_answers_with_the_librarys_numbers(state: State, method: str) -> None:
    names = ["smokes", "health"]
    (answer,) = ask(state, f"{ESTIMATE}?{query(names, method=method, level='0.9', post='clip')}")
    assert answer.status_code == 200
    told = answer.json()
    joint = estimate(reports_of(3000).sorted(), names, method, post="clip")
    low, high = joint.conf_int(0.9)
    known = (joint.probabilities, joint.standard_errors, low, high)
    got = np.array([cell[2:] for cell in told["cells"]])
    assert got == pytest.approx(np.stack([t.ravel() for t in known], axis=1), abs=1e-12)
    assert [cell[:2] for cell in told["cells"]][:2] == [["never", "poor"], ["never", "fair"]]
    # And it is the library's own document, but for the tables, which are rows here.
    document = joint.to_dict(0.9)
    for table in ("probabilities", "standard_errors", "lower", "upper"):
        del document[table]
    assert {key: told[key] for key in document} == document
    assert told["method"] == method
    assert told["epsilon_of_these"] == joint.spent


@pytest.mark.parametrize(
    "names", [["age"], ["age", "health"], list(STUDY.names[:3]), STUDY.names[:5]]
)
def test_any_number_of_attributes_has_a_chart_and_signals(state: State, names: list[str]) -> None:
    (answer,) = ask(state, f"{ESTIMATE}?{query(names, method='castell')}")
    told = answer.json()
    assert told["pictures"][0]["spec"]["$schema"].startswith(
        "https://vega.github.io/schema/vega-lite/"
    )
    assert told["pictures"][0]["kind"] == told["charts"][0]
    assert list(_signals(answer)) == [
        "errors",
        "noise",
        "misfit",
        "negative",
        "influence",
        "drift",
    ]
    states = {s["key"]: s["state"] for s in told["signals"]}
    assert states.pop("misfit") == "unknown"  # castell's table is the unbiased one
    assert set(states.values()) <= {"fine", "look"}
    assert "3 periods" in _signals(answer)["drift"]["method"]


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        (f"{OVERVIEW}?colour=red", "no parameter 'colour'"),
        (ESTIMATE, "no attribute"),
        (f"{ESTIMATE}?attributes=smokes,agee", "agee"),
        (f"{ESTIMATE}?{PAIR}&method=magic", "no method 'magic'"),
        (f"{ESTIMATE}?{PAIR}&level=2", "level is 2"),
        (f"{ESTIMATE}?{PAIR}&level=1&level=2", "level is given twice"),
        (f"{ESTIMATE}?{PAIR}&chart=pie", "no chart 'pie'"),
        (f"{ESTIMATE}?{PAIR}&format=csv", "no parameter 'format'"),
        (f"{DOWNLOAD}?{PAIR}", "no format"),
        (f"{DOWNLOAD}?{PAIR}&format=xls", "no format 'xls'"),
        (f"{DOWNLOAD}?{PAIR}&format=csv&format=json", "no format"),
    ],
)
def test_bad_questions_are_400s_with_a_remedy(state: State, path: str, problem: str) -> None:
    (answer,) = ask(state, path)
    assert answer.status_code == 400
    assert problem in answer.json()["error"]
    assert answer.json()["remedy"]


def test_a_method_that_refuses_says_why_and_what_to_do(tmp_path: Path) -> None:
    schema = Schema([Attribute(n, [str(k) for k in range(80)]) for n in ("a", "b")])
    study = Study(schema, epsilon=8.0)
    codes = [np.zeros(200, np.int64), np.arange(200) % 80]
    store = fill_store(tmp_path / "s.sqlite", Reports(study, codes, secure=False), spread(200, 1))
    (answer,) = ask(state_of(store), f"{ESTIMATE}?attributes=a,b")
    store.close()
    assert answer.status_code == 400
    assert "6,400 cells, the limit is 5,000" in answer.json()["error"]
    assert "fewer attributes" in answer.json()["remedy"]


def test_a_forged_flood_and_a_drift_are_seen(tmp_path: Path) -> None:
    honest = reports_of(6000)
    flood = [np.concatenate([c, np.zeros(5000, c.dtype)]) for c in honest.columns]
    # The honest come on the first two days, the flood on the third.
    store = fill_store(
        tmp_path / "s.sqlite", Reports(STUDY, flood, secure=False), spread(11_000, 3)
    )
    (answer,) = ask(state_of(store), f"{ESTIMATE}?{PAIR}")
    store.close()
    signals = _signals(answer)
    assert signals["negative"]["state"] == "look"
    assert signals["drift"]["state"] == "look"
    assert "2026-01-03" in signals["drift"]["text"]


def test_a_flood_and_a_drift_are_seen_where_blocks_are_drawn(tmp_path: Path) -> None:
    honest = reports_of(12_000, study=PAIRS).columns[0]
    column = np.concatenate([honest, np.zeros(6000, honest.dtype)])
    store = fill_store(
        tmp_path / "s.sqlite", Reports(PAIRS, [column], secure=False), spread(18_000, 3)
    )
    wide = query(PAIRS.names[:3], method="latent")
    found = ask(state_of(store), f"{ESTIMATE}?{query(PAIRS.names[:2])}", f"{ESTIMATE}?{wide}")
    store.close()
    for answer in found:
        signals = _signals(answer)
        assert signals["negative"]["state"] == signals["drift"]["state"] == "look"
        assert "2026-01-03" in signals["drift"]["text"]
    assert "3 tables of 2 attributes" in _signals(found[1])["negative"]["text"]


def test_only_methods_that_read_a_drawn_design_are_offered_for_it(tmp_path: Path) -> None:
    store = fill_store(tmp_path / "s.sqlite", reports_of(3000, study=PAIRS), spread(3000, 3))
    state = state_of(store)
    told, described = ask(state, OVERVIEW, "/openapi.json")
    offered = [method["name"] for method in told.json()["methods"]]
    asked = described.json()["paths"][ESTIMATE]["get"]["parameters"]
    (choice,) = (p["schema"]["enum"] for p in asked if p["name"] == "method")
    assert offered == choice == list(methods_for(PAIRS))
    assert DEFAULT_METHOD in offered
    for method in methods():
        (answer,) = ask(state, f"{ESTIMATE}?{query(['smokes'], method=method)}")
        assert (answer.status_code == 200) == (method in offered)
        if method in offered:
            states = {s["key"]: s["state"] for s in answer.json()["signals"]}
            # The unbiased table has no model to test.
            assert states.pop("misfit") == ("unknown" if method == "castell" else "fine")
            assert set(states.values()) <= {"fine", "look"}
            assert answer.json()["verdict"] == "fits"
        else:
            assert f"method '{method}' reads" in answer.json()["error"]
            assert answer.json()["remedy"] == "use auto, castell, independent or latent"
    store.close()


def test_reports_of_one_hour_have_no_drift_to_look_for(tmp_path: Path) -> None:
    store = fill_store(tmp_path / "s.sqlite", reports_of(500), spread(500, 1) // 86_400 * 86_400)
    (answer,) = ask(state_of(store), f"{ESTIMATE}?{PAIR}")
    store.close()
    assert _signals(answer)["drift"]["state"] == "unknown"


def test_a_store_that_cannot_be_read_is_a_503(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> int:
        raise StoreError("/var/s.sqlite cannot be read", "see to the disk")

    monkeypatch.setattr(state.store, "count", broken)
    for answer in ask(state, OVERVIEW, f"{ESTIMATE}?{PAIR}"):
        assert answer.status_code == 503
        assert answer.json() == {"error": "the store cannot be read", "remedy": "try again later"}


# -- the large script ----------------------------------------------------------------------------


def vega_tag() -> str:
    """The script's tag, found without the collector."""
    text = vl_convert.javascript_bundle(vega_bundle.SNIPPET).encode()
    return f'"{hashlib.sha256(text).hexdigest()[:32]}"'


def test_vega_comes_from_the_package_packed_and_only_once(state: State) -> None:
    whole, packed, known = ask_each(
        state,
        ("/results/vega.js", {"accept-encoding": "identity"}),
        ("/results/vega.js", {"accept-encoding": "gzip"}),
        ("/results/vega.js", {"if-none-match": vega_tag()}),
    )
    assert whole.headers["content-type"].startswith("text/javascript")
    assert "vegaEmbed" in whole.text
    # The interpreter that makes 'unsafe-eval' needless.
    assert "Prevented interpretation" in whole.text
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.text == whole.text
    assert int(packed.headers["content-length"]) == len(gzip.compress(whole.content, 6))
    assert (known.status_code, known.content) == (304, b"")


def test_without_vl_convert_the_script_is_refused_with_the_extra(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vega_bundle, "_MAKE", "import no_such_module")
    (answer,) = ask(state, "/results/vega.js")
    assert answer.status_code == 501
    assert answer.json()["remedy"] == "pip install 'castell[plot]'"


def test_without_altair_there_are_numbers_and_the_reason_for_no_chart(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    told, answer = ask(state, OVERVIEW, f"{ESTIMATE}?{PAIR}")
    assert told.json()["timeline_spec"] is None
    assert answer.json()["pictures"] == []
    assert len(answer.json()["cells"]) == 12
    for answered in (told, answer):
        assert "pip install 'castell[plot]'" in answered.json()["chart_problem"]
