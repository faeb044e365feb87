"""The leaderboard measures what it says, shows it, and tells where `auto` loses."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import _board, _duels, _trials, accuracy
from benchmarks._trials import QUICK, Case
from castell.evaluation.metrics import METRICS
from experiments.datasets.population import DataError
from experiments.harness import FLOOR, REFERENCES, draw_sets
from experiments.text import pick

SMALL = replace(QUICK, methods=("auto", "castell", "em", "independent"))


@pytest.fixture(scope="module")
def measured() -> list[dict[str, Any]]:
    """Measured once, never changed."""
    found: list[dict[str, Any]] = _trials.measure(SMALL)["cases"]
    return found


@pytest.fixture
def cases(measured: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return deepcopy(measured)


def _lines(case: dict[str, Any], method: str) -> dict[int, dict[str, Any]]:
    return {line["width"]: line for line in pick({"records": case["lines"]}, method=method)}


def test_quick_plan_runs_and_is_plain() -> None:
    plan = replace(QUICK, methods=("independent", "latent"), designs=("cover",), repeats=1)
    result = _trials.measure(plan)
    assert json.loads(json.dumps(result, allow_nan=False))["cases"] == result["cases"]
    assert "cover" in accuracy.show(result)


def test_cases_of_a_plan() -> None:
    plan = replace(QUICK, designs=("independent", "pairs"), epsilon=(4.0, 6.0), each=(1.0, 2.0))
    # Six attributes with 1 each spend 6 in all, which is asked for anyway.
    assert _trials.cases(plan) == [
        Case("generated", "independent", 4.0),
        Case("generated", "independent", 6.0),
        Case("generated", "independent", 12.0),
        Case("generated", "pairs", 4.0),
        Case("generated", "pairs", 6.0),
    ]


def test_errors_are_those_of_the_method(cases: list[dict[str, Any]]) -> None:
    """One number computed again by hand."""
    import castell

    people = _trials.people_of("generated")
    study = castell.Study(people.schema, epsilon=4.0, design="independent", name="generated")
    model = castell.fit(study.randomize(people.frame(), seed=1), "castell")
    sets = draw_sets(people, 2, QUICK.sets)
    case = next(case for case in cases if case["design"] == "independent")
    assert case["sets"] == {"2": [3, 15], "3": [3, 20]}
    for measure in _trials.MEASURES:
        far = [METRICS[measure](people.table(s), model.estimate(s).probabilities) for s in sets]
        assert _lines(case, "castell")[2][measure][1] == pytest.approx(np.mean(far))


def test_what_is_measured(cases: list[dict[str, Any]]) -> None:
    assert [case["design"] for case in cases] == ["cover", "independent"]
    drawn, independent = cases
    assert drawn["each"] is None
    assert independent["each"] == pytest.approx(4.0 / 6)
    assert drawn["blocks"] > 1
    for case in cases:
        assert set(REFERENCES) < {line["method"] for line in case["lines"]}
        for line in case["lines"]:
            assert len(line["avd"]) == len(line["tvd"]) == SMALL.repeats
            assert 0 < line["answered"] <= 3
        # No privacy at all errs less than any estimate at this budget.
        for width, floor in _lines(case, FLOOR).items():
            assert np.mean(floor["tvd"]) < np.mean(_lines(case, "auto")[width]["tvd"])
    # em knows nothing of drawn designs, castell only of what a block holds together.
    assert not _lines(drawn, "em")
    assert len(_lines(independent, "em")) == 2
    line = _lines(drawn, "castell")[3]
    assert line["answered"] < 3
    assert set(line["same"]) == {"avd", "tvd"}
    assert _lines(independent, "castell")[3]["same"] is None


def test_em_is_limited() -> None:
    plan = replace(QUICK, methods=("em",), designs=("independent",), repeats=1, cells=11)
    case = _trials.measure(plan)["cases"][0]
    people = _trials.people_of("generated")
    fitting = [s for s in draw_sets(people, 2, 3) if people.table(s).size <= 11]
    assert 0 < len(fitting) < 3
    assert {w: line["answered"] for w, line in _lines(case, "em").items()} == {2: len(fitting)}
    assert "tables of up to 11 cells only" in _board.text([case])


def test_wide_data_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _trials.people_of("generated")
    monkeypatch.setattr(_trials, "load", lambda name: whole)  # noqa: ARG005
    some = _trials.people_of("census1990")
    assert some.schema.names == ("a0", "a4")
    assert some.note.endswith("2 of 6 attributes (every 4th)")


def test_missing_data(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def none(name: str) -> None:
        raise DataError(f"cannot obtain {name}", "go online")

    monkeypatch.setattr(_trials, "load", none)
    assert accuracy.main(["--data", "adult"]) == 1
    assert "left out: cannot obtain adult: go online" in capsys.readouterr().err


def test_board(cases: list[dict[str, Any]]) -> None:
    (board,) = _board.boards(cases)
    rows = _board.table(board, "avd").rows
    complete = [float(row[-1].split()[0]) for row in rows if row[0] and row[-1] != "-"]
    assert complete == sorted(complete)
    # What did not answer every set has no mean, and says how many it answered.
    row = next(row for row in rows if row[:2] == ["cover", "castell"])
    assert row[-1] == "-"
    assert row[3].endswith(f"({_lines(cases[0], 'castell')[3]['answered']})")
    # Floor and ceilings once, at the end.
    assert {row[1] for row in rows[-3:]} == set(REFERENCES)
    assert sum(row[1] == FLOOR for row in rows) == 1
    text = _board.text(cases)
    assert "design independent: 0.666667 for each attribute" in text
    assert "n = 3,000, 6 attributes" in text
    assert "2 repeats; 3 of 15 sets of 2, 3 of 20 sets of 3" in text
    alone = _board.heading([cases[1]])
    assert alone == "generated, epsilon 0.666667 for each attribute, 4 in all"


def test_mean_and_error() -> None:
    assert _board.mean_and_error([0.1, 0.3]) == pytest.approx((0.2, 0.1))
    assert _board.mean_and_error([0.2]) == (0.2, None)
    assert _board.mean_and_error([0.2, 0.2]) == (0.2, None)


def test_latest_counts(cases: list[dict[str, Any]]) -> None:
    again = {**cases[0], "repeats": 9}
    found = _board.latest([*cases, again])
    assert [case["repeats"] for case in found] == [9, 2]


def test_a_loss_is_told(cases: list[dict[str, Any]]) -> None:
    case = cases[1]
    case["lines"] = [x for x in case["lines"] if x["method"] in ("auto", "independent")]
    auto, plain = _lines(case, "auto")[2], _lines(case, "independent")[2]
    auto.update(avd=[0.030, 0.050], tvd=[0.2, 0.2])
    plain.update(avd=[0.020, 0.041], tvd=[0.3, 0.3])
    duel = next(d for d in _duels.duels([case]) if (d.width, d.measure) == (2, "avd"))
    # The repeats differ much, the two methods on the same reports little.
    assert duel.error == pytest.approx(0.0005)
    assert duel.lost
    assert not duel.won
    text = "\n".join(_duels.verdict([case]))
    assert "w = 2, AVD: auto 0.0400, independent 0.0305 (difference 0.0095 ± 0.0005)" in text
    auto["avd"] = [0.020, 0.0414]  # a little worse, within chance
    duel = next(d for d in _duels.duels([case]) if (d.width, d.measure) == (2, "avd"))
    assert not duel.lost
    assert not duel.won


def test_auto_is_compared_on_the_same_sets(cases: list[dict[str, Any]]) -> None:
    line = _lines(cases[0], "castell")[3]
    line["same"].update(avd=[9.0, 9.0])
    duel = next(
        d for d in _duels.duels(cases[:1]) if (d.rival, d.width, d.measure) == ("castell", 3, "avd")
    )
    assert duel.auto == 9.0
    assert duel.lost


def test_independence_on_singles_is_a_rival(cases: list[dict[str, Any]]) -> None:
    singles = {**deepcopy(cases[1]), "design": "singles"}
    found = [d for d in _duels.duels([cases[0], singles]) if "singles" in d.rival]
    assert len(found) == 4
    assert {d.case["design"] for d in found} == {"cover"}
    expected = np.mean(_lines(singles, "independent")[2]["avd"])
    assert found[0].other == pytest.approx(expected)
    singles["sets"] = {"2": [15, 15], "3": [20, 20]}  # other sets: no comparison
    assert not [d for d in _duels.duels([cases[0], singles]) if "singles" in d.rival]


def test_nothing_to_compare(cases: list[dict[str, Any]]) -> None:
    case = cases[0]
    case["lines"] = [x for x in case["lines"] if x["method"] != "auto"]
    assert _duels.verdict([case]) == []


def test_files_and_page(
    cases: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, copy, page = (tmp_path / name for name in ("a.json", "b.json", "page.md"))
    cases[0]["command"] = "python -m benchmarks.accuracy --design cover"
    source.write_text(json.dumps({"cases": cases}), encoding="utf-8")
    picture = tmp_path / "all.svg"
    options = ["--from", source, "--json", copy, "--markdown", page, "--figure", picture]
    assert accuracy.main([str(option) for option in options]) == 0
    assert json.loads(copy.read_text(encoding="utf-8"))["cases"] == cases
    shown = capsys.readouterr().out
    assert "generated, epsilon 4 in all" in shown
    assert "sampling floor" in shown
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# How accurate is it?")
    assert "## Generated" in text
    assert "| cover | castell |" in text
    assert "python -m benchmarks.accuracy --design cover\n" in text
    assert (tmp_path / "pictures" / "accuracy-generated.png").stat().st_size > 10_000
    drawing = picture.read_text(encoding="utf-8")
    assert "generated, independent, epsilon 4 in all (0.666667 each)" in drawing


def test_measured_from_the_command_line(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    options = ["--quick", "--design", "singles", "--epsilon", "2", "--methods", "independent"]
    options += ["--repeats", "1", "--sets", "all", "--widths", "2", "--seed", "3"]
    assert accuracy.main([*options, "--json", str(target)]) == 0
    (case,) = json.loads(target.read_text(encoding="utf-8"))["cases"]
    assert (case["design"], case["total"], case["repeats"]) == ("singles", 2.0, 1)
    assert case["sets"] == {"2": [15, 15]}
    # Where the numbers were written to is no part of them.
    assert case["command"] == f"python -m benchmarks.accuracy {' '.join(options)}"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--data", "adults"], "there is no 'adults'"),
        (["--methods", "auto,lattent"], "there is no 'lattent'"),
        (["--design", "cover", "--each", "2"], "--each is for the design independent"),
        (["--repeats", "0"], "whole numbers from 1 up"),
        (["--sets", "0"], "whole numbers from 1 up"),
    ],
)
def test_wrong_options(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        accuracy.main(options)
    assert said in capsys.readouterr().err
