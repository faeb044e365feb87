"""Which Parquet files are meant: a file, a folder, a pattern, a list, here or elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from glob import glob, has_magic
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from castell.errors import MissingExtraError, ReportError

ENDING = ".parquet"


def is_address(place: object) -> bool:
    """Whether a place is not on this machine's own disk: s3://bucket/reports.parquet."""
    return isinstance(place, str) and "://" in place


def is_files(source: Any) -> bool:
    """Whether a source names Parquet files, by how it looks."""
    if isinstance(source, (list, tuple)):
        return bool(source) and all(isinstance(each, (str, Path)) for each in source)
    if not isinstance(source, (str, Path)):
        return False
    text = str(source)
    return (
        text.endswith(ENDING) or has_magic(text) or (not is_address(text) and Path(text).is_dir())
    )


def report_files(source: Any) -> tuple[str | Path, ...]:
    """The files, in the order of their names; a list keeps its own.

    Files in a folder whose name, or whose folder's name, begins with a dot or an underscore are
    what other programs leave there.
    """
    if not isinstance(source, (str, Path, list, tuple)):
        raise ReportError(
            f"a {type(source).__name__} holds no reports",
            "give Parquet files, a store, or a frame of codes",
        )
    if isinstance(source, (list, tuple)):
        found = tuple(path for each in source for path in report_files(each))
    elif is_address(source):
        found = tuple(_remote(str(source)))
    elif Path(source).is_dir():
        inside = Path(source).rglob(f"*{ENDING}")
        found = tuple(sorted(path for path in inside if _is_visible(path.relative_to(source))))
    elif has_magic(str(source)) and not Path(source).exists():
        found = tuple(sorted(Path(path) for path in glob(str(source), recursive=True)))  # noqa: PTH207
    else:
        return (Path(source),)
    if not found:
        raise ReportError(f"there are no Parquet files at {source}", "castell randomize writes one")
    if len(set(found)) < len(found):
        twice = next(path for path in found if found.count(path) > 1)
        raise ReportError(f"{twice} is named twice", "its reports would count twice; name it once")
    return found


def _is_visible(inside: PurePath) -> bool:
    return not any(part[0] in "._" for part in inside.parts)


def file_system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    try:
        from fsspec.core import url_to_fs

        system, path = url_to_fs(address)
    except ImportError as error:
        raise MissingExtraError(
            f"{address.partition('://')[0]}:// needs {error.name or error}",
            "pip install fsspec and the package of that file system, such as s3fs",
        ) from None
    except ValueError as error:
        raise ReportError(f"{address} cannot be opened ({error!s:.80})", "check it") from None
    return system, path


def _remote(address: str) -> Iterator[str]:
    system, path = file_system(address)
    if has_magic(path):
        names = system.glob(path)
    elif system.isdir(path):
        inside = (name for name in system.find(path) if name.endswith(ENDING))
        names = [name for name in inside if _is_visible(PurePosixPath(name).relative_to(path))]
    else:
        names = [path]
    yield from sorted(system.unstrip_protocol(name) for name in names)
