"""Whether a number is of the code that is here: by its source, or by what it still answers.

Every line of a result keeps three things: a digest of all the source it rests on (`code`), one of
what is its own in this folder (`own`), and what its method answered on a few made-up people
(`probe`). A line is of this code if the whole source is the same, or if its own source is and the
method answers as it did. So moving code, or code that only makes intervals, makes nothing stale.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from experiments import probes, reach
from experiments.harness import HYBRID_WIDTHS, REFERENCES, Scheme, schemes
from experiments.reach import Name, code, own_code

# What every scheme is asked through.
_HARNESS = ("experiments.harness", "experiments.questions")
_ROUNDING = "experiments.expected"
WHOLE = "experiment"
Facts = dict[str, Any]


def forget() -> None:
    """Read and run the source anew: it was changed."""
    reach.forget()
    probes.forget()
    scheme_code.cache_clear()


@cache
def scheme_code(scheme: Scheme, noise: str) -> str:
    """Of one scheme, with what it is asked through."""
    room = "experiments.systems" if scheme.system else "castell.estimators"
    roots = [(name, None) for name in (*_HARNESS, f"{room}.{scheme.method}")]
    made = code(roots, () if noise == "rounding" else (_ROUNDING,))
    return _join(made, scheme.options)


def _scheme_own(scheme: Scheme) -> str:
    """What makes a scheme what it is, other than what a probe sees."""
    system: list[Name] = [(f"experiments.systems.{scheme.method}", None)] if scheme.system else []
    widths = HYBRID_WIDTHS if dict(scheme.options).get("rule") == "width" else None
    kind = (scheme.method, scheme.design, scheme.alone, scheme.options, widths)
    return _join(own_code(system), kind)


def identity(scheme: Scheme, noise: str) -> str:
    """The same for as long as a scheme answers as it does."""
    return _join(_scheme_own(scheme), [round(x, 7) for x in probes.of_scheme(scheme, noise)])


def facts_of(module: ModuleType, noise: str, labels: Iterable[str] = ()) -> dict[str, Facts]:
    """What each line of a result rests on: the experiment's code and the scheme's.

    A result without lines has one entry, as `WHOLE`. An experiment that fits methods by itself
    names them as `METHODS`, schemes of its own as `SCHEMES`, files of castell whose speed it
    measures as `TIMES`; what else of castell it uses its `probe()` runs. One whose lines are
    `READINGS` of a method has no schemes, however its lines are called.
    """
    known = {scheme.label: scheme for scheme in (*schemes(), *getattr(module, "SCHEMES", ()))}
    named = () if hasattr(module, "READINGS") else labels
    shown = [label for label in named if label in known or label in REFERENCES]
    if module.__name__ not in reach.paths():  # a file that somebody put beside the others
        told = _join(Path(str(module.__file__)).read_text(encoding="utf-8"))
        return {label: {"code": told, "own": told, "probe": []} for label in shown or [WHOLE]}
    times = [reach.source_of(name) for name in getattr(module, "TIMES", ())]
    own = _join(own_code([(module.__name__, "run")]), times)
    codes = _codes(module, noise, shown, known)
    if not shown:
        return {WHOLE: {"code": codes[WHOLE], "own": own, "probe": _probe(module, noise)}}
    found = {}
    for label in shown:
        if label in REFERENCES:
            found[label] = {"own": own, "probe": probes.of_references()}
        else:
            scheme = known[label]
            mine = _join(own, _scheme_own(scheme))
            found[label] = {"own": mine, "probe": probes.of_scheme(scheme, noise)}
    return {label: {"code": codes[label], **facts} for label, facts in found.items()}


def _codes(
    module: ModuleType, noise: str, shown: list[str], known: dict[str, Scheme]
) -> dict[str, str]:
    skip = () if noise == "rounding" else (_ROUNDING,)
    roots: list[Name] = [(f"castell.estimators.{m}", None) for m in getattr(module, "METHODS", ())]
    roots.append((module.__name__, "run"))
    if not shown:
        return {WHOLE: code(roots, skip)}
    # What the schemes are asked through counts with each of them.
    own = code(roots, (*skip, *_HARNESS))
    asked = code([(part, None) for part in _HARNESS], skip)
    return {
        label: _join(own, asked if label in REFERENCES else scheme_code(known[label], noise))
        for label in shown
    }


def _probe(module: ModuleType, noise: str) -> list[float]:
    methods = getattr(module, "METHODS", ())
    found = [x for s in schemes() if s.method in methods for x in probes.of_scheme(s, noise)]
    if hasattr(module, "probe"):
        found += module.probe()
    return found


def _join(*digests: object) -> str:
    return hashlib.sha256(repr(digests).encode()).hexdigest()[:16]


def changed(module: ModuleType, result: dict[str, Any]) -> list[str]:
    """The lines of a result, if any, that are of code that is not here any more."""
    lines: dict[str, Facts] = result["made"]["lines"]
    noise = result["made"]["settings"]["noise"]
    now = facts_of(module, noise, lines)
    return [label for label, line in lines.items() if not _same(line, now.get(label))]


def _same(line: Facts, now: Facts | None) -> bool:
    if now is None:
        return False
    if line["code"] == now["code"]:
        return True
    answers = probes.agree(line.get("probe", [0.0]), now["probe"])
    return bool(line.get("own") == now["own"] and answers)
