"""How many modules one `auto` estimate passes through: what a reader has to open to follow it.

Counted in a fresh process, so that nothing was worked out before: the modules of castell of which
a function is entered between the reports and the table. The documents name all of them, in order.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

# Fewer is better: half of the 46 there once were, and one for blocks side by side, which takes half
# off the time of a fit to drawn blocks. Raise one only with a reason. How far a model is off and
# the reasons of a table are worked out when they are asked for, which takes as many more.
MOST = {
    ("cover", "table"): 24,
    ("independent", "table"): 24,
    ("cover", "errors"): 39,
    ("independent", "errors"): 43,
}
PAGE = Path(__file__).parents[1] / "docs" / "how-it-works.md"

CODE = """
import json, sys
from inspect import CO_OPTIMIZED
from pathlib import Path
import castell
import castell.estimators.auto  # what runs when a module is loaded is no step of an estimate
from castell.population import SCHEMA, health_survey

reports = castell.Study(SCHEMA, 6.0, sys.argv[1]).randomize(health_survey(1500), seed=3)
root = Path(castell.__file__).parent
entered = set()

def note(frame, event, _):
    if event == "call" and frame.f_code.co_flags & CO_OPTIMIZED:  # a function, no class body
        entered.add(frame.f_code.co_filename)

sys.setprofile(note)
joint = castell.fit(reports).estimate(["smokes", "health"])
if sys.argv[2] == "errors":
    joint.standard_errors, joint.conf_int(), joint.reasons
sys.setprofile(None)
inside = (Path(name).relative_to(root) for name in entered if name.startswith(str(root)))
print(json.dumps(sorted(path.as_posix() for path in inside)))
"""


@cache
def _entered(design: str, asked: str) -> tuple[str, ...]:
    done = subprocess.run(
        [sys.executable, "-c", CODE, design, asked], capture_output=True, text=True, check=True
    )
    return tuple(json.loads(done.stdout))


@pytest.mark.parametrize(("design", "asked"), sorted(MOST))
def test_an_estimate_passes_through_few_modules(design: str, asked: str) -> None:
    entered = _entered(design, asked)
    assert {"estimators/auto.py", "inference/latent/em.py", "results/model.py"} <= set(entered)
    assert len(entered) <= MOST[design, asked], entered


def _named() -> list[set[str]]:
    """The files in the rows of the two tables of the page: of a table, and of its errors."""
    section = PAGE.read_text(encoding="utf-8").split("## The path of an estimate")[1].split("\n## ")
    table, errors = section[0].split("Errors, intervals and reasons")
    rows = re.compile(r"^\| (`[^|]*) \|", re.MULTILINE)
    return [
        {name for row in rows.findall(part) for name in re.findall(r"`([^`]+)`", row)}
        for part in (table, errors)
    ]


def test_the_documents_name_every_module_on_the_way_and_no_other() -> None:
    table, errors = _named()
    assert table == {*_entered("cover", "table"), *_entered("independent", "table")}
    besides = {*_entered("cover", "errors"), *_entered("independent", "errors")} - table
    assert errors == besides
