"""The routes every collector has: the study out, health and counts, pages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from castell.collector.browser_channels import CLIENT
from castell.collector.intake import Intake
from castell.collector.invitation_check import invitation_check
from castell.collector.openapi import openapi
from castell.collector.operator_routes import Operations
from castell.collector.responses import json_answer
from castell.collector.settings import State
from castell.collector.store.store import Rules, StoreError
from castell.collector.survey_page import PAGES, survey_routes
from castell.collector.wire import Wire


def core_routes(
    state: State, wire: Wire, intake: Intake, operations: Operations
) -> list[BaseRoute]:
    published = wire.study.to_json().encode()
    tag = f'"{wire.study.digest}"'
    # Every stage, as it is worded now, by each digest that it has had.
    stages = {digest: stage.study.to_json().encode() for digest, stage in wire.by_digest.items()}
    described = {
        invited: openapi(wire.study, invited=invited, most=wire.most) for invited in (False, True)
    }
    asks = {"study": wire.study.digest, "bulk": wire.most}
    opening = intake.opening

    def told(rules: Rules) -> dict[str, Any]:
        return {**asks, "invitations": rules.invited, **opening.for_clients(paused=rules.paused)}

    async def study(request: Request) -> Response:
        headers = {"etag": tag, "cache-control": "no-cache"}
        if tag in [t.strip() for t in request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers=headers)
        return Response(published, headers=headers, media_type="application/json")

    async def stage(request: Request) -> Response:
        found = stages.get(request.path_params["digest"])
        if found is None:
            document = {"error": "there is no such stage", "remedy": "take /study.json"}
            return json_answer(document, 404)
        return Response(found, headers={"cache-control": "no-cache"}, media_type="application/json")

    def by_rules(make: Callable[[Rules], Any]) -> Callable[[Request], Awaitable[Response]]:
        """An answer that depends on what the owner has set, as of now."""

        async def answer(request: Request) -> Response:
            del request
            try:
                return json_answer(make(await asyncio.to_thread(state.store.rules)))
            except StoreError:
                document = {"error": "the store cannot be read", "remedy": "try again later"}
                return json_answer(document, 503, {"retry-after": "5"})

        return answer

    async def told_now() -> dict[str, Any]:
        """What /collector.json says, for the survey page; nothing if the store cannot be read."""
        try:
            return told(await asyncio.to_thread(state.store.rules))
        except StoreError:
            return {}

    routes: list[BaseRoute] = [
        # For the other methods only: a POST never gets as far as this (see Intake).
        Route("/reports", intake, methods=["POST"]),
        Route("/reports/bulk", intake, methods=["POST"]),
        Route("/invitations", invitation_check(state.store, intake.limit), methods=["POST"]),
        Route("/study.json", study),
        Route("/studies/{digest}.json", stage),
        Route("/collector.json", by_rules(told)),
        Route("/healthz", operations.healthz),
        Route("/metrics", operations.metrics),
        Route("/openapi.json", by_rules(lambda rules: described[rules.invited])),
    ]
    folders = {name: PAGES / name for name in ("survey", "results", "plan")} | {"client": CLIENT}
    routes += survey_routes(wire.study, state.look, told_now)
    for name, folder in folders.items():
        if folder.is_dir():
            routes.append(Mount(f"/static/{name}", _Files(directory=folder)))
    return routes


class _Files(StaticFiles):
    """Files that a browser asks about each time: a new version is in use at once."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers["cache-control"] = "no-cache"
        return response
