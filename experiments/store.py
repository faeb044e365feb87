"""Results and how they came about: what is kept of a run, and whether it is still of this code.

What the page shows lies beside it, in `reproduction/numbers`, a file for each experiment and noise
with the commit it is of and what tells whether it is still of this code (`freshness`). Another
folder, the cache, keeps single errors (`questions`), so that what was stopped goes on where it was.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import castell
from experiments import costs
from experiments.datasets import census1990
from experiments.freshness import WHOLE, changed, facts_of
from experiments.harness import schemes
from experiments.memory import remembering
from experiments.questions import only
from experiments.settings import Settings

ROOT = Path(__file__).parents[1]


def name_of(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def run(
    module: ModuleType,
    settings: Settings,
    *,
    fresh: bool = False,
    before: dict[str, Any] | None = None,
    lines: Sequence[str] | None = None,
) -> dict[str, Any]:
    """An experiment's result, and what it was made with.

    Of a result from `before`, just some of its lines can be computed anew: the others stay as they
    are, with the commit they are of.
    """
    with (
        costs.counting() as spent,
        remembering(not fresh),
        only(None if before is None else lines),
    ):
        result = module.run(settings)
    labels = dict.fromkeys(r["scheme"] for r in result.get("records", ()) if "scheme" in r)
    facts = {"commit": commit(), "with": _versions()}
    made = {
        label: {**facts, "seconds": spent.total() if label == WHOLE else spent.of(label), **own}
        for label, own in facts_of(module, settings.noise, labels).items()
    }
    if before is not None and lines is not None:
        others = [r for r in before["records"] if r["scheme"] not in labels]
        result = {**before, **result, "records": [*others, *result["records"]]}
        made = {**before["made"]["lines"], **made}
    told: dict[str, Any] = {"settings": asdict(settings), "census": census1990.which()}
    told["lines"] = made
    if WHOLE not in made:
        # Preparing all of it takes longer than preparing some.
        known = before["made"].get("shared seconds", 0.0) if before else 0.0
        told["shared seconds"] = max(spent.of(costs.SHARED), known)
    # As from a file, so that both ways give the same.
    text = json.dumps({**result, "name": name_of(module), "made": told}, allow_nan=False)
    plain: dict[str, Any] = json.loads(text)
    return plain


def _versions() -> str:
    return (
        f"castell {castell.__version__}, Python {platform.python_version()}, numpy "
        f"{np.__version__}, {os.cpu_count()} cores"
    )


def commit() -> str:
    """The commit of this folder, and whether the code was changed after it; empty without git."""
    try:
        found = _git("rev-parse", "--short=10", "HEAD")
        after = _git("status", "--porcelain", "--", "src", "experiments")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{found} with changes" if after else found


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def path_of(folder: Path, name: str, noise: str) -> Path:
    return folder / "reproduction" / "numbers" / f"{name}-{noise}.json"


def kept(folder: Path, name: str, noise: str) -> dict[str, Any] | None:
    """What the page shows of an experiment, whenever it was computed; None if nothing."""
    path = path_of(folder, name, noise)
    if not path.is_file():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def keep(folder: Path, result: dict[str, Any]) -> None:
    path = path_of(folder, result["name"], result["made"]["settings"]["noise"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=0) + "\n", encoding="utf-8")


def same_question(result: dict[str, Any], settings: Settings) -> bool:
    """Whether a result answers just this question, on the data that are here."""
    made = result["made"]
    same = made["settings"] == json.loads(json.dumps(asdict(settings)))
    return bool(same and made["census"] == census1990.which())


def to_compute(
    module: ModuleType, result: dict[str, Any], wanted: Sequence[str] | None = None
) -> list[str]:
    """The lines of a result that changed since, or that it lacks; of those `wanted` if given."""
    held = result["made"]["lines"]
    if WHOLE in held:
        return changed(module, result)
    known = [s.label for s in (*schemes(), *getattr(module, "SCHEMES", ()))]
    if getattr(module, "CHOSEN", None):
        known = [label for label in known if label in module.CHOSEN]
    lacking = [label for label in known if label not in held]
    found = [*changed(module, result), *lacking]
    return [label for label in found if wanted is None or label in wanted]
