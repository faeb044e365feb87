"""First study files: what is found in the data is what is written, and it loads."""

from __future__ import annotations

import string
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from castell import Attribute, Schema, Study
from castell.cli.study_file import first_study, to_toml
from castell.errors import AnswerError, StudyError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: text.strip() == text
)


@given(TEXT, st.lists(TEXT, min_size=2, max_size=4, unique=True), st.text())
def test_any_text_survives_the_file(name: str, values: list[str], question: str) -> None:
    question = question.encode("utf-8", "ignore").decode()
    schema = Schema([Attribute(name, values, question)])
    assert Study.from_toml(to_toml(schema, name=name, epsilon=1.0)).schema == schema


def test_values_are_found_and_ordered(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,sex, city\n10,m,x\n9,f,y\n9, f ,x\n")
    text, remarks = first_study(path, epsilon=2.0, file="mine.toml")
    study = Study.from_toml(text)
    assert study.name == "people"
    assert study.schema["age"].values == ("9", "10", "prefer not to say")
    assert study.schema["sex"].values == ("f", "m", "prefer not to say")
    assert "also offers 'prefer not to say': take it out" in text
    assert study.epsilon == pytest.approx(2.0)
    assert "castell check mine.toml" in text
    # What was done with each column, in its place.
    assert [remark.split(":")[0] for remark in remarks] == ["'age'", "'sex'", "'city'"]
    assert "numbers in order" in remarks[0]
    assert "alphabetical" in remarks[1]


def test_a_value_for_who_would_not_say_is_offered_once_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n10,m\n9,Prefer not to say\n9,f\n")
    schema = Study.from_toml(first_study(path)[0]).schema
    assert schema["sex"].values == ("f", "m", "Prefer not to say")
    text, _ = first_study(path, decline="")
    assert Study.from_toml(text).schema["age"].values == ("9", "10")
    assert "also offers" not in text


def test_what_is_no_category_is_left_out_with_a_remark(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    columns = {"id": list(range(200)), "one": ["x"] * 200, "sex": ["m", None] * 100}
    columns["smokes"] = ["yes", "no"] * 100
    pq.write_table(pa.table(columns), path)
    text, remarks = first_study(path)
    assert Study.from_toml(text).names == ("smokes",)
    said = "\n".join(remarks)
    assert "'id' has 200 different values" in said
    assert "'one' has 1 different value in" in said
    assert "'sex' has 100 missing answers" in said
    with pytest.raises(StudyError, match="'id' has 200"):
        first_study(path, columns=["id"])


def test_numbers_with_parted_thousands_are_cut_into_bins(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    pay = [f"{k % 9 + 1}.{k:03},50" for k in range(200)]
    path.write_text("pay;sex\n" + "".join(f"{text};{'mf'[k % 2]}\n" for k, text in enumerate(pay)))
    text, remarks = first_study(path, columns=["pay", "sex"])
    assert Study.from_toml(text).schema["pay"].scale is not None
    assert "200 numbers from 1000.5 to 9197.5" in "\n".join(remarks)
    path.write_text(path.read_text() + "2.500;m\n")
    text, remarks = first_study(path)
    assert Study.from_toml(text).names == ("sex",)
    assert "'2.500' may be two numbers" in "\n".join(remarks)


def test_nothing_usable_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "letters.csv"
    path.write_text("id\n" + "\n".join(string.ascii_letters))
    with pytest.raises(StudyError, match="no column with 2 to 10 values"):
        first_study(path, most_values=10)
    with pytest.raises(AnswerError, match="there is no file"):
        first_study(tmp_path / "none.csv")


def test_rules_of_a_schema_are_written_too() -> None:
    asked = [Attribute("smokes now", ["no", 'ye"s']), Attribute("brand", ["!none", "A", "B"])]
    rules: list[dict[str, object]] = [{"smokes now": "no", "brand": "!!none"}]
    schema = Schema(asked, rules)
    study = Study.from_toml(to_toml(schema, name="rules", epsilon=2.0))
    assert study.schema == schema


def test_codes_for_no_answer_are_pointed_out_by_column(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("health;smokes;years\n1;daily;9\n2;99;8\n3;never;10\n9;never;7\n")
    _, remarks = first_study(path)
    (health,) = [text for text in remarks if text.startswith("9 in 'health'")]
    assert "empty these cells first, since 'years' has 9 as an answer" in health
    (smokes,) = [text for text in remarks if text.startswith("99 in 'smokes'")]
    assert "--missing 99 --force, and randomise with --missing 99" in smokes
    _, remarks = first_study(path, columns=["years", "smokes"], missing=["99"])
    assert not any("looks like a code" in text for text in remarks)


def test_values_that_differ_in_capitals_only_are_all_kept_and_said(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("answer\nyes\nno\nYes\nno\n")
    text, (remark,) = first_study(path, decline="")
    assert Study.from_toml(text).schema["answer"].values == ("Yes", "no", "yes")
    assert "'yes' and 'Yes' differ in capitals only: write them alike first" in remark
