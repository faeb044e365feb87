"""A study's card as a page for people: one file without scripts, to be put beside the survey."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import log

from castell.planning.card import Card
from castell.planning.epsilon_guide import Deployment, Meaning, meaning
from castell.planning.people_picture import people_svg
from castell.study.schema import Attribute

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


def card_page(card: Card) -> str:
    """The whole page."""
    study, title = card.study, escape(card.title)
    first, *words = card.cost()
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}: privacy card</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body><main>",
        f"<h1>{title}</h1>",
        '<p class="muted">Privacy card: what is collected, how it is hidden, and what that '
        "costs</p>",
    ]
    if study.text.description:
        parts.append(f"<p>{escape(study.text.description)}</p>")
    parts += [f'<p class="cost">{escape(first)}</p>', *(f"<p>{escape(w)}</p>" for w in words)]
    parts += [*_picture(card), "<h2>The record</h2>", _table([], card.rows())]
    parts += ["<h2>How well an answer is guessed</h2>"]
    parts += [_table(["question", "with the report", "without it"], card.guesses())]
    parts += ["<h2>What is asked</h2>", _table([], [_asked(a) for a in study.schema])]
    if card.shuffled is not None:
        parts += ["<h2>What the shuffled epsilon assumes</h2>", "<ul>"]
        parts += [f"<li>{escape(text)}</li>" for text in card.shuffled.assumes]
        parts += ["</ul>"]
    parts += ["<h2>Published deployments around this epsilon</h2>"]
    parts += ["<ul>", *map(_listed, card.compared), "</ul>"]
    return "\n".join([*parts, "</main></body></html>", ""])


def _asked(attribute: Attribute) -> tuple[str, str]:
    sent = " (public: sent as it is)" * attribute.public
    return attribute.question or attribute.name, ", ".join(attribute.values) + sent


def _listed(deployment: Deployment) -> str:
    source = f"<small>{escape(deployment.source)}</small>"
    return f"<li>{escape(deployment.words())}.<br>{source}</li>"


def _picture(card: Card) -> list[str]:
    """The question that is guessed most easily, as 100 people, if its report is an answer."""
    one = max(card.statement.exposures, key=lambda e: e.best_guess)
    blocks = [card.study.design.blocks[i] for i in card.study.design.holders(one.name)]
    # Elsewhere a report is no answer, or some answers are sent more truly than others.
    if not all(block.channel.has_digits for block in blocks):
        return []
    values = card.study.schema[one.name].values
    other = values[1] if len(values) == 2 else None
    svg = people_svg([_as_kary(one.best_guess, one.size)], values[0], other, one.name)
    told = f"One hundred people who send {values[0]!r} as their answer to {one.name!r}, if asked."
    return [f"<figure>{svg}<figcaption><small>{escape(told)}</small></figcaption></figure>"]


def _as_kary(guess: float, size: int) -> Meaning:
    """The epsilon of k-ary response with which the answer is sent as often."""
    return meaning(log(guess * (size - 1) / (1.0 - guess)), size)


def _table(titles: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
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
