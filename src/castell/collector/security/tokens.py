"""The analysts' token: asked for before anything about the results is answered."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from starlette.types import ASGIApp, Receive, Scope, Send

from castell.collector.metrics import Tally
from castell.collector.responses import refusal
from castell.collector.security.limits import RateLimit
from castell.collector.wire import RefusedError

GUARDED = ("/results/api", "/metrics")
# Wrong tokens a second, and at once, from one address: whatever the limit for reports is.
GUESS_RATE = 1.0
GUESS_BURST = 20


def new_token() -> str:
    return secrets.token_urlsafe(24)


class TokenGuard:
    """Lets through what is not guarded, or comes with `Authorization: Bearer TOKEN`."""

    def __init__(self, app: ASGIApp, token: str, limit: RateLimit, tally: Tally) -> None:
        self.app, self.limit, self.tally = app, limit, tally
        self._expected = hashlib.sha256(token.encode()).digest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        guarded = scope["type"] == "http" and scope["path"].startswith(GUARDED)
        if guarded and not self._holds(scope):
            try:
                self.limit.charge(scope)
                raise RefusedError(401, "this needs the collector's token", "give the token")
            except RefusedError as error:
                self.tally.refused[error.reason] += 1
                answer = refusal(
                    error, {"www-authenticate": "Bearer"} if error.status == 401 else None
                )
            await answer(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _holds(self, scope: Scope) -> bool:
        given = dict(scope["headers"]).get(b"authorization", b"")
        kind, _, token = given.partition(b" ")
        # Of hashes, so that neither content nor length of the token shows in the time it takes.
        same = hmac.compare_digest(hashlib.sha256(token.strip()).digest(), self._expected)
        return same and kind.lower() == b"bearer"
