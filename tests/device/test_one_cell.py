"""Several attributes in one column: read as questionnaires write it, or told what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from castell import Attribute, Schema, Study, choose_all, key_values, randomize_file
from castell.device.encode import encode
from castell.device.proposed_choices import choices_in
from castell.errors import AnswerError, CastellError

SPORTS = choose_all("sports", ["run", "swim", "ski"])
HOURS = key_values("hours", ["mail", "chat"], range=[0, 12])


def read(attributes: Any, answers: Any) -> dict[str, list[int]]:
    return {name: codes.tolist() for name, codes in encode(Schema(attributes), answers).items()}


@pytest.mark.parametrize(
    "column",
    [
        ["run;ski", "", "swim", "ski; run "],
        ["run, ski", "", "swim", "ski,run"],
        ["run|ski", "", "swim", "ski|run"],
        pa.array([["run", "ski"], [], ["swim"], ["ski", "run"]]),
        pd.Series([["run", "ski"], [], ["swim"], ["ski", "run"]]),
    ],
)
def test_what_was_chosen_is_read_from_one_column(column: Any) -> None:
    chosen = {
        "sports: run": [1, 0, 0, 1],
        "sports: swim": [0, 0, 1, 0],
        "sports: ski": [1, 0, 0, 1],
    }
    assert read(SPORTS, {"sports": column}) == chosen
    one_by_one = {name: ["no" if not code else "yes" for code in c] for name, c in chosen.items()}
    assert read(SPORTS, one_by_one) == chosen


def test_pairs_are_read_from_one_column() -> None:
    said = ["mail=0; chat=12", "", '{"chat": 0}', "mail = 12"]
    assert read(HOURS, {"hours": said}) == {
        "hours: mail": [0, 2, 2, 1],
        "hours: chat": [1, 2, 0, 2],
    }


def test_missing_cells_are_missing_answers_of_each() -> None:
    asked = choose_all("sports", ["run", "swim"], also=["would rather not"], missing="category")
    found = read(asked, {"sports": ["run", None, "", "would rather not"]})
    assert found == {"sports: run": [1, 2, 0, 2], "sports: swim": [0, 2, 0, 2]}
    keys = key_values("hours", ["mail"], range=[0, 12], missing="none")
    assert read(keys, {"hours": ["mail=12", None]}) == {"hours: mail": [1, 2]}


def test_columns_of_their_own_come_first() -> None:
    """Where some option has a column of its own, the question's is another thing."""
    with pytest.raises(AnswerError, match="no column 'sports: swim'"):
        read(SPORTS[:2], {"sports: run": ["yes", "no"], "sports": ["swim", "run"]})
    # What is asked by itself is never taken for a list of others.
    both = [Attribute("sports", ["run", "swim"]), *SPORTS[:1]]
    with pytest.raises(AnswerError, match="no column 'sports: run'"):
        read(both, {"sports": ["run"]})


def test_every_cell_that_cannot_be_read_is_counted_once() -> None:
    answers = {
        "sports": ["walk", "run;swin", None, "run;run", "swim"],
        "hours": ["mail", "bike=1", "chat=99", "mail=1;mail=2", ""],
    }
    with pytest.raises(AnswerError) as told:
        read([*SPORTS, *HOURS], answers)
    said = str(told.value)
    assert said.startswith("7 answers are none of the study's: 'sports' has 3 ('walk' in row 1, ")
    assert "'hours' has 3" in said
    assert "'hours: chat' has 1 ('99' in row 3)" in said
    assert "Known are run, swim, ski" in said


def test_a_column_that_can_hold_no_list_is_no_column() -> None:
    plain = [Attribute("pain: knee", ["none", "some"]), Attribute("pain: back", ["none", "some"])]
    with pytest.raises(AnswerError, match="no column 'pain: knee'"):
        read(plain, {"pain": ["knee"]})
    with pytest.raises(AnswerError, match="two columns 'sports'"):
        read(SPORTS, pa.table([["run"], ["run"]], names=["sports", "sports"]))


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "parquet"])
def test_a_file_with_lists_in_cells_is_randomised(suffix: str, tmp_path: Path) -> None:
    source, frame = (
        tmp_path / f"a.{suffix}",
        pd.DataFrame({"k": range(60), "sports": ["run;ski", "", "swim"] * 20}),
    )
    {"csv": frame.to_csv, "xlsx": frame.to_excel, "parquet": frame.to_parquet}[suffix](
        source, index=False
    )
    study = Study(SPORTS, 60.0)
    assert randomize_file(study, source, tmp_path / "r.parquet", seed=1) == 60
    plain = pd.read_parquet(tmp_path / "r.parquet").iloc[:3].to_numpy().tolist()
    assert plain == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("texts", "options"),
    [
        (["run;ski", "run"], ["run", "ski"]),
        (["run, ski", "run", "ski, run, swim", "swim"], ["run", "ski", "swim"]),
        (["a|b"], ["a", "b"]),
        (["run", "ski"], []),
        (["run, ski", "swim"], []),
        (["run;run", "ski"], []),
        (["run;", "ski"], []),
        ([f"{k};{k + 1}" for k in range(40)], []),
    ],
)
def test_a_list_to_choose_from_is_told_from_other_texts(
    texts: list[str], options: list[str]
) -> None:
    assert choices_in(texts) == options


def test_a_missing_list_is_refused_unless_the_study_takes_it() -> None:
    with pytest.raises(CastellError, match="row 2, column 'sports': the answer is missing"):
        read(SPORTS, {"sports": ["run", None]})
    single = key_values("hours", ["mail"], range=[0, 12])
    with pytest.raises(AnswerError, match="'chat=1' is not a value"):
        read(single, {"hours": ["chat=1"]})
