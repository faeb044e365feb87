"""What a share of forged reports does to a table, and what `castell.recover` takes back of it.

People give one of ten values (Zipf's shares). Forgers send one report again and again, the one that
speaks most for the rarest value (targeted), or any report (untargeted). The share that recovery is
told is right, twice too large, or of nobody at all.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks._text import grid
from castell import Attribute, Reports, Schema, Study, fit, recover
from castell.evaluation.metrics import tvd

VALUES, PEOPLE, FORGED = 10, 5000, 0.05
EPSILON = (1.0, 4.0)
# How the reports are forged, what share recovery is told, and whether it knows the target.
CASES = (
    ("targeted", FORGED, True),
    ("targeted", FORGED, False),
    ("targeted", 2 * FORGED, True),
    ("untargeted", FORGED, False),
    ("none", FORGED, False),
    ("none", FORGED, True),
)


def run(quick: bool) -> dict[str, Any]:
    repeats = 2 if quick else 20
    rows = [
        _measured(epsilon, how, share, known, repeats)
        for epsilon in EPSILON
        for how, share, known in CASES
    ]
    return {"people": PEOPLE, "values": VALUES, "forged": FORGED, "repeats": repeats, "rows": rows}


def _measured(epsilon: float, how: str, share: float, known: bool, repeats: int) -> dict[str, Any]:
    values = [f"v{i}" for i in range(VALUES)]
    study = Study(Schema([Attribute("x", values)]), epsilon)
    truth = 1.0 / np.arange(1, VALUES + 1)
    truth /= truth.sum()
    before, after, inside = [], [], []
    for seed in range(repeats):
        random = np.random.default_rng(seed)
        codes = random.choice(VALUES, PEOPLE, p=truth)
        honest = study.randomize({"x": np.array(values)[codes]}, seed=seed)
        column = np.asarray(honest.columns[0]).copy()
        many = 0 if how == "none" else round(FORGED * PEOPLE)
        column[:many] = VALUES - 1 if how == "targeted" else random.integers(VALUES, size=many)
        reports = Reports(study, [column], secure=False)
        found = recover(reports, "x", share, targets={"x": values[-1]} if known else None)
        plain = fit(reports, "castell").estimate("x", post="simplex").probabilities
        before.append(tvd(truth, plain))
        after.append(tvd(truth, found.probabilities))
        inside.append(float(((found.lower <= truth) & (truth <= found.upper)).mean()))
    gain = np.array(after) - np.array(before)
    return {
        "epsilon": epsilon,
        "forged": how,
        "told": share,
        "known": known,
        "before": float(np.mean(before)),
        "after": float(np.mean(after)),
        "change": float(gain.mean()),
        "spread": float(gain.std(ddof=1) / math.sqrt(repeats)),
        "inside": float(np.mean(inside)),
    }


def show(result: dict[str, Any]) -> str:
    rows = [
        [
            f"{row['epsilon']:g}",
            row["forged"],
            f"{row['told']:.0%}" + (", target" if row["known"] else ""),
            f"{row['before']:.4f}",
            f"{row['after']:.4f}",
            f"{row['change']:+.4f} ± {row['spread']:.4f}",
            f"{row['inside']:.3f}",
        ]
        for row in result["rows"]
    ]
    head = ["epsilon", "forged", "told", "before", "after", "change", "cells inside bounds"]
    said = f"{result['forged']:.0%} of {result['people']:,} reports forged, {result['repeats']}"
    return f"{grid(head, rows)}\n\n{said} collections; mean total variation distance"
