"""A real browser for the tests: Debian's chromium, installed where it is missing and can be.

Most tests run in its shell without a window: the same engine of the same version, which opens a
page with half the work because it makes no profile for each context.
"""

from __future__ import annotations

import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SHELL = "chromium-headless-shell"
PACKAGES = ("chromium", SHELL)


def find() -> str | None:
    """The browser's program, or None."""
    named = os.environ.get("CASTELL_CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


def find_shell() -> str | None:
    """The browser's shell, if it is installed and no other browser is named; else the browser."""
    if os.environ.get("CASTELL_CHROMIUM"):
        return find()
    return shutil.which(SHELL) or find()


def install() -> None:
    """Install Debian's packages, as root or by sudo that asks for no password."""
    if not shutil.which("apt-get"):
        return
    prefix: list[str] = []
    if os.geteuid() != 0:
        if not shutil.which("sudo"):
            return
        prefix = ["sudo", "-n"]
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["install", "-y", "-qq", "--no-install-recommends"]
    # One by one: a system may have the browser and not its shell.
    for step in (["update", "-qq"], *([*install, package] for package in PACKAGES)):
        command = [*prefix, "apt-get", *step]
        if subprocess.run(command, check=False, stdout=subprocess.DEVNULL, env=env).returncode:
            return


def main() -> int:
    named = os.environ.get("CASTELL_CHROMIUM")
    if find() is None or not (named or shutil.which(SHELL)):
        print("setting up: installing chromium for the browser tests")
        install()
    if find() is None:
        line = "*" * 78
        print(f"{line}\nNO BROWSER: the tests in tests/browser will be SKIPPED.")
        print(f"Install chromium, or name one by CASTELL_CHROMIUM.\n{line}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
