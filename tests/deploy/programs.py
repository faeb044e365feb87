"""`python -m tests.deploy.programs`: the web servers and the checker that deploy/ is tried with.

Debian's packages are unpacked beside the environment, not installed: a test should neither need
root nor leave a web server running on somebody's machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(sys.prefix) / "debian"
PACKAGES = {"nginx": "nginx", "caddy": "caddy", "promtool": "prometheus"}


def find(program: str) -> str | None:
    """A program of this machine's, of the environment's, or one unpacked for the tests."""
    ours = [Path(sys.executable).parent, FOLDER / "usr" / "bin", FOLDER / "usr" / "sbin"]
    return shutil.which(program) or shutil.which(program, path=os.pathsep.join(map(str, ours)))


def unpack(packages: list[str]) -> bool:
    """Whether apt-get could get them; what they depend on is taken as there."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        got = subprocess.run(
            ["apt-get", "download", "-qq", *packages], cwd=folder, capture_output=True
        )
        for file in Path(folder).glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", str(file), str(FOLDER)], check=True)
    return got.returncode == 0


def main() -> None:
    wanted = [package for program, package in PACKAGES.items() if find(program) is None]
    if not wanted:
        return
    print(f"setting up: unpacking {', '.join(wanted)} for the tests", flush=True)
    if not unpack(wanted):
        print(f"NOT TESTED: what needs {', '.join(wanted)}: apt-get has none", file=sys.stderr)


if __name__ == "__main__":
    main()
