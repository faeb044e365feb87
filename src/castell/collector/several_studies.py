"""Several studies in one process, each under a path of its own: /health/, /housing/.

Each has its own store, its own thread that writes to it, its own tokens in it and its own process
that fits models. What they share is the socket with its limits, and the token that the collector
was started with. At / there is nothing: who takes part in one study need not learn of the others.
"""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from castell.collector.app import StudyApp
from castell.collector.responses import json_answer
from castell.collector.security.headers import SecurityHeaders
from castell.errors import OptionError
from castell.study.study import Study

_TAKEN = {"healthz"}


class Studies:
    """Hands a request to the study that the first part of its path names."""

    def __init__(self, parts: Mapping[str, StudyApp]) -> None:
        self._parts = parts
        starlette = Starlette(
            routes=[Route("/healthz", self._healthz)],
            exception_handlers={HTTPException: _nothing_here},
            lifespan=self._lifespan,
        )
        starlette.router.redirect_slashes = False
        self._rest: ASGIApp = SecurityHeaders(starlette)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._rest(scope, receive, send)
            return
        name, slash, path = scope["path"].removeprefix("/").partition("/")
        part = self._parts.get(name)
        if part is None:
            await self._rest(scope, receive, send)
        elif slash:
            await part.app({**scope, "path": f"/{path}"}, receive, send)
        else:
            # Without the slash the page's own files would be looked for beside it. The address is
            # relative: whatever host and path a proxy has, it leads there.
            moved = Response(status_code=307, headers={"location": f"{name}/"})
            await SecurityHeaders(moved)(scope, receive, send)

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        del app
        async with contextlib.AsyncExitStack() as stack:
            for part in self._parts.values():
                await stack.enter_async_context(part.running())
            yield

    async def _healthz(self, request: Request) -> Response:
        """Whether all of them are well; each has a /healthz of its own."""
        del request
        for part in self._parts.values():
            if not await part.health.good():
                return json_answer({"status": "a store fails"}, 503)
        return json_answer({"status": "ok"})


async def _nothing_here(request: Request, error: Exception) -> Response:
    del request
    status = error.status_code if isinstance(error, HTTPException) else 500
    document = {"error": "there is nothing here", "remedy": "take the whole address of a study"}
    return json_answer(document, status)


def study_files(given: Iterable[Path]) -> list[Path]:
    """The study files that are named, and those in the folders that are named."""
    found: list[Path] = []
    for path in given:
        inside = sorted(path.glob("*.toml")) if path.is_dir() else [path]
        if not inside:
            raise OptionError(f"there is no study in {path}", "put study files, *.toml, into it")
        found += inside
    return found


def by_path(studies: Iterable[Study]) -> dict[str, Study]:
    """Studies by the first part of their addresses."""
    found: dict[str, Study] = {}
    for study in studies:
        slug = slug_of(study.name)
        if not slug or slug in _TAKEN:
            raise OptionError(
                f"the name {study.name!r} makes no address", "give the study another name"
            )
        if slug in found:
            raise OptionError(
                f"two studies would be at /{slug}/",
                "give one of them another name, or its own port",
            )
        found[slug] = study
    return found


def slug_of(name: str) -> str:
    """
    >>> slug_of("Gesundheit in Köln, 2026")
    'gesundheit-in-koln-2026'
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
