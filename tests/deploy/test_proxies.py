"""The examples for nginx and caddy before a collector; only ports and certificate are ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from castell.collector.wire import new_id
from tests.collecting import TELEMETRY, collecting
from tests.deploy.proxies import EXAMPLES, proxied
from tests.ports import free_port

SPY = "a-browser-by-which-one-person-is-known/7"
JSON = {"content_type": "application/json", "user_agent": SPY}


def report(study: str) -> bytes:
    return json.dumps({"id": new_id(), "study": study, "codes": [0, 1]}).encode()


@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_an_example_passes_reports_on_and_writes_nothing_down(example: str, tmp_path: Path) -> None:
    with (
        collecting(TELEMETRY, tmp_path, "--proxy", "127.0.0.1", "--bulk", "5000") as running,
        proxied(example, running.url, tmp_path / "proxy") as proxy,
    ):
        study = running.study.digest
        status, published = proxy.ask("study.json", user_agent=SPY)
        assert (status, json.loads(published)["digest"]) == (200, study)
        for _ in range(3):
            assert proxy.ask("reports", report(study), **JSON)[0] == 201
        # A large bulk would go to the proxy's disk if it were let.
        several = [{"id": new_id(), "codes": [0, 1]} for _ in range(5000)]
        body = json.dumps({"study": study, "reports": several}).encode()
        assert proxy.ask("reports/bulk", body, **JSON)[0] == 201
        assert proxy.ask("reports", b"{", **JSON)[0] == 400
        # Metrics are for who runs the collector, who asks it without the proxy.
        assert proxy.ask("metrics")[0] == 404
        assert proxy.ask("healthz")[0] == 200
        if proxy.url.endswith("/survey/"):
            # The same address without its last slash leads there.
            status, _ = proxy.ask("../survey", user_agent=SPY)
            assert status in (301, 302)
        assert len(running.codes()) == 5003
        written = proxy.written()
        assert SPY.encode() not in written
        assert str(several[0]["id"]).encode() not in written


@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_a_proxy_whose_collector_is_down_writes_nothing_down_either(
    example: str, tmp_path: Path
) -> None:
    with proxied(example, f"http://127.0.0.1:{free_port()}", tmp_path / "proxy") as proxy:
        assert proxy.ask("reports", report("0" * 64), **JSON)[0] == 502
        assert SPY.encode() not in proxy.written()


@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_nobody_gets_past_the_rate_limit_by_claiming_another_address(
    example: str, tmp_path: Path
) -> None:
    slow = ("--proxy", "127.0.0.1", "--rate", "0.001", "--burst", "3")
    with (
        collecting(TELEMETRY, tmp_path, *slow) as running,
        proxied(example, running.url, tmp_path / "proxy") as proxy,
    ):
        found = [
            proxy.ask(
                "reports", report(running.study.digest), x_forwarded_for=f"10.0.0.{n}", **JSON
            )[0]
            for n in range(5)
        ]
    assert found == [201, 201, 201, 429, 429]
