"""An answer to take away: the numbers, the reports, and a program that makes one of the other."""

from __future__ import annotations

import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from castell.collector.results.answer import Answer, tables
from castell.collector.results.programs import notebook, script
from castell.results.csv_file import csv_bytes


@dataclass(frozen=True)
class File:
    name: str
    media_type: str
    body: bytes


def download(answer: Answer, kind: str) -> File:
    """A file of one of the kinds in `FORMATS`."""
    if kind == "reports" and answer.dated.earlier:
        return File("reports.zip", ZIP, as_zip(answer))
    ending, media_type, make = FORMATS[kind]
    name = "reports" if kind == "reports" else stem(answer)
    return File(f"{name}{ending}", media_type, make(answer))


def stem(answer: Answer) -> str:
    """What a file about these attributes is called: letters and digits that any disk takes.

    Attributes in other letters are left out.
    """
    words = [re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") for name in answer.question.shown]
    return "-".join(word for word in words if word)[:80] or "table"


def as_csv(answer: Answer) -> bytes:
    shares = answer.shares
    if shares is None:
        return csv_bytes(answer.joint.columns(answer.question.level))
    return csv_bytes(shares.columns())


def as_json(answer: Answer) -> bytes:
    document = {
        **tables(answer),
        "signals": [signal.to_dict() for signal in answer.signals],
    }
    return json.dumps(document, indent=2, ensure_ascii=False).encode()


def as_script(answer: Answer) -> bytes:
    made = script(answer.joint, answer.question, stem(answer), answer.shares, answer.summaries)
    return made.encode()


def as_notebook(answer: Answer) -> bytes:
    document = notebook(
        answer.joint, answer.question, stem(answer), answer.shares, answer.summaries
    )
    return json.dumps(document, indent=1, ensure_ascii=False).encode()


def as_reports(answer: Answer) -> bytes:
    """The reports themselves, sorted, so that their order says nothing of when they came."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reports.parquet"
        answer.dated.reports.sorted().save(path)
        return path.read_bytes()


def as_zip(answer: Answer) -> bytes:
    """The reports of several stages: a file for each, as `castell export` names them."""
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(packed, "w") as whole:
        for stage in answer.dated.stages:
            path = Path(folder) / f"reports.stage{stage.study.stage}.parquet"
            stage.reports.sorted().save(path)
            # Without the time of this moment.
            whole.writestr(zipfile.ZipInfo(path.name), path.read_bytes())
    return packed.getvalue()


ZIP = "application/zip"

FORMATS: dict[str, tuple[str, str, Callable[[Answer], bytes]]] = {
    "csv": (".csv", "text/csv; charset=utf-8", as_csv),
    "json": (".json", "application/json", as_json),
    "script": (".py", "text/x-python; charset=utf-8", as_script),
    "notebook": (".ipynb", "application/x-ipynb+json", as_notebook),
    "reports": (".parquet", "application/vnd.apache.parquet", as_reports),
}

# Whoever adds reports of their own and takes these again and again isolates an honest one.
OWNERS_FORMATS = ("reports",)
