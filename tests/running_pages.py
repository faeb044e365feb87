"""A page of docs/ as its reader follows it: files written, lines typed, blocks run, in order."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from castell import Study
from castell.cli.app import app
from tests.ports import free_port

_BLOCK = re.compile(r"^```(python|console|toml|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A block that is a file begins with its name; in a table that line is none of the file.
_FILE = re.compile(r"# ([\w-]+\.(?:toml|py))\n")
_TABLE = re.compile(r"# ([\w-]+\.csv)\n")


def serve(line: str, port: int, **how: Any) -> subprocess.Popen[str]:
    """A collector that stays until the end of its page."""
    server = subprocess.Popen(shlex.split(line), stdout=subprocess.PIPE, text=True, **how)
    assert server.stdout is not None
    assert server.stdout.readline().split() == ["survey", f"http://127.0.0.1:{port}/"]
    return server


def environment(folder: Path) -> dict[str, str]:
    """That of a reader whose home is the folder."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}


def follow(page: Path, folder: Path, typed: str) -> int:
    """Do what the page says, in the folder, which is the present one; how many blocks it has."""
    names: dict[str, Any] = {}
    port = free_port()
    written = page.read_text(encoding="utf-8")
    blocks = _BLOCK.findall(written)
    # Only what the page's own study asks is answered.
    asked = re.findall(r'^name = "(\w+)"', written, re.MULTILINE)
    typed = "".join(f"{t}\n" for t in typed.split() if t.partition("=")[0] in asked)
    with contextlib.ExitStack() as servers:
        for kind, block in blocks:
            text = block.replace("8000", str(port)) if kind != "toml" else block
            if named := _FILE.match(text):
                (folder / named[1]).write_text(text, encoding="utf-8")
            elif kind == "text":
                if table := _TABLE.match(text):
                    (folder / table[1]).write_text(text[table.end() :], encoding="utf-8")
            elif kind == "toml":
                assert Study.from_toml(text).epsilon > 0
            elif kind == "python":
                exec(compile(text, str(page), "exec", dont_inherit=True), names)  # noqa: S102
            elif kind == "console":
                for line, shown in _commands(text):
                    printed = _type(line, port, folder, typed, servers)
                    assert not_printed(shown, printed) == [], f"{line}\n{printed}"
    return len(blocks)


def _commands(block: str) -> list[tuple[str, str]]:
    """Each line that a reader types, with what the page shows below it."""
    parts = re.split(r"^\$ (.*)$", block, flags=re.MULTILINE)[1:]
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return [(re.sub(" +# .*", "", line), shown) for line, shown in pairs if line[:8] == "castell "]


def not_printed(shown: str, printed: str) -> list[str]:
    """Lines that a page shows and the command did not print, whatever their numbers are.

    >>> not_printed("never  0.31\\nnow  0.42\\n", "share\\nnever   0.29\\n")
    ['now  0.42']
    """
    found = {_without_numbers(line) for line in printed.splitlines()}
    lines = filter(str.strip, shown.splitlines())
    return [line for line in lines if _without_numbers(line) not in found]


def _without_numbers(line: str) -> str:
    line = re.sub(r"-{3,}", "---", line)
    return " ".join(re.sub(r"(< )?-?\d[\d.,]*", "#", line).split())


def _type(line: str, port: int, folder: Path, typed: str, servers: contextlib.ExitStack) -> str:
    if line.startswith("castell serve "):
        how: dict[str, Any] = {"cwd": folder, "env": environment(folder)}
        server = servers.enter_context(serve(line, port, **how))
        servers.callback(server.terminate)
        return ""
    return run_line(line, folder, typed)


def run_line(line: str, folder: Path, typed: str) -> str:
    """Run what a reader types in the folder, where their home is too; what it printed.

    In this process, which has imported what the verbs need; `castell demo` has one of its own,
    since it serves and takes signals. That the installed script is the same is tested elsewhere.
    """
    _, *words = shlex.split(line)
    env = environment(folder)
    if words[0] == "demo":
        command = [str(Path(sys.executable).with_name("castell")), *words]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=folder, env=env
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr
    with contextlib.chdir(folder):
        ran = CliRunner().invoke(app, words, input=typed, env=env)
    assert ran.exit_code == 0, f"{line}\n{ran.output}{ran.exception!r}"
    return ran.output
