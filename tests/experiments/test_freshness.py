"""The page is of the code that stands beside it, and says where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from experiments import catalogue, freshness, harness, page, probes, reach, store

Edit = Callable[[str, str, str], None]
DOCS = store.ROOT / "docs"
NUMBERS = DOCS / "reproduction" / "numbers"


def test_the_page_is_what_the_kept_numbers_and_this_code_give() -> None:
    """Red when a method or an experiment changed since.

    `make reproduce` computes what changed; `python -m experiments page` says on the page that it
    has.
    """
    written = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    assert written == page.text(DOCS)


def test_what_is_older_than_the_code_is_listed_exactly() -> None:
    written = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    part = written.split("\n## Numbers older than the code\n")[1].split("\n## ")[0]
    listed = {line[2:].partition(":")[0] for line in part.split("\n") if line.startswith("- ")}
    older = set()
    for name in catalogue.names():
        module = catalogue.experiment(name)
        for noise, result in page.kept_results(DOCS, module).items():
            now = freshness.facts_of(module, noise, result["made"]["lines"])
            lines = result["made"]["lines"].items()
            shown = {s.label for s in (*harness.schemes(), *getattr(module, "SCHEMES", ()))}
            shown &= set(getattr(module, "CHOSEN", shown))
            held = set(result["made"]["lines"])
            lacking = shown - held if held != {freshness.WHOLE} else set()
            if lacking or any(not _agrees(line, now.get(label)) for label, line in lines):
                older.add(f"{name}, {noise}")
    assert listed == older


def _agrees(line: dict[str, Any], now: dict[str, Any] | None) -> bool:
    """By the whole source, or by the own source and the probe."""
    if now is None:
        return False
    same = line["code"] == now["code"]
    near = line.get("own") == now["own"] and line["probe"] == pytest.approx(now["probe"], abs=1e-6)
    return bool(same or near)


def test_every_number_names_its_commit_and_every_file_its_experiment() -> None:
    files = sorted(path.stem for path in NUMBERS.glob("*.json"))
    known = {f"{n}-{noise}" for n in catalogue.names() for noise in ("real", "rounding")}
    assert files
    assert set(files) <= known
    for path in NUMBERS.glob("*.json"):
        name, _, noise = path.stem.rpartition("-")
        result = store.kept(DOCS, name, noise)
        assert result is not None
        lines = result["made"]["lines"]
        assert all(line["commit"] for line in lines.values()), path
        shown = {r["scheme"] for r in result.get("records", ()) if "scheme" in r}
        assert shown == set(lines) or set(lines) == {freshness.WHOLE}, path


# -- what counts as a change -----------------------------------------------------------------------


@pytest.fixture
def edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Edit]:
    """Stands in for an edit of one module's source; what runs stays as it is."""
    real = dict(reach.paths())

    def change(module: str, old: str, new: str) -> None:
        source = real[module].read_text(encoding="utf-8")
        assert old in source
        path = tmp_path / real[module].name
        path.write_text(source.replace(old, new), encoding="utf-8")
        monkeypatch.setattr(reach, "paths", lambda: {**real, module: path})
        reach.forget()
        freshness.scheme_code.cache_clear()

    yield change
    monkeypatch.undo()
    reach.forget()
    freshness.scheme_code.cache_clear()


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, float], None]]:
    """Stands in for a method that answers so much more in one cell."""
    real = harness.ask

    def change(method: str, much: float) -> None:
        def ask(people: Any, each: float, scheme: Any, noise: str, seed: int) -> Any:
            answer = real(people, each, scheme, noise, seed)

            def more(names: Any) -> Any:
                table = answer(names)
                table = table + 0.0
                table.flat[0] += much * (scheme.method == method)
                return table

            return more

        monkeypatch.setattr(probes, "ask", ask)
        probes.forget()

    yield change
    monkeypatch.undo()
    probes.forget()


LINES = ("castell", "truncated", "em", "RR-Joint", "dpfedwae", harness.FLOOR)


def _changed(name: str, before: dict[str, Any], noise: str = "real") -> list[str]:
    result = {"made": {"lines": before, "settings": {"noise": noise}}}
    return freshness.changed(catalogue.experiment(name), result)


def _before(name: str, noise: str = "real") -> dict[str, Any]:
    return freshness.facts_of(catalogue.experiment(name), noise, LINES)


def test_a_method_that_answers_otherwise_counts_for_its_own_lines(
    edit: Edit, answers: Callable[[str, float], None]
) -> None:
    before = _before("fig_adw")
    assert set(before) == set(LINES)
    edit("castell.estimators.em", "\nfrom castell", "\nCHANGED = 1\nfrom castell")
    assert _changed("fig_adw", before) == []  # the source alone
    answers("em", 1e-4)
    assert _changed("fig_adw", before) == ["em"]
    answers("em", 1e-8)
    assert _changed("fig_adw", before) == []
    answers("castell", 1e-4)  # its source is as it was: another machine may round otherwise
    assert _changed("fig_adw", before) == []


def test_what_a_method_imports_counts_too(
    edit: Edit, answers: Callable[[str, float], None]
) -> None:
    before = _before("fig_adw")
    edit("castell.inference.inversion", "\nfrom castell", "\nCHANGED = 1\nfrom castell")
    assert _changed("fig_adw", before) == []
    answers("castell", 1e-4)
    assert _changed("fig_adw", before) == ["castell", "RR-Joint"]


def test_words_do_not_count(edit: Edit, answers: Callable[[str, float], None]) -> None:
    before = _before("fig_adw")
    for method in ("em", "castell"):
        answers(method, 1.0)
        edit("castell.estimators.em", "from __future__", "# another remark\nfrom __future__")
        assert _changed("fig_adw", before) == []
        edit("castell.results.plots", "\nfrom castell", "\nCHANGED = 1\nfrom castell")
        assert _changed("fig_adw", before) == []


def test_of_an_experiment_what_its_run_reaches_counts(edit: Edit) -> None:
    before = _before("fig_adw")
    edit("experiments.fig_adw", "AVD by the number of attributes", "AVD")
    assert _changed("fig_adw", before) == []
    edit("experiments.fig_adw", '"german": 6', '"german": 5')
    assert _changed("fig_adw", before) == list(LINES)
    assert _changed("fig_adn", _before("fig_adn")) == []


def test_a_new_scheme_and_where_a_name_is_imported_from_do_not_count(edit: Edit) -> None:
    before = _before("fig_adw")
    edit("experiments.harness", '    "clusters": {', '    "new": {"x": {}}, "clusters": {')
    assert _changed("fig_adw", before) == []
    edit("experiments.sweep", "import numpy as np", "from numpy import polyfit\nimport numpy as np")
    assert _changed("fig_adw", before) == []
    edit("experiments.sweep", "FULL_SETS = ", "FULL_SETS = 1 + ")
    assert _changed("fig_adw", before) == list(LINES)


def test_of_a_system_its_own_file_counts(edit: Edit) -> None:
    before = _before("fig_adw")
    edit("experiments.systems.dpfedwae", "\nimport numpy", "\nCHANGED = 1\nimport numpy")
    assert _changed("fig_adw", before) == ["dpfedwae"]


def test_the_papers_model_counts_where_it_is_used(
    edit: Edit, answers: Callable[[str, float], None]
) -> None:
    real, rounding = _before("fig_adw"), _before("fig_adw", "rounding")
    edit("experiments.expected", "\nfrom castell", "\nCHANGED = 1\nfrom castell")
    answers("truncated", 1e-4)
    assert _changed("fig_adw", real) == []
    assert _changed("fig_adw", rounding, "rounding") == ["truncated"]


def test_an_experiment_without_lines_has_one_digest(
    edit: Edit, answers: Callable[[str, float], None]
) -> None:
    module = catalogue.experiment("fig_3d")
    before = freshness.facts_of(module, "real")
    assert list(before) == [freshness.WHOLE]
    edit("castell.estimators.castell", "\nfrom castell", "\nCHANGED = 1\nfrom castell")
    assert _changed("fig_3d", before) == []
    answers("castell", 1e-4)
    assert _changed("fig_3d", before) == [freshness.WHOLE]


def test_a_reading_that_is_called_as_a_method_is_no_line_of_its_own() -> None:
    """Table published has a line `lopub`; it lacks none of the other methods."""
    module = catalogue.experiment("table_published")
    assert "lopub" in module.READINGS
    facts = freshness.facts_of(module, "real", module.READINGS)
    assert list(facts) == [freshness.WHOLE]
    made = {"lines": facts, "settings": {"noise": "real"}}
    assert store.to_compute(module, {"made": made}) == []


def test_every_probe_tells_its_scheme_from_most_others() -> None:
    """Truncation truncates, hybrid decides: the few people are not too easy."""
    found = {s.label: tuple(probes.of_scheme(s, "real")) for s in harness.schemes()}
    assert all(found[label] for label in found if label != "dpfedwae")
    known = [found[x] for x in ("castell", "truncated", "independent", "em", "RR-Joint", "latent")]
    assert len(set(known)) == len(known)
