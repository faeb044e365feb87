"""The collector's HTTP interface, from the OpenAPI document that it serves."""

from __future__ import annotations

import json
from typing import Any

import castell
from castell.population import SCHEMA

_NUMBERS = {"integer": "a whole number", "number": "a number"}
# Of longer lists, such as all values of all attributes, the first and the last are shown.
_MOST_LISTED = 10


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _schema(schema: dict[str, Any]) -> str:
    """What a schema allows, in words.

    >>> _schema({"enum": ["a", "b"]}), _schema({"type": "integer", "minimum": 1, "maximum": 9})
    ('`a` or `b`', 'a whole number from 1 to 9')
    """
    kind = schema.get("type")
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return _one_of([f"`{_cell(str(value))}`" for value in schema["enum"]])
    if kind == "array" and "enum" in schema["items"]:
        most = f", {schema['maxItems']} at most" if "maxItems" in schema else ""
        return f"{_schema(schema['items'])}; repeat it for more{most}"
    if kind in _NUMBERS:
        return f"{_NUMBERS[kind]} from {schema['minimum']} to {schema['maximum']}"
    if kind == "string" and "pattern" in schema:
        return f"a text that matches `{_cell(schema['pattern'])}`"
    if kind == "object":
        fields = [f"`{name}`: {_schema(told)}" for name, told in schema["properties"].items()]
        return f"with {', '.join(fields)}"
    return f"`{_cell(json.dumps(schema))}`"


def _one_of(texts: list[str]) -> str:
    if len(texts) > _MOST_LISTED:
        texts = [*texts[:2], "...", texts[-1]]
        return ", ".join(texts)
    return " or ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def _body(content: dict[str, Any]) -> str:
    return ", ".join(
        f"`{kind}` {_schema(told['schema']) if told.get('schema') else ''}".strip()
        for kind, told in content.items()
    )


def _operation(path: str, verb: str, told: dict[str, Any]) -> list[str]:
    lines = [f"## `{verb.upper()} {path}`", "", f"{told['summary']}.", ""]
    if "requestBody" in told:
        lines += [f"Body: {_body(told['requestBody']['content'])}", ""]
    if told.get("parameters"):
        lines += ["| parameter | in | values |", "|---|---|---|"]
        for one in told["parameters"]:
            said = one.get("description", "")
            lines.append(
                f"| `{one['name']}` | {one['in']} | {_schema(one['schema'])}. {_cell(said)} |"
            )
        lines.append("")
    lines += ["| status | means |", "|---|---|"]
    lines += [
        f"| {status} | {_cell(r['description'])} |" for status, r in told["responses"].items()
    ]
    if told.get("security"):
        lines += ["", "Needs a [token](#with-a-token)."]
    return [*lines, ""]


def document() -> dict[str, Any]:
    """The OpenAPI document of a collector for the study of the examples."""
    from castell.collector.openapi import openapi

    return openapi(castell.Study(SCHEMA, epsilon=6.0), invited=True, most=1000)


def http_interface() -> str:
    """Markdown: a section for each operation, then the schemas that they name."""
    told = document()
    lines: list[str] = []
    for path, operations in told["paths"].items():
        for verb, operation in operations.items():
            lines += _operation(path, verb, operation)
    lines += ["## Schemas", ""]
    for name, schema in told["components"]["schemas"].items():
        lines += [f"### {name}", "", "```json", json.dumps(schema, indent=2), "```", ""]
    return "\n".join(lines)
