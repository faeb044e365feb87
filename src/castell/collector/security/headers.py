"""Security headers on every answer; what a handler sets itself stays."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Nothing from elsewhere, nothing inline, no frames, no forms, no base: pages are our own files.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)

_EVERY = {
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_DATA = {"content-security-policy": "default-src 'none'; frame-ancestors 'none'"}
_PAGES = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}

Headers = list[tuple[bytes, bytes]]


def _raw(headers: dict[str, str]) -> Headers:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


DATA_HEADERS = _raw(_EVERY | _DATA)
PAGE_HEADERS = _raw(_EVERY | _PAGES)
_JSON = (b"content-type", b"application/json")


class SecurityHeaders:
    """Adds what a page needs, or the little that means something on JSON."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                there = {name for name, _ in headers}
                wanted = DATA_HEADERS if _JSON in headers else PAGE_HEADERS
                headers += [pair for pair in wanted if pair[0] not in there]
                message = {**message, "headers": headers}
            await send(message)

        await self.app(scope, receive, send_with_headers)
