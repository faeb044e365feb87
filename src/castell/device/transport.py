"""Over the network: a study comes, a report goes, and neither goes anywhere else."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import Message
from http.client import HTTPException
from ssl import SSLCertVerificationError
from typing import Any
from urllib.parse import urlsplit

from castell.device.report import Report
from castell.errors import OptionError, SendError
from castell.study.study import Study

# After these the collector may not have the report, and sending it again may help.
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}
# To try again is of no use where a certificate is not trusted.
_TRUST = "check the address; for a certificate of your own name its file in SSL_CERT_FILE"
_LARGEST_STUDY = 1 << 24
_TIMEOUT = 15.0
# What a collector says of itself while it takes no reports.
NOT_OPEN = ("not_open_yet", "paused", "closed")


def base_address(url: str, *, allow_http: bool = False) -> str:
    """The collector's address, from itself or from its study's; refused if it is not encrypted."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise OptionError(f"{url!r} is not a collector's address", "give it as https://host/")
    near = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme == "http" and not near and not allow_http:
        raise OptionError(
            f"{url} is not encrypted: somebody on the way could hand out weaker questions",
            "use https, or allow http in a network that you trust (--allow-http)",
        )
    return url.removesuffix("study.json").rstrip("/") + "/"


def fetch_study(url: str) -> Study:
    """The study that is published at an address."""
    try:
        status, text, _ = _ask(url)
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        remedy = _TRUST if isinstance(reason, SSLCertVerificationError) else "try again later"
        raise SendError(f"{url} cannot be reached ({reason})", remedy, final=False) from None
    if status != 200:
        raise SendError(f"{url} answers {status}", "check the address", final=True)
    try:
        return Study.from_json(text.decode())
    except UnicodeDecodeError:
        raise SendError(f"{url} is not text", "check the address", final=True) from None


def send_report(
    report: Report, url: str, *, attempts: int = 5, pause: Callable[[float], None] = time.sleep
) -> None:
    """Send a report until the collector has it: the id makes sure it counts once."""
    body = report.body().encode()
    for attempt in range(attempts):
        wait = 0.5 * 2**attempt * (0.5 + os.urandom(1)[0] / 256)
        try:
            status, answer, headers = _ask(url, body)
        except (OSError, HTTPException) as error:
            problem = f"{url} cannot be reached ({getattr(error, 'reason', error)})"
        else:
            told = _parse_answer(answer)
            if status in (200, 201) and told.get("status") == "stored":
                return
            problem = told.get("error") or f"the collector answers {status}"
            if told.get("state") in NOT_OPEN:  # a pause may last for days: nobody waits for that
                raise _not_open(told)
            if status not in _TRY_AGAIN and status not in (200, 201):
                remedy = told.get("remedy") or "check the address"
                raise SendError(str(problem), str(remedy), final=True)
            asked = headers.get("Retry-After", "")
            wait = min(float(asked), 60.0) if asked.isdecimal() else wait
        if attempt + 1 < attempts:
            pause(wait)
    raise SendError(str(problem), "try again later; it will not count twice", final=False)


def check_open(url: str, *, invited: bool = True) -> None:
    """Ask whether reports are taken now, before one leaves: it then costs nothing.

    One that is not `invited` is refused where each report needs an invitation. Only a clear no
    counts as one, for the collector decides again when it takes the report.
    """
    try:
        status, answer, _ = _ask(url)
    except (OSError, HTTPException):
        return
    told = _parse_answer(answer)
    if status == 200 and told.get("state") in NOT_OPEN:
        raise _not_open(told, "; nothing was sent and nothing is spent")
    if status == 200 and told.get("invitations") is True and not invited:
        raise SendError(
            "each report needs an invitation",
            "give the code you got (castell send --invitation); nothing was sent and nothing is "
            "spent",
            final=True,
        )


def _not_open(told: dict[str, Any], more: str = "") -> SendError:
    """Never final: a study may be opened again, and the report stands."""
    opens = told.get("opens")
    return {
        "not_open_yet": SendError(
            "the collection is not open yet",
            (f"it opens {opens}" if opens else "come back later") + more,
            final=False,
        ),
        "paused": SendError("the collection is paused", f"come back later{more}", final=False),
        "closed": SendError("the collection has ended", f"thank you{more}", final=False),
    }[told["state"]]


def check_invitation(invitation: str, url: str) -> None:
    """Ask whether an invitation is good before a report leaves with it.

    So one that was mistyped costs nothing. Only a clear no counts as one, for the collector
    decides again when it takes the report.
    """
    try:
        status, answer, _ = _ask(url, json.dumps({"invitation": invitation}).encode())
    except (OSError, HTTPException):
        return
    if status == 403:
        told = _parse_answer(answer)
        problem, remedy = told.get("error"), told.get("remedy")
        raise SendError(
            str(problem or "the invitation is not good"),
            str(remedy or "ask who invited you") + "; nothing was sent and nothing is spent",
            final=True,
        )


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A report goes where it was meant to go or nowhere."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        del args, kwargs


def _ask(url: str, body: bytes | None = None) -> tuple[int, bytes, Message]:
    headers = {"User-Agent": "castell", **({"Content-Type": "application/json"} if body else {})}
    request = urllib.request.Request(url, body, headers)  # noqa: S310 (see base_address)
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=_TIMEOUT) as answer:
            return answer.status, answer.read(_LARGEST_STUDY), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(1 << 16), error.headers


def _parse_answer(answer: bytes) -> dict[str, Any]:
    try:
        told = json.loads(answer)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
