"""The survey page of a study file before it is public: no store, and reports go nowhere.

The page follows the file: it asks every second whether something changed. A file that is broken for
a moment, in the middle of an edit say, leaves the last good page, with what is wrong above it.
"""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from castell.collector.page_files import Look, load_look
from castell.collector.responses import json_answer
from castell.collector.security.headers import SecurityHeaders
from castell.collector.survey_page import SURVEY, document, survey_routes
from castell.errors import CastellError
from castell.study.page import Page
from castell.study.study import Study


class Preview:
    """An ASGI application that shows a study file as it is now."""

    def __init__(self, path: Path, *, kiosk: bool = False) -> None:
        self._path, self._kiosk = path, kiosk
        self._seen: list[tuple[str, int, int]] = []
        self._app, self._version = self._make_app()  # refused at the start, if it cannot be shown
        self._seen = self._files()
        self._problem = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self._refresh()
        await self._app(scope, receive, send)

    def _refresh(self) -> None:
        files = self._files()
        if files == self._seen:
            return
        self._seen = files
        try:
            (self._app, self._version), self._problem = self._make_app(), ""
        except CastellError as error:
            self._problem = str(error)

    def _files(self) -> list[tuple[str, int, int]]:
        """What the page is made of, as far as it can be seen from outside the files."""
        try:
            page = Page.load(self._path)
        except (CastellError, OSError, ValueError):
            page = Page()
        names = [self._path.name, *filter(None, [page.logo]), *page.words]
        found = []
        for name in names:
            try:
                state = (self._path.parent / name).stat()
            except OSError:
                continue
            found.append((name, state.st_mtime_ns, state.st_size))
        return found

    def _make_app(self) -> tuple[SecurityHeaders, str]:
        study = Study.load(self._path)
        look = load_look(self._path, kiosk=self._kiosk, preview=True)
        app = Starlette(
            routes=[
                *survey_routes(study, look, _without_invitations),
                Route("/preview.json", self._state),
                Route("/reports", _nowhere, methods=["POST"]),
                Mount("/static/survey", StaticFiles(directory=SURVEY)),
            ]
        )
        return SecurityHeaders(app), _version(study, look)

    async def _state(self, request: Request) -> Response:
        del request
        return json_answer({"version": self._version, "problem": self._problem})


async def _without_invitations() -> dict[str, bool]:
    return {"invitations": False}


async def _nowhere(request: Request) -> Response:
    del request
    remedy = "castell serve collects"
    return json_answer({"error": "this is a preview: reports go nowhere", "remedy": remedy}, 403)


def _version(study: Study, look: Look) -> str:
    logo = look.logo.body if look.logo else b""
    parts = (document(study, look, {}).encode(), look.styles.encode(), logo)
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def run_preview(app: Preview, listening: socket.socket, on_start: Callable[[], None]) -> None:
    """Serve until interrupted."""

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_start()

    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=1,
    )
    Server(config).run(sockets=[listening])
