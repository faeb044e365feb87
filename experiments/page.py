"""The page: every experiment run both ways, with pictures and what they say of the paper."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

import castell
from castell import CastellError
from experiments import store
from experiments.catalogue import experiment, headline, names
from experiments.settings import NOISES, Settings, line
from experiments.text import Result

# Longer tables are folded up.
LONG = 24

INTRODUCTION = """# Reproduction

What the tables and figures of the paper become when they are computed: H. Kikuchi, *Castell:
Scalable Joint Probability Estimation of Multi-dimensional Data Randomized with Local Differential
Privacy*. This page is generated, numbers and sentences: `python -m experiments all`.

Everything is shown two ways.

- **real**: every respondent is randomised and nothing else is known of them. What a user gets.
- **rounding**: the paper's model. Nobody is randomised; the *expected* table of reports is rounded
  to whole counts and inverted. The paper's accuracy tables hold this error and no other.

AVD is the largest error of any cell of a table, averaged over attribute sets. Errors are against
what the respondents answered. `±` is a standard error over repeats. Three lines need no report:
the **sampling floor** (the same number of people drawn anew from the respondents, asked without
noise: the error any sample has about its population), the **independent truth** (the product of
the true margins) and the **uniform table** (knowing nothing). A scheme above the uniform table is
worse than no data. Lines that agree hide each other: `clusters` and `hybrid` often choose
independence, and then lie under `independent`.

Epsilon is per attribute where it says so, and the total one respondent spends is given with it.
"""


def write(folder: Path, settings: Settings, *, fresh: bool = False) -> Path:
    """Run all, and write the page and its pictures; an experiment without data is left out."""
    pictures = folder / "reproduction"
    pictures.mkdir(parents=True, exist_ok=True)
    parts, begun = [], perf_counter()
    for k, name in enumerate(names(), 1):
        module = experiment(name)
        start = perf_counter()
        print(f"[{k}/{len(names())}] {name}", flush=True)
        try:
            results = both(module, settings, fresh=fresh)
        except CastellError as error:
            print(f"  left out: {error}", flush=True)
            parts.append(f"## {headline(module)}\n\nLeft out: {error}.")
            continue
        for noise, result in results.items():
            picture = pictures / f"{name}-{noise}.png"
            module.draw(result).save(picture, **scale(picture))
        parts.append(section(name, module, results))
        print(f"  {perf_counter() - start:.0f} s", flush=True)
    text = "\n\n".join([INTRODUCTION + "\n" + _settings(settings), *parts]) + "\n"
    target = folder / "reproduction.md"
    target.write_text(text, encoding="utf-8")
    print(f"wrote {target} in {perf_counter() - begun:.0f} s")
    return target


def both(module: ModuleType, settings: Settings, *, fresh: bool = False) -> dict[str, Any]:
    """An experiment's results by noise; one, where noise plays no part."""
    noises = list(NOISES) if getattr(module, "NOISY", True) else ["real"]
    return {
        noise: store.run(module, replace(settings, noise=noise), fresh=fresh) for noise in noises
    }


def section(name: str, module: ModuleType, results: Mapping[str, Result]) -> str:
    """One experiment as Markdown."""
    about = (module.__doc__ or "").strip().split("\n", 2)
    parts = [f"## {about[0]}"]
    if len(about) > 2:
        parts.append(" ".join(about[2].split()))
    parts.append("\n".join(f"- {line(dict(r['about']))}." for r in results.values()))
    parts += [f"**What it says.** {' '.join(module.findings(results))}"]
    width = "49%" if len(results) > 1 else "60%"
    parts.append(
        "\n".join(
            f'<img src="reproduction/{name}-{noise}.png" width="{width}" '
            f'alt="{about[0]} ({noise})">'
            for noise in results
        )
    )
    table = module.table(list(results.values()))
    text = table.markdown()
    if len(table.rows) > LONG:
        text = f"<details><summary>All numbers</summary>\n\n{text}\n\n</details>"
    parts.append(text)
    return "\n\n".join(parts)


def check(settings: Settings) -> int:
    """Compare with numbers known beforehand; every experiment that has some is run."""
    wrong = 0
    for name in names():
        module = experiment(name)
        if hasattr(module, "check"):
            print(f"== {name}", flush=True)
            for said, right in module.check(both(module, replace(settings, quick=False))):
                print(f"{'ok   ' if right else 'WRONG'} {said}", flush=True)
                wrong += not right
    print("all as known" if not wrong else f"{wrong} differ")
    return 1 if wrong else 0


def scale(path: Path) -> dict[str, Any]:
    """Pictures made of points are written larger, but not so large as to weigh much."""
    return {"scale_factor": 1.5} if path.suffix == ".png" else {}


def _settings(settings: Settings) -> str:
    how = "a quick run: few attribute sets and repeats" if settings.quick else "a full run"
    again = f", {settings.repeats} repeats" if settings.repeats else ""
    return (
        f"This page is from {how}{again}, seed {settings.seed}; castell {castell.__version__}, "
        f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores."
    )
