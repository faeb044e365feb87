"""What the browser demo loads: the client's own modules, a published study, and people to ask."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import castell
from castell.population import SCHEMA, health_survey
from docs.building.project_files import ROOT

EPSILONS = (1.0, 2.0, 4.0, 8.0)
NAMES = ("smokes", "health")
PEOPLE = 5000


def write(folder: Path) -> None:
    """Studies by epsilon, the people's true table and the client, below a folder of the site."""
    schema = castell.Schema([SCHEMA[name] for name in NAMES])
    client = folder / "client"
    shutil.copytree(ROOT / "client", client, ignore=shutil.ignore_patterns("*.json"))
    shutil.copy(Path(__file__).parent / "demo.js", folder / "demo.js")
    for epsilon in EPSILONS:
        castell.Study(schema, epsilon=epsilon, name="demo").save(folder / f"study-{epsilon:g}.json")
    truth = castell.tabulate(schema, health_survey(PEOPLE), NAMES) * PEOPLE
    people = {"people": PEOPLE, "table": [[round(cell) for cell in row] for row in truth]}
    (folder / "people.json").write_text(json.dumps(people), encoding="utf-8")


def _write(app: Any, exception: Exception | None) -> None:
    folder = Path(app.outdir) / "_static" / "demo"
    if exception is None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        write(folder)


def setup(app: Any) -> None:
    app.connect("build-finished", _write)
