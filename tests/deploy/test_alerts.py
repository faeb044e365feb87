"""The alerts: they name metrics that the collector has, and Prometheus reads them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.collector.respondents import LOGGED_IN, collector
from tests.deploy.programs import find
from tests.deploy.proxies import DEPLOY, ROOT

RULES = DEPLOY / "alerts.yml"


def test_every_metric_of_the_alerts_exists(tmp_path: Path) -> None:
    with collector(tmp_path / "s.sqlite") as client:
        text = client.get("/metrics", headers=LOGGED_IN).text
    shown = set(re.findall(r"^([a-z_]+)(?:\{| )", text, re.MULTILINE))
    # Shown once there is one; test_metrics.py holds it to the documented list.
    shown.add("castell_last_backup_timestamp_seconds")
    named = set(re.findall(r"castell_[a-z_]+", RULES.read_text(encoding="utf-8")))
    named -= {"castell_commit_seconds"}
    assert named
    assert named <= shown
    reasons = re.findall(r'reason=~?"([a-z|]+)"', RULES.read_text(encoding="utf-8"))
    for reason in "|".join(reasons).split("|"):
        assert f'reason="{reason}"' in text


def test_the_parser_of_prometheus_client_reads_the_metrics(tmp_path: Path) -> None:
    parser = pytest.importorskip(
        "prometheus_client.parser", reason="NOT TESTED: pip install prometheus_client"
    )
    with collector(tmp_path / "s.sqlite") as client:
        text = client.get("/metrics", headers=LOGGED_IN).text
    families = {family.name: family for family in parser.text_string_to_metric_families(text)}
    assert families["castell_reports"].type == "counter"
    assert families["castell_commit_seconds"].type == "histogram"
    assert {"castell_store_good", "castell_start_time_seconds"} <= families.keys()
    documented = (ROOT / "docs" / "collecting.md").read_text(encoding="utf-8")
    assert [name for name in families if f"`{name}" not in documented] == []


def test_prometheus_reads_the_alerts() -> None:
    promtool = find("promtool")
    if promtool is None:
        pytest.skip("NOT TESTED: promtool is not installed (apt-get install prometheus)")
    ran = subprocess.run(
        [promtool, "check", "rules", str(RULES)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
