"""Whatever is sent, the answer is a 4xx that says why, or the report was one. Never a 5xx."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from starlette.testclient import TestClient

from castell.collector.store import open_store
from castell.collector.wire import id_text
from tests.collector.process import ROOT, collecting
from tests.collector.respondents import STUDY, TOKEN, WIDTHS, collector
from tests.collector.small_study import SMALL

SOAK = int(os.environ.get("CASTELL_SOAK", "1"))
JSON = {"content-type": "application/json"}
PLACES = st.sampled_from(["/reports", "/reports/bulk"])
relaxed = settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

anything: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=8,
)
ids = st.binary(min_size=16, max_size=16).map(id_text)
codes = st.tuples(*(st.integers(-1, width) for width in WIDTHS)).map(list)
nearly = st.fixed_dictionaries(
    {},
    optional={
        "id": ids | anything,
        "study": st.just(STUDY.digest) | anything,
        "codes": codes | st.lists(anything, max_size=5),
        "invitation": anything,
        "reports": st.lists(
            st.fixed_dictionaries({"id": ids | anything, "codes": codes | anything}), max_size=4
        ),
    },
)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with collector(tmp_path_factory.mktemp("fuzz") / "store.sqlite") as client:
        yield client


def refused_or_right(answer: Any, body: bytes) -> None:
    if answer.status_code < 400:
        # Whatever was taken was a report of this study to the letter.
        document = json.loads(body)
        for one in document.get("reports", [document]):
            assert set(one) - {"study"} == {"id", "codes"}
            assert [type(code) for code in one["codes"]] == [int] * len(WIDTHS)
            assert all(0 <= c < w for c, w in zip(one["codes"], WIDTHS, strict=True))
        return
    assert answer.status_code in (400, 409, 413, 415, 422)
    assert set(answer.json()) == {"error", "remedy"}


@relaxed
@given(PLACES, st.binary(max_size=300))
def test_bytes(fuzzed: TestClient, path: str, body: bytes) -> None:
    refused_or_right(fuzzed.post(path, content=body, headers=JSON), body)


@relaxed
@given(PLACES, nearly | anything)
def test_documents(fuzzed: TestClient, path: str, document: Any) -> None:
    body = json.dumps(document).encode()
    refused_or_right(fuzzed.post(path, content=body, headers=JSON), body)


@relaxed
@given(PLACES, st.data())
def test_reports_with_bytes_changed(fuzzed: TestClient, path: str, data: st.DataObject) -> None:
    one = {"id": id_text(bytes(16)), "codes": [0, 1, 299]}
    whole = {"study": STUDY.digest, **(one if path == "/reports" else {"reports": [one] * 3})}
    text = json.dumps(whole).encode()
    at = data.draw(st.integers(0, len(text) - 1))
    put, cut = data.draw(st.binary(max_size=3)), data.draw(st.integers(0, 3))
    body = text[:at] + put + text[at + cut :]
    refused_or_right(fuzzed.post(path, content=body, headers=JSON), body)


@relaxed
@given(
    st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "BREW"]),
    st.text(st.characters(codec="latin-1", exclude_characters="?#"), max_size=20),
    st.dictionaries(
        st.sampled_from(["origin", "content-type", "authorization", "if-none-match", "cookie"]),
        st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30),
        max_size=3,
    ),
)
def test_requests(fuzzed: TestClient, method: str, path: str, headers: dict[str, str]) -> None:
    from urllib.parse import quote

    answer = fuzzed.request(method, "/" + quote(path), headers=headers, follow_redirects=False)
    assert answer.status_code < 500
    assert answer.headers["x-content-type-options"] == "nosniff"


# -- schemathesis, from the collector's own description ------------------------------------------


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    """All of its checks, over the wire, on a collector that runs as an operator runs it."""
    (tmp_path / "study.json").write_text(SMALL.to_json(), encoding="utf-8")
    options = ["--port", "0", "--rate", "0", "--minimum", "1", "--token", TOKEN]
    with collecting(tmp_path, *options) as made:
        command = [sys.executable, "-m", "schemathesis.cli", "run"]
        command += [f"{made.told['address']}/openapi.json", "--checks", "all", "--seed", "1"]
        command += ["--max-examples", str(20 * SOAK), "-H", f"Authorization: Bearer {TOKEN}"]
        # A first fit on a busy machine takes its time, and so does a plan.
        command += ["--request-timeout", "600", "--max-response-time", "600"]
        ran = subprocess.run(
            [*command, "--no-color", "--phases", "coverage,fuzzing"],
            cwd=tmp_path,
            env={
                **os.environ,
                "SCHEMATHESIS_HOOKS": "tests.collector.schemathesis_hooks",
                "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
            },
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]
    assert "Tested: 15" in ran.stdout  # all that is described
    assert "Traceback" not in (tmp_path / "log").read_text(encoding="utf-8")
    # Valid reports got in, so the results were asked for with something to show.
    with closing(open_store(tmp_path / "study.sqlite")) as store:
        assert store.count() > 0


def test_schemathesis_would_find_something(client: TestClient) -> None:
    """What it is told is true: the description refuses what the collector refuses."""
    description = client.get("/openapi.json").json()
    schema = {**description["components"]["schemas"]["Report"], **description}
    codes = schema["properties"]["codes"]
    assert [item["maximum"] for item in codes["prefixItems"]] == [w - 1 for w in WIDTHS]
    assert (codes["minItems"], codes["maxItems"]) == (len(WIDTHS), len(WIDTHS))
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["id", "study", "codes"]


def test_every_route_is_described(client: TestClient) -> None:
    described = set(client.get("/openapi.json").json()["paths"])
    routes = {"/reports", "/reports/bulk", "/study.json", "/collector.json", "/healthz"}
    routes.add("/studies/{digest}.json")
    results = {
        f"/results/api/{name}" for name in ("overview", "estimate", "progress", "download", "plan")
    }
    assert described == routes | results | {"/invitations", "/metrics", "/openapi.json"}
