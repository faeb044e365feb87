"""Numbers for Prometheus: they parse, they are documented, and no single report shows in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from castell.collector.metrics import REASONS, Histogram, Now, Tally, prometheus
from castell.collector.store_copies import backup
from tests.collector.process import ROOT
from tests.collector.respondents import LOGGED_IN, bulk, collector, report

Samples = dict[str, dict[str, float]]
_SAMPLE = re.compile(r'([a-z_:]+)(?:\{((?:[a-z_]+="[^"\\\n]*",?)+)\})? (-?[0-9.e+]+|\+Inf|NaN)')


def parse(text: str) -> Samples:
    """The exposition format as Prometheus defines it: strict, and small."""
    assert text.endswith("\n")
    found: Samples = {}
    kinds: dict[str, str] = {}
    family = ""
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family = line.split(" ")[2]
            assert family not in kinds, f"{family} comes twice"
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == family
            assert kind in ("counter", "gauge", "histogram")
            kinds[name] = kind
        else:
            matched = _SAMPLE.fullmatch(line)
            assert matched, line
            name, labels, value = matched.groups()
            endings = ("_bucket", "_sum", "_count") if kinds[family] == "histogram" else ("",)
            assert name in [family + ending for ending in endings]
            assert labels not in found.setdefault(name, {})
            found[name][labels or ""] = float(value)
    for name, kind in kinds.items():
        assert (kind == "counter") == name.endswith("_total")
        if kind == "histogram":
            buckets = list(found[f"{name}_bucket"].values())
            assert buckets == sorted(buckets)
            assert list(found[f"{name}_bucket"])[-1] == 'le="+Inf"'
            assert buckets[-1] == found[f"{name}_count"][""]
    return found


def scrape(client: TestClient) -> Samples:
    answer = client.get("/metrics", headers=LOGGED_IN)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return parse(answer.text)


def test_what_happens_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with collector(path, minimum=1) as client:
        assert "castell_last_backup_timestamp_seconds" not in scrape(client)
        sent = report()
        client.post("/reports", json=sent)
        client.post("/reports", json=sent)
        client.post("/reports", json={**sent, "codes": [0, 1, 7]})
        client.post("/reports", json={**sent, "codes": [1, 0, 8]})
        client.post("/reports", json=report(study="0" * 64))
        client.post("/reports", content=b"{", headers={"content-type": "application/json"})
        client.post("/reports", content=b"{}")
        client.get("/metrics")
        client.post("/reports/bulk", json=bulk(5))
        client.get("/results/api/estimate?attributes=sex&method=castell", headers=LOGGED_IN)
        backup(str(path), tmp_path / "backup.sqlite")
        found = scrape(client)
    assert found["castell_reports_total"] == {'outcome="stored"': 6, 'outcome="repeated"': 1}
    refused = {reason[8:-1]: n for reason, n in found["castell_refused_total"].items() if n}
    assert refused == {"conflict": 2, "another_study": 1, "not_json": 1, "content_type": 1} | {
        "token": 1
    }
    assert found["castell_store_reports"][""] == 6
    assert found["castell_store_good"][""] == 1
    assert found["castell_queue_reports"][""] == 0
    assert found["castell_answers_total"]['outcome="made"'] == 1
    assert found["castell_answer_seconds_count"][""] == 1
    assert found["castell_commit_seconds_sum"][""] > 0
    made = (tmp_path / "backup.sqlite").stat().st_mtime
    assert abs(found["castell_last_backup_timestamp_seconds"][""] - made) < 60


def test_a_question_that_fails_is_counted(tmp_path: Path) -> None:
    with collector(tmp_path / "store.sqlite", minimum=1) as client:
        client.post("/reports", json=report())
        asked = "/results/api/estimate?attributes=sex,smokes,health,town&method=castell"
        assert client.get(asked, headers=LOGGED_IN).status_code == 400
        assert scrape(client)["castell_answers_total"]['outcome="refused"'] == 1


def test_every_reason_has_a_place_and_every_metric_a_line_in_the_documents() -> None:
    text = (ROOT / "docs" / "collecting.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(castell_[a-z_]+)", text, re.MULTILINE))
    shown = prometheus(Tally(), Now(reports=1, store_bytes=1, last_backup=1.0))
    assert listed == set(re.findall(r"^# TYPE (castell_[a-z_]+)", shown, re.MULTILINE))
    for reason in REASONS:
        assert f"`{reason}`" in text, reason
    counted = set[str]()
    for path in (ROOT / "src" / "castell" / "collector").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        counted |= set(re.findall(r'(?:_refuse\(|refused\[)\s*"([a-z_]+)"', source))
        if path.name == "wire.py":
            counted |= set(re.findall(r'^    \d{3}: "([a-z_]+)"', source, re.MULTILINE))
    assert counted <= set(REASONS)


@pytest.mark.parametrize("step", [1, 7])
def test_histograms_move_in_steps(step: int) -> None:
    made = Histogram((0.1, 1.0), step)
    for i in range(1, 30):
        made.observe(0.5 if i % 2 else 5.0)
        counts, total = made.shown
        assert sum(counts) == i // step * step
        assert counts[0] == 0
        assert abs(total - (0.5 * counts[1] + 5.0 * counts[2])) < 1e-9


def test_nothing_moves_with_a_single_report(tmp_path: Path) -> None:
    def moving(client: TestClient) -> Samples:
        found = scrape(client)
        found.pop("castell_start_time_seconds")
        return found

    with collector(tmp_path / "store.sqlite", minimum=200) as client:
        before = moving(client)
        for _ in range(19):
            client.post("/reports", json=report())
            assert moving(client) == before
        client.post("/reports", json=report())
        assert moving(client) != before


def test_a_store_that_is_gone_shows(tmp_path: Path) -> None:
    with collector(tmp_path / "store.sqlite") as client:
        for file in tmp_path.iterdir():
            file.unlink()
        found = scrape(client)
    assert found["castell_store_good"][""] == 0
    assert "castell_store_reports" not in found
    assert "castell_store_bytes" not in found
