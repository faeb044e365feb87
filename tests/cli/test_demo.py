"""The demo makes what it says, through the real files, and its intervals are right."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from castell import Reports, Study, estimate, tabulate
from castell.cli import demo as demo_module
from castell.cli.printing import demo_document, print_demo
from castell.evaluation.metrics import cramers_v
from castell.population import SCHEMA, health_survey


def test_demo_makes_study_answers_reports_and_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo = demo_module.run(tmp_path / "new", people=5000, epsilon=6.0)
    assert all(path.exists() for path in demo.files)
    assert demo.picture is not None
    assert demo.picture.read_bytes()[:4] == b"\x89PNG"
    reports = Reports.load(demo.files[2], Study.load(demo.files[0]))
    assert len(reports) == 5000
    assert reports.secure
    print_demo(demo)
    shown = capsys.readouterr().out
    assert "truth" in shown
    assert "5,000 generated people" in shown
    assert json.loads(json.dumps(demo_document(demo)))["cells_covered"] == demo.cells_covered()


def test_demo_without_the_plot_extra_still_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    demo = demo_module.run(tmp_path, people=100, epsilon=6.0)
    assert demo.picture is None
    print_demo(demo)
    assert "pip install 'castell[plot]'" in capsys.readouterr().out


def test_intervals_of_the_demo_cover_the_truth() -> None:
    answers = health_survey(20_000)
    study = Study(SCHEMA, epsilon=6.0)
    truth = tabulate(SCHEMA, answers, demo_module.NAMES)
    hits = []
    for seed in range(60):
        joint = estimate(study.randomize(answers, seed=seed), demo_module.NAMES, "castell")
        low, high = joint.conf_int()
        hits.append(((low <= truth) & (truth <= high)).mean())
    # 720 cells, correlated within a table: its standard deviation over tables is below 0.1.
    assert np.mean(hits) == pytest.approx(0.95, abs=5 * 0.1 / np.sqrt(60))


def test_the_population_has_real_associations_and_is_repeatable() -> None:
    answers = health_survey(20_000)
    assert (health_survey(20_000)["age"] == answers["age"]).all()
    assert (health_survey(20_000, seed=2)["age"] != answers["age"]).any()
    assert cramers_v(tabulate(SCHEMA, answers, ["smokes", "health"])) > 0.15
    for attribute in SCHEMA:
        assert tabulate(SCHEMA, answers, attribute.name).min() > 0.02
