"""The leaderboard: every method on every design, data sets by name, two to six attributes.

Every respondent is randomised with real noise; all methods see the same reports. AVD is the
largest error of any cell of a table and TVD half the sum of all errors, each a mean over attribute
sets, then over repeats (± its standard error). `sampling floor` is what as many people drawn anew
from the same population would give with no privacy at all; `independent truth` the product of the
exact margins; `uniform table` knowing nothing. Parts of it, files and pictures:
`python -m benchmarks.accuracy --help`.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import _board, _trials
from benchmarks._population import DataMissingError
from benchmarks._trials import DATA, DESIGNS, METHODS, QUICK, Plan
from castell.study.schema import suggest


def run(quick: bool) -> dict[str, Any]:
    return _trials.measure(QUICK if quick else Plan())


def show(result: dict[str, Any]) -> str:
    return _board.text(result["cases"])


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy",
        description=(__doc__ or "").split("\n")[0],
        epilog="example:\n  python -m benchmarks.accuracy --data adult --design cover --epsilon 4 "
        "--methods auto,latent --repeats 5 --sets all",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    plan, add = Plan(), result.add_argument
    add("--data", type=_some_of(DATA), metavar="NAMES", help=f"of {', '.join(DATA)}")
    add("--design", type=_some_of(DESIGNS), metavar="NAMES", help=f"of {', '.join(DESIGNS)}")
    add("--epsilon", type=_numbers, metavar="E,E", help="what a respondent spends in all")
    add("--each", type=_numbers, metavar="E,E", help="for each attribute: design independent only")
    add("--widths", type=_whole_numbers, metavar="W,W", help="attributes in a table; 2,3,4,5,6")
    add("--methods", type=_some_of(METHODS), metavar="NAMES", help=f"of {', '.join(METHODS)}")
    add("--repeats", type=int, metavar="R", help=f"how often to randomise; {plan.repeats}")
    add("--sets", metavar="N", help=f"attribute sets of each width, or 'all'; {plan.sets}")
    add("--em-cells", type=int, metavar="N", help=f"no larger tables for em; {plan.cells:,}")
    add("--seed", type=int, metavar="S", help="same seed, same numbers; 0")
    add("--quick", action="store_true", help="tiny sizes on made-up answers: does it run at all?")
    add("--from", dest="files", nargs="+", type=Path, metavar="JSON", help="show, do not measure")
    add("--json", type=Path, metavar="OUT", help="write all numbers")
    add("--markdown", type=Path, metavar="OUT", help="write a page, its pictures beside it")
    add("--figure", type=Path, metavar="OUT", help="write a picture: .png, .svg or .html")
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    parse = parser()
    options = parse.parse_args(arguments)
    try:
        plan = _plan(options)
    except ValueError as error:
        parse.error(str(error))
    if options.files:
        found = [case for path in options.files for case in json.loads(path.read_text())["cases"]]
        found = _board.latest(found)
    else:
        try:
            found = _trials.measure(plan)["cases"]
        except DataMissingError as error:
            print(f"left out: {error}", file=sys.stderr)
            return 1
        command = _again(sys.argv[1:] if arguments is None else arguments)
        for case in found:
            case["command"] = command
    _board.print_rich(found)
    if options.json:
        text = json.dumps({"cases": found}, separators=(",", ":"), allow_nan=False)
        options.json.write_text(text.replace('{"data"', '\n{"data"') + "\n", encoding="utf-8")
    if options.figure:
        from benchmarks._picture import draw

        draw(found).save(options.figure)
    if options.markdown:
        from benchmarks._page import write

        write(found, options.markdown)
    return 0


def _again(arguments: Sequence[str]) -> str:
    """The command that measures the same; where somebody keeps their files is their own matter."""
    kept, rest = [], iter(arguments)
    for argument in rest:
        if argument in ("--json", "--markdown", "--figure"):
            next(rest, None)
        else:
            kept.append(argument)
    return shlex.join(["python", "-m", "benchmarks.accuracy", *kept])


def _plan(options: argparse.Namespace) -> Plan:
    plan = QUICK if options.quick else Plan()
    if options.epsilon or options.each:
        plan = replace(plan, epsilon=options.epsilon or (), each=options.each or ())
    given = {
        "data": options.data,
        "designs": options.design,
        "widths": options.widths,
        "methods": options.methods,
        "repeats": options.repeats,
        "cells": options.em_cells,
        "seed": options.seed,
    }
    plan = replace(plan, **{name: value for name, value in given.items() if value is not None})
    if options.sets is not None:
        plan = replace(plan, sets=None if options.sets == "all" else int(options.sets))
    if plan.repeats < 1 or (plan.sets is not None and plan.sets < 1):
        raise ValueError("repeats and sets are whole numbers from 1 up")
    if plan.each and not plan.epsilon and "independent" not in plan.designs:
        raise ValueError("--each is for the design independent: give --epsilon for the others")
    return plan


def _some_of(known: Sequence[str]) -> Any:
    def names(text: str) -> tuple[str, ...]:
        chosen = tuple(text.split(","))
        for name in chosen:
            if name not in known:
                raise argparse.ArgumentTypeError(f"there is no {name!r}: {suggest(name, known)}")
        return chosen

    return names


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(","))


def _whole_numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


if __name__ == "__main__":
    sys.exit(main())
