"""Packages that add methods, channels and engines: found by entry points, refused one by one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import castell
from castell import Study, plugins
from castell.channels import channel_of
from castell.counting import engines, scan_reports
from castell.errors import ChannelError, OptionError, PluginError
from castell.estimators import describe, methods_for, options_of
from tests.populations import collect, population, schema

# The engines that castell has itself.
OURS = ("dask", "frames", "parquet", "spark", "store")
PEOPLE = population((2, 3), seed=4)
STUDY = Study(schema((2, 3)), 4.0)
REPORTS = collect(STUDY, PEOPLE.table, 2000, np.random.default_rng(1))

CODE = '''
"""Even shares: nothing is learned from the reports."""
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from castell.extend import ByBatches, WeightedChannel, entries, table_method

@table_method
def even(counts, names, *, lift=0.0):
    """Every cell alike, whatever the reports say."""
    sizes = [counts.study.schema[name].size for name in names]
    return np.full(sizes, 1 / np.prod(sizes)) + lift

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

class Lies(Coin):
    kind: ClassVar[str] = "lies"
    @property
    def exact_epsilon(self):
        return super().exact_epsilon / 2

@dataclass(frozen=True, eq=False)
class TextCounts(ByBatches):
    path: object
    study: object
    secure: bool = True
    backend: object = None
    @property
    def n(self):
        return sum(len(columns[0]) for columns in self.batches([0]))
    def batches(self, blocks):
        yield list(np.loadtxt(self.path, dtype=int, ndmin=2)[:, list(blocks)].T)

class Text:
    @staticmethod
    def opens(source):
        return str(source).endswith(".txt")
    @staticmethod
    def open(source, study, progress):
        return TextCounts(source, study)

def failing(counts):
    """Fails when it is used."""
    raise ZeroDivisionError("oh")

def nothing(source, study, progress):
    return 3

def other(source, study, progress):
    import castell
    return TextCounts(source, castell.Study(study.schema, 1.0))

number = 3
'''

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a package where Python finds it: its module, and a dist-info with entry points."""

    def put(package: str = "even-shares", code: str = CODE, **groups: dict[str, str]) -> None:
        module = package.replace("-", "_")
        folder = tmp_path / package
        info = folder / f"{module}-1.0.dist-info"
        info.mkdir(parents=True)
        (folder / f"{module}.py").write_text(code, encoding="utf-8")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = []
        for group, entries in groups.items():
            lines.append(f"[castell.{group}]")
            lines += [f"{name} = {value}" for name, value in entries.items()]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.setenv("PYTHONPATH", f"{folder}:{':'.join(p for p in sys.path if p)}")
        _look_again()

    yield put
    monkeypatch.undo()
    for name in [n for n in sys.modules if n in ("even_shares", "broken", "twin")]:
        del sys.modules[name]
    _look_again()


def _look_again() -> None:
    plugins.forget()
    castell.methods.cache_clear()


# -- methods --------------------------------------------------------------------------------------


def test_a_package_adds_a_method(install: Install, tmp_path: Path) -> None:
    assert "even" not in castell.methods()
    install(estimators={"even": "even_shares:even"})
    assert "even" in castell.methods()
    assert "even" in methods_for(STUDY)
    assert describe("even") == "Every cell alike, whatever the reports say."
    assert options_of("even") == {"lift": 0.0}
    joint = castell.estimate(REPORTS, ["a", "b"], "even", lift=0.5)
    assert joint.method == "even"
    np.testing.assert_allclose(joint.probabilities, 1 / 6 + 0.5)
    # The command line and the pages show it too.
    from castell.collector.openapi import openapi

    assert "'even'" in str(openapi(STUDY, invited=False, most=10))
    REPORTS.save(tmp_path / "reports.parquet")
    (tmp_path / "study.json").write_text(STUDY.to_json())
    line = [sys.executable, "-m", "castell", "estimate", "study.json", "reports.parquet", "a"]
    ran = subprocess.run(
        [*line, "--method", "even", "--json"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    assert '"method": "even"' in ran.stdout


def test_a_module_with_a_fit_is_a_method(install: Install) -> None:
    code = CODE + "\nfit = even\n"
    install(code=code, estimators={"even": "even_shares"})
    assert describe("even") == "Even shares: nothing is learned from the reports."
    assert castell.fit(REPORTS, "even").method == "even"


def test_a_name_that_castell_has_stays_castells(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    before = castell.fit(REPORTS, "em").estimate("a").probabilities
    install(estimators={"em": "even_shares:even", "even": "even_shares:even"})
    np.testing.assert_array_equal(castell.fit(REPORTS, "em").estimate("a").probabilities, before)
    assert {"even", "em", "castell", "auto"} <= set(castell.methods())
    castell.methods.cache_clear()
    castell.methods()
    # Whoever wrote the package is told, once.
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert told == [
        "even-shares adds 'em' to castell.estimators, a name that castell has: not used"
    ]


def test_packages_are_looked_at_only_for_what_castell_does_not_have(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(estimators={"even": "even_shares:even"})

    def refuse(group: str) -> None:
        raise AssertionError(group)

    with monkeypatch.context() as patch:
        patch.setattr(plugins, "_entries", refuse)
        castell.fit(REPORTS, "castell")
        assert Study.from_json(STUDY.to_json()) == STUDY
        with pytest.raises(AssertionError, match=r"castell\.estimators"):
            castell.fit(REPORTS, "even")


def test_two_packages_that_claim_one_name(install: Install) -> None:
    install(estimators={"even": "even_shares:even"})
    install("twin", estimators={"even": "twin:even"})
    with pytest.raises(PluginError, match=r"even-shares and twin add 'even' .*both of them claim"):
        castell.fit(REPORTS, "even")
    assert "even" not in castell.methods()


@pytest.mark.parametrize(
    ("code", "entry", "problem"),
    [
        ("import nowhere_at_all", "broken:fit", "ModuleNotFoundError: No module named 'nowhere"),
        ("raise RuntimeError('no licence')", "broken:fit", "RuntimeError: no licence"),
        ("fit = (", "broken:fit", "SyntaxError"),
        ("", "broken:fit", "AttributeError"),
        ("fit = 3", "broken:fit", "a int is no method"),
        ("def fit(counts): ...\nREADS = 3", "broken", "READS of a method is a int"),
    ],
)
def test_a_broken_package_is_named_and_breaks_nothing_else(
    install: Install, code: str, entry: str, problem: str
) -> None:
    install("broken", code, estimators={"mine": entry})
    install(estimators={"even": "even_shares:even"})
    assert "mine" not in castell.methods()
    assert "even" in methods_for(STUDY)
    with pytest.raises(PluginError, match=f"'mine' .*package broken adds.*{problem}"):
        castell.fit(REPORTS, "mine")
    assert castell.fit(REPORTS, "independent").method == "independent"


def test_a_method_that_fails_while_it_works_names_its_package(install: Install) -> None:
    install(estimators={"failing": "even_shares:failing"})
    with pytest.raises(PluginError, match=r"package even-shares adds.*ZeroDivisionError: oh"):
        castell.fit(REPORTS, "failing")


# -- channels -------------------------------------------------------------------------------------


def test_a_package_adds_a_kind_of_channel(install: Install, tmp_path: Path) -> None:
    install(channels={"coin": "even_shares:Coin"})
    from even_shares import Coin  # type: ignore[import-not-found]

    assert channel_of({"kind": "coin", "heads": 3}) == Coin(3)
    study = Study(schema((2, 3)), 4.0, channels={"a": Coin(3)})
    assert Study.from_json(study.to_json()) == study
    text = study.to_json()
    (tmp_path / "study.json").write_text(text)
    line = [sys.executable, "-m", "castell", "check", "study.json"]
    ran = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert study.digest in ran.stdout
    assert "warning: the survey page has no channel of kind 'coin' and will refuse" in ran.stderr
    toml = (
        '[[attribute]]\nname = "a"\nvalues = ["a0", "a1"]\n'
        '[[channel]]\nattributes = ["a"]\nkind = "coin"\nheads = 3\n'
    )
    assert Study.from_toml(toml).design.blocks[0].channel == Coin(3)


def test_channels_that_are_refused(install: Install) -> None:
    entries = {"lies": "even_shares:Lies", "cyclic": "even_shares:Coin", "no": "even_shares:number"}
    install(channels=entries)
    with pytest.raises(PluginError, match=r"package even-shares adds.*states epsilon = 0.5"):
        channel_of({"kind": "lies", "heads": 3})
    with pytest.raises(ChannelError):  # castell's own, which wants more entries
        channel_of({"kind": "cyclic", "heads": 3})
    with pytest.raises(PluginError, match=r"package even-shares adds.*a int reads no channels"):
        channel_of({"kind": "no"})
    with pytest.raises(PluginError, match=r"package even-shares adds.*other entries than heads"):
        channel_of({"kind": "lies", "tails": 3})
    with pytest.raises(ChannelError, match=r"unknown here.*bloom, .*kary, .*lies, .*matrix"):
        channel_of({"kind": "dice"})
    assert Study.from_json(STUDY.to_json()) == STUDY


# -- engines --------------------------------------------------------------------------------------


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    path = tmp_path / "reports.txt"
    np.savetxt(path, np.array(REPORTS.columns).T, fmt="%d")
    return path


def test_a_package_adds_an_engine(install: Install, text_file: Path, tmp_path: Path) -> None:
    install(engines={"text": "even_shares:Text"})
    assert engines() == (*OURS, "text")
    known = castell.fit(REPORTS, "castell").estimate(["b", "a"])
    for counts in (
        castell.scan_reports(text_file, STUDY),
        castell.scan_reports(text_file, STUDY, engine="text"),
    ):
        joint = castell.fit(counts, "castell").estimate(["b", "a"])
        np.testing.assert_allclose(joint.probabilities, known.probabilities, atol=1e-12)
        np.testing.assert_allclose(joint.conf_int(), known.conf_int(), atol=1e-12)
        assert castell.fit(counts).probability(a="a0").value > 0
    (tmp_path / "study.json").write_text(STUDY.to_json())
    line = [sys.executable, "-m", "castell", "estimate", "study.json", "reports.txt", "a"]
    for more in ([], ["--engine", "text"]):
        how: dict[str, Any] = {"capture_output": True, "text": True, "cwd": tmp_path}
        ran = subprocess.run([*line, *more], check=False, **how)
        assert ran.returncode == 0, ran.stderr
        assert "2,000" in ran.stdout
    # Parquet stays castell's own.
    REPORTS.save(tmp_path / "reports.parquet")
    assert castell.scan_reports(tmp_path / "reports.parquet", STUDY).n == 2000
    with pytest.raises(OptionError, match=r"there is no engine 'texts': did you mean 'text'"):
        castell.scan_reports(text_file, STUDY, engine="texts")


def test_engines_that_are_refused(install: Install, text_file: Path) -> None:
    added = {
        "text": "even_shares:Text",
        "also": "even_shares:Text",
        "nothing": "even_shares:nothing",
        "other": "even_shares:other",
        "number": "even_shares:number",
        "gone": "even_shares:gone",
        "parquet": "even_shares:Text",
    }
    install(engines=added)
    assert engines() == tuple(sorted((*OURS, "also", "nothing", "other", "text")))
    with pytest.raises(OptionError, match=r"also and text can both open this: name one"):
        scan_reports(text_file, STUDY)
    assert scan_reports(text_file, STUDY, engine="also").n == 2000
    for name, problem in {
        "nothing": "what it opened has no study, secure",
        "other": "reports of another study",
        "number": "it is no function",
        "gone": "AttributeError",
    }.items():
        with pytest.raises(PluginError, match=f"even-shares.*{problem}"):
            scan_reports(text_file, STUDY, engine=name)
    with pytest.raises(PluginError, match=r"even-shares.*FileNotFoundError"):
        scan_reports("nowhere.txt", STUDY, engine="also").n  # noqa: B018


def test_nothing_is_added_where_nothing_is_installed() -> None:
    assert plugins.plugins(plugins.CHANNELS, []) == {}
    assert engines() == OURS


def test_what_one_entry_says_once_is_found_once(install: Install) -> None:
    """The same package on the path twice, as after an editable installation, is one package."""
    install(estimators={"even": "even_shares:even"})
    sys.path.insert(0, sys.path[0])
    _look_again()
    found: Any = plugins.plugins(plugins.ESTIMATORS, [])["even"]
    assert len(found.entries) == 1


def test_a_package_that_pip_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel is a zip file, so one can be made and installed without a network or a builder."""
    pytest.importorskip("pip")
    wheel, info = tmp_path / "even_shares-1.0-py3-none-any.whl", "even_shares-1.0.dist-info"
    parts = {
        "even_shares.py": CODE,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: even-shares\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[castell.estimators]\neven = even_shares:even\n"
        "[castell.channels]\ncoin = even_shares:Coin\n[castell.engines]\ntext = even_shares:Text\n",
    }
    parts[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*parts, f"{info}/RECORD"])
    with zipfile.ZipFile(wheel, "w") as file:
        for name, text in parts.items():
            file.writestr(name, text)
    target = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-index", "--target", str(target), str(wheel)]
    got = subprocess.run([*pip, *offline], capture_output=True, text=True, check=False)
    assert got.returncode == 0, got.stderr
    monkeypatch.setenv("PYTHONPATH", f"{target}:{':'.join(p for p in sys.path if p)}")
    code = (
        "import castell; from castell.counting import engines; "
        "from castell.channels import channel_of; "
        "print('even' in castell.methods(), engines(), channel_of({'kind': 'coin', 'heads': 3}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == f"True {(*OURS, 'text')} Coin(heads=3)", ran.stderr
    shown = subprocess.run(
        [sys.executable, "-m", "castell", "estimate", "--help"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "300"},
    )
    assert re.search(r"\beven\b", shown.stdout)
