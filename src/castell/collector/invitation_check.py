"""Whether an invitation is good, asked before a report is sent with it.

A report that comes with a bad invitation has been seen, so its respondent has spent epsilon for
nothing. A client asks this first, with the code alone. The answer uses nothing up and is a
courtesy: the store decides when the report comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from castell.collector.responses import json_answer, refusal
from castell.collector.security.limits import RateLimit, read_json
from castell.collector.store.store import Store, StoreError
from castell.collector.wire import Invitation, RefusedError

_LONGEST = 256


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that is asked with."""

    invitation: Invitation


def invitation_check(store: Store, limit: RateLimit) -> Callable[[Request], Awaitable[Response]]:
    """The route: 200 if the code would let a report in, 403 if not."""
    decoder = msgspec.json.Decoder(Asked)

    async def check(request: Request) -> Response:
        try:
            limit.charge(request.scope)
            asked = _decode(decoder, await read_json(request.scope, request.receive, _LONGEST))
            if not await asyncio.to_thread(store.is_unused, asked.invitation):
                raise RefusedError(
                    403, "the invitation is not known or was used already", "ask who invited you"
                )
        except RefusedError as error:
            return refusal(error)
        except StoreError:
            document = {"error": "the store cannot be read", "remedy": "try again later"}
            return json_answer(document, 503, {"retry-after": "5"})
        return json_answer({"status": "good"})

    return check


def _decode(decoder: msgspec.json.Decoder[Asked], body: bytes) -> Asked:
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise RefusedError(422, f"not an invitation: {error}", "give the code you got") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError(400, f"not JSON in UTF-8: {error}", "send a JSON object") from None
