"""Tokens and roles: asked for before anything about the results is answered.

An owner may do everything. An analyst sees results and estimates, but not the reports themselves:
whoever adds reports of their own and downloads again and again isolates an honest one. Nor does an
analyst see the numbers of the machine.
"""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Callable, Sequence

from starlette.types import ASGIApp, Receive, Scope, Send

from castell.collector.metrics import Tally
from castell.collector.responses import refusal
from castell.collector.security.limits import RateLimit
from castell.collector.store.store import StoreError
from castell.collector.store.tokens import Role, Token, token_hash
from castell.collector.wire import RefusedError

GUARDED = ("/results/api", "/metrics")
OWNERS = ("/metrics",)
# Wrong tokens a second, and at once, from one address: whatever the limit for reports is.
GUESS_RATE = 1.0
GUESS_BURST = 20
# Seconds that what the store said of its tokens counts: so guesses do not keep it busy, and a
# token that is revoked is of no use after that.
FRESH = 1.0

_ROLE = "castell.role"


class TokenBook:
    """Who holds which token: the collector's own, which is an owner's, and those in the store."""

    def __init__(
        self,
        token: str,
        read: Callable[[], Sequence[Token]],
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._own, self._read = token_hash(token), read
        self._clock, self._now = clock, now
        self._turn = asyncio.Lock()
        self._known: Sequence[Token] = ()
        self._until = 0.0

    async def role(self, token: bytes) -> Role | None:
        """What its holder may do; nothing if it is none, is revoked, or has expired."""
        # Of hashes, so that neither content nor length of a token shows in the time it takes.
        given = token_hash(token)
        if hmac.compare_digest(given, self._own):
            return Role.OWNER
        found, now = None, self._now()
        for known in await self._tokens():
            same = hmac.compare_digest(given, known.hash)
            if same and (known.expires is None or now < known.expires):
                found = known.role
        return found

    async def _tokens(self) -> Sequence[Token]:
        async with self._turn:  # one look for all who ask at once
            if self._clock() >= self._until:
                self._known = await asyncio.to_thread(self._read)
                self._until = self._clock() + FRESH
            return self._known


class TokenGuard:
    """Lets through what is not guarded, or comes with `Authorization: Bearer TOKEN`."""

    def __init__(self, app: ASGIApp, book: TokenBook, limit: RateLimit, tally: Tally) -> None:
        self.app, self.book, self.limit, self.tally = app, book, limit, tally

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(GUARDED):
            await self.app(scope, receive, send)
            return
        try:
            role = await self._role(scope)
        except RefusedError as error:
            self.tally.refused[error.reason] += 1
            headers = {"www-authenticate": "Bearer"} if error.status == 401 else None
            await refusal(error, headers)(scope, receive, send)
        else:
            await self.app({**scope, _ROLE: role}, receive, send)

    async def _role(self, scope: Scope) -> Role:
        given = _bearer(scope)
        try:
            role = await self.book.role(given)
        except StoreError:
            error = RefusedError(503, "the store cannot be read", "try again later")
            error.seconds = 5
            raise error from None
        needed = Role.OWNER if scope["path"].startswith(OWNERS) else Role.ANALYST
        if role is None:
            self.limit.charge(scope)
            problem = "this token is not good here" if given else "no token came with this"
            raise NoTokenError(401, problem, needed)
        if needed is Role.OWNER:
            check_owner(role)
        return role


class NoTokenError(RefusedError):
    """A token that does not open what was asked for: which one would, and how to get it.

    One that was mistyped, has expired, was revoked or is of another study is refused in the same
    words: nobody learns that a token was good once.
    """

    def __init__(self, status: int, problem: str, needed: Role, reason: str = "") -> None:
        whose = "an owner's" if needed is Role.OWNER else "an analyst's or an owner's"
        remedy = (
            f"take {whose} token of this study; whoever runs the collector makes one: "
            f"`castell token add STORE --name NAME --role {needed.value}`"
        )
        super().__init__(status, problem, remedy, reason)
        self.needs = needed.value


def role_of(scope: Scope) -> Role:
    """The role of whoever asks something that is guarded."""
    role: Role = scope[_ROLE]
    return role


def check_owner(role: Role) -> None:
    if role is not Role.OWNER:
        raise NoTokenError(403, "this is for an owner of the study", Role.OWNER, "role")


def _bearer(scope: Scope) -> bytes:
    given = dict(scope["headers"]).get(b"authorization", b"")
    kind, _, token = given.partition(b" ")
    return bytes(token.strip()) if kind.lower() == b"bearer" else b""
