"""Which other hosts' pages may talk to the collector: those listed, and never with credentials."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# What a survey on another page needs. Results are for the collector's own page.
OPEN = {
    "/study.json": b"GET",
    "/collector.json": b"GET",
    "/invitations": b"POST",
    "/reports": b"POST",
}
_KEPT = b"600"


class Cors:
    def __init__(self, app: ASGIApp, origins: Iterable[str]) -> None:
        self.app = app
        self.origins = frozenset(origin.encode() for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = OPEN.get(scope["path"]) if scope["type"] == "http" else None
        if method is None:
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        origin = headers.get(b"origin")
        listed = origin is not None and origin in self.origins
        added = [(b"vary", b"origin")]
        if listed and origin is not None:
            added.append((b"access-control-allow-origin", origin))
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
            if listed:
                added += [
                    (b"access-control-allow-methods", method),
                    (b"access-control-allow-headers", b"content-type"),
                    (b"access-control-max-age", _KEPT),
                ]
            await send({"type": "http.response.start", "status": 204, "headers": added})
            await send({"type": "http.response.body", "body": b""})
            return

        async def send_with_origin(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        await self.app(scope, receive, send_with_origin)
