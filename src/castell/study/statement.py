"""What a study costs its respondents: the numbers, for people and for programs.

The risk stated first is that of the person who is asked. Guesses are judged as if every value were
equally likely beforehand; whoever knows more to begin with guesses better, with or without the
report, but no report moves the odds between two answers by more than a factor of e^epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

from castell.display.json_values import plain
from castell.display.notebook import heading, html_table
from castell.display.one_line import one_line
from castell.study import sentences
from castell.study.design import Design
from castell.study.exposure import Exposure, Together, exposure, together
from castell.study.promise import Promise
from castell.study.public_attributes import public_words
from castell.study.schema import Schema
from castell.study.structural_zeros_text import rules_told


class Stated(Protocol):
    """What a statement reads of a study, which offers `statement()` and so cannot be imported."""

    @property
    def name(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def design(self) -> Design: ...
    @property
    def schema(self) -> Schema: ...
    @property
    def promise(self) -> Promise | None: ...
    def facts(self) -> list[str]: ...


@dataclass(frozen=True, repr=False)
class Statement:
    """The exposure of every attribute and of all of them together.

    Printed, it is what `castell check` says.
    """

    study: Stated
    exposures: tuple[Exposure, ...]
    together: Together

    @property
    def drawn(self) -> bool:
        """Whether a respondent is asked some of it, drawn at random, or everything."""
        return self.together.drawn

    @property
    def all_by_chance(self) -> float:
        return self.together.chance_of_all

    @property
    def all_guessed(self) -> float:
        """How often the best guess at all answers is right, on average over the draw."""
        return self.together.guess_over_draw

    @property
    def weak(self) -> bool:
        """Whether some report leaves next to no doubt of an answer."""
        return sentences.most_exposed(self.exposures).worst_guess > sentences.WEAK

    def words(self) -> list[str]:
        """The statement for people, a sentence or two each."""
        design = self.study.design
        return [
            *sentences.guesses(self.exposures, self.together, design),
            *sentences.guesses_at_all(self.exposures, self.together, design),
            *sentences.groups(design),
            *sentences.skip_sentences(self.study.schema),
            *sentences.limits(self.exposures, self.study.epsilon),
            *sentences.stages(self.study.promise),
            sentences.forgery(self.exposures, self.together, design),
            *public_words(self.study.schema.public),
            *rules_told(self.study.schema),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The statement for programs, as plain JSON values; docs/results.md has the layout."""
        return {
            "kind": "statement",
            "study": self.study.name,
            "digest": self.study.digest,
            "epsilon": plain(self.study.epsilon),
            "drawn": self.drawn,
            "weak": self.weak,
            "cells": prod(e.size for e in self.exposures),
            "telling_block": list(self.together.names),
            "all_guessed_if_drawn": self.together.guess,
            "all_by_chance_if_drawn": self.together.chance,
            "all_guessed": self.all_guessed,
            "all_by_chance": self.all_by_chance,
            "attributes": [_entry(e) for e in self.exposures],
            "public": list(self.study.schema.public),
            "statement": self.words(),
        }

    def __repr__(self) -> str:
        return one_line("Statement", f"of {self.study.name!r}", self.study.facts())

    def _repr_html_(self) -> str:
        titles, *rows = sentences.rows(self.exposures, self.drawn)
        cost = f"epsilon {self.study.epsilon:.6g} in all, for one respondent"
        caption = heading(f"What taking part in {self.study.name!r} costs", cost)
        return html_table(caption, titles, rows, notes=self.words())

    def __str__(self) -> str:
        study = self.study
        table = sentences.rows(self.exposures, self.drawn)
        shown = ", ".join(study.schema.public)
        lines = [
            f"study     {study.name}",
            f"digest    {study.digest}",
            f"epsilon   {study.epsilon:.6g} in all, for one respondent",
            *([f"public    {shown}: outside epsilon"] if shown else []),
            "",
            *sentences.align_columns(table),
        ]
        if any(len(e.block) > 1 for e in self.exposures):
            lines.append("Attributes randomised together share one epsilon, listed with each.")
        return "\n".join([*lines, "", *self.words()])


def state(study: Stated) -> Statement:
    """The statement of a study.

    >>> from castell import Attribute, Schema, Study
    >>> study = Study(Schema([Attribute("sex", ["Female", "Male"])]), epsilon=1.0)
    >>> print(state(study).words()[0])
    Whoever sees the report guesses 'sex' right 73.1% of the time, instead of 50.0% without the \
report.
    """
    exposures = tuple(exposure(study.design, attribute) for attribute in study.schema.hidden)
    return Statement(study, exposures, together(study.design, study.schema))


def _entry(e: Exposure) -> dict[str, Any]:
    return {
        "name": e.name,
        "size": e.size,
        "epsilon": plain(e.epsilon),
        "block": list(e.block),
        "best_guess": e.best_guess,
        "best_guess_if_drawn": e.best_guess,
        "least_guess_if_drawn": e.least_guess,
        "best_guess_over_draw": e.best_guess_over_draw,
        "worst_guess": e.worst_guess,
        "by_chance": e.chance,
        "chance_drawn": e.chance_drawn,
        "influence": e.influence,
        "exact": e.exact,
    }
