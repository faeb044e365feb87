"""What stands between the network and the store."""

from __future__ import annotations

import hmac
import json
import math
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from castell.collector.security.limits import MOST_ADDRESSES, RateLimit, TooOftenError
from castell.collector.settings import Settings
from castell.errors import OptionError
from tests.collector.respondents import LOGGED_IN, TOKEN, bulk, collector, report

PAGE = "https://survey.example.org"


# -- headers -------------------------------------------------------------------------------------


def test_every_answer_has_its_headers(client: TestClient) -> None:
    answers = [
        client.get("/study.json"),
        client.get("/nothing"),
        client.delete("/reports"),
        client.post("/reports", json=report()),
        client.post("/reports", json={}),
        client.get("/results/api/overview"),
        client.get("/healthz"),
    ]
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "set-cookie" not in answer.headers
        assert "server" not in answer.headers
        cached = "no-cache" if "etag" in answer.headers else "no-store"
        assert answer.headers["cache-control"] == cached


def test_pages_load_nothing_from_elsewhere(client: TestClient) -> None:
    for path in ("/", "/results"):
        answer = client.get(path)
        if answer.status_code == 404:
            pytest.skip(f"there is no page at {path}")
        policy = answer.headers["content-security-policy"]
        for part in policy.split(";"):
            name, *sources = part.split()
            allowed = {"'none'", "'self'"}
            if name == "img-src":
                allowed |= {"data:", "blob:"}
            if name not in ("require-trusted-types-for", "trusted-types"):
                assert set(sources) <= allowed, part
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-frame-options"] == "DENY"


# -- other hosts' pages --------------------------------------------------------------------------


def preflight(client: TestClient, path: str, origin: str, method: str = "POST") -> Any:
    asked = {"origin": origin, "access-control-request-method": method}
    return client.options(path, headers={**asked, "access-control-request-headers": "content-type"})


def test_only_listed_pages_may_send(tmp_path: Path) -> None:
    with collector(tmp_path / "store.sqlite", origins=(PAGE,)) as client:
        answer = preflight(client, "/reports", PAGE)
        assert answer.status_code == 204
        assert answer.headers["access-control-allow-origin"] == PAGE
        assert answer.headers["access-control-allow-headers"] == "content-type"
        assert answer.headers["access-control-allow-methods"] == "POST"
        for origin in ("https://evil.example", PAGE + ".evil.example", "null", PAGE + "/"):
            refused = preflight(client, "/reports", origin)
            assert not [name for name in refused.headers if name.startswith("access-control")]
        sent = client.post("/reports", json=report(), headers={"origin": PAGE})
        assert sent.status_code == 201
        assert sent.headers["access-control-allow-origin"] == PAGE
        assert "origin" in sent.headers["vary"].lower()
        read = client.get("/study.json", headers={"origin": PAGE})
        assert read.headers["access-control-allow-origin"] == PAGE
        refused = client.post("/reports", json={}, headers={"origin": PAGE})
        # So that the page can show why.
        assert refused.headers["access-control-allow-origin"] == PAGE


def test_no_credentials_and_no_results_for_other_pages(tmp_path: Path) -> None:
    with collector(tmp_path / "store.sqlite", origins=(PAGE,)) as client:
        for path in ("/reports", "/study.json", "/results/api/overview", "/metrics"):
            for answer in (
                preflight(client, path, PAGE, "GET"),
                client.get(path, headers={"origin": PAGE, **LOGGED_IN}),
            ):
                assert "access-control-allow-credentials" not in answer.headers
                if path in ("/results/api/overview", "/metrics"):
                    assert "access-control-allow-origin" not in answer.headers


def test_without_a_list_no_page_may(client: TestClient) -> None:
    assert "access-control-allow-origin" not in preflight(client, "/reports", PAGE).headers


NO_ORIGINS = """
* null example.org https:// https://example.org/ https://example.org/page ftp://example.org
https://Example.org https://example.org:443 http://example.org:80 https://example.org:x
https://me@example.org https://münchen.example https://example.org? https://[::1
"""


@pytest.mark.parametrize("origin", NO_ORIGINS.split())
def test_an_origin_is_written_as_browsers_do(origin: str) -> None:
    with pytest.raises(OptionError, match="is not an origin"):
        Settings(token=TOKEN, origins=(origin,))


def test_origins_with_ports_and_addresses() -> None:
    origins = ("https://example.org:8443", "http://127.0.0.1:5000", "http://[::1]:8080")
    assert Settings(token=TOKEN, origins=origins).origins == origins


# -- the token -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/metrics", "/results/api/overview", "/results/api/nothing"])
@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer ", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", "Bearer \xff"],
)
def test_results_need_the_token(client: TestClient, path: str, header: str | None) -> None:
    headers = [] if header is None else [(b"authorization", header.encode("latin-1"))]
    answer = client.get(path, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert TOKEN not in answer.text


def test_the_token_opens(client: TestClient) -> None:
    assert client.get("/metrics", headers=LOGGED_IN).status_code == 200
    assert client.get("/results/api/overview", headers=LOGGED_IN).status_code == 200
    assert client.get("/results/api/nothing", headers=LOGGED_IN).status_code == 404


def test_tokens_are_compared_in_constant_time(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, real = [], hmac.compare_digest

    def compare(a: bytes, b: bytes) -> bool:
        seen.append((len(a), len(b)))
        return real(a, b)

    monkeypatch.setattr("castell.collector.security.tokens.hmac.compare_digest", compare)
    for given in ("Bearer x", f"Bearer {TOKEN}", "Bearer " + "y" * 500):
        client.get("/metrics", headers={"authorization": given})
    # Hashes of one length, whatever was given: a comparison whose time says nothing.
    assert seen == [(32, 32)] * 3


def test_guessing_tokens_is_slowed_down(tmp_path: Path) -> None:
    with collector(tmp_path / "store.sqlite", rate=0.001, burst=3) as client:
        statuses = [client.get("/metrics").status_code for _ in range(5)]
    assert statuses == [401, 401, 401, 429, 429]


def test_no_limit_for_reports_is_no_freedom_to_guess(tmp_path: Path) -> None:
    with collector(tmp_path / "store.sqlite", rate=0.0) as client:
        statuses = [client.get("/metrics").status_code for _ in range(200)]
        assert set(statuses[:20]) == {401}
        assert 429 in statuses
        # Who has the token is not kept out by who has not.
        assert client.get("/metrics", headers=LOGGED_IN).status_code == 200
        assert client.post("/reports", json=report()).status_code == 201


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"token": "short"}, "short"),
        ({"token": "with a space in it"}, "odd characters"),
        ({"token": "ümlaut" * 4}, "odd characters"),
        ({"minimum": 0}, "minimum"),
        ({"bulk": 0}, "bulk"),
        ({"rate": -1.0}, "limit"),
        ({"rate": math.nan}, "no number"),
        ({"rate": math.inf}, "no number"),
        ({"burst": 0}, "limit"),
        ({"queue": 10}, "limit"),
    ],
)
def test_settings_are_checked(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        Settings(**{"token": TOKEN, **changes})


# -- how often -----------------------------------------------------------------------------------


def scope(host: str) -> dict[str, Any]:
    return {"client": (host, 1)}


def allowed(limit: RateLimit, host: str, cost: int = 1) -> bool:
    try:
        limit.charge(scope(host), cost)
    except TooOftenError:
        return False
    return True


def test_a_bucket_for_each_address() -> None:
    now = 0.0
    limit = RateLimit(2.0, 3, clock=lambda: now)
    assert [allowed(limit, "192.0.2.1") for _ in range(4)] == [True, True, True, False]
    assert allowed(limit, "192.0.2.2")
    now = 1.0
    assert [allowed(limit, "192.0.2.1") for _ in range(3)] == [True, True, False]
    now = 100.0
    assert [allowed(limit, "192.0.2.1") for _ in range(4)] == [True, True, True, False]


def test_a_bulk_is_paid_for() -> None:
    now = 0.0
    limit = RateLimit(10.0, 100, clock=lambda: now)
    assert allowed(limit, "a", 500)
    assert not allowed(limit, "a")
    now = 30.0
    assert not allowed(limit, "a")
    now = 50.0
    assert allowed(limit, "a")


def test_one_machine_owns_a_network_of_ipv6() -> None:
    limit = RateLimit(1.0, 1, clock=lambda: 0.0)
    assert allowed(limit, "2001:db8:1:2::1")
    assert not allowed(limit, "2001:db8:1:2:ffff::9")
    assert allowed(limit, "2001:db8:1:3::1")


def test_ipv4_on_a_socket_of_both_kinds_is_no_network_of_ipv6() -> None:
    limit = RateLimit(1.0, 1, clock=lambda: 0.0)
    assert allowed(limit, "::ffff:192.0.2.1")
    assert allowed(limit, "::ffff:192.0.2.2")
    assert not allowed(limit, "192.0.2.1")


def test_no_address_is_kept_in_memory() -> None:
    limit = RateLimit(1.0, 1)
    for host in ("192.0.2.77", "2001:db8:1:2::1", "odd"):
        limit.charge(scope(host))
    held = repr(vars(limit))
    assert "192.0.2.77" not in held
    assert "2001" not in held
    assert all(len(name) == 16 for name in limit._buckets)
    # Nor can it be found by trying: the key is this process's own.
    other = RateLimit(1.0, 1)
    assert other._name(scope("192.0.2.77")) != limit._name(scope("192.0.2.77"))


def test_memory_is_bounded() -> None:
    limit = RateLimit(1.0, 1, clock=lambda: 0.0)
    for i in range(MOST_ADDRESSES + 10):
        limit.charge(scope(f"host {i}"))
    assert len(limit._buckets) == MOST_ADDRESSES


def test_too_often_is_a_429(tmp_path: Path) -> None:
    with collector(tmp_path / "store.sqlite", rate=0.5, burst=2) as client:
        statuses = [client.post("/reports", json=report()).status_code for _ in range(3)]
        assert statuses == [201, 201, 429]
        answer = client.post("/reports", json=report())
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.json()["error"] == "too many reports from one place"
        # The study can still be read.
        assert client.get("/study.json").status_code == 200


def test_broken_bodies_count_too(tmp_path: Path) -> None:
    with collector(tmp_path / "store.sqlite", rate=0.001, burst=2) as client:
        for _ in range(2):
            client.post("/reports", content=b"{")
        assert client.post("/reports", json=report()).status_code == 429


def test_a_bulk_runs_up_a_debt(tmp_path: Path) -> None:
    with collector(tmp_path / "store.sqlite", rate=0.001, burst=5) as client:
        assert client.post("/reports/bulk", json=bulk(20)).status_code == 201
        assert client.post("/reports", json=report()).status_code == 429


# -- the API's description -----------------------------------------------------------------------


def test_the_description_has_no_secret(client: TestClient) -> None:
    text = client.get("/openapi.json").text
    assert json.loads(text)["openapi"].startswith("3.1")
    assert TOKEN not in text
