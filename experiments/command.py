"""What the command line takes: refused in one line, before anything is computed."""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path
from typing import Any, NoReturn

from castell.errors import OptionError

PICTURES = (".png", ".svg", ".html")


class OneLineParser(argparse.ArgumentParser):
    """Refuses in one line what it cannot read."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{message}: see {self.prog} --help\n")


def budgets(given: list[str] | None) -> tuple[float, ...] | None:
    """Epsilons as numbers; none that hides nothing or everything."""
    return tuple(_epsilon(text) for text in given) if given else None


def _epsilon(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value <= 0.0:
        raise OptionError(f"epsilon is {text}", "give a number above 0, such as 1 or 0.5")
    return value


def whole(name: str, text: str | None, least: int) -> int | None:
    """A whole number from some number up; None if not given."""
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise OptionError(f"{name} is {text}", f"give a whole number from {least} up")
    return int(text)


def check_out(path: Path | None, kinds: tuple[str, ...] = ()) -> None:
    """Refuse a file that could not be written at the end."""
    if path is None:
        return
    if kinds and path.suffix not in kinds:
        raise OptionError(f"{path} is no picture", f"end its name in {', '.join(kinds)}")
    _check_folder(path.parent, path)
    if path.is_dir():
        raise OptionError(f"{path} is a folder", "name a file")
    if path.exists() and not os.access(path, os.W_OK):
        raise OptionError(f"{path} cannot be written", "name another file")


def check_docs(path: Path) -> None:
    """Refuse what the page cannot be written into."""
    if not path.is_dir():
        raise OptionError(f"{path} is no folder", "make it first, or name another one")
    _check_folder(path, path)


def _check_folder(folder: Path, path: Path) -> None:
    if not folder.is_dir():
        raise OptionError(f"there is no folder for {path}", "make it first, or name another one")
    if not os.access(folder, os.W_OK):
        raise OptionError(f"{folder} cannot be written into", "name another folder")


def check(options: Any) -> None:
    """All files that a run writes."""
    check_out(options.json)
    check_out(options.figure, PICTURES)
    if options.name in ("all", "page"):
        check_docs(options.docs)
