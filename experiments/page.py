"""The page: every experiment run both ways, with pictures and what they say of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

from castell import CastellError
from experiments import claims, costs, freshness, groups, store
from experiments.catalogue import experiment, heading, headline, link, names
from experiments.questions import only
from experiments.settings import NOISES, Settings, line
from experiments.text import Result

# Longer tables are folded up.
LONG = 12

INTRODUCTION = """# Reproduction

What the tables and figures of the paper become when they are computed: H. Kikuchi, *Castell:
Scalable Joint Probability Estimation of Multi-dimensional Data Randomized with Local Differential
Privacy*. This page is generated, numbers and sentences: `python -m experiments all`.

**In short.** The paper's algorithms do what it says. Its accuracy tables hold no sampling noise:
nobody is randomised, the *expected* table of reports is rounded and inverted. With every respondent
randomised its schemes beat RR-Independent, LoPub, LoCop and DP-FED-WAE where each attribute has
epsilon 4, so 32 in all for eight of them, though not RR-Joint and RR-Clusters, which randomise
attributes together. At 1 each, the epsilon that gives its printed numbers in its own model, they
do not.

Everything is shown two ways: **real**, every respondent is randomised and nothing else is known of
them, which is what a user gets; and **rounding**, the paper's model."""

READING = """## How to read it

AVD is the largest error of any cell of a table, averaged over attribute sets. Errors are against
what the respondents answered. `±` is a standard error over repeats. Epsilon is per attribute where
it says so, and the total one respondent spends is given with it. Every number names the commit it
is of.

Three lines need no report: the **sampling floor** (the same number of people drawn anew from the
respondents, asked without noise: the error any sample has about its population), the **independent
truth** (the product of the true margins) and the **uniform table** (knowing nothing). A scheme
above the uniform table is worse than no data.

Lines that agree hide each other: `hybrid` is castell up to as many attributes as the paper's
figures show castell to be better at (4 for Adult, 8 for the census, 3 for German, 4 for Nursery),
and `independent` beyond. Where there are many lines the paper's schemes are in one picture, the
compared systems in another, and other methods of castell in a third; each keeps its colour, and
diamonds are the paper's print."""


def write(
    folder: Path,
    settings: Settings,
    *,
    fresh: bool = False,
    compute: Sequence[str] | None = None,
    lines: Sequence[str] | None = None,
) -> Path:
    """Compute what is not there or not of this code any more, and write the page and its pictures.

    An experiment without data is left out. `compute` names the experiments to look at, all if None;
    `lines` the schemes, all if None. Everything else is shown as it was kept.
    """
    failed, begun = dict[str, str](), perf_counter()
    for k, name in enumerate(names(), 1):
        module = experiment(name)
        start = perf_counter()
        print(f"[{k}/{len(names())}] {name}", flush=True)
        try:
            for noise in noises(module) if compute is None or name in compute else ():
                _compute(folder, module, replace(settings, noise=noise), lines, fresh=fresh)
        except CastellError as error:
            print(f"  left out: {error}", flush=True)
            failed[name] = str(error)
            continue
        _draw(folder, name, module, kept_results(folder, module))
        print(f"  {perf_counter() - start:.0f} s", flush=True)
    target = folder / "reproduction.md"
    target.write_text(text(folder, failed), encoding="utf-8")
    print(f"wrote {target} in {perf_counter() - begun:.0f} s")
    return target


def noises(module: ModuleType) -> list[str]:
    """Both ways; one, where noise plays no part."""
    return list(NOISES) if getattr(module, "NOISY", True) else ["real"]


def _compute(
    folder: Path,
    module: ModuleType,
    settings: Settings,
    lines: Sequence[str] | None,
    *,
    fresh: bool,
) -> None:
    before = store.kept(folder, store.name_of(module), settings.noise)
    if before is None or fresh or not store.same_question(before, settings):
        with only(lines):
            store.keep(folder, store.run(module, settings, fresh=fresh))
        return
    found = store.to_compute(module, before, lines)
    if not found:
        print(f"  {settings.noise}: nothing to compute", flush=True)
    elif found == [freshness.WHOLE]:
        store.keep(folder, store.run(module, settings))
    else:
        print(f"  {settings.noise}: {', '.join(found)}", flush=True)
        store.keep(folder, store.run(module, settings, before=before, lines=found))


def kept_results(folder: Path, module: ModuleType) -> dict[str, Any]:
    """What there is of an experiment, by noise."""
    found = {noise: store.kept(folder, store.name_of(module), noise) for noise in noises(module)}
    return {noise: result for noise, result in found.items() if result is not None}


def _draw(folder: Path, name: str, module: ModuleType, results: Mapping[str, Any]) -> None:
    """The pictures of an experiment, in place of those there were."""
    pictures = folder / "reproduction"
    pictures.mkdir(parents=True, exist_ok=True)
    wanted = {
        pictures / f"{name}-{noise}{'-' * bool(group)}{group}.png": chart
        for noise, result in results.items()
        for group, chart in groups.pictures(module, result).items()
    }
    for old in set(pictures.glob(f"{name}-*.png")) - set(wanted):
        old.unlink()
    for picture, chart in wanted.items():
        chart.save(picture, **scale(picture))


def text(folder: Path, failed: Mapping[str, str] | None = None) -> str:
    """The page from what was kept; the same numbers and the same code give the same text."""
    parts, found = [], dict[str, dict[str, Any]]()
    for name in names():
        module = experiment(name)
        results = kept_results(folder, module)
        if not results:
            why = (failed or {}).get(name, "it was not computed")
            parts.append(f"## {heading(module)}\n\nLeft out: {why}.")
            continue
        found[name] = results
        parts.append(section(name, module, results, folder))
    told = [
        INTRODUCTION,
        claims.section(found),
        READING,
        _contents(),
        *parts,
        _older(stale(folder)),
        costs.section(found),
    ]
    return "\n\n".join(told) + "\n"


def stale(folder: Path) -> list[str]:
    """What is kept but of code that has changed since, a line each."""
    found = []
    for name in names():
        module = experiment(name)
        for noise, result in kept_results(folder, module).items():
            lines = freshness.changed(module, result)
            lacking = [x for x in store.to_compute(module, result) if x not in lines]
            all_of_it = len(lines) == len(result["made"]["lines"])
            said = ["all of it" if all_of_it else "; ".join(lines)] * bool(lines)
            said += [f"not computed yet: {'; '.join(lacking)}"] * bool(lacking)
            if said:
                found.append(f"{name}, {noise}: {'. '.join(said)}")
    return found


def of_commit(module: ModuleType, result: Result) -> str:
    """Which code the lines of a result are of, and which of it is not the code that is here."""
    older = set(freshness.changed(module, dict(result)))
    by_commit: dict[tuple[str, bool], list[str]] = {}
    for label, made in result["made"]["lines"].items():
        key = made["commit"] or "no commit", label in older
        by_commit.setdefault(key, []).append(label)
    told = []
    for (commit, changed), labels in by_commit.items():
        named = f" ({', '.join(labels)})" if len(by_commit) > 1 else ""
        told.append(f"of commit {commit}{', code changed since' if changed else ''}{named}")
    return "; ".join(told)


def _older(lines: Sequence[str]) -> str:
    told = (
        "Every number is of the code that stands beside it."
        if not lines
        else "These were computed by code that has changed since, or not yet; `make reproduce` "
        "computes them, and only them. All others are of the code that stands beside them.\n\n"
        + "\n".join(f"- {line}." for line in lines)
    )
    return f"## Numbers older than the code\n\n{told}"


def _contents() -> str:
    """Where each experiment is."""
    found = [f"- {link(name)}: {_subject(experiment(name))}" for name in names()]
    return "## Tables and figures\n\n" + "\n".join(found)


def _subject(module: ModuleType) -> str:
    """What an experiment shows, without its name."""
    said = headline(module).partition(": ")[2] or headline(module)
    return said[:1].upper() + said[1:]


def section(name: str, module: ModuleType, results: Mapping[str, Result], folder: Path) -> str:
    """One experiment as Markdown: what its pictures show, in a sentence each; the rest folded."""
    parts = [f"## {heading(module)}", _subject(module)]
    for noise, reading in _readings(module, results).items():
        shown = sorted((folder / "reproduction").glob(f"{name}-{noise}*.png"), key=_order)
        width = "49%" if len(shown) > 1 else "60%"
        parts.append(reading)
        parts.append(
            "\n".join(
                f'<img src="reproduction/{path.name}" width="{width}" '
                f'alt="{headline(module)} ({noise})">'
                for path in shown
            )
        )
    parts.append(_folded("How it was run, and all it says", _setting(module, results)))
    table = module.table(list(results.values()))
    written = table.markdown()
    if len(table.rows) > LONG:
        written = _folded("All numbers", written)
    parts.append(written)
    return "\n\n".join(part for part in parts if part)


def _readings(module: ModuleType, results: Mapping[str, Result]) -> dict[str, str]:
    """A sentence for the pictures of each noise: `sentence`, or the first that was not said yet."""
    found = dict[str, str]()
    for noise, result in results.items():
        if hasattr(module, "sentence"):
            found[noise] = module.sentence(noise, result)
            continue
        said = " ".join(module.findings({noise: result})).removesuffix(".").split(". ")
        new = next((one for one in said if f"{one}." not in found.values()), said[0])
        found[noise] = f"{new}." if new else "The same in the rounding model."
    return found


def _setting(module: ModuleType, results: Mapping[str, Result]) -> str:
    about = (module.__doc__ or "").strip().split("\n", 2)
    parts = [" ".join(about[2].split())] if len(about) > 2 else []
    parts.append(
        "\n".join(
            f"- {line(dict(r['about']))}. Numbers {of_commit(module, r)}; seed "
            f"{r['made']['settings']['seed']}{_quick(r)}."
            for r in results.values()
        )
    )
    return "\n\n".join([*parts, " ".join(module.findings(results))])


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _order(path: Path) -> tuple[int, str]:
    """The paper's own schemes first."""
    return 0 if path.stem.endswith("-paper") else 1, path.stem


def _quick(result: Result) -> str:
    return ", a quick run" if result["made"]["settings"]["quick"] else ""


def both(module: ModuleType, settings: Settings, *, fresh: bool = False) -> dict[str, Any]:
    """An experiment's results by noise, computed now."""
    return {
        noise: store.run(module, replace(settings, noise=noise), fresh=fresh)
        for noise in noises(module)
    }


def check(settings: Settings) -> int:
    """Compare with numbers known beforehand; every experiment that has some is run."""
    wrong = 0
    for name in names():
        module = experiment(name)
        if hasattr(module, "check"):
            print(f"== {name}", flush=True)
            for said, right in module.check(both(module, replace(settings, quick=False))):
                print(f"{'ok   ' if right else 'WRONG'} {said}", flush=True)
                wrong += not right
    print("all as known" if not wrong else f"{wrong} differ")
    return 1 if wrong else 0


def scale(path: Path) -> dict[str, Any]:
    """Pictures made of points are written larger, but not so large as to weigh much."""
    return {"scale_factor": 1.5} if path.suffix == ".png" else {}
