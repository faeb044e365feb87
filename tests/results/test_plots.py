"""Pictures: each kind is drawn for real, and says what a reader must know."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from castell import Attribute, Schema, Study, estimate
from castell.errors import MissingExtraError, QueryError
from castell.population import SCHEMA, health_survey
from castell.results.plots import plot, plot_against

NAMES = ["age", "smokes", "health", "region"]


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("ending", ["png", "svg", "html"])
def test_each_width_is_drawn(tmp_path: Path, width: int, ending: str) -> None:
    reports = Study(SCHEMA, epsilon=12.0).randomize(health_survey(2000))
    path = tmp_path / f"picture.{ending}"
    estimate(reports, NAMES[:width], "castell").plot().save(str(path))
    assert path.stat().st_size > 3000


def test_what_a_picture_says() -> None:
    reports = Study(SCHEMA, epsilon=12.0).randomize(health_survey(2000), seed=1)
    joint = estimate(reports, ["smokes", "health"], "castell")
    text = json.dumps(joint.plot(title="Mine").to_dict())
    assert "Mine" in text
    assert "n = 2,000" in text
    assert "epsilon = 12" in text
    assert "INSECURE" in text
    for value in (*SCHEMA["smokes"].values, *SCHEMA["health"].values):
        assert value in text


def test_names_and_values_with_special_characters_are_drawn(tmp_path: Path) -> None:
    # Vega-Lite reads dots, brackets and colons in field names as syntax.
    schema = Schema([Attribute("a.b[c]:Q", ["<=50K", ">50K"]), Attribute("µ'\"", ["x,y", "é"])])
    answers = {"a.b[c]:Q": ["<=50K", ">50K"] * 50, "µ'\"": ["x,y", "é"] * 50}
    joint = estimate(Study(schema, epsilon=8.0).randomize(answers), schema.names, "castell")
    path = tmp_path / "picture.svg"
    joint.plot().save(str(path))
    drawn = path.read_text(encoding="utf-8")
    assert "a.b[c]:Q" in drawn
    assert "&lt;=50K" in drawn


def test_truth_is_marked_where_known() -> None:
    joint = estimate(
        Study(SCHEMA, epsilon=12.0).randomize(health_survey(2000)), ["health"], "castell"
    )
    truth = np.full(4, 0.25)
    assert '"truth": 0.25' in json.dumps(plot(joint, 0.95, None, truth).to_dict())
    assert '"truth": 0.25' in json.dumps(plot_against(joint, truth, title="t").to_dict())


def test_more_than_three_attributes_are_refused() -> None:
    joint = estimate(Study(SCHEMA, epsilon=12.0).randomize(health_survey(500)), NAMES, "castell")
    with pytest.raises(QueryError, match="project"):
        joint.plot()


def test_without_the_extra_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    joint = estimate(
        Study(SCHEMA, epsilon=12.0).randomize(health_survey(100)), ["health"], "castell"
    )
    with pytest.raises(MissingExtraError, match=r"castell\[plot\]"):
        joint.plot()
