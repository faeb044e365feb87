"""How many modules one `auto` estimate passes through: what a reader has to open to follow it.

Counted in a fresh process, so that nothing was worked out before: the modules of castell of which
a function is entered between the reports and the table.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# Fewer is better. Raise one of them only with a reason: the last were where fits start, an idea of
# its own (inference/latent/starts.py), and what a channel answers that is not special
# (channels/protocol.py), which took the place of asking for classes all over. Lower them with every
# module that an estimate no longer needs: how far a model is off and the reasons of a table are
# worked out when they are asked for.
MOST = {"cover": 29, "independent": 30}

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
castell.fit(reports).estimate(["smokes", "health"])
sys.setprofile(None)
inside = (Path(name).relative_to(root) for name in entered if name.startswith(str(root)))
print(json.dumps(sorted(path.as_posix() for path in inside)))
"""


@pytest.mark.parametrize("design", sorted(MOST))
def test_an_estimate_passes_through_few_modules(design: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, design], capture_output=True, text=True, check=True
    )
    entered = json.loads(done.stdout)
    assert {"estimators/auto.py", "inference/latent/em.py", "results/model.py"} <= set(entered)
    assert len(entered) <= MOST[design], entered
