"""The collector's HTTP interface, from the OpenAPI document that it serves."""

from __future__ import annotations

import json
from typing import Any

import castell
from castell.population import SCHEMA


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _schema(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return (
            f"[{schema['$ref'].rpartition('/')[2]}](#{schema['$ref'].rpartition('/')[2].lower()})"
        )
    return f"`{_cell(json.dumps(schema))}`"


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
                f"| `{one['name']}` | {one['in']} | {_schema(one['schema'])} {_cell(said)} |"
            )
        lines.append("")
    lines += ["| status | means |", "|---|---|"]
    lines += [
        f"| {status} | {_cell(r['description'])} |" for status, r in told["responses"].items()
    ]
    if told.get("security"):
        lines += ["", "Needs a token."]
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
