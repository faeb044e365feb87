"""`python -m tests.deploy.image`: build the image of deploy/Dockerfile, and run it as it says.

It needs docker or podman, the base image and an index of packages, and takes minutes; so it is a
script and no test. CASTELL_DOCKER names the program, with options of its own if it needs any;
CASTELL_BUILD and CASTELL_RUN are options of building and of running.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from tests.collecting import TELEMETRY, TELEMETRY_STUDY, TOKEN
from tests.deploy.proxies import DEPLOY, ROOT

NAME = "castell-try"
# Sent from inside the container: so no port of this machine is needed.
SEND = f"""
import json, urllib.request as web
report = {{"id": "A" * 22, "study": "{TELEMETRY_STUDY.digest}", "codes": [0, 1]}}
kind = {{"content-type": "application/json"}}
body = json.dumps(report).encode()
print(web.urlopen(web.Request("http://127.0.0.1:8000/reports", body, kind)).status)
"""


def options(name: str) -> list[str]:
    return shlex.split(os.environ.get(name, ""))


def health_check() -> list[str]:
    """The command that the Dockerfile has docker ask."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    (command,) = re.findall(r"^HEALTHCHECK (?:.*\\\n)*\s*CMD (\[.*\])$", text, re.MULTILINE)
    found: list[str] = json.loads(command)
    return found


class Docker:
    """The program, and one container."""

    def __init__(self) -> None:
        found = shutil.which("docker") or shutil.which("podman")
        self.program = options("CASTELL_DOCKER") or [found or "docker"]

    def does(self, *arguments: str) -> bool:
        return self._run(arguments).returncode == 0

    def ask(self, *arguments: str) -> str:
        ran = self._run(arguments)
        if ran.returncode:
            raise SystemExit(f"{shlex.join(arguments)}\n{ran.stdout}{ran.stderr}")
        return ran.stdout.strip()

    def _run(self, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        command = [*self.program, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)

    def wait(self) -> None:
        """Until the health check is content."""
        for _ in range(60):
            if self.does("exec", NAME, *health_check()):
                return
            time.sleep(1)
        raise SystemExit(f"the collector is not well\n{self.ask('logs', NAME)}")

    def reports(self) -> int:
        told = self.ask(
            "exec", NAME, "castell", "export", "--force", "--json", "study.sqlite", "r.parquet"
        )
        return int(json.loads(told)["reports"])


def check(said: object, wanted: object, what: str) -> None:
    if said != wanted:
        raise SystemExit(f"{what}: {said!r}, not {wanted!r}")
    print(f"{what}: {said}", flush=True)


def main() -> None:
    docker = Docker()
    file = str(DEPLOY / "Dockerfile")
    docker.ask("build", "-f", file, "-t", NAME, *options("CASTELL_BUILD"), ".")
    print("built", flush=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            study, environment = Path(folder) / "study.toml", Path(folder) / "environment"
            study.write_text(TELEMETRY, encoding="utf-8")
            environment.write_text(f"CASTELL_TOKEN={TOKEN}\n", encoding="utf-8")
            keeps = ["-v", f"{NAME}:/data", "--env-file", str(environment)]
            docker.ask("create", "--name", NAME, *keeps, *options("CASTELL_RUN"), NAME)
            docker.ask("cp", str(study), f"{NAME}:/data/study.toml")
        docker.ask("start", NAME)
        docker.wait()
        check(docker.ask("exec", NAME, "id", "-u"), "10001", "it runs as")
        check(docker.ask("exec", NAME, "python", "-c", SEND), "201", "a report is answered")
        docker.ask("stop", NAME)
        check(docker.ask("inspect", NAME, "--format", "{{.State.ExitCode}}"), "0", "it ends with")
        docker.ask("start", NAME)
        docker.wait()
        check(docker.reports(), 1, "reports after a new start")
    finally:
        docker.does("rm", "-f", NAME)
        docker.does("volume", "rm", NAME)


if __name__ == "__main__":
    main()
