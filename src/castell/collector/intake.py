"""Reports come in here: limits, decoding, then the answer that the store has earned."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from castell.collector.metrics import Tally
from castell.collector.opening_hours import Opening, Phase
from castell.collector.responses import json_answer, refusal
from castell.collector.security.limits import RateLimit, read_json
from castell.collector.store.store import Outcome, Refusal, StoreError, Submission
from castell.collector.wire import RefusedError, Wire
from castell.collector.writer import BusyError, Writer

ONE, BULK = "/reports", "/reports/bulk"

_STORED = json_answer({"status": "stored"}, 201)
_REPEATED = json_answer({"status": "stored"}, 200)


class Intake:
    """Answers the two posts itself and hands the rest on: routing costs more than storing."""

    def __init__(
        self,
        app: ASGIApp | None,
        wire: Wire,
        writer: Writer,
        limit: RateLimit,
        tally: Tally,
        opening: Opening,
    ) -> None:
        self.writer, self.limit = writer, limit
        self.tally, self.opening = tally, opening
        self.publish(wire, app)

    def publish(self, wire: Wire, app: ASGIApp | None) -> None:
        """From now on take what this wire does, and answer the rest with this app."""
        self.wire, self.app = wire, app
        # Room for any report written without care for space, and no more.
        digits = wire.digits
        self.limits = {ONE: 1024 + 2 * digits, BULK: 1024 + wire.most * (96 + 2 * digits)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in self.limits:
            answer = await self._take(scope, receive)
            await answer(scope, receive, send)
        elif self.app is not None:
            await self.app(scope, receive, send)

    async def _take(self, scope: Scope, receive: Receive) -> Response:
        bulk = scope["path"] == BULK
        try:
            self.limit.charge(scope)
            body = await read_json(scope, receive, self.limits[scope["path"]])
            submission = self.wire.decode_bulk(body) if bulk else self.wire.decode_one(body)
            if len(submission.reports) > 1:
                self.limit.charge(scope, len(submission.reports) - 1)
            # One that is there already is still acknowledged, which is the store's to know.
            phase = self.opening.phase()
            if phase is not Phase.OPEN:
                submission = submission._replace(in_hours=False)
            outcome = await self.writer.submit(submission)
            if outcome.refusal is Refusal.CLOSED:
                raise self.opening.refusal(phase)
            if outcome.refusal is Refusal.PAUSED:
                raise self.opening.refusal(Phase.PAUSED)
            _check(outcome, submission, bulk=bulk)
        except RefusedError as error:
            self.tally.refused[error.reason] += 1
            return refusal(error)
        except StoreError as error:
            # What went wrong with the disk is the operator's to know, not the respondent's.
            self.tally.refused["busy" if isinstance(error, BusyError) else "store"] += 1
            document = {"error": "the report was not kept", "remedy": "send it again later"}
            return json_answer(document, 503, {"retry-after": "5"})
        self.tally.outcomes["stored"] += outcome.stored
        self.tally.outcomes["repeated"] += outcome.repeated
        if not bulk:
            return _STORED if outcome.stored else _REPEATED
        counts = {"stored": outcome.stored, "repeated": outcome.repeated}
        return json_answer(counts, 201 if outcome.stored else 200)


def _check(outcome: Outcome, submission: Submission, *, bulk: bool) -> None:
    if outcome.refusal is Refusal.CONFLICT:
        place = f"reports[{outcome.at}]: " if bulk else ""
        raise RefusedError(
            409, f"{place}this id stands for another report", "make a new report with its own id"
        )
    if outcome.refusal is Refusal.UNASKED:
        raise RefusedError(422, "no invitation is needed here", "send the report without it")
    if outcome.refusal is Refusal.INVITATION and submission.invitation is None:
        remedy = "send them one at a time, each with its code" if bulk else "give the code you got"
        raise RefusedError(403, "each report needs an invitation", remedy)
    if outcome.refusal is Refusal.INVITATION:
        raise RefusedError(
            403, "the invitation is not known or was used already", "ask who invited you"
        )
