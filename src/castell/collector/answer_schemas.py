"""What the answer to a question looks like, for the description of the API (JSON Schema)."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

# What is not known is null.
NUMBER: Schema = {"type": ["number", "null"]}
NUMBERS: Schema = {"type": "array", "items": NUMBER}
TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
GROUP: Schema = {"type": "object", "additionalProperties": TEXTS}
# A number, or one of the values of an attribute whose values are no numbers.
VALUE: Schema = {"type": ["number", "string", "null"]}


def _entries(**properties: Schema) -> Schema:
    """An object with these entries at least; docs/results.md has the others."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


MEAN = _entries(
    kind={"const": "mean"},
    attribute={"type": "string"},
    unit={"type": "string"},
    given=GROUP,
    mean=NUMBER,
    standard_error=NUMBER,
    lower=NUMBER,
    upper=NUMBER,
    bounds={"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2},
    noise_lower=NUMBER,
    noise_upper=NUMBER,
    level={"type": "number"},
)
QUANTILE = _entries(
    kind={"const": "quantile"},
    attribute={"type": "string"},
    q={"type": "number"},
    given=GROUP,
    value=VALUE,
    label={"type": "string"},
    standard_error=NUMBER,
    lower=VALUE,
    upper=VALUE,
    noise_lower=VALUE,
    noise_upper=VALUE,
    level={"type": "number"},
)
ANSWERED = _entries(
    kind={"const": "answered"},
    asked={"type": "string"},
    values=TEXTS,
    among=GROUP,
    probabilities=NUMBERS,
    standard_errors=NUMBERS,
    lower=NUMBERS,
    upper=NUMBERS,
    bounds_lower=NUMBERS,
    bounds_upper=NUMBERS,
)
SHARE = _entries(probability=NUMBER, standard_error=NUMBER, lower=NUMBER, upper=NUMBER)


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


SUMMARY = _entries(
    attribute={"type": "string"},
    given=GROUP,
    unit={"type": "string"},
    mean=_or_null(_ref("Mean")),
    no_mean={"type": ["string", "null"]},
    quantiles={"type": "array", "items": _ref("Quantile")},
    answered=_or_null(_ref("Answered")),
    no_answer=_or_null(SHARE),
    having=_or_null(SHARE),
)
TABLE = _entries(
    attributes=TEXTS,
    labels=TEXTS,
    values={"type": "array", "items": TEXTS},
    # Its values, then share, standard error, lower and upper end.
    cells={"type": "array", "items": {"type": "array", "items": VALUE}},
    method={"type": "string"},
    n={"type": "integer"},
    level={"type": "number"},
    verdict={"type": "string"},
    notes=TEXTS,
    # Of a table of one attribute, or of one within each value of another.
    summaries={"type": "array", "items": _ref("Summary")},
    # What is not summarized since it would take too long; empty if nothing is.
    summaries_left_out={"type": "string"},
    signals={"type": "array", "items": {"type": "object"}},
    pictures={"type": "array", "items": {"type": "object"}},
)

# By the names that others refer to them.
SCHEMAS: dict[str, Schema] = {
    "Table": TABLE,
    "Summary": SUMMARY,
    "Mean": MEAN,
    "Quantile": QUANTILE,
    "Answered": ANSWERED,
}
