"""The survey page has a channel for each file in `client/channels/`, and its list names them."""

from __future__ import annotations

import re

from castell.channels import built_in
from castell.collector.browser_channels import CLIENT, browser_kinds
from castell.collector.page_bundle import one_script
from tests.import_graph import ROOT

SURVEY = ROOT / "collector" / "pages" / "survey"
# Bloom filters are for comparisons; no collector takes them. Other mechanisms of the literature are
# for programs: the page stays small, and set-valued response is never much worse.
ELSEWHERE = {"bloom", "fake-data", "hadamard", "hashing", "hybrid", "key-value", "parity"}
ELSEWHERE |= {"subset", "thermometer", "unary", "window"}


def test_a_file_for_each_kind_and_each_in_the_list() -> None:
    text = (CLIENT / "channel.js").read_text(encoding="utf-8")
    (listed,) = re.findall(r"const KINDS = \{(.*?)\}", text, re.DOTALL)
    names = {entry.split(":")[0].strip().strip('"') for entry in listed.split(",")} - {""}
    assert names == browser_kinds(), "import each file of client/channels/ and name it in KINDS"
    imported = re.findall(r'from "\./channels/([\w-]+)\.js"', text)
    assert sorted(imported) == sorted(browser_kinds())


def test_all_of_them_come_with_the_page() -> None:
    """A kind is never fetched when it is needed."""
    script = one_script("survey/survey.js", {"client": CLIENT, "survey": SURVEY})
    inside = re.findall(r"^const \$client_channels_(\w+) = \(", script, re.MULTILINE)
    assert sorted(inside) == sorted(kind.replace("-", "_") for kind in browser_kinds())


def test_every_kind_says_its_own_name() -> None:
    """The file's name, what it gives and the kind that Python publishes are one."""
    for kind in browser_kinds():
        text = (CLIENT / "channels" / f"{kind}.js").read_text(encoding="utf-8")
        assert f'kind: "{kind}"' in text or f'weighted("{kind}"' in text


def test_which_kinds_the_page_does_not_have() -> None:
    assert browser_kinds() == set(built_in()) - ELSEWHERE
