"""The survey page as it is served: one document that holds the study, one script, one style sheet.

A slow line waits for every request, so what the page needs to begin stands in the document itself,
as data that no browser runs: the published study to the letter (the page checks its digest), what
/collector.json says, the page's words and its look. It is the same for everybody who asks.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from castell.collector.browser_channels import CLIENT
from castell.collector.page_bundle import OneFile, one_script, one_style
from castell.collector.page_files import Logo, Look
from castell.collector.page_words import words_for
from castell.study.study import Study

HERE = Path(__file__).parent
PAGES = HERE / "pages"
SURVEY = PAGES / "survey"
# In the order they hold: the last one has the last word.
STYLES = ("base.css", "survey.css", "pictures.css", "look.css", "narrow.css")
GIVEN = "<!-- given -->"

# A picture that is opened by itself is a document, and an SVG could then run scripts. Not this one.
LOGO_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"

# What /collector.json says; nothing where the store cannot be read.
Told = Callable[[], Awaitable[dict[str, Any]]]


def survey_routes(study: Study, look: Look, told: Told) -> list[BaseRoute]:
    folders = {"client": CLIENT, "survey": SURVEY}
    script = OneFile.of(one_script("survey/survey.js", folders), "text/javascript")
    styles = [(SURVEY / name).read_text("utf-8") for name in STYLES] + [look.styles]
    made: dict[str, OneFile] = {}

    async def page(request: Request) -> Response:
        collector = await told()
        key = json.dumps(collector, sort_keys=True)
        if key not in made:
            made.clear()  # one state of the collector at a time
            made[key] = OneFile.of(document(study, look, collector), "text/html")
        return await made[key].answer(request)

    routes: list[BaseRoute] = [
        Route("/", page),
        Route("/survey.js", script.answer),
        Route("/survey.css", OneFile.of(one_style(styles), "text/css").answer),
    ]
    if look.logo is not None:
        routes.append(Route("/logo", _picture(look.logo)))
    return routes


def document(study: Study, look: Look, collector: dict[str, Any]) -> str:
    """The page, with all that it begins with."""
    given = {
        "study": study.to_json(),
        "collector": collector,
        "words": words_for(study, look.words),
        "page": look.document(),
    }
    # Inside a script element only this character could end it.
    data = json.dumps(given, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    block = f'<script type="application/json" id="given">{data}</script>'
    return (SURVEY / "index.html").read_text("utf-8").replace(GIVEN, block)


def _picture(logo: Logo) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        del request
        headers = {"content-security-policy": LOGO_POLICY, "cache-control": "no-cache"}
        return Response(logo.body, headers=headers, media_type=logo.media_type)

    return answer
