"""What a notebook shows of a result, as the result itself writes it."""

from __future__ import annotations

import castell
from castell.population import SCHEMA, health_survey

_LINES = """\
study = castell.Study(SCHEMA, epsilon=6.0)
model = castell.fit(study.randomize(health_survey(5000)), "castell")
model.estimate(["smokes", "health"])"""


def notebook() -> str:
    """Markdown: the lines of a cell, and what stands below it."""
    study = castell.Study(SCHEMA, epsilon=6.0)
    model = castell.fit(study.randomize(health_survey(5000)), "castell")
    shown = model.estimate(["smokes", "health"])._repr_html_()
    # As the theme's own tables: whoever uses the keyboard can reach what scrolls.
    shown = shown.replace("<div ", '<div tabindex="0" role="group" aria-label="table" ', 1)
    return f'```text\n{_LINES}\n```\n\n```{{raw}} html\n<div class="notebook">{shown}</div>\n```\n'
