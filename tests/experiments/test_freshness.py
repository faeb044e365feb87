"""The page is of the code that stands beside it, and says where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experiments import catalogue, freshness, harness, page, store

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
            now = freshness.code_of(module, noise, result["made"]["lines"])
            lines = result["made"]["lines"].items()
            shown = {s.label for s in (*harness.schemes(), *getattr(module, "SCHEMES", ()))}
            held = set(result["made"]["lines"])
            lacking = shown - held if held != {freshness.WHOLE} else set()
            if lacking or any(now.get(label) != line["code"] for label, line in lines):
                older.add(f"{name}, {noise}")
    assert listed == older


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
    """Stands in for an edit of one module's source."""
    real = dict(freshness._paths())

    def change(module: str, old: str, new: str) -> None:
        source = real[module].read_text(encoding="utf-8")
        assert old in source
        path = tmp_path / real[module].name
        path.write_text(source.replace(old, new), encoding="utf-8")
        monkeypatch.setattr(freshness, "_paths", lambda: {**real, module: path})
        freshness.forget()

    yield change
    monkeypatch.undo()
    freshness.forget()


LINES = ("castell", "truncated", "latent", "RR-Joint", harness.FLOOR)


def _changed(name: str, before: dict[str, str], noise: str = "real") -> list[str]:
    now = freshness.code_of(catalogue.experiment(name), noise, before)
    return [label for label in before if now[label] != before[label]]


def _before(name: str, noise: str = "real") -> dict[str, str]:
    return freshness.code_of(catalogue.experiment(name), noise, LINES)


def test_a_method_counts_for_its_own_lines(edit: Edit) -> None:
    before = _before("fig_adw")
    assert set(before) == set(LINES)
    edit("castell.estimators.latent", "\nfrom castell", "\nCHANGED = 1\nfrom castell")
    assert _changed("fig_adw", before) == ["latent"]


def test_what_a_method_imports_counts_too(edit: Edit) -> None:
    before = _before("fig_adw")
    edit("castell.inference.inversion", "\nfrom castell", "\nCHANGED = 1\nfrom castell")
    assert {"castell", "RR-Joint", "truncated"} <= set(_changed("fig_adw", before))


def test_words_do_not_count(edit: Edit) -> None:
    before = _before("fig_adw")
    edit("castell.estimators.latent", "from __future__", "# another remark\nfrom __future__")
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


def test_the_papers_model_counts_where_it_is_used(edit: Edit) -> None:
    real, rounding = _before("fig_adw"), _before("fig_adw", "rounding")
    edit("experiments.expected", "\nfrom castell", "\nCHANGED = 1\nfrom castell")
    assert _changed("fig_adw", real) == []
    assert _changed("fig_adw", rounding, "rounding") == list(LINES)


def test_an_experiment_without_lines_has_one_digest(edit: Edit) -> None:
    module = catalogue.experiment("fig_3d")
    before = freshness.code_of(module, "real")
    assert list(before) == [freshness.WHOLE]
    edit("castell.estimators.castell", "\nfrom castell", "\nCHANGED = 1\nfrom castell")
    assert freshness.code_of(module, "real") != before
