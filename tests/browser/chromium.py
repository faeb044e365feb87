"""A real browser for the tests: Debian's chromium, installed where it is missing and can be."""

from __future__ import annotations

import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """The browser's program, or None."""
    named = os.environ.get("CASTELL_CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


def install() -> None:
    """Install Debian's package, as root or by sudo that asks for no password."""
    if not shutil.which("apt-get"):
        return
    prefix: list[str] = []
    if os.geteuid() != 0:
        if not shutil.which("sudo"):
            return
        prefix = ["sudo", "-n"]
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["install", "-y", "-qq", "--no-install-recommends", "chromium"]
    for step in (["update", "-qq"], install):
        command = [*prefix, "apt-get", *step]
        if subprocess.run(command, check=False, stdout=subprocess.DEVNULL, env=env).returncode:
            return


def main() -> int:
    if find() is None:
        print("setting up: installing chromium for the browser tests")
        install()
    if find() is None:
        line = "*" * 78
        print(f"{line}\nNO BROWSER: the tests in tests/browser will be SKIPPED.")
        print(f"Install chromium, or name one by CASTELL_CHROMIUM.\n{line}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
