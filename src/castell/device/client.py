"""A respondent without a browser: makes reports on the device and sends them, as two steps.

The same answer to the same question is always reported the same, so a program that reports every
day reveals no more than one that reported once. The words that randomise an answer are HMAC-SHA256
of (study digest, block, answer) under a secret key drawn once on this device; client/memo.js does
the same, and vectors/ holds both to it.

    client = Client("https://collector.example/")
    report = client.make({"smokes": "now", "health": "good"})
    print(report.body())  # exactly what will leave
    client.send(report)
"""

from __future__ import annotations

import base64
import hmac
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.message import Message
from http.client import HTTPException
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from castell.device.ledger import Entry, Keep, ledger, settle, spend
from castell.device.randomize import Source, numbers_below
from castell.errors import AnswerError, OptionError, SendError, StudyChangedError
from castell.study.schema import suggest
from castell.study.study import Study

# After these the collector may not have the report, and sending it again may help.
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}
_LARGEST_STUDY = 1 << 24
_TIMEOUT = 15.0


@dataclass(frozen=True)
class Memo:
    """The secret that makes this device give the same report for the same answer."""

    key: bytes = field(repr=False)


@dataclass(frozen=True)
class Report:
    """All that leaves the device. A second copy with the same id is not counted again."""

    id: str
    study: str
    codes: tuple[int, ...]
    invitation: str | None = None

    def document(self) -> dict[str, Any]:
        plain = {"id": self.id, "study": self.study, "codes": list(self.codes)}
        return plain if self.invitation is None else {**plain, "invitation": self.invitation}

    def body(self) -> str:
        """The bytes that leave, as text.

        >>> Report("AAAAAAAAAAAAAAAAAAAAAA", "ab", (1, 2)).body()
        '{"id":"AAAAAAAAAAAAAAAAAAAAAA","study":"ab","codes":[1,2]}'
        """
        return json.dumps(self.document(), separators=(",", ":"))


# -- making a report -------------------------------------------------------------------------------


def labelled_words(key: bytes, *label: str | int) -> Source:
    """Words that belong to a label: the same each time, four for each HMAC."""

    def stream() -> Iterator[int]:
        turn = 0
        while True:
            message = ["castell-1", *label, turn]
            text = json.dumps(message, separators=(",", ":"), ensure_ascii=False)
            yield from np.frombuffer(hmac.digest(key, text.encode(), "sha256"), dtype="<u8")
            turn += 1

    words = stream()
    return lambda count: np.array(list(islice(words, count)), dtype=np.uint64)


def blocks_asked(study: Study, memo: Memo) -> list[int]:
    """Which blocks this device reports: all, or the one that was drawn for it."""
    count = len(study.design.blocks)
    if "draw" not in study.content:
        return list(range(count))
    return [int(numbers_below(count, 1, labelled_words(memo.key, "draw", study.digest))[0])]


def make_report(study: Study, answers: Mapping[str, object], memo: Memo) -> Report:
    """A report of a value for each attribute that is asked. Nothing is sent."""
    for name in answers:
        if name not in study.names:
            raise AnswerError(
                f"{name!r} is no attribute of the study", suggest(str(name), study.names)
            )
    blocks, codes = study.design.blocks, []
    for index in blocks_asked(study, memo):
        block, answer = blocks[index], 0
        for name, size in zip(block.names, block.sizes, strict=True):
            if name not in answers:
                raise AnswerError(f"there is no answer for {name!r}", "give a value for it")
            answer = answer * size + study.schema[name].code(answers[name])
        words = labelled_words(memo.key, "report", study.digest, index, answer)
        number = numbers_below(block.channel.total, 1, words)
        code = int(block.channel.respond(np.array([answer]), number)[0])
        if "draw" in study.content:
            code += sum(earlier.channel.outputs for earlier in blocks[:index])
        codes.append(code)
    return Report(_new_id(), study.digest, tuple(codes))


def _new_id() -> str:
    return base64.urlsafe_b64encode(os.urandom(16)).rstrip(b"=").decode()


# -- sending a report ------------------------------------------------------------------------------


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A report goes where it was meant to go or nowhere."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        del args, kwargs


def _ask(url: str, body: bytes | None = None) -> tuple[int, bytes, Message]:
    headers = {"User-Agent": "castell", **({"Content-Type": "application/json"} if body else {})}
    request = urllib.request.Request(url, body, headers)  # noqa: S310 (checked by Client)
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=_TIMEOUT) as answer:
            return answer.status, answer.read(_LARGEST_STUDY), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(1 << 16), error.headers


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
            told = _told(answer)
            if status in (200, 201) and told.get("status") == "stored":
                return
            problem = told.get("error") or f"the collector answers {status}"
            if status not in _TRY_AGAIN and status not in (200, 201):
                remedy = told.get("remedy") or "check the address"
                raise SendError(str(problem), str(remedy), final=True)
            asked = headers.get("Retry-After", "")
            wait = min(float(asked), 60.0) if asked.isdecimal() else wait
        if attempt + 1 < attempts:
            pause(wait)
    raise SendError(str(problem), "try again later; it will not count twice", final=False)


def _told(answer: bytes) -> dict[str, Any]:
    try:
        told = json.loads(answer)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


class Client:
    """One device and one collector.

    `folder` keeps the secret key and the ledger. A study that changed since this device first saw
    it is refused unless `accept` is true. `limit` is the most this device may spend on a study.
    """

    def __init__(
        self,
        url: str,
        *,
        folder: str | Path | None = None,
        accept: bool = False,
        limit: float | None = None,
        allow_http: bool = False,
    ) -> None:
        self.url = _base(url, allow_http)
        if limit is not None and not limit > 0:
            raise OptionError(f"the limit is {limit:g}", "give a number above 0")
        self.keep = Keep(folder)
        self.memo = Memo(self.keep.key())
        self.limit = limit
        self.study = _fetch_study(f"{self.url}study.json")
        digest = self.study.digest
        seen = self.keep.update(f"seen:{self.url}", lambda d: digest if accept else d or digest)
        if seen != digest:
            raise StudyChangedError(
                f"the study at {self.url} is not the one this device first saw there",
                "read it again, then accept it (castell send --accept)",
            )

    @property
    def asked(self) -> tuple[str, ...]:
        """The attributes this device reports, each once."""
        blocks = self.study.design.blocks
        names = [name for b in blocks_asked(self.study, self.memo) for name in blocks[b].names]
        return tuple(dict.fromkeys(names))

    def make(self, answers: Mapping[str, object]) -> Report:
        """A report. Nothing is sent."""
        return make_report(self.study, answers, self.memo)

    def send(self, report: Report, *, pause: Callable[[float], None] = time.sleep) -> None:
        """Send a report, after any earlier one that may not have arrived."""
        if report.study != self.study.digest:
            raise StudyChangedError("the report is of another study", "make it again")
        earlier = self.waiting()
        if earlier is not None and earlier.id != report.id:
            self._send(earlier, pause)
        spend(self.keep, self.study, report.document(), self.limit)
        self._send(report, pause)

    def _send(self, report: Report, pause: Callable[[float], None]) -> None:
        try:
            send_report(report, f"{self.url}reports", pause=pause)
        except SendError as error:
            # Only what may still arrive is kept for another try.
            if error.final:
                settle(self.keep, self.study)
            raise
        settle(self.keep, self.study)

    def waiting(self) -> Report | None:
        """A report that was handed over but never acknowledged."""
        kept = [entry.waiting for entry in self.ledger() if entry.digest == self.study.digest]
        if not kept or kept[0] is None:
            return None
        return Report(**{**kept[0], "codes": tuple(kept[0]["codes"])})

    def ledger(self) -> list[Entry]:
        """What this device has spent, study by study."""
        return ledger(self.keep)


def _base(url: str, allow_http: bool) -> str:
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


def _fetch_study(url: str) -> Study:
    try:
        status, text, _ = _ask(url)
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise SendError(
            f"{url} cannot be reached ({reason})", "try again later", final=False
        ) from None
    if status != 200:
        raise SendError(f"{url} answers {status}", "check the address", final=True)
    try:
        return Study.from_json(text.decode())
    except UnicodeDecodeError:
        raise SendError(f"{url} is not text", "check the address", final=True) from None
