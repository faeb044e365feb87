"""The main job from end to end, on generated people, where the truth is known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from castell.cli.study_file import to_toml
from castell.counting import scan_reports
from castell.device.encode import tabulate
from castell.device.randomize import randomize_file
from castell.errors import MissingExtraError
from castell.linear.operators import Floats
from castell.population import SCHEMA, health_survey
from castell.results.joint import JointEstimate
from castell.results.model import estimate
from castell.study.study import Study

NAMES = ("smokes", "health")


@dataclass(frozen=True, eq=False)
class Demo:
    """What the demo made: the files, and the estimate next to the truth."""

    study: Study
    joint: JointEstimate
    truth: Floats
    files: tuple[Path, ...]
    picture: Path | None

    def cells_covered(self, level: float = 0.95) -> int:
        low, high = self.joint.conf_int(level)
        return int(((low <= self.truth) & (self.truth <= high)).sum())


def run(folder: Path, *, people: int, epsilon: float, seed: int | None = None) -> Demo:
    """Study file, answers, reports and a picture, each through the same door as a user's."""
    import pyarrow as pa
    from pyarrow import csv

    folder.mkdir(parents=True, exist_ok=True)
    study_path, answers_path = folder / "study.toml", folder / "answers.csv"
    reports_path, picture = folder / "reports.parquet", folder / "smokes-health.png"
    study_path.write_text(to_toml(SCHEMA, name="health", epsilon=epsilon), encoding="utf-8")
    answers = health_survey(people)
    columns = {name: pa.array(column) for name, column in answers.items()}
    csv.write_csv(pa.table(columns), answers_path)

    study = Study.load(study_path)
    randomize_file(study, answers_path, reports_path, seed=seed)
    joint = estimate(scan_reports(reports_path, study), NAMES)
    truth = tabulate(study.schema, answers, NAMES)
    files = (study_path, answers_path, reports_path)
    try:
        from castell.results.plots import plot_against

        title = "Smoking and health: estimated from randomised reports, and the truth"
        plot_against(joint, np.asarray(truth), title=title).save(picture, scale_factor=2)
    except MissingExtraError:
        return Demo(study, joint, truth, files, None)
    return Demo(study, joint, truth, files, picture)
