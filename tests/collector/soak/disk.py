"""A small disk of its own that can be filled: a tmpfs, which takes root.

Where there is none, the processes of the collector may not make files longer instead
(RLIMIT_FSIZE, set from outside while they run).
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Disk:
    """A folder to keep things in. `full` fills it up, for a collector with this process number."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder, self.kind = folder, kind
        self._ballast = folder / "ballast"
        self._limited: list[int] = []

    def fill(self, pid: int) -> None:
        if self.kind == "tmpfs":
            with self._ballast.open("ab", buffering=0) as file:
                for size in (1 << 20, 1 << 12):
                    with contextlib.suppress(OSError):
                        while file.write(bytes(size)) == size:
                            pass
            return
        # Not 0: what is there may still be written over, as on a disk that is full.
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
            self._limited.append(pid)

    def clear(self) -> None:
        self._ballast.unlink(missing_ok=True)
        for pid in self._limited:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(
                    pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
                )
        self._limited.clear()


@contextmanager
def small_disk(megabytes: int) -> Iterator[Disk]:
    folder = Path(tempfile.mkdtemp(prefix="castell-soak-"))
    mounted = os.getuid() == 0 and not _run("mount", "-t", "tmpfs", f"-osize={megabytes}m", folder)
    try:
        yield Disk(folder, "tmpfs" if mounted else "limit")
    finally:
        if mounted:
            _run("umount", "-l", folder)
        shutil.rmtree(folder, ignore_errors=True)


def _run(name: str, *words: str | Path) -> int:
    program = shutil.which(name)
    if program is None:
        return 1
    # For a tmpfs the kernel wants some name of a device before the folder.
    more = ["tmpfs"] if name == "mount" else []
    command = [program, *map(str, words[:-1]), *more, str(words[-1])]
    return subprocess.run(command, capture_output=True).returncode
