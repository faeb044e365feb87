"""Run experiments: `python -m experiments NAME [--noise real|rounding] [--epsilon E ...]`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import experiments
from castell import CastellError
from experiments import page, pool, store
from experiments.catalogue import experiment, headline, names
from experiments.settings import NOISES, PER, Settings
from experiments.text import show


def parser() -> argparse.ArgumentParser:
    listed = "\n".join(f"  {name:<15} {headline(experiment(name))}" for name in names())
    result = argparse.ArgumentParser(
        prog="python -m experiments",
        description=(experiments.__doc__ or "").split("\n")[0],
        epilog=f"experiments:\n{listed}\n\nexample:\n"
        "  python -m experiments table_comp --noise rounding --epsilon 1 --per attribute",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = result.add_argument
    add("name", nargs="?", metavar="NAME", help="an experiment, 'all' (writes the page) or 'check'")
    add("--list", action="store_true", help="name all experiments")
    add("--noise", choices=list(NOISES), default="real", help="default: real")
    add("--epsilon", type=float, nargs="+", metavar="E", help="default: the paper's")
    add("--per", choices=PER, default="attribute", help="what epsilon is for; default: attribute")
    add("--repeats", type=int, metavar="R", help="how often to randomise anew")
    add("--seed", type=int, default=0, help="same seed, same numbers; default: 0")
    add("--quick", action="store_true", help="fewer attribute sets and repeats")
    add("--jobs", type=int, metavar="N", help="processes; default: one for each core")
    add("--fresh", action="store_true", help="compute again what is in the cache")
    add("--json", type=Path, metavar="OUT", help="write the result")
    add("--figure", type=Path, metavar="OUT", help="write the picture: .png, .svg or .html")
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
            tuple(options.epsilon) if options.epsilon else None,
            options.per,
            options.repeats,
            options.quick,
            options.seed,
        )
        with pool.processes(options.jobs):
            if options.name == "check":
                return page.check(settings)
            if options.name == "all":
                page.write(options.docs, settings, fresh=options.fresh)
            else:
                _one(options, settings)
    except CastellError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; what was finished is kept", file=sys.stderr)
        return 130
    return 0


def _one(options: argparse.Namespace, settings: Settings) -> None:
    module = experiment(options.name)
    start = perf_counter()
    result = store.run(module, settings, fresh=options.fresh)
    noise = settings.noise
    print(f"{headline(module)}\n{show(result, module.table([result]))}\n")
    for said in module.findings({noise: result}):
        print(f"- {said}")
    print(f"\n({perf_counter() - start:.0f} s)")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if options.figure:
        module.draw(result).save(options.figure, **page.scale(options.figure))


if __name__ == "__main__":
    sys.exit(main())
