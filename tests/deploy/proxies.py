"""The examples of deploy/ in the real nginx and caddy, on loopback, with our own certificate."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.deploy.programs import find
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
# Program and example, and the path that the collector is below.
EXAMPLES = {
    "nginx-root": ("nginx", "nginx-root.conf", "/"),
    "nginx-prefix": ("nginx", "nginx-prefix.conf", "/survey/"),
    "caddy-root": ("caddy", "Caddyfile-root", "/"),
    "caddy-prefix": ("caddy", "Caddyfile-prefix", "/survey/"),
}

_NGINX = """
daemon off;
{user}
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    access_log {folder}/access.log;
    include {folder}/server.conf;
}}
"""


@dataclass(frozen=True)
class Proxy:
    url: str  # of the survey, as respondents know it
    folder: Path  # everything that the proxy writes

    def ask(self, path: str = "", body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        """What comes back from an address below the survey's; nothing is followed."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.url + path, body, named)  # noqa: S310
        # The certificate is one we made a moment ago.
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        opener = urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=trusting), _NoRedirect
        )
        try:
            with opener.open(request, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def written(self) -> bytes:
        """Every byte that the proxy has left on the disk or said."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        return b"".join(path.read_bytes() for path in files)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: object, **options: object) -> None:
        del args, options


@contextlib.contextmanager
def proxied(example: str, upstream: str, folder: Path) -> Iterator[Proxy]:
    """An example of deploy/ before the collector at an address, until the block is left."""
    program, name, path = EXAMPLES[example]
    found = find(program)
    if found is None:
        pytest.skip(f"NOT TESTED: {program} is not installed (apt-get install {program})")
    if shutil.which("openssl") is None:
        pytest.skip("NOT TESTED: there is no openssl to make a certificate with")
    folder.mkdir()
    port, text = free_port(), (DEPLOY / name).read_text(encoding="utf-8")
    text = _replaced(text, "127.0.0.1:8000", upstream.removeprefix("http://"))
    certificate, key = _certificate(folder)
    if program == "nginx":
        command = _nginx(found, text, folder, port, certificate, key)
    else:
        command = _caddy(found, text, folder, port, certificate, key)
    home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with (folder / "said").open("wb") as said:
        server = subprocess.Popen(
            command, stdout=said, stderr=said, env={**os.environ, **home}, cwd=folder
        )
    try:
        _wait(port, server, folder / "said")
        yield Proxy(f"https://localhost:{port}{path}", folder)
    finally:
        server.terminate()
        server.wait(30)


def _nginx(
    program: str, text: str, folder: Path, port: int, certificate: Path, key: Path
) -> list[str]:
    text = _replaced(text, "listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;")
    text = _replaced(text, "listen 80;", f"listen 127.0.0.1:{free_port()};")
    text = _replaced(text, "/etc/letsencrypt/live/example.org/fullchain.pem", str(certificate))
    text = _replaced(text, "/etc/letsencrypt/live/example.org/privkey.pem", str(key))
    (folder / "server.conf").write_text(_replaced(text, "example.org", "localhost"))
    user = "user root;" if os.getuid() == 0 else ""
    (folder / "nginx.conf").write_text(_NGINX.format(folder=folder, user=user))
    return [program, "-p", str(folder), "-e", str(folder / "error.log"), "-c", "nginx.conf"]


def _caddy(
    program: str, text: str, folder: Path, port: int, certificate: Path, key: Path
) -> list[str]:
    tls = f"https://localhost:{port} {{\n\ttls {certificate} {key}\n"
    text = _replaced(text, "\nexample.org {\n", f"\n{tls}")
    text = _replaced(text, "\n{\n", "\n{\n\tadmin off\n\tauto_https disable_redirects\n")
    (folder / "Caddyfile").write_text(text)
    return [program, "run", "--config", "Caddyfile", "--adapter", "caddyfile"]


def _replaced(text: str, old: str, new: str) -> str:
    assert old in text, f"the example has no {old!r} any more"
    return text.replace(old, new)


def _certificate(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    make += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    make += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(make, check=True, capture_output=True)
    return certificate, key


def _wait(port: int, server: subprocess.Popen[bytes], said: Path) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if server.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError(f"the proxy did not start:\n{said.read_text()}")
