"""`python -m tests.collector.tools`: get PostgreSQL and strace where they are missing.

Without them their tests are skipped and say so. Installing needs apt-get and root, or sudo that
asks for no password.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from tests.collector.postgres import tools


def missing() -> list[str]:
    """Debian packages that the tests would use and that are not there."""
    wanted = []
    if tools() is None:
        wanted.append("postgresql")
    if shutil.which("strace") is None:
        wanted.append("strace")
    return wanted


def install(packages: list[str]) -> bool:
    apt = shutil.which("apt-get")
    if apt is None:
        return False
    head: list[str] = []
    if os.getuid() != 0:
        sudo = shutil.which("sudo")
        if sudo is None or subprocess.run([sudo, "-n", "true"], capture_output=True).returncode:
            return False
        head = [sudo, "-n"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends"]):
        more = packages if command[0] == "install" else []
        ran = subprocess.run([*head, apt, *command, *more], env=environment, capture_output=True)
        if ran.returncode:
            print(ran.stderr.decode(errors="replace").strip()[-500:], file=sys.stderr)
            return False
    return True


def main() -> None:
    wanted = missing()
    if not wanted:
        return
    print(f"setting up: installing {', '.join(wanted)} for the tests", flush=True)
    if not install(wanted) or missing():
        print(f"NOT TESTED: what needs {', '.join(missing())}: install it as root", file=sys.stderr)


if __name__ == "__main__":
    main()
