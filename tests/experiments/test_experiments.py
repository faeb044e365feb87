"""Every experiment runs, on made-up people: no network, no data set, nothing looks at a clock."""

from __future__ import annotations

import doctest
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import castell
import experiments
from castell import Attribute, CastellError, Schema, estimators
from castell.evaluation import metrics
from experiments import (
    __main__,
    catalogue,
    datasets,
    expected,
    freshness,
    harness,
    page,
    pool,
    questions,
    store,
    style,
    systems,
    table_adult,
    table_comp,
    text,
)
from experiments.datasets import adult, synthetic
from experiments.datasets.population import DataError, Population
from experiments.harness import Scheme, draw_sets, study_of, summarise
from experiments.questions import Question, evaluate, left_out
from experiments.settings import Settings, budgets, line
from experiments.text import Table, number, pick

ROOT = Path(experiments.__file__).parents[1]
# Methods may take long, and there may be many: most tests make do with these.
FEW = ("castell", "independent", "truncated")
SIZES = {
    "adult": dict(zip(adult.COLUMNS, (2, 4, 3, 3, 2, 3, 2, 2), strict=True)),
    "census1990": {f"c{k}": 2 + k % 2 for k in range(20)},
    "census_standin": {f"c{k}": 2 + k % 2 for k in range(20)},
    "german": {f"g{k}": 2 + k % 3 for k in range(7)},
    "nursery": {f"s{k}": 2 + k % 2 for k in range(6)},
}


def _people(name: str, n: int = 600) -> Population:
    """Made-up people: every attribute leans on one hidden number, so all are associated."""
    generator = np.random.default_rng(len(name))
    hidden = generator.random(n)
    codes = {
        a: np.minimum((hidden + 0.5 * generator.random(n)) / 1.5 * d, d - 1).astype(np.intp)
        for a, d in SIZES[name].items()
    }
    attributes = [Attribute(a, [f"v{i}" for i in range(d)]) for a, d in SIZES[name].items()]
    return Population(name, Schema(attributes), codes, f"made-up {name}")


@pytest.fixture(autouse=True)
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    people = {name: _people(name) for name in SIZES}
    monkeypatch.setattr(datasets, "load", people.__getitem__)
    ages = people["adult"].select(["education", "sex"])
    schema = Schema([Attribute("age", ["0-19", "20-39", "40-59", "60-79"]), ages.schema["sex"]])
    codes = {"age": ages.codes["education"], "sex": ages.codes["sex"]}
    monkeypatch.setattr(adult, "age_and_sex", lambda: Population("adult", schema, codes, "made up"))
    monkeypatch.setattr(castell, "methods", lambda: FEW)
    monkeypatch.setattr(harness, "systems", lambda: ())
    monkeypatch.setenv("CASTELL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CASTELL_DATA", raising=False)
    return tmp_path


QUICK = {noise: Settings(noise=noise, quick=True, repeats=2) for noise in ("real", "rounding")}


# What a quick run leaves out, besides repeats and sets whose number is given anyway.
LEFT_OUT = {
    "fig_adw": "of up to 20,000 cells; census1990 2, even widths only",
    "fig_adn": "every other n",
    "fig_ade": "at 3 of 5 epsilons",
    "table_lopub": "the reading em is left out",
}


@pytest.mark.parametrize("name", catalogue.names())
def test_every_experiment_runs_shows_and_draws(name: str) -> None:
    module = catalogue.experiment(name)
    assert catalogue.headline(module).endswith(".")
    noises = QUICK if getattr(module, "NOISY", True) else {"real": QUICK["real"]}
    results = {noise: store.run(module, settings) for noise, settings in noises.items()}
    for noise, result in results.items():
        json.dumps(result, allow_nan=False)
        assert LEFT_OUT.get(name, "") in line(result["about"])
        if len(noises) > 1:
            assert result["about"]["noise"] == noise
            assert line(result["about"])
        assert module.draw(result).to_dict()["$schema"]
    table = module.table(list(results.values()))
    assert table.rows
    assert all(len(row) == len(table.titles) for row in table.rows)
    assert all(said.endswith(".") for said in module.findings(results))
    for noise, result in results.items():
        assert isinstance(module.findings({noise: result}), list)


def test_all_of_the_paper_is_there() -> None:
    tables = {f"table_{x}" for x in ("adult", "comp", "crossover", "datasets", "invcost")}
    figures = {
        f"fig_{x}"
        for x in ("lopub", "omega", "adw", "adn", "ade", "time", "3d", "v", "eps", "n", "d", "age")
    }
    assert set(catalogue.names()) >= tables | figures


NEWCOMER = '''"""A method of one's own."""
from castell.inference.products import product_model
def fit(counts):
    return product_model(counts, [counts.study.names], "population")
'''


@pytest.fixture
def newcomer(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An estimator file that somebody adds."""
    (stand_in / "newcomer.py").write_text(NEWCOMER, encoding="utf-8")
    monkeypatch.setattr(estimators, "__path__", [*estimators.__path__, str(stand_in)])
    estimators.forget()
    monkeypatch.setattr(castell, "methods", lambda: ("castell", "independent", "newcomer"))
    yield "newcomer"
    estimators.forget()
    sys.modules.pop("castell.estimators.newcomer", None)


def test_a_new_method_is_in_the_figure(newcomer: str) -> None:
    assert newcomer in estimators.methods()
    module = catalogue.experiment("fig_lopub")
    result = module.run(QUICK["real"])
    found = {r["scheme"] for r in result["records"]}
    assert found == {"castell", "independent", newcomer, "RR-Joint", *harness.REFERENCES}
    assert newcomer in json.dumps(module.draw(result).to_dict())


def test_every_method_there_is_becomes_a_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(castell, "methods", estimators.methods)
    monkeypatch.setattr(harness, "systems", systems.systems)
    found = harness.schemes()
    own = [s for s in found if not s.system and s not in (harness.JOINT, harness.CLUSTERS)]
    assert list(dict.fromkeys(s.method for s in own)) == list(estimators.methods())
    plain = {s.method: s.label for s in own if not s.options}
    assert {m: label for m, label in plain.items() if m != label} == {
        "clusters": "product over clusters",
        "hybrid": "hybrid, by the reports",
    }
    labels = [getattr(systems.system(name), "LABEL", name) for name in systems.systems()]
    assert [s.label for s in found if s.system] == labels
    assert {s.method for s in found if s.options} <= set(estimators.methods())
    assert len({s.label for s in found}) == len(found)
    # Each on a design that it reads.
    studies = {s.method: study_of(_people("adult"), 1.0, s) for s in own}
    assert [m for m, study in studies.items() if m not in castell.methods_for(study)] == []


def test_a_methods_variants_and_limits_are_shown(
    newcomer: str, stand_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newcomer's own constants: options under another label, few repeats."""
    more = 'REPEATS = 1\nVARIANTS = {"newcomer, loud": {"target": "respondents"}}\n'
    signature = "def fit(counts, *, target='population'):"
    changed = NEWCOMER.replace("def fit(counts):", more + signature)
    (stand_in / "newcomer.py").write_text(changed, encoding="utf-8")
    sys.modules.pop("castell.estimators.newcomer", None)
    monkeypatch.setattr(castell, "methods", lambda: (newcomer,))
    plain, loud = harness.schemes_named(newcomer, "newcomer, loud")
    assert plain.options == ()
    assert loud.options == (("target", "respondents"),)
    assert {s.repeats for s in (plain, loud)} == {1}
    people = _people("adult").select(["sex", "income"])
    asked = [Question(people, 2.0, [("sex", "income")])]
    (found,) = evaluate(asked, Settings(), 3, chosen=[plain, loud])
    said = left_out(asked, Settings(), 3, chosen=[plain, loud])
    assert said == ["newcomer, newcomer, loud: 1 of 3 repeats"]
    for label in (plain.label, loud.label):
        assert np.isfinite(found[label][0]).all()
        assert np.isnan(found[label][1:]).all()


def test_what_takes_long_is_repeated_less_often_and_said_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(castell, "methods", lambda: ("castell", "auto", "em", "latent", "lopub"))
    slow = "auto, em, latent, lopub, lopub, as published, lopub, Lasso only"
    few = [Question(_people("nursery"), 1.0, [("s0", "s1")])]
    wide = [Question(_people("census1990"), 1.0, [("c0", "c1")])]
    assert left_out(few, Settings(), 5) == [f"{slow}: 3 of 5 repeats"]
    assert left_out(wide, Settings(), 5) == [f"{slow}: 1 of 5 repeats"]
    assert left_out([*few, *wide], Settings(), 5) == [f"{slow}: 1 of 5 repeats"]
    assert left_out([*few, *wide], Settings(), 5, least=2) == [f"{slow}: 2 of 5 repeats"]
    assert left_out(few, Settings(quick=True), 2) == [f"{slow}: 1 of 2 repeats"]
    assert left_out(few, Settings(), 200, least=20) == [f"{slow}: 20 of 200 repeats"]
    assert left_out(few, Settings(), 3) == []
    # A system is asked no more often than it says, and of many attributes once; not if told so.
    own = [Scheme("own", "own", system=True, repeats=2)]
    for asked, least, times in ((few, 1, "2"), (few, 6, "2"), (wide, 1, "1"), (wide, 2, "2")):
        said = left_out(asked, Settings(), 40, chosen=own, least=least)
        assert said == [f"own: {times} of 40 repeats"]
    assert left_out(few, Settings(quick=True), 9, chosen=own, least=3) == ["own: 1 of 9 repeats"]
    assert line({"left out": ["em: 1 of 2 repeats"]}) == "em: 1 of 2 repeats"


def test_drawn_designs_have_no_part_in_the_papers_model_nor_in_parts() -> None:
    """Where each respondent draws one block: neither rounded, nor asked as if few were asked."""
    people = _people("adult").select(["sex", "income"])
    study = study_of(people, 1.0, Scheme("castell", "castell"))
    object.__setattr__(study.design, "draw", 1)
    with pytest.raises(CastellError, match="--noise real"):
        expected.estimate(study, people, ("sex", "income"), "castell")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(harness, "study_of", lambda *_: study)
        with pytest.raises(CastellError, match="cannot be asked in part"):
            harness.ask(people, 1.0, Scheme("castell", "castell"), "real", 0, part=True)


@pytest.fixture
def dropped_in(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    content = (
        '"""Figure new: nothing yet."""\ndef run(settings): return {"about": {}, "records": []}\n'
    )
    (stand_in / "fig_new.py").write_text(content, encoding="utf-8")
    monkeypatch.setattr(experiments, "__path__", [*experiments.__path__, str(stand_in)])
    yield "fig_new"
    sys.modules.pop("experiments.fig_new", None)


def test_a_dropped_in_file_is_an_experiment(
    dropped_in: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert catalogue.names()[-1] == dropped_in
    assert store.run(catalogue.experiment(dropped_in), Settings())["records"] == []
    assert __main__.main(["--list"]) == 0
    assert "Figure new: nothing yet." in capsys.readouterr().out


# -- the harness ---------------------------------------------------------------------------------


def _mean(label: str, **more: Any) -> float:
    people = _people("adult", more.pop("n", 600))
    sets = [("sex", "income"), ("race", "sex")]
    settings = Settings(noise=more.pop("noise", "real"))
    asked = [Question(people, more.pop("each", 1.0), sets)]
    return float(evaluate(asked, settings, 6)[0][label].mean())


def test_more_budget_and_more_people_err_less() -> None:
    assert _mean("castell", each=6.0) < 0.3 * _mean("castell", each=1.0)
    assert _mean("castell", n=9600) < 0.6 * _mean("castell", n=600)


def test_rounding_errs_far_less_than_real_noise() -> None:
    assert _mean("castell", noise="rounding") < 0.2 * _mean("castell")


def test_same_seed_same_numbers_another_seed_others() -> None:
    asked = [Question(_people("nursery"), 1.0, [("s0", "s1")])]
    runs = [evaluate(asked, Settings(seed=s), 2)[0]["castell"] for s in (0, 0, 1)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert (runs[0] != runs[2]).all()
    assert runs[0][0] != runs[0][1]


def test_references_are_what_they_say() -> None:
    people = _people("adult")
    truth = people.table(["sex", "race"])
    found = harness.references(truth, truth)
    assert found[harness.UNIFORM] == pytest.approx(np.full((2, 3), 1 / 6))
    product = np.outer(truth.sum(axis=1), truth.sum(axis=0))
    assert found[harness.PRODUCT] == pytest.approx(product)
    assert found[harness.FLOOR] is truth


def test_a_scheme_that_cannot_answer_is_a_gap_not_an_end() -> None:
    asked = [Question(_people("adult"), 1.0, [("sex",)])]
    broken = Scheme("broken", "castell", "no such design")
    (found,) = evaluate(asked, Settings(), 2, chosen=[broken])
    assert summarise(found["broken"]) == {"mean": None, "error": None, "sigma": None}
    alone = Scheme("alone", "castell", "no such design", alone=True)
    (found,) = evaluate(asked, Settings(), 1, chosen=[alone])
    assert np.isnan(found["alone"]).all()


def test_wide_studies_are_asked_set_by_set_and_as_if_by_themselves() -> None:
    """Twenty attributes: each set is a study of its own, with seeds by its place."""
    people = _people("census1990")
    assert len(people.schema) > harness.WHOLE
    sets = [("c0", "c1"), ("c2", "c3", "c4")]
    (scheme,) = harness.schemes_named("castell")
    (found,) = evaluate([Question(people, 2.0, sets)], Settings(), 1, chosen=[scheme])
    for place, names in enumerate(sets):
        some = people.select(names)
        answer = harness.ask(
            some, 2.0, scheme, "real", questions.seed_of(0, 0, people.name) + place
        )
        assert found["castell"][0, place] == metrics.avd(people.table(names), answer(names))
    # In one piece or in many: what is together in a task changes nothing.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(questions, "PIECE", 1)
        (again,) = evaluate([Question(people, 2.0, sets)], Settings(), 1, chosen=[scheme])
    np.testing.assert_array_equal(found["castell"], again["castell"])


def test_sets_are_all_or_some_and_never_too_large() -> None:
    people = _people("census1990")
    assert len(draw_sets(people, 2, None)) == 190
    assert len(draw_sets(people, 8, 5)) == 5
    assert draw_sets(people, 8, 5) == draw_sets(people, 8, 5)
    assert draw_sets(people, 2, None, cells=4)
    assert draw_sets(people, 9, 5, cells=4) == []


# -- all cores -----------------------------------------------------------------------------------


def _refuse(task: int) -> int:
    if task == 1:
        raise DataError(f"task {task} cannot be done", "leave it")
    return task


def _rest(file: str) -> None:
    Path(file).touch()
    threading.Event().wait()


def test_processes_change_no_number() -> None:
    """Whole studies and sets by themselves, here, in one process and in two."""
    sets = [("s0", "s1"), ("s1", "s2", "s3")]
    asked = [
        Question(_people("nursery"), 1.0, sets),
        Question(_people("nursery"), 2.0, sets),
        Question(_people("census1990"), 1.0, [("c0", "c1"), ("c2", "c19")]),
    ]
    chosen = (*harness.schemes(), table_comp.NOT_BELOW_ZERO)
    runs = [evaluate(asked, Settings(), 2, chosen=chosen)]
    for count in (1, 2):
        with pool.processes(count):
            runs.append(evaluate(asked, Settings(), 2, chosen=chosen))
    assert {s.label for s in chosen} < set(runs[0][0])
    for other in runs[1:]:
        for here, there in zip(runs[0], other, strict=True):
            assert list(here) == list(there)
            for label in here:
                assert np.isfinite(here[label]).all()
                np.testing.assert_array_equal(here[label], there[label])


def test_an_experiment_is_the_same_in_processes() -> None:
    module = catalogue.experiment("fig_adw")
    here = module.run(QUICK["real"])
    with pool.processes(2):
        assert module.run(QUICK["real"]) == here


def test_an_error_in_a_process_is_the_same_error(capsys: pytest.CaptureFixture[str]) -> None:
    for count in (None, 2):
        with pool.processes(count), pytest.raises(DataError, match="task 1 cannot be done: leave"):
            pool.work(_refuse, range(3), "tasks")
    with pytest.raises(DataError, match="leave it"):
        pool.work(_refuse, range(3), "tasks")
    assert __main__.main(["fig_3d", "--jobs", "0"]) == 1
    assert "jobs is 0: give a whole number from 1 up" in capsys.readouterr().err


def test_a_process_that_dies_is_an_error_for_people() -> None:
    with pytest.raises(pool.WorkError, match="--jobs 1"), pool.processes(1):
        pool.work(os._exit, [3], "tasks")


def test_processes_have_one_thread_each_and_leave_no_trace() -> None:
    before = dict(os.environ)
    with pool.processes(1):
        assert pool.work(os.getenv, ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "") == ["1", "1"]
    assert dict(os.environ) == before
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("count", [None, 2])
def test_progress_moves(
    count: int | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pool, "EVERY", 0.0)
    with nullcontext() if count is None else pool.processes(count):
        assert pool.work(abs, [-1, -2, -3, -4], "numbers") == [1, 2, 3, 4]
        assert pool.work(abs, [-2, -2, -4], "again", abs) == [2, 2, 4]
    said = [f"  numbers: {share}" for share in ("25%", "50%", "75%", "100%")]
    *lines, end = capsys.readouterr().err.split("\n")
    assert lines[:4] == said
    # Whatever task is done first, all are done at the end.
    assert len(lines) == 7
    assert lines[-1] == "  again: 100%"
    assert end == ""


STOPPED = """
from experiments import pool
from tests.experiments.test_experiments import _rest
if __name__ == "__main__":
    with pool.processes(2):
        pool.work(_rest, {files!r}, "resting")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_a_run_ends_its_processes(how: signal.Signals, stand_in: Path) -> None:
    """As Ctrl-C does it to all at once, and as somebody may do it to the first process."""
    files = [stand_in / "one", stand_in / "two"]
    script = stand_in / "stopped.py"
    script.write_text(STOPPED.format(files=[str(f) for f in files]), encoding="utf-8")
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "src")))
    run = subprocess.Popen(
        [sys.executable, script],
        start_new_session=True,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": paths},
    )
    while not all(file.exists() for file in files):
        assert run.poll() is None
        threading.Event().wait(0.05)
    if how == signal.SIGINT:
        os.killpg(run.pid, how)
    else:
        run.send_signal(how)
    assert run.wait() != 0
    assert any(_ended(run.pid) for _ in range(1200)), "a process is left"


def _ended(session: int) -> bool:
    """Whether no process of a session is left; if there is one, it gets a moment."""
    try:
        os.killpg(session, 0)
    except ProcessLookupError:
        return True
    threading.Event().wait(0.05)
    return False


PICKY = '''"""Refuses much: more than 5,000 people, and what nobody reported."""
from castell.errors import QueryError
from castell.inference.products import product_model
def fit(counts):
    if counts.n > 5000:
        raise QueryError("these are too many", "ask fewer")
    next(iter(counts.batches([0])))
    return product_model(counts, [counts.study.names], "population")
'''


def test_a_file_is_all_it_takes_to_be_in_a_figure(stand_in: Path) -> None:
    """A copy of the project, two estimator files more, and the command as people type it."""
    shutil.copytree(ROOT / "src" / "castell", stand_in / "castell")
    shutil.copytree(ROOT / "experiments", stand_in / "experiments")
    (stand_in / "experiments" / "systems" / "dpfedwae.py").unlink()  # takes long to start
    (stand_in / "castell" / "estimators" / "newcomer.py").write_text(NEWCOMER, encoding="utf-8")
    (stand_in / "castell" / "estimators" / "picky.py").write_text(PICKY, encoding="utf-8")
    means: dict[str, dict[str, list[Any]]] = {}
    for noise in ("real", "rounding"):
        command = [sys.executable, "-m", "experiments", "fig_n", "--quick", "--noise", noise]
        command += ["--repeats", "1", "--jobs", "2", "--json", "out.json", "--figure", "out.svg"]
        done = subprocess.run(
            command,
            cwd=stand_in,
            env={**os.environ, "PYTHONPATH": str(stand_in)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        drawn = "".join(f.read_text(encoding="utf-8") for f in stand_in.glob("out*.svg"))
        assert "newcomer" in drawn
        result = json.loads((stand_in / "out.json").read_text(encoding="utf-8"))
        means[noise] = {
            name: [r["mean"] is not None for r in pick(result, scheme=name)]
            for name in ("newcomer", "picky", "castell")
        }
    every = [True] * 4
    assert means["real"] == {"newcomer": every, "picky": [*every[:3], False], "castell": every}
    assert means["rounding"] == {"newcomer": every, "picky": [False] * 4, "castell": every}


# -- the paper's model ---------------------------------------------------------------------------


def test_the_papers_example_is_rounded_as_it_prints() -> None:
    """n = 10, p = 3/4: expected .2875 .2625 .1625 .2875, seen 3, 3, 2, 3 (the print drew a 1)."""
    schema = Schema([Attribute("A", ["1", "2"]), Attribute("B", ["1", "2"])])
    a = np.repeat([0, 1, 1], [4, 2, 4])
    people = Population("example", schema, {"A": a, "B": np.repeat([0, 0, 1], [4, 2, 4])}, "")
    study = castell.Study(schema, epsilon=2 * float(np.log(3)))
    reports = expected.report_distribution(study, ("A", "B"), people.table(("A", "B")))
    np.testing.assert_allclose(reports, [[0.2875, 0.1625], [0.2625, 0.2875]], atol=1e-8)
    seen = expected.observe_rounded(study, people, ("A", "B"))
    assert seen.table.tolist() == [[3, 2], [3, 3]]
    assert seen.n == 10


@pytest.mark.parametrize("design", ["independent", "joint", [["sex", "race"]]])
@pytest.mark.parametrize("names", [("sex", "race"), ("race", "income", "sex")])
def test_without_rounding_the_model_gives_the_truth_back(
    design: Any, names: tuple[str, ...]
) -> None:
    people = _people("adult").select(["sex", "race", "income"])
    study = castell.Study(people.schema, epsilon=9.0, design=design)
    many = people.take(np.tile(np.arange(people.n), 2000))
    table = expected.estimate(study, many, names, "castell")
    np.testing.assert_allclose(table, people.table(names), atol=1e-5)
    other = (
        castell.fit(expected.RoundedCounts(study, many), "castell").estimate(names).probabilities
    )
    np.testing.assert_allclose(other, people.table(names), atol=1e-5)


def test_the_model_knows_every_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(castell, "methods", estimators.methods)
    people = _people("adult").select(["sex", "race", "income"])
    for scheme in harness.schemes():
        if scheme == harness.CLUSTERS:
            table = harness.ask(people, 4.0, scheme, "rounding", 0)(people.schema.names)
            assert table.sum() == pytest.approx(1.0, abs=0.1)
            continue
        study, options = study_of(people, 4.0, scheme), harness.options_for(people, scheme)
        if not estimators.reads(scheme.method).everybody or scheme.method in ("auto", "latent"):
            # Reports that are no table, or are dealt one by one, cannot be rounded to counts.
            with pytest.raises(CastellError, match="--noise real"):
                expected.estimate(study, people, people.schema.names, scheme.method)
            continue
        table = expected.estimate(study, people, people.schema.names, scheme.method, options)
        assert table.sum() == pytest.approx(1.0, abs=0.1)


def test_the_model_has_no_reports_to_go_through() -> None:
    people = _people("adult")
    counts = expected.RoundedCounts(castell.Study(people.schema, epsilon=8.0), people)
    assert counts.n == people.n
    with pytest.raises(CastellError, match="--noise real"):
        counts.moments([])
    with pytest.raises(CastellError, match="--noise real"):
        counts.batches([0])


# -- settings, words, the page -------------------------------------------------------------------


def test_epsilon_is_per_attribute_or_in_all() -> None:
    assert Settings().each(8, [1.0, 2.0]) == [1.0, 2.0]
    assert Settings(epsilon=(4.0,), per="total").one_each(8, 1.0) == 0.5
    assert Settings(epsilon=(4.0,)).one_each(8, 1.0) == 4.0
    assert budgets(Settings(), [8, 9], 1.0) == {"each": 1.0, "total": [8.0, 9.0]}
    shared = budgets(Settings(epsilon=(4.0,), per="total"), [8, 2], 1.0)
    assert shared == {"each": [0.5, 2.0], "total": [4.0, 4.0]}
    with pytest.raises(CastellError, match="takes one"):
        Settings(epsilon=(1.0, 2.0)).one_each(8, 1.0)


@pytest.mark.parametrize("wrong", [{"noise": "some"}, {"per": "person"}, {"repeats": 0}])
def test_settings_that_are_none_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(CastellError):
        Settings(**wrong)


@pytest.mark.parametrize("module", [text, style, synthetic])
def test_examples_in_docstrings_hold(module: ModuleType) -> None:
    done = doctest.testmod(module)
    assert done.attempted
    assert not done.failed


def test_numbers_keep_their_digits() -> None:
    assert number(0.0443, 0.0012) == "0.0443 ± 0.0012"
    assert number(6.63e-10) == "6.63e-10"
    assert number(None) == "-"
    assert Table(["a", "b"], [["x", "1"]]).markdown().split("\n")[1] == "| --- | --: |"


def test_results_are_kept_with_the_question_and_the_code_they_are_of(
    stand_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = catalogue.experiment("fig_3d")
    first = store.run(module, Settings())
    assert store.kept(stand_in, "fig_3d", "real") is None
    store.keep(stand_in, first)
    assert store.kept(stand_in, "fig_3d", "real") == first
    assert store.same_question(first, Settings())
    assert store.to_compute(module, first) == []
    assert not store.same_question(first, Settings(seed=1))
    # What was found on the real rows is not shown for made-up ones.
    monkeypatch.setenv("CASTELL_CENSUS", "stand-in")
    assert not store.same_question(first, Settings())
    # Other source that answers the same is the same; with other source of its own it is not.
    line = first["made"]["lines"][freshness.WHOLE]
    line["code"] = "another"
    assert store.to_compute(module, first) == []
    line["own"] = "another"
    assert store.to_compute(module, first) == [freshness.WHOLE]


def test_one_experiment_from_the_command_line(
    stand_in: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, picture = stand_in / "out.json", stand_in / "out.svg"
    arguments = ["table_adult", "--quick", "--epsilon", "4", "--per", "total", "--repeats", "2"]
    assert __main__.main([*arguments, "--json", str(out), "--figure", str(picture)]) == 0
    said = capsys.readouterr().out
    assert "real noise" in said
    assert "epsilon 2 per attribute, 4 in all; 2 repeats" in said
    assert json.loads(out.read_text(encoding="utf-8"))["about"]["each"] == 2.0
    assert "<svg" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["table_adlut"], "did you mean 'table_adult'"),
        (["fig_3d", "--epsilon", "0"], "epsilon is 0: give a number above 0"),
        (["fig_3d", "--epsilon", "-1"], "epsilon is -1: give a number above 0"),
        (["fig_3d", "--epsilon", "nan"], "epsilon is nan: give a number above 0"),
        (["fig_3d", "--epsilon", "inf"], "epsilon is inf: give a number above 0"),
        (["fig_3d", "--epsilon", "much"], "epsilon is much: give a number above 0"),
        (["fig_3d", "--repeats", "0"], "repeats is 0: give a whole number from 1 up"),
        (["fig_3d", "--seed", "x"], "seed is x: give a whole number from 0 up"),
        (["fig_3d", "--json", "no/such/out.json"], "there is no folder for no/such/out.json"),
        (["fig_3d", "--json", "."], ". is a folder: name a file"),
        (["fig_3d", "--figure", "out.gif"], "out.gif is no picture: end its name in .png"),
        (["page", "--docs", "no/such"], "no/such is no folder"),
    ],
)
def test_the_command_line_refuses_in_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert __main__.main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


def test_the_command_line_refuses_other_words_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert __main__.main([]) == 2
    capsys.readouterr()
    with pytest.raises(SystemExit) as stopped:
        __main__.main(["fig_3d", "--nose", "real"])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_page_has_every_experiment_and_leaves_out_what_cannot_run(
    stand_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = ["table_datasets", "table_adult", "fig_3d", "fig_omega"]
    monkeypatch.setattr(page, "names", lambda: chosen)

    def missing(_: Settings) -> Any:
        raise DataError("there is no adult", "fetch it")

    monkeypatch.setattr(catalogue.experiment("fig_omega"), "run", missing)
    written = page.write(stand_in / "docs", QUICK["real"]).read_text(encoding="utf-8")
    # Beside them the claims, how to read it, the contents, what is older, and what it takes.
    assert written.count("\n## ") == 5 + len(chosen)
    assert "Left out: there is no adult: fetch it." in written
    assert "Numbers of commit" in written
    assert "Every number is of the code that stands beside it." in written
    pictures = [part.split('"')[1] for part in written.split("\n") if part.startswith("<img")]
    assert len(pictures) == 5
    assert all((stand_in / "docs" / picture).is_file() for picture in pictures)


def test_checks_say_which_numbers_differ(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(page, "names", lambda: ["table_adult"])
    assert page.check(Settings(repeats=2)) == 1
    assert "WRONG sex x income, rounding" in capsys.readouterr().out


def test_checks_pass_on_the_known_numbers() -> None:
    def record(scheme: str, x: Any, mean: float, **more: Any) -> dict[str, Any]:
        return {"scheme": scheme, "x": x, "mean": mean, "error": 1e-3, **more}

    known = {
        noise: {
            "about": {"repeats": 10},
            "records": [
                record(scheme, w, value, each=1.0)
                for scheme, values in table.items()
                for w, value in zip(table_comp.WIDTHS, values, strict=True)
            ],
        }
        for noise, table in (("rounding", table_comp.GOLDEN), ("real", table_comp.REAL))
    }
    assert all(right for _, right in table_comp.check(known))
    real = {"sex x income": 7.8e-5, "sex x race": 9.1e-5, "education x occupation": 1.1e-3}
    pairs = {
        noise: {"records": [record("castell", 0, v, pair=p) for p, v in values.items()]}
        for noise, values in (("rounding", table_adult.GOLDEN), ("real", real))
    }
    assert all(right for _, right in table_adult.check(pairs))
    assert pick(pairs["real"], pair="sex x race")[0]["mean"] == 9.1e-5
