"""Which schemes share a picture: the paper's, its rivals, the rest; few enough to be told apart.

A scheme keeps its colour in all of them (`style`). Floor, ceiling and a yardstick fill what is
left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from types import ModuleType
from typing import Any

from experiments.harness import FLOOR, PRODUCT, REFERENCES, UNIFORM
from experiments.text import Result

MOST = 8  # lines in a picture
PAPER = (
    "castell", "independent", "hybrid", "truncated", "truncated, no cell < 0", "RR-Clusters",
    "RR-Joint",
)  # fmt: skip
RIVALS = (
    "lopub", "lopub, as published", "lopub, Lasso only", "locop", "locop, as published", "dpfedwae",
    "dpfedwae, no privacy", "dpfedwae, its floor",
)  # fmt: skip
TITLES = {"paper": "the paper's schemes", "rivals": "compared systems", "ours": "other methods"}
_FILL = {
    "paper": (UNIFORM, FLOOR, PRODUCT),
    "rivals": ("independent", UNIFORM, FLOOR),
    "ours": ("independent", UNIFORM, FLOOR),
}


def groups(labels: Sequence[str]) -> dict[str, list[str]]:
    """The schemes of each picture, at most `MOST`; new ones are among the others."""
    own = [x for x in labels if x not in (*PAPER, *RIVALS, *REFERENCES)]
    room = MOST - len(_FILL["ours"])
    found = {
        "paper": [x for x in PAPER if x in labels],
        "rivals": [x for x in RIVALS if x in labels],
        "ours": own[:room],
    }
    for start in range(room, len(own), room):
        found[f"ours-{1 + start // room}"] = own[start : start + room]
    for name, shown in found.items():
        if shown:
            fill = [x for x in _FILL[name.partition("-")[0]] if x in labels and x not in shown]
            shown += fill[: MOST - len(shown)]
    return {name: shown for name, shown in found.items() if shown}


def pictures(module: ModuleType, result: Result) -> dict[str, Any]:
    """The pictures of a result by a name for each; one without a name, if few lines are in it."""
    records = [r for r in result.get("records", ()) if "scheme" in r]
    if not records or getattr(module, "ROWS", False):
        return {"": module.draw(result)}
    answered = dict.fromkeys(r["scheme"] for r in records if r["mean"] is not None)
    if len(answered) <= MOST:
        return {"": module.draw(result)}
    drawn = {}
    for name, shown in groups(list(answered)).items():
        kind = name.partition("-")[0]
        own = set(shown) - ({*_FILL[kind]} if name != "paper" else set())
        if name != "paper" and len(own) < 2:
            continue  # a line by itself says nothing beside yardsticks alone
        some = [r for r in result["records"] if r.get("scheme") in shown]
        # Nor does a panel of yardsticks.
        panels = {r.get("data") for r in some if r["scheme"] in own and r["mean"] is not None}
        some = [r for r in some if r.get("data") in panels]
        about = _about(result, answered, shown)
        drawn[name] = module.draw(
            {**result, "about": about, "records": some, "shown": TITLES[kind]}
        )
    return drawn


def _about(result: Result, labels: Iterable[str], shown: Collection[str]) -> dict[str, Any]:
    """The settings of a picture: of what was repeated less often, just the lines that it shows.

    A label may hold a comma, so labels are taken out of the words longest first.
    """
    kept = []
    for said in result["about"].get("left out", []):
        who, colon, what = said.rpartition(": ")
        named = []
        for label in sorted(labels, key=len, reverse=True):
            if label in who:
                who = who.replace(label, "")
                named.append(label)
        own = [label for label in labels if label in named and label in shown]
        if own or not named:
            kept.append(f"{', '.join(own)}{colon}{what}" if named else said)
    return {**result["about"], "left out": kept}
