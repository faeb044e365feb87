"""A study's card as a page for people: one file without scripts, to be put beside the survey."""

from __future__ import annotations

from html import escape
from math import log

from castell.display.record_page import record_page, record_table
from castell.planning.card import Card
from castell.planning.epsilon_guide import Deployment, Meaning, meaning
from castell.planning.people_picture import people_svg
from castell.study.schema import Attribute


def card_page(card: Card) -> str:
    """The whole page."""
    study, title = card.study, escape(card.title)
    first, *words = card.cost()
    parts = [
        f"<h1>{title}</h1>",
        '<p class="muted">Privacy card: what is collected, how it is hidden, and what that '
        "costs</p>",
    ]
    if study.text.description:
        parts.append(f"<p>{escape(study.text.description)}</p>")
    parts += [f'<p class="cost">{escape(first)}</p>', *(f"<p>{escape(w)}</p>" for w in words)]
    parts += [*_picture(card), "<h2>The record</h2>", record_table([], card.rows())]
    parts += ["<h2>How well an answer is guessed</h2>"]
    parts += [record_table(["question", "with the report", "without it"], card.guesses())]
    parts += ["<h2>What is asked</h2>", record_table([], [_question_row(a) for a in study.schema])]
    if card.shuffled is not None:
        parts += ["<h2>What the shuffled epsilon assumes</h2>", "<ul>"]
        parts += [f"<li>{escape(text)}</li>" for text in card.shuffled.assumes]
        parts += ["</ul>"]
    parts += ["<h2>Published deployments around this epsilon</h2>"]
    parts += ["<ul>", *map(_list_item, card.compared), "</ul>"]
    return record_page(f"{card.title}: privacy card", parts)


def _question_row(attribute: Attribute) -> tuple[str, str]:
    sent = " (public: sent as it is)" * attribute.public
    return attribute.question or attribute.name, ", ".join(attribute.values) + sent


def _list_item(deployment: Deployment) -> str:
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
