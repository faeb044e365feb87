"""A PostgreSQL server of our own: made in a temporary folder, on loopback, stopped by its own pid.

PostgreSQL does not run as root, so a root test run starts it as another user.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.ports import free_port


def tools() -> Path | None:
    """The folder of initdb and postgres; Debian keeps it out of the path."""
    found = [Path(path).resolve().parent for path in [shutil.which("initdb")] if path]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found += sorted(Path("/usr/local").glob("pgsql*/bin"))
    return next((f for f in found if (f / "initdb").exists() and (f / "postgres").exists()), None)


def _unprivileged_user() -> dict[str, Any]:
    if os.getuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise RuntimeError("there is no user to run PostgreSQL as")


class Server:
    """A server that can be stopped and started again, on the same port and the same files."""

    def __init__(self, folder: Path, *settings: str) -> None:
        bin = tools()
        assert bin is not None
        self._folder, self._settings, self._bin = folder, settings, bin
        self._who = _unprivileged_user()
        if self._who:
            os.chown(folder, self._who["user"], self._who["group"])
        self._port = free_port()
        password = secrets.token_hex(8)
        self.address = f"postgresql://castell:{password}@127.0.0.1:{self._port}/postgres"
        self._process: subprocess.Popen[bytes] | None = None
        secret = folder / "password"
        secret.write_text(password, encoding="utf-8")
        secret.chmod(0o644)
        make = [str(bin / "initdb"), "-D", str(folder / "data"), "-U", "castell"]
        make += ["-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8", "--no-locale"]
        make += ["--no-instructions"]
        subprocess.run(make, check=True, capture_output=True, cwd="/", **self._who)

    def start(self) -> None:
        options = [
            f"port={self._port}",
            "listen_addresses=127.0.0.1",
            f"unix_socket_directories={self._folder}",
        ]
        options += ["shared_buffers=64MB", "log_destination=stderr", *self._settings]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    self._bin / "postgres",
                    "-D",
                    self._folder / "data",
                    *(f"--{option}" for option in options),
                ],
                stdout=log,
                stderr=log,
                cwd="/",
                **self._who,
            )
        try:
            _wait(self.address, self._process)
        except RuntimeError as error:
            said = (self._folder / "log").read_text(encoding="utf-8")
            raise RuntimeError(f"{error}:\n{said}") from None

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT does not wait for clients to leave; after SIGQUIT it has to recover."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(300)
            self._process = None


@contextmanager
def serving(*settings: str) -> Iterator[Server]:
    """A fresh server; `settings` as in postgresql.conf."""
    folder = Path(tempfile.mkdtemp(prefix="castell-pg-"))
    server = None
    try:
        server = Server(folder, *settings)
        server.start()
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running(*settings: str) -> Iterator[str]:
    """The address of a fresh server's database."""
    with serving(*settings) as server:
        yield server.address


def crash(address: str) -> None:
    """kill -9 of one server process: PostgreSQL throws its memory away and replays its WAL."""
    import psycopg

    with psycopg.connect(address) as link, psycopg.connect(address, autocommit=True) as witness:
        os.kill(link.info.backend_pid, signal.SIGKILL)
        # The server takes a moment to notice; from then on no connection of before is good.
        with contextlib.suppress(psycopg.OperationalError):
            for _ in range(1200):
                witness.execute("SELECT 1")
                time.sleep(0.05)
    _wait(address)


def _wait(address: str, server: subprocess.Popen[bytes] | None = None) -> None:
    import psycopg

    for _ in range(1200):
        try:
            psycopg.connect(address, connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if server is not None and server.poll() is not None:
                break
            time.sleep(0.1)
    raise RuntimeError("PostgreSQL did not start")


@contextmanager
def database(address: str) -> Iterator[str]:
    """An empty database of its own on a running server."""
    import psycopg

    name = f"t{secrets.token_hex(6)}"
    with psycopg.connect(address, autocommit=True) as link:
        link.execute(f"CREATE DATABASE {name}")
    yield address.rpartition("/")[0] + f"/{name}"
    with psycopg.connect(address, autocommit=True) as link:
        link.execute(f"DROP DATABASE {name} WITH (FORCE)")
