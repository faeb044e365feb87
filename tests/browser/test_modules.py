"""The client's modules: the same results as Python, exact chances, one report for one answer."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scipy import stats

from castell import KaryResponse
from tests.browser.conftest import ROOT
from tests.browser.patience import PATIENCE
from tests.browser.studies import ONE
from tests.collecting import Collector, collecting

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Start = Callable[..., Collector]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector that only hands out the modules."""
    with collecting(ONE, tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture
def page(browser: Browser, served: Collector) -> Iterator[Page]:
    """A page of a collector's origin, from which the modules can be imported."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{served.url}/")
    yield page
    context.close()


# -- the vectors -----------------------------------------------------------------------------------


def all_vectors() -> dict[str, Any]:
    return {path.stem: json.loads(path.read_text()) for path in (ROOT / "vectors").glob("*.json")}


def test_vectors_in_the_browser(page: Page) -> None:
    checks = (Path(__file__).parent / "vectors.mjs").read_text(encoding="utf-8")
    page.route(
        "**/vectors.mjs", lambda route: route.fulfill(body=checks, content_type="text/javascript")
    )
    result = page.evaluate(
        """async (vectors) => {
          const { checkVectors } = await import("/vectors.mjs");
          return checkVectors("/static/client/", vectors);
        }""",
        all_vectors(),
    )
    assert result["failures"] == []
    assert result["checked"] > 7000


def test_vectors_in_node() -> None:
    node = shutil.which("node")
    if node is None:
        playwright = pytest.importorskip("playwright")
        bundled = Path(playwright.__file__).parent / "driver" / "node"
        node = str(bundled) if bundled.exists() else None
    if node is None:
        pytest.skip("NO NODE: the vectors are checked in the browser only")
    runner = Path(__file__).parent / "run_vectors.mjs"
    ran = subprocess.run([node, str(runner)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[:2000] + ran.stderr[:2000]


def test_types_hold(tmp_path: Path) -> None:
    compiler = shutil.which("tsc") or shutil.which(
        "tsc", path=ROOT / ".venv/node/node_modules/.bin"
    )
    if compiler is None:
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("NO NPM: the types in the scripts' comments are not checked")
        folder = ROOT / ".venv" / "node"
        install = [npm, "install", "--silent", "--no-save", "--prefix", str(folder), "typescript@5"]
        got = subprocess.run(install, capture_output=True, text=True, check=False, cwd=tmp_path)
        if got.returncode:
            pytest.skip("NO TYPESCRIPT: npm cannot install it; types are not checked")
        compiler = str(folder / "node_modules" / ".bin" / "tsc")
    ran = subprocess.run(
        [compiler, "-p", str(ROOT / "client" / "tsconfig.json"), "--listFiles"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    pages = ROOT / "src" / "castell" / "collector" / "pages"
    scripts = {*(ROOT / "client").rglob("*.js"), *pages.rglob("*.js")}
    unchecked = scripts - {Path(line).resolve() for line in ran.stdout.splitlines()}
    assert len(scripts) > 25
    assert not unchecked, "not in client/tsconfig.json"


def test_nothing_is_loaded_from_elsewhere() -> None:
    pages = ROOT / "src" / "castell" / "collector" / "pages" / "survey"
    files = [*(ROOT / "client").rglob("*.js"), *pages.rglob("*.js"), *pages.glob("*.html")]
    files += pages.glob("*.css")
    assert len(files) > 15
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text) == [], path
        assert len(text.splitlines()) <= 400, path
        assert not re.search(
            r"innerHTML|insertAdjacentHTML|document\.write|eval\(|Math\.random", text
        )


# -- exact chances ---------------------------------------------------------------------------------

CHANNELS: dict[str, dict[str, Any]] = {
    "kary": {"kind": "kary", "size": 5, "same": 2918732888, "other": 2**30},
    "matrix": {"kind": "matrix", "weights": [[90, 7, 3], [5, 80, 15], [11, 19, 70]]},
    "cyclic": {"kind": "cyclic", "size": 5, "outputs": 7, "set": [0, 1, 3], "same": 11, "other": 4},
    "partition": {
        "kind": "partition",
        "sizes": [2, 3],
        "leaves": [[[0], [0]], [[0], [1, 2]], [[1], [0, 1, 2]]],
        "channel": {"kind": "kary", "size": 3, "same": 9, "other": 2},
    },
}
EXPECTED = {
    "kary": [2**30, 2**30, 2918732888, 2**30, 2**30],
    "matrix": [11, 19, 70],
    "cyclic": [4, 4, 11, 11, 4, 11, 4],  # answer 2: distances 0, 1 and 3
    "partition": [2, 9, 2],  # answer 2 is (0, 2), in the second leaf
}


DRAW = """async ([document, answer, draws]) => {
  const { channelOf } = await import("/static/client/channel.js");
  const { randomize, secureWords } = await import("/static/client/sampler.js");
  const channel = channelOf(document), words = secureWords();
  const counts = new Array(channel.outputs).fill(0);
  for (let i = 0; i < draws; i += 1) counts[randomize(channel, answer, words)] += 1;
  return counts;
}"""


def fits(counts: list[int], weights: list[int]) -> bool:
    """Whether counts pass the chi-square test at a level of one in a million."""
    expected = [sum(counts) * weight / sum(weights) for weight in weights]
    return bool(stats.chisquare(counts, expected).pvalue > 1e-6)


@pytest.mark.parametrize("kind", CHANNELS)
def test_a_million_draws_have_the_published_chances(page: Page, kind: str) -> None:
    """With words from the browser's own generator."""
    counts = page.evaluate(DRAW, [CHANNELS[kind], 2, 1_000_000])
    assert sum(counts) == 1_000_000
    assert fits(counts, EXPECTED[kind])


def test_a_sampler_with_a_bias_would_be_seen(page: Page) -> None:
    wrong = {**CHANNELS["kary"], "same": EXPECTED["kary"][2] * 105 // 100}
    assert not fits(page.evaluate(DRAW, [wrong, 2, 1_000_000]), EXPECTED["kary"])


def test_reports_under_a_key_have_the_published_chances(page: Page) -> None:
    """One key's reports in very many blocks, drawn as the page draws them: each has its own words.

    Whether the report is the answer happens with one chance; where it is not, all are alike.
    """
    blocks, size = 200_000, 9
    channel = KaryResponse.with_epsilon(size, 2.0)
    counts = page.evaluate(
        """async ([document, digest, blocks]) => {
          const { channelOf } = await import("/static/client/channel.js");
          const { newKey, randomized } = await import("/static/client/memo.js");
          const channel = channelOf(document), key = await newKey();
          const counts = new Array(channel.outputs).fill(0);
          for (let start = 0; start < blocks; start += 2000) {
            const reports = await Promise.all(Array.from({ length: 2000 }, (_, i) =>
              randomized(key, digest, start + i, channel, 4)));
            for (const report of reports) counts[report] += 1;
          }
          return counts;
        }""",
        [channel.document(), "ab" * 32, blocks],
    )
    weights = [channel.same if report == 4 else channel.other for report in range(size)]
    assert fits(counts, weights)


@pytest.mark.parametrize("weights", [[1, 1, 1], [20, 3, 7], [1, 2**53 - 2, 1]])
def test_blocks_are_drawn_as_often_as_they_weigh(page: Page, weights: list[int]) -> None:
    counts = page.evaluate(
        """async ([digest, weights]) => {
          const { drawnBlock, newKey } = await import("/static/client/memo.js");
          const counts = [0, 0, 0];
          for (let i = 0; i < 3000; i += 1) {
            const key = await newKey();
            const block = await drawnBlock(key, digest, weights);
            if (block !== await drawnBlock(key, digest, weights)) throw new Error("not the same");
            counts[block] += 1;
          }
          return counts;
        }""",
        ["ab" * 32, weights],
    )
    if max(weights) > 2**50:  # the others come once in 10^15 devices
        assert counts == [0, 3000, 0]
    else:
        assert fits(counts, weights)


# -- one report for one device ---------------------------------------------------------------------

SUBMIT = """async ([times, values]) => {
  const { meet } = await import("/static/client/respondent.js");
  const { openStore } = await import("/static/client/store.js");
  const made = [];
  for (let i = 0; i < times; i += 1) {
    const person = await meet(`${location.origin}/study.json`, `${location.origin}/reports`);
    const report = await person.make({ colour: values[i % values.length] });
    await person.send(report);
    made.push(JSON.stringify(report));
  }
  const { readLedger } = await import("/static/client/ledger.js");
  const [entry] = await readLedger(await openStore());
  return { made, ...entry };
}"""


def test_a_hundred_submissions_of_a_device_are_one_report(
    browser: Browser, collector: Start
) -> None:
    running = collector(ONE)
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{running.url}/")
    posts: list[str] = []
    page.on("request", lambda r: posts.append(r.post_data or "") if r.method == "POST" else None)
    told = page.evaluate(SUBMIT, [100, ["green", "black", "red"]])
    assert posts == [told["made"][0]]
    assert len(set(told["made"])) == 1
    assert running.codes() == [tuple(told["report"]["codes"])]
    assert told["state"] == "arrived"
    assert told["epsilon"] == pytest.approx(running.study.epsilon)
    # Devices draw for themselves: of sixty, 40 % keep the answer and 15 % each send another.
    codes = page.evaluate(
        """async () => {
          const { meet } = await import("/static/client/respondent.js");
          const { memoryStore } = await import("/static/client/store.js");
          const codes = [];
          for (let i = 0; i < 60; i += 1) {
            const url = `${location.origin}/study.json`;
            const person = await meet(url, `${location.origin}/reports`, memoryStore());
            codes.push((await person.make({ colour: "green" })).codes[0]);
          }
          return codes;
        }"""
    )
    assert len(set(codes)) > 1
    context.close()


def test_the_memo_outlives_the_browser(
    browser: Browser, surveyed: Collector, tmp_path: Path
) -> None:
    from tests.browser import chromium

    seen = []
    for _ in range(3):
        context = browser.browser_type.launch_persistent_context(
            str(tmp_path / "profile"), executable_path=chromium.find(), args=["--no-sandbox"]
        )
        page = context.new_page()
        page.goto(f"{surveyed.url}/")
        seen.append(
            page.evaluate(
                """async () => {
                  const { meet } = await import("/static/client/respondent.js");
                  const url = `${location.origin}/study.json`;
                  const person = await meet(url, `${location.origin}/reports`);
                  const all = [];
                  for (const age of person.study.attributes[0].values) {
                    const answers = { age, smokes: "now", exercise: "daily", region: "west" };
                    all.push((await person.make(answers)).codes);
                  }
                  const { keptFor } = await import("/static/client/ledger.js");
                  const { key } = await keptFor(person.store, person.study.digest);
                  return [person.store.persistent, key.extractable, all];
                }"""
            )
        )
        context.close()
    assert seen[0][:2] == [True, False]
    assert seen[0] == seen[1] == seen[2]


@contextmanager
def own_page(folder: Path) -> Iterator[str]:
    """Somebody's own page with the modules beside it, on a host that no collector serves."""
    shutil.copytree(ROOT / "client", folder / "client")
    (folder / "index.html").write_text("<!doctype html><title>own</title>")

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            del args

    handler = partial(Handler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("listed", [True, False])
def test_a_page_of_another_host_sends_if_it_is_listed(
    browser: Browser, collector: Start, tmp_path: Path, listed: bool
) -> None:
    with own_page(tmp_path / "own") as origin:
        running = collector(ONE, "--origin", origin if listed else "https://another.example")
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{origin}/")
        told = page.evaluate(
            """async (url) => {
              const { meet } = await import("/client/respondent.js");
              try {
                const person = await meet(`${url}/study.json`, `${url}/reports`);
                await person.send(await person.make({ colour: "red" }));
              } catch (error) { return error.kind; }
              return "sent";
            }""",
            running.url,
        )
        context.close()
    assert told == ("sent" if listed else "network")
    assert len(running.codes()) == int(listed)


def test_two_tabs_agree_on_one_key(browser: Browser, served: Collector) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{served.url}/")
    codes = page.evaluate(
        """async () => {
          const { randomized } = await import("/static/client/memo.js");
          const { keptFor } = await import("/static/client/ledger.js");
          const { openStore } = await import("/static/client/store.js");
          const { channelOf } = await import("/static/client/channel.js");
          const channel = channelOf({ kind: "kary", size: 1000000, same: 3, other: 1 });
          const kept = await Promise.all(
            Array.from({ length: 10 }, async () => keptFor(await openStore(), "d")));
          return Promise.all(kept.map(({ key }) => randomized(key, "d", 0, channel, 7)));
        }"""
    )
    assert len(set(codes)) == 1
    context.close()


def test_of_two_tabs_the_first_report_stands(browser: Browser, collector: Start) -> None:
    """Ten at once, each with a report of its own on the screen: one is taken, the rest refused."""
    running = collector(ONE)
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{running.url}/")
    told = page.evaluate(
        """async () => {
          const { meet } = await import("/static/client/respondent.js");
          const { keptFor } = await import("/static/client/ledger.js");
          const tabs = await Promise.all(Array.from({ length: 10 }, () =>
            meet(`${location.origin}/study.json`, `${location.origin}/reports`)));
          const colours = tabs[0].study.attributes[0].values;
          const reports = await Promise.all(tabs.map((tab, i) =>
            tab.make({ colour: colours[i % colours.length] })));
          const ended = await Promise.all(tabs.map((tab, i) =>
            tab.send(reports[i]).then(() => "sent", (error) => error.kind)));
          const { key, sent } = await keptFor(tabs[0].store, tabs[0].study.digest);
          const again = await tabs[9].make({ colour: colours[0] });
          const first = reports[ended.indexOf("sent")];
          return { ended, gone: key === undefined, sent, again, first };
        }"""
    )
    assert sorted(told["ended"]) == ["sent"] + ["stands"] * 9
    assert told["gone"]
    assert told["sent"]["report"] == told["again"] == told["first"]
    assert running.codes() == [tuple(told["first"]["codes"])]
    context.close()


def test_the_key_cannot_be_read_by_scripts(page: Page) -> None:
    refused = page.evaluate(
        """async () => {
          const { keptFor } = await import("/static/client/ledger.js");
          const { openStore } = await import("/static/client/store.js");
          const { key } = await keptFor(await openStore(), "d");
          try { await crypto.subtle.exportKey("raw", key); } catch (error) { return error.name; }
          return "exported";
        }"""
    )
    assert refused == "InvalidAccessError"


def test_nothing_kept_in_the_browser_tells_the_answer(browser: Browser, served: Collector) -> None:
    """What is kept is what was sent, and the same for whoever sent it."""
    kept = []
    for value in ("green", "black"):
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{served.url}/")
        sent = page.evaluate(SUBMIT, [2, [value]])["report"]
        kept.append(
            page.evaluate(
                """async () => {
                  const { openStore } = await import("/static/client/store.js");
                  const all = await (await openStore()).all("");
                  const databases = (await indexedDB.databases()).map(({ name }) => name);
                  const other = [localStorage.length, sessionStorage.length, document.cookie];
                  return JSON.stringify([all, databases, other]);
                }"""
            ).replace(json.dumps(sent, separators=(",", ":")), "REPORT")
        )
        context.close()
    assert kept[0] == kept[1]
    assert kept[0].count("REPORT") == 1
    assert '"key"' not in kept[0]
    assert json.loads(kept[0].replace("REPORT", "0"))[1:] == [["castell"], [0, 0, ""]]
