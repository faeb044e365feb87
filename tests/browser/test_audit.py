"""Audits in a real browser: the client's modules, a page that is served, and broken ones."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import castell
from castell import Attribute, Schema, Study
from castell.auditing.browser_device import BrowserDevice, device_in
from castell.device.browser_client import CLIENT
from castell.errors import OptionError
from tests.browser.studies import ONE as ONE_TOML
from tests.collecting import Collector, collecting

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ONE = Study(Schema([Attribute("smokes", ["never", "before", "now"])]), epsilon=1.0)
SURE = 1.0 - 1e-7


@contextmanager
def _changed(
    browser: Browser, folder: Path, file: str, old: str, new: str
) -> Iterator[BrowserDevice]:
    """The client with one line changed, in a browser."""
    client = folder / "client"
    shutil.copytree(CLIENT, client)
    text = (client / file).read_text("utf-8")
    assert old in text
    (client / file).write_text(text.replace(old, new), encoding="utf-8")
    with device_in(browser, client=client) as device:
        yield device


def test_the_client_passes(browser: Browser, tmp_path: Path) -> None:
    """As a user runs it, in a process of its own, and in a browser that runs already."""
    with device_in(browser) as device:
        found = castell.audit(ONE, device, n=4000, confidence=SURE)
    assert found.passed, str(found)
    assert found.lower > 0.3
    assert [check.name for check in found.checks][-1] == "sends nothing"
    ONE.save(tmp_path / "study.json")
    line = ["audit", "study.json", "--device", "browser", "-n", "400", "--confidence", str(SURE)]
    ran = subprocess.run(
        [sys.executable, "-m", "castell", *line, "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["device"] == "browser"


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        # A key that is the same on every device.
        (
            "ledger.js",
            "const key = await newKey();",
            "const key = (globalThis.kept ??= await newKey());",
            "as often as the weights say",
        ),
        # A key for each time it is asked, as nothing is kept.
        (
            "ledger.js",
            "return store.update(place(identity), (earlier) => earlier ?? { key });",
            "return { key };",
            "the same answer, the same report",
        ),
        # Random numbers that depend on the answer.
        (
            "memo.js",
            '["report", digest, block]',
            '["report", digest, block, answer]',
            "another answer, the same random number",
        ),
        # Another weight than the published one.
        (
            "channels/kary.js",
            "Math.floor(number / other)",
            "Math.floor((2 * number) / other)",
            "as often as the weights say",
        ),
    ],
)
def test_broken_clients_are_found_out(
    browser: Browser, tmp_path: Path, file: str, old: str, new: str, told: str
) -> None:
    with _changed(browser, tmp_path, file, old, new) as device:
        found = castell.audit(ONE, device, n=4000, confidence=SURE)
    assert not found.passed
    assert any(told in failure for failure in found.failures), str(found)


def test_a_client_that_sends_is_stopped_and_found_out(browser: Browser, tmp_path: Path) -> None:
    leak = 'globalThis.leaked ??= fetch("/reports", { method: "POST" }).catch(() => {});'
    leak += "\n  const codes = [];"
    with _changed(browser, tmp_path, "report.js", "const codes = [];", leak) as device:
        found = castell.audit(ONE, device, n=400, confidence=SURE)
    assert [failure for failure in found.failures if "sends nothing" in failure]


def test_what_a_browser_cannot_ask_is_said_in_one_line(browser: Browser) -> None:
    channels = {"a": castell.channels.mechanism("oue", 3, 1.0)}
    study = Study(Schema([Attribute("a", ["x", "y", "z"])]), channels=channels)
    with (
        device_in(browser) as device,
        pytest.raises(OptionError, match=r'the page makes no report \(.*"unary"'),
    ):
        castell.audit(study, device, n=1000)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    with collecting(ONE_TOML, tmp_path_factory.mktemp("audited")) as running:
        yield running


def test_a_running_survey_page(browser: Browser, served: Collector) -> None:
    with device_in(browser, f"{served.url}/") as device:
        found = castell.audit(None, device, n=2000, confidence=SURE)
        assert found.passed, str(found)
        assert found.study.digest == served.study.digest
        assert found.device == f"{served.url}/"
        assert served.codes() == []  # nothing was sent
        with pytest.raises(OptionError, match="serves another study"):
            castell.audit(ONE, device, n=1000)


def test_pages_that_are_none(browser: Browser, served: Collector) -> None:
    with pytest.raises(OptionError, match=r"is no survey page of castell's"):
        device_in(browser, f"{served.url}/healthz").__enter__()
    with pytest.raises(OptionError, match="the page cannot be audited"):
        device_in(browser, "http://localhost:1/").__enter__()
