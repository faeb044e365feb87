"""Run benchmarks: `python -m benchmarks [NAME...] [--quick] [--json OUT]`."""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import platform
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

import benchmarks
import castell
from benchmarks._population import DataMissingError


def names() -> tuple[str, ...]:
    """Every benchmark: a file here whose name does not start with an underscore."""
    found = pkgutil.iter_modules(benchmarks.__path__)
    return tuple(sorted(m.name for m in found if not m.name.startswith("_")))


def benchmark(name: str) -> ModuleType:
    """A file with `run(quick) -> dict`, plain enough for JSON, and `show(result) -> str`."""
    return import_module(f"benchmarks.{name}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=benchmarks.__doc__,
        epilog="\n".join(f"  {n:<11} {_title(benchmark(n))}" for n in names()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which ones; all if none is named")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run at all?")
    parser.add_argument("--json", metavar="OUT", type=Path, help="write the results to a file")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in names():
            parser.error(f"there is no benchmark {name!r}: known are {', '.join(names())}")
    results, left_out = {}, 0
    for name in options.names or names():
        module = benchmark(name)
        print(f"== {name}: {_title(module)}\n", flush=True)
        start = perf_counter()
        try:
            result = module.run(options.quick)
        except DataMissingError as error:
            left_out += 1
            print(f"left out: {error}\n", flush=True)
            continue
        results[name] = result
        print(f"{module.show(result)}\n\n({perf_counter() - start:.0f} s)\n", flush=True)
    if options.json:
        document = {"machine": _machine(), "quick": options.quick, "results": results}
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    # Without data sets `python -m benchmarks` still did what it could; a named one was wanted.
    return 1 if left_out and options.names else 0


def _title(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().split("\n")[0]


def _machine() -> dict[str, Any]:
    return {
        "castell": castell.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "processor": platform.machine(),
        "cores": os.cpu_count(),
    }


if __name__ == "__main__":
    sys.exit(main())
