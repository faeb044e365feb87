"""A study as a file: the published JSON, which appears under its name only when it is whole."""

from __future__ import annotations

from pathlib import Path

from castell.errors import StudyError
from castell.study.atomic_write import write_whole


def save(published: str, path: Path, overwrite: bool) -> None:
    """Write a published study where there is nothing yet, or the same."""
    if path.suffix != ".json":
        raise StudyError(
            f"cannot save a study as {path}",
            "end its name in .json: that holds the exact weights; TOML is for people to write",
        )
    if not path.parent.is_dir():
        raise StudyError(f"there is no folder {path.parent}", "make it first")
    if path.is_dir():
        raise StudyError(f"{path} is a folder", "give the name of a file in it")
    if path.exists() and not overwrite and path.read_bytes() != published.encode():
        raise StudyError(
            f"{path} is there already and holds something else",
            "give another name, or overwrite=True if nothing was collected with it",
        )
    write_whole(path, published)
