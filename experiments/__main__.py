"""Run experiments: `python -m experiments NAME [--noise real|rounding] [--epsilon E ...]`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

import experiments
from castell import CastellError
from castell.errors import OptionError
from experiments import command, compare, groups, page, pool, store
from experiments.catalogue import experiment, headline, names
from experiments.settings import NOISES, PER, Settings
from experiments.text import show


def parser() -> argparse.ArgumentParser:
    listed = "\n".join(f"  {name:<15} {headline(experiment(name))}" for name in names())
    result = command.OneLineParser(
        prog="python -m experiments",
        description=(experiments.__doc__ or "").split("\n")[0],
        epilog=f"experiments:\n{listed}\n\nexample:\n"
        "  python -m experiments table_comp --noise rounding --epsilon 1 --per attribute",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = result.add_argument
    what = (
        "an experiment; 'all': compute what changed and write the page; 'page': write it from what "
        "is kept; 'stale': name what is older than the code; 'check': compare with known numbers; "
        "'compare FILE': every method and design on your own answers, epsilon in all 4 if not given"
    )
    add("name", nargs="?", metavar="NAME", help=what)
    add("file", nargs="?", type=Path, metavar="FILE", help="with 'compare': answers as CSV")
    add("--list", action="store_true", help="name all experiments")
    add("--noise", choices=list(NOISES), default="real", help="default: real")
    add("--epsilon", nargs="+", metavar="E", help="default: the paper's")
    add("--per", choices=PER, help="what epsilon is for; default: attribute, with compare total")
    add("--repeats", metavar="R", help="how often to randomise anew")
    add("--seed", default="0", help="same seed, same numbers; default: 0")
    add("--quick", action="store_true", help="fewer attribute sets and repeats")
    add("--jobs", metavar="N", help="processes; default: one for each core")
    add("--fresh", action="store_true", help="compute again what is in the cache")
    add("--experiments", nargs="+", metavar="NAME", help="with 'all': compute these only")
    add("--schemes", nargs="+", metavar="LABEL", help="with 'all': compute these lines only")
    add("--json", type=Path, metavar="OUT", help="write the result")
    add(
        "--figure",
        type=Path,
        metavar="OUT",
        help="write the picture: .png, .svg or .html; "
        "several, with more names, where one would hold too many lines",
    )
    add("--docs", type=Path, default=Path("docs"), help="where 'all' writes; default: docs")
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    parse = parser()
    options = parse.parse_args(arguments)
    if options.list:
        for name in names():
            print(f"{name:<15} {headline(experiment(name))}")
        return 0
    if options.name is None:
        parse.print_help()
        return 2
    try:
        settings = Settings(
            options.noise,
            command.budgets(options.epsilon),
            options.per or ("total" if options.name == "compare" else "attribute"),
            command.whole("repeats", options.repeats, 1),
            options.quick,
            command.whole("seed", options.seed, 0) or 0,
        )
        command.check(options)
        if options.name not in ("all", "page", "stale", "check", "compare"):
            experiment(options.name)
        if (options.name == "compare") != (options.file is not None):
            raise OptionError("compare and a file go together", "write: compare my.csv --epsilon 4")
        with pool.processes(command.whole("jobs", options.jobs, 1)):
            if options.name == "check":
                return page.check(settings)
            if options.name == "compare":
                return _compare(options, settings)
            if options.name == "stale":
                return _stale(options.docs)
            if options.name in ("all", "page"):
                page.write(
                    options.docs,
                    settings,
                    fresh=options.fresh,
                    compute=() if options.name == "page" else options.experiments,
                    lines=options.schemes,
                )
            else:
                _one(options, settings)
    except CastellError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"{error.filename or 'a file'} cannot be written or read: {error.strerror}",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        print("stopped; what was finished is kept", file=sys.stderr)
        return 130
    return 0


def _compare(options: argparse.Namespace, settings: Settings) -> int:
    result = compare.run(compare.read(options.file), settings)
    print(show(result, compare.table([result])))
    for said in compare.findings(result):
        print(f"- {said}")
    _write(options, compare, result)
    return 0


def _write(options: argparse.Namespace, module: ModuleType, result: dict[str, Any]) -> None:
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if options.figure:
        for group, chart in groups.pictures(module, result).items():
            path = options.figure.with_stem(f"{options.figure.stem}{'-' * bool(group)}{group}")
            chart.save(path, **page.scale(path))


def _one(options: argparse.Namespace, settings: Settings) -> None:
    module = experiment(options.name)
    start = perf_counter()
    result = store.run(module, settings, fresh=options.fresh)
    noise = settings.noise
    print(f"{headline(module)}\n{show(result, module.table([result]))}\n")
    for said in module.findings({noise: result}):
        print(f"- {said}")
    print(f"\n({perf_counter() - start:.0f} s)")
    _write(options, module, result)


def _stale(docs: Path) -> int:
    """Name what is older than the code; 1 if anything is."""
    found = page.stale(docs)
    print("\n".join(found) or "every number is of the code that is here")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
