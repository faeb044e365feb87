"""What the pages of results and plans ask over HTTP, once their token was looked at."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from castell.collector.responses import json_answer, refusal
from castell.collector.results.answer import Answer, document
from castell.collector.results.dated_reports import DatedReports
from castell.collector.results.downloads import FORMATS, OWNERS_FORMATS, File, download
from castell.collector.results.overview import overview
from castell.collector.results.planning_page import (
    LONGEST_ESTIMATE,
    SHORTER,
    parse_likely,
    parse_plan,
    plan_document,
)
from castell.collector.results.progress import Progress
from castell.collector.results.question import parse
from castell.collector.results.release import is_over, schedule_of
from castell.collector.results.vega_bundle import Bundle
from castell.collector.results.worker import ResultsWorker
from castell.collector.security.limits import read_json
from castell.collector.security.tokens import check_owner, role_of
from castell.collector.settings import State
from castell.collector.store.store import StoreError, hour_text, this_hour
from castell.collector.store.tokens import Role
from castell.collector.wire import RefusedError
from castell.errors import CastellError, MissingExtraError, OptionError
from castell.study.schema import suggest

PAGES = Path(__file__).parent.parent / "pages"

_LOG = logging.getLogger("castell")

Handler = Callable[[Request], Awaitable[Response]]
T = TypeVar("T")


def routes(state: State, worker: ResultsWorker) -> list[Route]:
    """The page, its one large script, and what it asks for."""
    bundle, progress = Bundle(), Progress()

    async def respond(
        request: Request, asked: dict[str, list[str]], make: Callable[[Answer], T]
    ) -> T:
        study = state.study
        question = parse(study, asked)
        with progress.of(question):
            made = await worker.answer(question, make, request.is_disconnected)
        if state.study.wordings != study.wordings:
            # Values may have had other names when it was asked than when it was answered.
            raise RefusedError(409, "words of the study were corrected just now", "ask again")
        return made

    def page(name: str) -> Handler:
        path = PAGES / name / "index.html"

        async def found(request: Request) -> Response:
            del request
            return FileResponse(path, headers={"cache-control": "no-cache"})

        return found

    async def planned(request: Request) -> Response:
        study, question = state.study, parse_plan(_parameters(request))
        job = partial(plan_document, study, question)
        if request.method == "POST":
            body = await read_json(request.scope, request.receive, LONGEST_ESTIMATE, SHORTER)
            told = await worker.answer_without_keeping(partial(job, parse_likely(study, body)))
        else:
            told = await worker.once((study.digest, question), job, request.is_disconnected)
        return Response(told, media_type="application/json")

    async def vega(request: Request) -> Response:
        script = await bundle.script()
        headers = {"etag": script.tag, "cache-control": "no-cache", "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == script.tag:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            return Response(script.packed, headers=headers, media_type="text/javascript")
        return Response(script.text, headers=headers, media_type="text/javascript")

    async def describe(request: Request) -> Response:
        _no_parameters(request)
        told = await worker.overview(partial(_overview, state))
        return Response(told[role_of(request.scope)], media_type="application/json")

    async def estimate(request: Request) -> Response:
        told = await respond(request, _parameters(request), _document)
        return Response(told, media_type="application/json")

    async def tell(request: Request) -> Response:
        return json_answer(progress.place_in_line(parse(state.study, _parameters(request))))

    async def file(request: Request) -> Response:
        asked = _parameters(request)
        formats = asked.pop("format", [""])
        if len(formats) != 1 or formats[0] not in FORMATS:
            raise OptionError(
                f"there is no format {', '.join(formats)!r}", suggest(formats[0], FORMATS)
            )
        if formats[0] in OWNERS_FORMATS:
            check_owner(role_of(request.scope))
        made: File = await respond(request, asked, partial(download, kind=formats[0]))
        headers = {"content-disposition": f'attachment; filename="{made.name}"'}
        return Response(made.body, headers=headers, media_type=made.media_type)

    handlers: dict[str, Handler] = {
        "/results": page("results"),
        "/plan": page("plan"),
        "/results/vega.js": vega,
        "/results/api/overview": describe,
        "/results/api/estimate": estimate,
        "/results/api/progress": tell,
        "/results/api/download": file,
        "/results/api/plan": planned,
    }
    methods = {"/results/api/plan": ["GET", "POST"]}
    return [
        Route(path, _errors_as_responses(handler), methods=methods.get(path))
        for path, handler in handlers.items()
    ]


# Made ready to send where they are made: the loop only passes them on. In a process of its own the
# solver finds them by their names.


def _overview(state: State, count: int, dated: DatedReports | None) -> dict[Role, bytes]:
    """For each role: what its holder may do is part of it."""
    settings, study = state.settings, state.study if dated is None else dated.study
    schedule = schedule_of(settings)
    due = None if schedule is None else schedule.next(this_hour())
    release = None if due is None else hour_text(due)
    told = overview(
        study,
        settings.minimum,
        count,
        dated,
        stages=state.store.stages,
        release_hours=settings.release_hours,
        release=release,
        over=is_over(settings),
    )
    return {role: msgspec.json.encode({"role": role.value, **told}) for role in Role}


def _document(answer: Answer) -> bytes:
    return msgspec.json.encode(document(answer))


def _parameters(request: Request) -> dict[str, list[str]]:
    names = dict.fromkeys(request.query_params.keys())
    return {name: request.query_params.getlist(name) for name in names}


def _no_parameters(request: Request) -> None:
    for name in request.query_params:
        raise OptionError(f"there is no parameter {name!r}", "this takes none")


def _errors_as_responses(handler: Handler) -> Handler:
    """Errors of the package as answers: the problem and what to do about it."""

    async def respond(request: Request) -> Response:
        try:
            return await handler(request)
        except RefusedError as error:
            return refusal(error)
        except StoreError as error:
            # Where the store is, and what is wrong with it, is the operator's to know.
            _LOG.error("castell: results cannot be read: %s", error)
            return refusal(RefusedError(503, "the store cannot be read", "try again later"))
        except MissingExtraError as error:
            return refusal(RefusedError(501, error.problem, error.remedy))
        except CastellError as error:
            return refusal(RefusedError(400, error.problem, error.remedy))

    return respond
