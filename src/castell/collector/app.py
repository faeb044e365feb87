"""The collector as an ASGI application."""

from __future__ import annotations

import asyncio
import contextlib
import mimetypes
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from http import HTTPStatus
from math import inf
from typing import cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from castell.collector.health import Health
from castell.collector.intake import Intake
from castell.collector.metrics import Tally
from castell.collector.opening_hours import Opening
from castell.collector.operator_routes import Operations
from castell.collector.publish_changes import keep_published
from castell.collector.responses import json_answer
from castell.collector.results import routes as results_routes
from castell.collector.results.overview import step_of
from castell.collector.results.solver import Solver
from castell.collector.results.worker import ResultsWorker
from castell.collector.routes import core_routes
from castell.collector.security.cors import Cors
from castell.collector.security.headers import SecurityHeaders
from castell.collector.security.limits import RateLimit
from castell.collector.security.tokens import GUESS_BURST, GUESS_RATE, TokenBook, TokenGuard
from castell.collector.settings import Settings, State
from castell.collector.stage_watch import StageWatch
from castell.collector.wire import Wire, wire_of
from castell.collector.writer import Writer

# Some systems map these to something else, and nosniff would then keep the page from loading.
for _kind, _ending in (("text/javascript", ".js"), ("text/css", ".css"), ("image/svg+xml", ".svg")):
    mimetypes.add_type(_kind, _ending)

_REMEDIES = {404: "see openapi.json for what there is", 405: "use a method that Allow names"}


@dataclass(frozen=True)
class StudyApp:
    """The collector of one study: what answers, what must run while it does, and is it well."""

    app: ASGIApp
    running: Callable[[], AbstractAsyncContextManager[None]]
    health: Health


def make_app(state: State, tally: Tally | None = None, solver: Solver | None = None) -> ASGIApp:
    """Everything between a socket and the store. Closing the app closes the store.

    Without a `solver` models are fitted in a thread.
    """
    return study_app(state, tally, solver).app


def guess_limit(settings: Settings) -> RateLimit:
    """How often one address may bring a wrong token."""
    return RateLimit(min(settings.rate or inf, GUESS_RATE), min(settings.burst, GUESS_BURST))


def study_app(
    state: State,
    tally: Tally | None = None,
    solver: Solver | None = None,
    guesses: RateLimit | None = None,
) -> StudyApp:
    """The same with its parts, for a process that has several."""
    settings, tally = state.settings, tally or Tally(step_of(state.settings.minimum))
    writer = Writer(state.store, settings.queue, tally.commit_seconds)
    health = Health(state.store, writer)
    limit = RateLimit(settings.rate, settings.burst)
    opening = Opening(settings.hours)
    results = ResultsWorker(state, solver, tally)
    stages = None if state.staging is None else StageWatch(state.store, state.staging, tally)
    wire = wire_of(*state.store.stages, most=settings.bulk)

    @contextlib.asynccontextmanager
    async def running(app: Starlette | None = None) -> AsyncIterator[None]:
        del app
        # A collector that was killed may have left files that tell the order of writing.
        await asyncio.to_thread(state.store.rest)
        beside = [
            asyncio.create_task(results.keep_releasing()),
            asyncio.create_task(keep_published(state.store, intake, routes_of)),
        ]
        if stages is not None:
            beside.append(asyncio.create_task(stages.keep()))
        yield
        if stages is not None:
            stages.close()
        for task in beside:
            task.cancel()
        results.close()
        await asyncio.gather(*beside, return_exceptions=True)
        await writer.close()
        health.close()
        state.store.close()

    operations = Operations(state.store, writer, results, health, tally, stages)
    intake = Intake(None, wire, writer, limit, tally, opening)
    of_results = results_routes(state, results)

    def routes_of(wire: Wire) -> Starlette:
        """All that is not a report, for the study as it is worded now."""
        starlette = Starlette(
            routes=[*core_routes(state, wire, intake, operations), *of_results],
            exception_handlers={HTTPException: _problem},
            lifespan=running,
        )
        # A redirect would name whatever host the request claims to be for.
        starlette.router.redirect_slashes = False
        return starlette

    intake.publish(wire, routes_of(wire))
    book = TokenBook(settings.token, state.store.tokens)
    guarded = TokenGuard(intake, book, guesses or guess_limit(settings), tally)
    return StudyApp(SecurityHeaders(Cors(guarded, settings.origins)), running, health)


async def _problem(request: Request, error: Exception) -> Response:
    del request
    error = cast("HTTPException", error)
    words = HTTPStatus(error.status_code).phrase.lower()
    remedy = _REMEDIES.get(error.status_code, "see openapi.json")
    return json_answer({"error": words, "remedy": remedy}, error.status_code, error.headers)
