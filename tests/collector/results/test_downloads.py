"""What is taken away: the same numbers in every form, and programs that find them again."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from pyarrow import csv

from castell import Attribute, Reports, Schema, Study, estimate
from castell.collector.results.downloads import FORMATS
from castell.collector.settings import State
from castell.collector.store_copies import export
from castell.results.csv_file import csv_bytes
from tests.collector.results.stores import (
    PAIRS,
    STUDY,
    ask,
    fill_store,
    query,
    reports_of,
    spread,
    state_of,
)

NAMES = ["smokes", "health"]


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    store = fill_store(tmp_path / "s.sqlite", reports_of(2000), spread(2000, 2))
    yield state_of(store)
    store.close()


def _take(state: State, kind: str, /, *names: str, **more: str) -> httpx.Response:
    (answer,) = ask(state, f"/results/api/download?{query(names or NAMES, format=kind, **more)}")
    assert answer.status_code == 200, answer.text
    return answer


def _numbers(body: bytes) -> dict[str, list[object]]:
    found: dict[str, list[object]] = csv.read_csv(io.BytesIO(body)).to_pydict()
    return found


@pytest.mark.parametrize("kind", FORMATS)
def test_every_file_has_its_name_and_type(state: State, kind: str) -> None:
    answer = _take(state, kind)
    ending, media_type, _ = FORMATS[kind]
    name = "reports" if kind == "reports" else "smokes-health"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}{ending}"'
    assert answer.headers["content-type"] == media_type
    assert answer.headers["cache-control"] == "no-store"


def test_csv_and_json_hold_the_librarys_numbers(state: State) -> None:
    joint = estimate(reports_of(2000), NAMES, "castell", post="simplex")
    table = _numbers(_take(state, "csv", method="castell", post="simplex", level="0.9").content)
    document = _take(state, "json", method="castell", post="simplex", level="0.9").json()
    low, high = joint.conf_int(0.9)
    known = {
        "probability": joint.probabilities,
        "standard_error": joint.standard_errors,
        "lower": low,
        "upper": high,
    }
    for name, numbers in known.items():
        assert table[name] == pytest.approx(numbers.ravel().tolist(), abs=1e-12)
    assert table["smokes"][:4] == ["never"] * 4
    assert np.array(document["probabilities"]) == pytest.approx(joint.probabilities)
    assert document["level"] == 0.9
    assert document["digest"] == STUDY.digest
    assert len(document["signals"]) == 6


def test_the_reports_are_all_there_and_in_an_order_that_says_nothing(
    state: State, tmp_path: Path
) -> None:
    path = tmp_path / "reports.parquet"
    path.write_bytes(_take(state, "reports").content)
    loaded = Reports.load(path, STUDY)
    rows = list(zip(*(c.tolist() for c in loaded.columns), strict=True))
    given = zip(*(c.tolist() for c in reports_of(2000).columns), strict=True)
    assert rows == sorted(given)
    assert loaded.secure is False


def _run(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("source", ["page", "export"])
def test_the_script_finds_the_pages_numbers_again(
    state: State, tmp_path: Path, source: str
) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    choice = {"method": "em", "level": "0.9", "post": "clip"}
    (folder / "again.py").write_bytes(_take(state, "script", **choice).content)
    if source == "page":
        (folder / "r.parquet").write_bytes(_take(state, "reports").content)
    else:
        export(state.store, folder / "r.parquet")
    said = _run(folder, "again.py", "r.parquet")
    known = _numbers(_take(state, "csv", **choice).content)
    again = _numbers((folder / "smokes-health.csv").read_bytes())
    assert list(again) == list(known)
    for name in ("probability", "standard_error", "lower", "upper"):
        assert again[name] == pytest.approx(known[name], abs=1e-12)
    assert "method    em" in said
    assert "Influence of one forged report: " in said
    assert "note: the results page had" not in said


@pytest.mark.parametrize("names", [["smokes", "health"], ["age", "smokes", "health"]])
def test_the_programs_read_a_drawn_design_too(tmp_path: Path, names: list[str]) -> None:
    store = fill_store(tmp_path / "s.sqlite", reports_of(3000, study=PAIRS), spread(3000, 2))
    state = state_of(store)
    (tmp_path / "again.py").write_bytes(_take(state, "script", *names).content)
    (tmp_path / "reports.parquet").write_bytes(_take(state, "reports", *names).content)
    page = _take(state, "json", *names).json()
    said = _run(tmp_path, "again.py")
    for signal in page["signals"][:4]:  # the last, drift, needs the hours
        assert f"{signal['title']}: {signal['text']}\n" in said
        assert signal["state"] != "unknown"
    table = (tmp_path / f"{'-'.join(names)}.csv").read_bytes()
    assert _numbers(table) == _numbers(_take(state, "csv", *names).content)
    book = _take(state, "notebook", *names).json()
    code = ["".join(c["source"]) for c in book["cells"] if c["cell_type"] == "code"]
    (tmp_path / "cells.py").write_text("\n".join(code), encoding="utf-8")
    _run(tmp_path, "cells.py")
    assert (tmp_path / f"{'-'.join(names)}.csv").read_bytes() == table
    store.close()


def test_the_script_says_when_it_reads_other_reports(state: State, tmp_path: Path) -> None:
    (tmp_path / "again.py").write_bytes(_take(state, "script").content)
    reports_of(150).save(tmp_path / "reports.parquet")
    assert "the results page had 2,000 reports, this file has 150" in _run(tmp_path, "again.py")


def test_the_notebooks_cells_run_in_order_and_find_the_numbers(
    state: State, tmp_path: Path
) -> None:
    book = _take(state, "notebook", "age", "health").json()
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    code = ["".join(c["source"]) for c in book["cells"] if c["cell_type"] == "code"]
    assert code[-1] == "joint.plot(level=LEVEL)"
    (tmp_path / "reports.parquet").write_bytes(_take(state, "reports").content)
    (tmp_path / "cells.py").write_text("\n".join(code), encoding="utf-8")
    _run(tmp_path, "cells.py")
    known = _numbers(_take(state, "csv", "age", "health").content)
    assert _numbers((tmp_path / "age-health.csv").read_bytes()) == known


def test_odd_names_make_good_files_and_no_code(tmp_path: Path) -> None:
    odd = 'a"""\\x/../"; import os  \n' + "é"
    schema = Schema([Attribute(odd, ['"x"', "y'\\"]), Attribute("größe", ["k", "l"])])
    study = Study(schema, epsilon=6.0, name='the "name"\\ """')
    codes = [np.arange(200) % 2, np.arange(200) % 2]
    store = fill_store(tmp_path / "s.sqlite", Reports(study, codes, secure=False), spread(200, 1))
    state = state_of(store)
    (tmp_path / "again.py").write_bytes(_take(state, "script", *schema.names).content)
    (tmp_path / "reports.parquet").write_bytes(_take(state, "reports", odd).content)
    answer = _take(state, "csv", *schema.names)
    notebook = _take(state, "notebook", *schema.names)
    store.close()
    assert 'filename="a-x-import-os-gr-e.csv"' in answer.headers["content-disposition"]
    _run(tmp_path, "again.py")
    assert (tmp_path / "a-x-import-os-gr-e.csv").read_bytes() == answer.content
    assert json.loads(notebook.content)["cells"]


BEGINNINGS = ["=", "+", "-", "@", "\t", "\r"]


def test_no_text_of_a_csv_is_a_formula_and_other_files_have_it_as_it_is(tmp_path: Path) -> None:
    values = [f'{sign}HYPERLINK("x","{k}")' for k, sign in enumerate(["=", "+", "-", "@"])]
    name = '=cmd|"/c calc"!A0'
    study = Study(Schema([Attribute(name, [*values, "18-29"])]), epsilon=6.0)
    codes = [np.arange(200) % 5]
    store = fill_store(tmp_path / "s.sqlite", Reports(study, codes, secure=False), spread(200, 1))
    state = state_of(store)
    table = _take(state, "csv", name)
    (tmp_path / "again.py").write_bytes(_take(state, "script", name).content)
    (tmp_path / "reports.parquet").write_bytes(_take(state, "reports", name).content)
    document = _take(state, "json", name).json()
    store.close()
    read = _numbers(table.content)
    assert next(iter(read)) == f"'{name}"
    assert read[f"'{name}"] == [*(f"'{value}" for value in values), "18-29"]
    # Nor does any field begin so as it stands in the file.
    fields = [field for line in table.text.splitlines() for field in line.split('",')]
    assert not [field for field in fields if field.lstrip('"').startswith(tuple(BEGINNINGS))]
    assert document["attributes"] == [name]
    assert document["values"] == [[*values, "18-29"]]
    assert len(Reports.load(tmp_path / "reports.parquet", study)) == 200
    _run(tmp_path, "again.py")
    assert (tmp_path / "cmd-c-calc-A0.csv").read_bytes() == table.content


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_every_beginning_of_a_formula_is_made_text(beginning: str) -> None:
    made = csv_bytes({f"{beginning}a": [f"{beginning}b", "c"], "share": [-0.5, None]}).decode()
    assert f'"\'{beginning}a"' in made
    assert f'"\'{beginning}b",-0.5' in made  # a number below zero stays one
