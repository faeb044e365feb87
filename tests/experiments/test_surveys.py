"""Surveys: how codes and numbers become answers; the real files, where they are at hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from experiments.datasets import health, surveys
from experiments.datasets.coding import Binned, Coded, Questions, answers, columns_of, plain, scale
from experiments.datasets.population import DataError, Population
from experiments.datasets.source import File, local

# Each with its file, its people, and the sizes of its domains.
SURVEYS: list[tuple[Callable[[], Population], File, int, tuple[int, ...]]] = [
    (surveys.fair, surveys.FAIR, 6366, (5, 6, 7, 6, 4, 6, 6, 6, 2)),
    (surveys.fair_pt, surveys.FAIR_PT, 601, (2, 9, 8, 2, 5, 7, 7, 5, 6)),
    (surveys.anes96, surveys.ANES96, 944, (5, 5, 7, 7, 7, 7, 5, 7, 6, 2)),
    (health.randhie, health.RANDHIE, 20190, (5, 2, 5, 5, 3, 5, 4, 6)),
    (health.births, health.BIRTHS, 4642, (5, 4, 2, 2, 2, 4, 2, 4, 5, 2, 2, 2)),
    (health.elderly, health.ELDERLY, 3629, (4, 2, 2, 5, 5, 2, 2, 2, 2, 5, 5)),
]


# -- codes and numbers ---------------------------------------------------------------------------


def test_codes_and_bins_keep_the_order_in_which_they_are_named() -> None:
    columns = columns_of(b"'a'\t'b'\t'c'\n2\t0\tu\n1\t9.5\tv\n2\t10\tu\n", "\t", "'")
    questions: Questions = {
        "quality": scale("a", 1, "poor", "good"),
        "amount": Binned("b", {0: "few", 5: "some", 10: "many"}),
        "kind": plain("c", "v", "u"),
    }
    people = answers("tiny", columns, questions, "made up")
    assert people.schema["amount"].values == ("few", "some", "many")
    assert people.codes["quality"].tolist() == [1, 0, 1]
    assert people.codes["amount"].tolist() == [0, 1, 2]
    assert people.codes["kind"].tolist() == [1, 0, 1]
    assert (people.name, people.note, people.n) == ("tiny", "made up", 3)


def test_a_code_without_a_label_is_refused() -> None:
    with pytest.raises(DataError, match=r"'3' is no value of 'a'.*as it was published"):
        Coded("a", {"1": "yes", "2": "no"}).codes(["1", "3"])


@pytest.mark.parametrize(
    ("entry", "problem"), [("-1", "in no bin"), ("nan", "in no bin"), ("?", "no number")]
)
def test_a_number_outside_the_bins_is_refused(entry: str, problem: str) -> None:
    with pytest.raises(DataError, match=f"{problem}.*as it was published"):
        Binned("b", {0: "few", 5: "many"}).codes(["7", entry])


# -- the surveys ---------------------------------------------------------------------------------


def test_lines_of_a_wheel_for_windows_end_like_all_others() -> None:
    for _, file, _, _ in SURVEYS:
        assert file.wheel is not None
        assert file.wheel.restore(b"a,b\r\n1,2\r\n") == b"a,b\n1,2\n"


def test_an_affair_is_any_time_spent_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    head = b"rate_marriage,age,yrs_married,children,religious,educ,occupation,occupation_husb,"
    rows = b"affairs\n3,32,9,3,3,17,2,5,0.1111111\n5,17.5,0.5,5.5,4,12,1,6,0\n"
    monkeypatch.setattr(surveys, "obtain", lambda _: head + rows)
    people = surveys.fair().frame().to_pylist()
    assert people[0]["affair"] == "yes"
    assert people[1]["affair"] == "no"
    assert people[1]["children"] == "5 or more"
    assert people[0]["husband's occupation"] == "manager"


def test_dollars_and_health_are_put_together_again(monkeypatch: pytest.MonkeyPatch) -> None:
    head = b"mdvis,lncoins,idp,lpi,fmde,physlm,disea,hlthg,hlthf,hlthp\n"
    rows = b"0,4.61512,1,6.907755,0,0,13.73189,1,0,0\n77,0,0,0,7.600902,.1442925,58.6,0,0,0\n"
    monkeypatch.setattr(health, "obtain", lambda _: head + rows)
    assert [tuple(row.values()) for row in health.randhie().frame().to_pylist()] == [
        ("100 %", "yes", "$750+", "none", "no", "10 to 15", "good", "0"),
        ("0 %", "no", "none", "$2,000+", "filled in", "25 or more", "excellent", "10+"),
    ]


@pytest.mark.parametrize(
    ("survey", "file", "n", "sizes"), SURVEYS, ids=[s[0].__name__ for s in SURVEYS]
)
def test_every_value_of_a_survey_is_somebodys(
    survey: Callable[[], Population], file: File, n: int, sizes: tuple[int, ...]
) -> None:
    if local(file) is None:
        pytest.skip(f"NOT TESTED: {file.path} is not at hand (tests fetch nothing)")
    people = survey()
    assert people.name == survey.__name__
    assert people.n == n
    assert people.schema.sizes == sizes
    for name in people.schema.names:
        assert (people.table([name]) > 0).all()
        assert np.isclose(people.table([name]).sum(), 1.0)
