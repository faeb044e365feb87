"""A record as a page for people: one file without scripts, to be handed over or printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1.5rem 1rem 3rem;
  max-width: 52rem; color: #22303c; background: #fff; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
p { margin: .4rem 0; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .8rem .4rem 0;
  border-bottom: 1px solid #dfe4e9; }
th { font-weight: 600; overflow-wrap: break-word; }
td { overflow-wrap: anywhere; }
figure { margin: 1rem 0; }
figure svg { display: block; max-width: 100%; height: auto; }
small, .muted { color: #5d6b78; }
.cost { font-size: 1.15rem; }
@media (prefers-color-scheme: dark) {
  body { color: #e6ebf0; background: #14191e; } th, td { border-color: #35404a; }
  small, .muted { color: #a3b0bc; }
}
@media print { body { max-width: none; padding: 0; } h2 { break-after: avoid; } }
"""


def record_page(title: str, parts: Iterable[str]) -> str:
    """The whole page around its parts, which are HTML."""
    head = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body><main>",
    ]
    return "\n".join([*head, *parts, "</main></body></html>", ""])


def record_table(titles: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    """A table of texts; the first of each row names it."""
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    body = "".join(
        "<tr>"
        + f'<th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"
    )
