"""What is asked, in a notebook."""

from __future__ import annotations

from castell.display.notebook import html_table
from castell.display.one_line import shorten
from castell.study.schema import Schema

# Of a long list of values a few say what it is.
_MOST = 160


def attribute_table(caption: str, schema: Schema) -> str:
    """A row for each attribute: its name, its question and its values."""
    asked = any(attribute.question for attribute in schema)
    titles = ["attribute", *(["question"] if asked else []), "values"]
    rows = [
        [a.name, *([a.question] if asked else []), shorten(", ".join(a.values), _MOST)]
        for a in schema
    ]
    return html_table(caption, titles, rows, texts=len(titles))
