"""Channels in the browser: a file for each kind, matrices over clusters, kinds it does not have."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from castell import plugins
from tests.browser.conftest import ROOT
from tests.browser.test_survey import survey_through
from tests.collecting import Collector

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

Start = Callable[..., Collector]

SURVEY = ROOT / "src" / "castell" / "collector" / "pages" / "survey"

OWN = """
name = "own"
epsilon = 6.0
clusters = [["a", "b"]]
[[attribute]]
name = "a"
values = ["a0", "a1"]
[[attribute]]
name = "b"
values = ["b0", "b1"]
[[attribute]]
name = "c"
values = ["c0", "c1", "c2"]
[[channel]]
attributes = ["a", "b"]
weights = [[7, 1, 2, 2], [1, 8, 1, 2], [2, 1, 6, 3], [1, 1, 1, 9]]
"""

COIN = """
name = "coin"
[[attribute]]
name = "a"
values = ["a0", "a1"]
[[channel]]
attributes = ["a"]
kind = "coin"
heads = 3
"""

PACKAGE = """
from dataclasses import dataclass
from typing import ClassVar
from castell.extend import WeightedChannel, entries

@dataclass(frozen=True)
class Coin(WeightedChannel):
    kind: ClassVar[str] = "coin"
    heads: int
    def weights(self):
        return [[self.heads, 1], [1, self.heads]]
    def document(self):
        return {"kind": self.kind, "heads": self.heads}
    @classmethod
    def from_document(cls, document):
        return cls(*entries(document, "heads"))
"""


# A draw from one set asks everybody the same.
C = '[[attribute]]\nname = "c"\nvalues = ["c0", "c1", "c2"]\n'
DRAWN = OWN.replace("clusters", "draw = true\nclusters").replace(C, "")


@pytest.mark.parametrize(("study", "answers"), [(OWN, [1, 0, 2]), (DRAWN, [1, 0])])
def test_a_matrix_over_a_cluster_is_answered_in_the_browser(
    browser: Browser, collector: Start, study: str, answers: list[int]
) -> None:
    running = collector(study)
    shown, _ = survey_through(browser, running, {str(i): code for i, code in enumerate(answers)})
    assert running.study.digest in shown
    (codes,) = running.codes()
    assert all(0 <= c < w for c, w in zip(codes, running.study.design.widths, strict=True))


def test_a_kind_that_the_page_does_not_have(
    context: BrowserContext,
    collector: Start,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The server says so before anybody comes, and the page refuses in words."""
    package = tmp_path / "package"
    info = package / "coins-1.0.dist-info"
    info.mkdir(parents=True)
    (package / "coins.py").write_text(PACKAGE, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coins\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[castell.channels]\ncoin = coins:Coin\n")
    monkeypatch.syspath_prepend(str(package))
    monkeypatch.setenv("PYTHONPATH", f"{package}:{os.environ.get('PYTHONPATH', '')}")
    plugins.forget()
    try:
        running = collector(COIN)
        told = capfd.readouterr().err
        assert "warning: the survey page has no channel of kind 'coin' and will refuse" in told
        page = context.new_page()
        page.goto(f"{running.url}/")
        alert = page.get_by_role("alert")
        alert.wait_for()
        text = alert.inner_text()
        assert 'cannot randomise answers the way the study asks ("coin")' in text
    finally:
        monkeypatch.undo()
        plugins.forget()


# -- the channel that docs/write-your-own.md shows ------------------------------------------------

RUN = """
import { channelOf } from "./channel.js";
const { document, sizes } = JSON.parse(process.argv[2]);
const channel = channelOf(document);
const { inputs, total, epsilon } = channel;
const numbers = Array.from({ length: total }, (_, number) => number);
const reports = Array.from({ length: inputs }, (_, answer) =>
  numbers.map((number) => channel.respond(answer, number)));
console.log(JSON.stringify({ reports, total, epsilon, ...channel.guess(sizes, 0) }));
"""


def test_the_documented_channel_is_the_same_in_python_and_javascript(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("NO NODE: the documented channel is not compared")
    page = (ROOT / "docs" / "write-your-own.md").read_text(encoding="utf-8")
    python = next(c for c in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "Clock(" in c)
    (script,) = re.findall(r"```js\n(// client/channels/clock.js\n.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(python, "documented channel", "exec", dont_inherit=True), names)  # noqa: S102
    client = tmp_path / "client"
    shutil.copytree(ROOT / "client", client)
    (client / "channels" / "clock.js").write_text(script, encoding="utf-8")
    table = (client / "channel.js").read_text(encoding="utf-8")
    table = table.replace("const KINDS = {", "const KINDS = { clock,")
    (client / "channel.js").write_text(f'import * as clock from "./channels/clock.js";\n{table}')
    (client / "run.js").write_text(RUN, encoding="utf-8")
    (client / "package.json").write_text('{"type": "module"}')
    for channel in (names["Clock"](6, (12, 4, 1, 1)), names["Clock"](5, (9, 3, 2))):
        given = json.dumps({"document": channel.document(), "sizes": [channel.size]})
        ran = subprocess.run(
            [node, str(client / "run.js"), given], capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        told = json.loads(ran.stdout)
        assert told["total"] == channel.total
        assert channel.epsilon <= told["epsilon"] < channel.epsilon + 1e-12
        assert (told["right"], told["worst"]) == (channel.best_guess, channel.worst_guess)
        numbers = np.arange(channel.total, dtype=np.uint64)
        for answer, reports in enumerate(told["reports"]):
            codes = np.full(channel.total, answer)
            assert reports == channel.respond(codes, numbers).tolist()
