"""Where results are written: checked before any work is done for them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from castell.errors import OptionError

PICTURES = (".png", ".svg", ".html")


def save_picture(chart: Any, path: Path) -> None:
    """A chart as a file of the kind that its name says."""
    sharp = {"scale_factor": 2} if path.suffix == ".png" else {}
    chart.save(str(path), **sharp)


def check_picture(path: Path | None) -> None:
    """Whether a picture can be written there."""
    check_output(path, PICTURES)


def check_output(path: Path | None, endings: Sequence[str]) -> None:
    """Whether a file of some kind can be written there."""
    if path is not None and path.suffix not in endings:
        raise OptionError(f"cannot write {path}", f"end its name in {' or '.join(endings)}")
    if path is not None and not path.parent.is_dir():
        raise OptionError(f"there is no folder {path.parent}", "make it first")
