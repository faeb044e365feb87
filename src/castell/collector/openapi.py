"""The API described by the types that decode it (OpenAPI 3.1)."""

from __future__ import annotations

from typing import Any

import msgspec

from castell import __version__
from castell.channels.budget import MAX_EPSILON
from castell.collector.answer_schemas import SCHEMAS
from castell.collector.opening_hours import Phase
from castell.collector.results.downloads import FORMATS, ZIP
from castell.collector.results.planning_page import FEWEST, LEAST_EPSILON, MOST, SentEstimate
from castell.collector.results.question import CHARTS
from castell.collector.store.tokens import Role
from castell.collector.wire import DIGEST_PATTERN, INVITATION_PATTERN, structs_of
from castell.estimators import methods_for
from castell.inference.postprocess import STEPS
from castell.study.study import Study

Document = dict[str, Any]

_NOT_OPEN = [phase for phase in Phase if phase is not Phase.OPEN]

_TABLE = {"$ref": "#/components/schemas/Table"}
_PROBLEM = {"$ref": "#/components/schemas/Problem"}
_REFUSALS = {
    "400": "Not JSON",
    "403": "The invitation is missing or not valid, or the collection has ended",
    "408": "The body did not come",
    "409": "Another study's report, or an id that stands for another report",
    "413": "Too long",
    "415": "Not said to be JSON",
    "422": "Not a report of this study",
    "429": "Too often",
    "503": "Not kept: the collection is paused or not open yet, or the store fails; send it again",
}
_RESULTS_REFUSALS = {
    "400": "A question that the study has no answer to",
    "401": "Without a token that is good; `needs` says whose is",
    "403": "For an owner of the study only",
    "409": "Too few reports, or an estimate of another study",
    "429": "Wrong tokens too often",
    "503": "Too many questions at once, or the store cannot be read",
}
# What a schema cannot say of a parameter: that depends on the attributes shown.
_GIVEN = "Only respondents with one of these values of attributes that are not shown."
_MERGE = "Values of an attribute shown that count as one: two or more of it, not all."
_WITHIN = "Shares of those with each value of this attribute, which is shown beside another."
_CHART = "`heat` and `mosaic` are for two or three attributes, `mosaic` for whole tables only."
_POST = "Shares within, given or merged are never post-processed."


def openapi(study: Study, *, invited: bool, most: int) -> Document:
    one, bulk = structs_of(study, most=most)
    (one_schema, bulk_schema), components = msgspec.json.schema_components(
        [one, bulk], ref_template="#/components/schemas/{name}"
    )
    for name in ("Report", "Bulk"):
        # The decoder takes any digest, to tell those who hold another study's apart.
        components[name]["properties"]["study"] = {"enum": list(study.digests)}
    # The decoder knows an invitation either way; a report has one or has none.
    if invited:
        components["Report"]["required"].append("invitation")
    else:
        del components["Report"]["properties"]["invitation"]
    components["Problem"] = _object(error={"type": "string"}, remedy={"type": "string"})
    # Where no report is taken now, why.
    components["Problem"]["properties"]["state"] = {"enum": [p.value for p in _NOT_OPEN]}
    # Where a token is missing or does not do, whose would.
    components["Problem"]["properties"]["needs"] = {"enum": [role.value for role in Role]}
    components["Estimate"] = _estimate(study)
    components |= SCHEMAS
    number = {"type": "integer", "minimum": 0}
    stored = _object(status={"const": "stored"})
    stored_bulk = _object(stored=number, repeated=number)
    time = {"type": ["string", "null"]}
    asks = _object(
        study={"type": "string"},
        invitations={"type": "boolean"},
        bulk=number,
        state={"enum": [phase.value for phase in Phase]},
        opens=time,
        closes=time,
    )
    status, anything = _object(status={"type": "string"}), {"type": "object"}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"castell collector: {study.name}",
            "version": __version__,
            "description": "Takes randomised reports. Nothing else of a respondent is kept.",
        },
        # Beside this description, wherever it is: behind a path of its own, or a proxy's.
        "servers": [{"url": "."}],
        "paths": {
            "/reports": {"post": _intake("Keep one report", one_schema, stored)},
            "/reports/bulk": {"post": _intake("Keep many reports", bulk_schema, stored_bulk)},
            "/invitations": {"post": _invitation_check()},
            "/study.json": {"get": _to_get("The published study", anything, {"304": "The same"})},
            "/studies/{digest}.json": {"get": _stage()},
            "/collector.json": {"get": _from_store("What this collector asks for", asks)},
            "/healthz": {
                "get": _to_get("Whether reports can be kept", status, {"503": "They cannot"})
            },
            "/openapi.json": {"get": _from_store("This description", anything)},
            "/metrics": {"get": _needs_token(_to_get("Counts for Prometheus", None))},
            "/results/api/overview": {"get": _needs_token(_to_get("Reports over time", anything))},
            "/results/api/estimate": {
                "get": _needs_token(_to_get("A table with its errors", _TABLE), _question(study))
            },
            "/results/api/progress": {
                "get": _needs_token(
                    _to_get("How far a question has come", anything), _question(study)
                )
            },
            "/results/api/download": {"get": _needs_token(_download(), _file(study))},
            "/results/api/plan": {
                "get": _needs_token(_to_get("What so many people would tell", anything), _plan()),
                "post": _needs_token(_likely_plan(), _plan()),
            },
        },
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _object(**properties: Any) -> Document:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _content(schema: Any) -> Document:
    return {"application/json": {"schema": schema}}


def _refusal_responses(refusals: dict[str, str]) -> Document:
    return {
        status: {"description": text, "content": _content(_PROBLEM)}
        for status, text in refusals.items()
    }


def _intake(summary: str, schema: Any, answer: Document) -> Document:
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": _content(schema)},
        "responses": {
            "201": {"description": "Kept, durably", "content": _content(answer)},
            "200": {"description": "Was kept before", "content": _content(answer)},
            **_refusal_responses(_REFUSALS),
        },
    }


def _invitation_check() -> Document:
    code = {"type": "string", "pattern": INVITATION_PATTERN, "minLength": 20, "maxLength": 20}
    refusals = {status: text for status, text in _REFUSALS.items() if status != "409"}
    good = _content(_object(status={"const": "good"}))
    return {
        "summary": "Whether an invitation would let a report in; nothing is used up",
        "requestBody": {"required": True, "content": _content(_object(invitation=code))},
        "responses": {
            "200": {"description": "It would", "content": good},
            **_refusal_responses(refusals | {"422": "Not an invitation"}),
        },
    }


def _to_get(summary: str, schema: Any, others: dict[str, str] | None = None) -> Document:
    content = {"text/plain": {"schema": {"type": "string"}}} if schema is None else _content(schema)
    answers: Document = {"200": {"description": summary, "content": content}}
    for status, text in (others or {}).items():
        answers[status] = {"description": text}
        if status != "304":
            answers[status]["content"] = content
    return {"summary": summary, "responses": answers}


def _stage() -> Document:
    digest = {"type": "string", "pattern": DIGEST_PATTERN}
    operation = _to_get("A stage of the study, by a digest that it has or had", {"type": "object"})
    operation["responses"] |= _refusal_responses({"404": "There is none"})
    named = {"name": "digest", "in": "path", "required": True, "schema": digest}
    return {**operation, "parameters": [named]}


def _from_store(summary: str, schema: Any) -> Document:
    operation = _to_get(summary, schema)
    operation["responses"] |= _refusal_responses({"503": "The store cannot be read"})
    return operation


def _needs_token(operation: Document, parameters: list[Document] | None = None) -> Document:
    answers = {**operation["responses"], **_refusal_responses(_RESULTS_REFUSALS)}
    return {
        **operation,
        "security": [{"token": []}],
        "parameters": parameters or [],
        "responses": answers,
    }


def _question(study: Study) -> list[Document]:
    several = {
        "type": "array",
        "items": {"enum": list(study.names)},
        "minItems": 1,
        "maxItems": len(study.names),
        "uniqueItems": True,
    }
    labels = {
        "type": "array",
        "items": {"enum": [f"{a.name}={value}" for a in study.schema for value in a.values]},
        "uniqueItems": True,
    }
    return [
        {"name": "attributes", "in": "query", "required": True, "schema": several},
        _choice("method", list(methods_for(study))),
        _choice("post", list(STEPS)) | {"description": _POST},
        _choice("chart", list(CHARTS)) | {"description": _CHART},
        {"name": "given", "in": "query", "schema": labels, "description": _GIVEN},
        {"name": "merge", "in": "query", "schema": labels, "description": _MERGE},
        _choice("within", list(study.names)) | {"description": _WITHIN},
        {
            "name": "level",
            "in": "query",
            "schema": {"type": "number", "minimum": 0.01, "maximum": 0.9999},
        },
    ]


def _download() -> Document:
    kinds = sorted({ZIP, *(media_type.split(";")[0] for _, media_type, _ in FORMATS.values())})
    content: Document = {kind: {} for kind in kinds}
    return {
        "summary": "The table as a file",
        "responses": {"200": {"description": "A file", "content": content}},
    }


def _file(study: Study) -> list[Document]:
    return [{**_choice("format", list(FORMATS)), "required": True}, *_question(study)]


def _plan() -> list[Document]:
    people = {"type": "integer", "minimum": FEWEST, "maximum": MOST}
    least, most = float(LEAST_EPSILON), float(MAX_EPSILON)
    epsilon = {"type": "number", "minimum": least, "maximum": most}
    return [
        {"name": "n", "in": "query", "schema": people},
        {"name": "epsilon", "in": "query", "schema": epsilon},
    ]


def _estimate(study: Study) -> Document:
    """What is read of an estimate; the study's own attributes and values are looked at then."""
    (made,), found = msgspec.json.schema_components(
        [SentEstimate], ref_template="#/components/schemas/{name}"
    )
    schema: Document = found[made["$ref"].rsplit("/", 1)[-1]]
    first = next(iter(study.schema))
    share = [1 / first.size] * first.size
    example = {
        "attributes": [first.name],
        "values": [list(first.values)],
        "probabilities": share,
    }
    return {**schema, "title": "Estimate", "examples": [example]}


def _likely_plan() -> Document:
    """The same where an earlier estimate says what is likely."""
    operation = _to_get("What so many people like these would tell", {"type": "object"})
    refusals = {code: _REFUSALS[code] for code in ("408", "413", "415")}
    refusals |= {"422": "Not an estimate"}
    operation["responses"] |= _refusal_responses(refusals)
    body = {"$ref": "#/components/schemas/Estimate"}
    return {**operation, "requestBody": {"required": True, "content": _content(body)}}


def _choice(name: str, values: list[str]) -> Document:
    return {"name": name, "in": "query", "schema": {"enum": values}}
