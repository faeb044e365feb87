"""What the collector answers when it says no: JSON with the problem and the remedy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.responses import Response

from castell.collector.wire import RefusedError


def json_answer(
    document: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    body = msgspec.json.encode(document)
    return Response(body, status, headers=headers, media_type="application/json")


def refusal(error: RefusedError, headers: Mapping[str, str] | None = None) -> Response:
    more = dict(headers or {})
    if error.seconds is not None:
        more["retry-after"] = str(error.seconds)
    if error.status in (408, 413):
        more["connection"] = "close"  # what is left of the body is not read
    document = {"error": error.problem, "remedy": error.remedy}
    if error.state is not None:
        document["state"] = error.state
    if error.needs is not None:
        document["needs"] = error.needs
    return json_answer(document, error.status, more)
