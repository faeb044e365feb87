"""The experiments: every file of this folder named `table_*.py` or `fig_*.py`."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType

import experiments
from castell.errors import OptionError
from castell.study.schema import suggest

KINDS = ("table_", "fig_")
# What the page shows first; experiments it does not know come last.
ORDER = (
    "table_datasets",
    "table_adult",
    "table_comp",
    "fig_lopub",
    "table_lopub",
    "table_published",
    "table_wae",
    "fig_omega",
    "table_crossover",
    "table_generous",
    "fig_adw",
    "fig_adn",
    "fig_ade",
    "table_invcost",
    "fig_time",
    "fig_3d",
    "fig_v",
    "fig_eps",
    "fig_n",
    "fig_d",
    "fig_age",
)


def names() -> list[str]:
    """All experiments, in the order of the paper."""
    found = [m.name for m in pkgutil.iter_modules(experiments.__path__)]
    known = [name for name in found if name.startswith(KINDS)]
    return sorted(known, key=lambda n: (ORDER.index(n) if n in ORDER else len(ORDER), n))


def experiment(name: str) -> ModuleType:
    """A file with `run(settings)`, `table(results)`, `draw(result)` and `findings(results)`."""
    if name not in names():
        raise OptionError(f"there is no experiment {name!r}", suggest(name, names()))
    return import_module(f"experiments.{name}")


def headline(module: ModuleType) -> str:
    """What an experiment is, in a line."""
    return (module.__doc__ or "").strip().split("\n")[0]


def heading(module: ModuleType) -> str:
    """What an experiment is called: 'Table comp'."""
    return headline(module).partition(":")[0].rstrip(".")


def link(name: str) -> str:
    """A link to an experiment's part of the page, as sites make anchors of headings."""
    called = heading(experiment(name))
    return f"[{called}](#{called.lower().replace(' ', '-')})"
